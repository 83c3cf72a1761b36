/** Decides where a text is parsed: in place until the first snapshot is served, and then in a thread with a deadline. */

import { Worker } from 'node:worker_threads'
import { type ParsedText, parseText, type TextParser, type WrittenText } from './parse-text.ts'
import { ReadError } from './reading.ts'

export const parserInPlace: TextParser = { parse: async (written) => parseText(written) }

export interface ThreadOptions {
  /** How long the thread waits for another text before it is ended. */
  readonly idleMs?: number
  /** How long parsing one text may take. */
  readonly deadlineMs?: number
}

export interface ThreadParser extends TextParser {
  /** Ends the thread, and rejects texts that are not parsed yet. */
  close(): Promise<void>
}

/** The first text starts the thread, which parses one text after the other. */
export function createThreadParser({
  idleMs = 60_000,
  deadlineMs = 20_000,
}: ThreadOptions = {}): ThreadParser {
  let thread: Worker | undefined
  let fail: ((error: ReadError) => void) | undefined
  let idle: NodeJS.Timeout | undefined
  let ended: Promise<unknown> = Promise.resolve()
  let last: Promise<unknown> = Promise.resolve()
  let isClosed = false

  function start(): Worker {
    const worker = new Worker(threadFile())
    const lose = () => {
      if (thread === worker) end('could not be parsed: the thread that did it ended')
    }
    return worker.on('error', lose).on('exit', lose)
  }

  function end(reason: string): void {
    clearTimeout(idle)
    const leaving = thread
    thread = undefined
    fail?.(new ReadError('FILE_TOO_LARGE', reason))
    if (leaving) ended = Promise.all([ended, leaving.terminate()])
  }

  async function parseNext(written: WrittenText): Promise<ParsedText> {
    if (isClosed) throw new ReadError('FILE_UNREADABLE', whileClosing)
    clearTimeout(idle)
    thread ??= start()
    const { promise, resolve, reject } = Promise.withResolvers<ParsedText>()
    const late = setTimeout(() => end(`takes longer than ${deadlineMs / 1000} seconds to parse`), deadlineMs)
    fail = reject
    thread.ref()
    thread.once('message', resolve).postMessage(written)
    try {
      return await promise
    } finally {
      clearTimeout(late)
      fail = undefined
      // An idle thread must not keep the process alive.
      thread?.unref()
      if (thread) idle = setTimeout(() => end(''), idleMs).unref()
    }
  }

  return {
    parse(written) {
      const parsed = last.then(() => parseNext(written))
      last = parsed.catch(() => {})
      return parsed
    },
    async close() {
      isClosed = true
      end(whileClosing)
      await last
      await ended
    },
  }
}

const whileClosing = 'was not parsed, since the gateway stops'

/** The thread's program lies beside this module, as a source or as a bundle. */
function threadFile(): URL {
  return new URL(import.meta.url.endsWith('.ts') ? './parse-thread.ts' : './parse-thread.js', import.meta.url)
}
