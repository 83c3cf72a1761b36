/**
 * Writes the log to standard error without ever waiting for it: a reader that stalls, a terminal that is stopped or a
 * disk that is full holds up the log alone. One write is under way at a time, and lines wait behind it in a queue of
 * bounded length. Lines that do not fit are dropped, counted, and reported as soon as there is room again.
 */

import { write, writeSync } from 'node:fs'
import { Socket } from 'node:net'

/** Where the lines of a log are written. */
export interface LogOutput {
  /** The width of a terminal. */
  readonly columns: number | undefined
  /** Writes at once, after the lines that wait. */
  write(text: string): void
  /** Writes the line together with others, within a tenth of a second. */
  gather(line: string): void
  /** Resolves when every line is written, when the target refuses a write, or after a second. Never rejects. */
  flush(): Promise<void>
  /** Number of lines dropped since the start. */
  dropped(): number
}

/** Takes bytes and calls back once with how many of them were written. It must not block. */
export type WriteBytes = (bytes: Buffer, done: (error: Error | null, written: number) => void) => void

export interface LogTarget {
  /** The width of a terminal, read for each line. */
  readonly columns: number | undefined
  readonly write: WriteBytes
  /** Writes as much as fits at the end of the process, when nothing can be waited for. Never throws. */
  writeNow(bytes: Buffer): void
}

export interface StandardErrorOptions {
  /** Default: standard error of this process. */
  readonly target?: LogTarget
  /** Called when lines were dropped and there is room again. */
  readonly onRoom?: (droppedLines: number) => void
  /** Maximum length of the queue in UTF-16 units; default 4 Mi, which is about 16,000 lines. */
  readonly maxQueued?: number
}

/** Maximum time that a line waits for others. */
const gatherMs = 100
/** About a hundred lines, because each write is a system call. UTF-16 units. */
const blockLength = 32_768
/** Number of blocks of a long queue in one write. */
const blocksAtOnce = 8
/** The wait after a refused write, after which the disk may have room again. */
const retryMs = 1000
/** Milliseconds that the last flush may take. */
const flushMs = 1000

export function createStandardError(options: StandardErrorOptions = {}): LogOutput {
  const { target = standardError() } = options
  const queue = createLineQueue(options)
  /** Bytes that the target was given or has refused; they precede the queue. */
  let pending: Buffer = Buffer.alloc(0)
  let isWriting = false
  let timer: NodeJS.Timeout | undefined
  let retryTimer: NodeJS.Timeout | undefined
  let flushed: PromiseWithResolvers<void> | undefined

  function pass(): void {
    clearTimeout(timer)
    timer = undefined
    queue.closeBlock()
    pump()
  }

  function pump(): void {
    if (isWriting || retryTimer !== undefined) return
    if (pending.length === 0) pending = queue.take(blocksAtOnce)
    if (pending.length === 0) {
      flushed?.resolve()
      return
    }
    isWriting = true
    target.write(pending, (error, written) => {
      isWriting = false
      pending = pending.subarray(written)
      if (error) {
        retryTimer = setTimeout(tryAgain, retryMs).unref()
        flushed?.resolve()
        return
      }
      queue.reportRoom()
      pump()
    })
  }

  function tryAgain(): void {
    clearTimeout(retryTimer)
    retryTimer = undefined
    pump()
  }

  process.prependOnceListener('exit', () => {
    const rest = queue.takeAll()
    target.writeNow(isWriting ? rest : Buffer.concat([pending, rest]))
  })

  return {
    get columns() {
      return target.columns
    },
    write(text) {
      queue.add(text)
      pass()
    },
    gather(line) {
      queue.add(line)
      if (queue.hasBlocks()) pump()
      timer ??= setTimeout(pass, gatherMs).unref()
    },
    async flush() {
      const limit = Promise.withResolvers<void>()
      const limitTimer = setTimeout(limit.resolve, flushMs)
      flushed ??= Promise.withResolvers<void>()
      const { promise } = flushed
      pass()
      tryAgain()
      await Promise.race([promise, limit.promise])
      flushed = undefined
      clearTimeout(limitTimer)
    },
    dropped: queue.dropped,
  }
}

/** Gathers lines into blocks. Beyond its room it drops lines and counts them. */
function createLineQueue({ onRoom, maxQueued = 4 * 1024 * 1024 }: StandardErrorOptions) {
  /** The lines that gather, which are the last block of the queue. */
  let block = ''
  let blocks: string[] = []
  /** The length of `block` and `blocks`. */
  let queued = 0
  let dropped = 0
  let unreported = 0

  function report(): void {
    const lines = unreported
    unreported = 0
    onRoom?.(lines)
  }

  function closeBlock(): void {
    if (block === '') return
    blocks.push(block)
    block = ''
  }

  function take(count: number): Buffer {
    const text = blocks.slice(0, count).join('')
    blocks = blocks.slice(count)
    queued -= text.length
    return Buffer.from(text)
  }

  return {
    closeBlock,
    take,
    hasBlocks: () => blocks.length > 0,
    dropped: () => dropped,
    add(text: string): void {
      // Once lines are dropped, all are until half of the queue is empty: one gap is easier to read than many.
      if (queued + text.length > (unreported > 0 ? maxQueued / 2 : maxQueued)) {
        dropped += 1
        unreported += 1
        return
      }
      if (unreported > 0) report()
      block += text
      queued += text.length
      if (block.length >= blockLength) closeBlock()
    },
    reportRoom(): void {
      if (unreported === 0 || queued > maxQueued / 2) return
      report()
      closeBlock()
    },
    takeAll(): Buffer {
      if (unreported > 0) {
        queued = 0
        report()
      }
      closeBlock()
      return take(Number.POSITIVE_INFINITY)
    },
  }
}

/**
 * A pipe, a socket and a terminal are written to through Node's stream, which waits for room in the event loop. A file is
 * written to by the thread pool: its stream would hold this thread up, and a disk may hang.
 */
function standardError(stream: NodeJS.WriteStream = process.stderr): LogTarget {
  const columns = () => stream.columns
  if (stream instanceof Socket) {
    neverBlock(stream)
    // A failed write is reported to its callback; without a listener the event would end the process.
    stream.on('error', () => {})
    return {
      get columns() {
        return columns()
      },
      write: (bytes, done) =>
        void stream.write(bytes, (error) => done(error ?? null, error ? 0 : bytes.length)),
      writeNow: (bytes) => void stream.write(bytes),
    }
  }
  const { fd } = stream
  return {
    columns: undefined,
    write: (bytes, done) =>
      write(fd, bytes, 0, bytes.length, null, (error, written) => done(error, written ?? 0)),
    writeNow(bytes) {
      try {
        for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at)
      } catch {
        // The process ends, so there is no later time to write it.
      }
    },
  }
}

/**
 * Node writes to a terminal in one blocking call, in which a terminal that is stopped (Ctrl-S, a frozen connection) holds
 * the whole process, its signals included. Pipes do not block; files cannot be changed. There is no public call for it.
 */
export function neverBlock(stream: NodeJS.WriteStream): void {
  const { _handle: handle } = stream as { _handle?: { setBlocking?(blocks: boolean): unknown } }
  if (stream.isTTY) handle?.setBlocking?.(false)
}
