/**
 * Writes the log to standard error without waiting for it: a reader that stalls or a terminal that is stopped holds up the log alone.
 * Lines beyond the room of the stream's buffer are dropped, counted, and reported once it is empty.
 */

/** Where the lines of a log are written. */
export interface LogOutput {
  /** The width of a terminal. */
  readonly columns: number | undefined
  write(text: string): void
  /** Resolves when every line is written, when the target refuses a write, or after a second. Never rejects. */
  flush(): Promise<void>
  /** Number of lines dropped since the start. */
  dropped(): number
}

/** About 16,000 lines. Bytes. */
const maxBuffered = 4 * 1024 * 1024
/** Milliseconds that the last flush may take. */
const flushMs = 1000

/** `onRoom` is called when lines were dropped and there is room again. */
export function createStandardError(onRoom: (droppedLines: number) => void): LogOutput {
  const { stderr } = process
  neverBlock(stderr)
  let dropped = 0
  let unreported = 0
  let isCorked = false

  function report(): void {
    const lines = unreported
    unreported = 0
    if (lines > 0) onRoom(lines)
  }

  /** Lines of one turn of the event loop are written together, because each write is a system call. */
  function cork(): void {
    if (isCorked) return
    isCorked = true
    stderr.cork()
    setImmediate(uncork)
  }

  function uncork(): void {
    if (isCorked) stderr.uncork()
    isCorked = false
  }

  stderr.on('drain', report)
  // What a full disk does not take is lost. Without a listener the event would end the process.
  stderr.on('error', () => undefined)
  process.prependOnceListener('exit', uncork)
  return {
    get columns() {
      return stderr.columns
    },
    write(text) {
      if (stderr.writableLength > maxBuffered) {
        dropped += 1
        unreported += 1
        return
      }
      cork()
      stderr.write(text)
    },
    async flush() {
      uncork()
      const { promise, resolve } = Promise.withResolvers<void>()
      const timer = setTimeout(resolve, flushMs)
      stderr.write('', () => resolve())
      await promise
      clearTimeout(timer)
    },
    dropped: () => dropped,
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
