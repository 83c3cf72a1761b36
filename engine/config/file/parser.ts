/** Decides where a text is parsed: in place until the first snapshot is served, and then in a thread with a deadline. */

import { createSerialThread, ThreadEndedError } from '../../threads/serial-thread.ts'
import { programFile } from '../../threads/thread.ts'
import { ReadError } from './load-context.ts'
import { type ParsedText, parseText, type TextParser, type WrittenText } from './parse-text.ts'

export const parserInPlace: TextParser = { parse: async (written) => parseText(written) }

export interface ThreadOptions {
  /** Milliseconds that the thread waits for another text before it is ended. */
  readonly idleMs?: number
  /** Milliseconds that parsing one text may take. */
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
  const program = programFile('./parse-thread.ts', import.meta.url)
  const thread = createSerialThread<WrittenText, ParsedText>({ program, name: 'parser', idleMs, deadlineMs })
  const errors = {
    late: ['FILE_TOO_LARGE', `takes longer than ${deadlineMs / 1000} seconds to parse`],
    lost: ['FILE_TOO_LARGE', 'could not be parsed: the thread that did it ended'],
    closed: ['FILE_UNREADABLE', 'was not parsed, since the gateway stops'],
  } as const
  return {
    async parse(written) {
      try {
        return await thread.ask(written)
      } catch (error) {
        if (!(error instanceof ThreadEndedError)) throw error
        const [code, message] = errors[error.reason]
        throw new ReadError(code, message)
      }
    },
    close: () => thread.close(),
  }
}
