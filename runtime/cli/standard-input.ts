/** Reads standard input line by line where it is no terminal and may stay open. */

import { createInterface, type Interface } from 'node:readline'
import type { Readable } from 'node:stream'

/** Each call resolves with the next line; a call after the last line settles only when its signal is aborted. */
export function createLineReader(input: Readable): (signal: AbortSignal) => Promise<string> {
  let lines: Interface | undefined
  /** Lines that came with others, before they were needed. */
  const early: string[] = []
  let take: ((line: string) => void) | undefined
  let isOver = false

  function open(): Interface {
    const opened = createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })
    opened.on('line', (line) => {
      if (take === undefined) early.push(line)
      else take(line)
      take = undefined
    })
    opened.on('close', () => {
      isOver = true
    })
    return opened
  }

  return async (signal) => {
    signal.throwIfAborted()
    const known = early.shift()
    if (known !== undefined) return known
    lines ??= open()
    if (!isOver) lines.resume()
    const { promise, resolve, reject } = Promise.withResolvers<string>()
    const abort = () => reject(signal.reason)
    signal.addEventListener('abort', abort)
    take = resolve
    try {
      return await promise
    } finally {
      take = undefined
      signal.removeEventListener('abort', abort)
      // An input that is read keeps the process alive.
      if (!isOver) lines.pause()
    }
  }
}
