/**
 * Replaces the console of a module: each line becomes a message at once, so that none is lost with the thread. A stack
 * that is printed is cut after the author's frames.
 */

import { Buffer } from 'node:buffer'
import { Writable } from 'node:stream'
import { isInnerFrame } from './error-report.ts'
import { type CurrentCall, type FromWorker, type OutputLevel, outputLimits, slots } from './protocol.ts'

const { maxLines, maxCharacters, windowMs } = outputLimits
const maxLineLength = 1_000

export interface OutputOptions {
  send(message: FromWorker): void
  readonly shared: Int32Array
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
export function createOutput({ send, shared, current }: OutputOptions): void {
  const clock = performance.now.bind(performance)
  const { add } = Atomics
  let windowEnds = 0
  let lines = 0
  let characters = 0
  let level: OutputLevel | undefined

  function write(text: string, usual: OutputLevel): void {
    const now = clock()
    if (now >= windowEnds) {
      windowEnds = now + windowMs
      lines = 0
      characters = 0
    }
    const room = maxCharacters - characters
    const found = (text.length > room ? text.slice(0, room) : text).split('\n')
    for (let index = 0; index < found.length; index++) {
      const shown = printable(found[index] as string)
      if (shown === '' || isInnerFrame(shown)) continue
      if (lines < maxLines) {
        lines++
        characters += shown.length
        send({ type: 'output', level: level ?? usual, requestId: current()?.requestId, text: shown })
      } else add(shared, slots.droppedLines, 1)
    }
    if (text.length > room) add(shared, slots.droppedLines, countLines(text, room))
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

function countLines(text: string, from: number): number {
  let count = text.endsWith('\n') ? 0 : 1
  for (let at = text.indexOf('\n', from); at !== -1; at = text.indexOf('\n', at + 1)) count++
  return count
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
