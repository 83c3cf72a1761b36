/**
 * Replaces the console of a module: each line becomes a message at once, so that none is lost with the thread. A stack
 * that is printed is cut after the author's frames.
 */

import { Buffer } from 'node:buffer'
import { Writable } from 'node:stream'
import { isInnerFrame } from './error-report.ts'
import type { CurrentCall, FromWorker, OutputLevel } from './protocol.ts'

/** Maximum output in a window; the rest is only counted. */
const maxLines = 200
const maxCharacters = 65_536
const windowMs = 1_000
const maxLineLength = 1_000

export interface OutputOptions {
  send(message: FromWorker): void
  current(): CurrentCall | undefined
}

const levels: Readonly<Record<string, OutputLevel>> = {
  debug: 'debug',
  trace: 'debug',
  log: 'info',
  info: 'info',
  warn: 'warn',
  error: 'error',
}

/** Replaces the streams and the console of this thread. */
export function createOutput({ send, current }: OutputOptions): void {
  let windowEnds = 0
  let lines = 0
  let characters = 0
  let dropped = 0
  let reporting: NodeJS.Timeout | undefined
  let level: OutputLevel | undefined

  function reportDropped(): void {
    clearTimeout(reporting)
    reporting = undefined
    if (dropped > 0) send({ type: 'dropped', lines: dropped })
    dropped = 0
  }

  function write(text: string, usual: OutputLevel): void {
    const now = performance.now()
    if (now >= windowEnds) {
      reportDropped()
      windowEnds = now + windowMs
      lines = 0
      characters = 0
    }
    for (const line of text.split('\n')) {
      const hasRoom = lines < maxLines && characters < maxCharacters
      const shown = hasRoom ? printable(line) : line
      if (shown === '' || (hasRoom && isInnerFrame(shown))) continue
      if (!hasRoom) {
        dropped++
        reporting ??= setTimeout(reportDropped, windowMs).unref()
        continue
      }
      lines++
      characters += shown.length
      send({ type: 'output', level: level ?? usual, requestId: current()?.requestId, text: shown })
    }
  }

  const streamOf = (usual: OutputLevel) =>
    new Writable({
      decodeStrings: false,
      write(chunk, _encoding, done) {
        write(typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString('utf8'), usual)
        done()
      },
    })
  Object.defineProperty(process, 'stdout', { value: streamOf('info'), configurable: true })
  Object.defineProperty(process, 'stderr', { value: streamOf('error'), configurable: true })

  const console = globalThis.console as unknown as Record<string, (...values: unknown[]) => void>
  for (const [name, ofMethod] of Object.entries(levels)) {
    const print = console[name]?.bind(globalThis.console)
    console[name] = (...values) => {
      const around = level
      level = ofMethod
      try {
        print?.(...values)
      } finally {
        level = around
      }
    }
  }
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: colours and movements of a terminal begin with one
const escapeSequence = /\u001b(\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(\u0007|\u001b\\)?|.)/g

function printable(line: string): string {
  const cut = line.length > maxLineLength ? `${line.slice(0, maxLineLength)}…` : line
  return cut
    .replace(escapeSequence, '')
    .replace(/(?!\t)\p{Cc}|[\u202a-\u202e\u2066-\u2069]/gu, '\ufffd')
    .trimEnd()
}
