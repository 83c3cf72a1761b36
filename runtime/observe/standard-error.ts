/** Owns standard error, which takes texts for people at once, and JSON lines in blocks. */

import { destination } from 'pino'
import { createLineBlocks } from './line-blocks.ts'

/** Where a log's lines leave. */
export interface LogOutput {
  /** Of a terminal. */
  readonly columns: number | undefined
  /** At once, behind every line that has gathered. */
  write(text: string): void
  /** The line leaves with others, soon. */
  gather(line: string): void
  /** Passes on what has gathered. */
  flush(): void
}

export interface StandardErrorParts {
  /** Default: `process.stderr`. */
  readonly stream?: Pick<NodeJS.WriteStream, 'write' | 'writableLength' | 'columns'>
  /** The same target, written to without the stream. Default: the file descriptor 2. */
  readonly file?: { write(block: string): unknown; flushSync(): void }
}

/** How long a line waits for others to leave with, at most. */
const passEveryMs = 100

export function createStandardError(parts: StandardErrorParts = {}): LogOutput {
  // Blocks make writes few enough to wait for; one that is not waited for can be overtaken by the last one.
  const { stream = process.stderr, file = destination({ fd: 2, sync: true }) } = parts
  let timer: NodeJS.Timeout | undefined

  const blocks = createLineBlocks({
    write(block) {
      // A text may still be on its way through the stream: written past it, the block would stand in its middle.
      if (stream.writableLength > 0) stream.write(block)
      else file.write(block)
    },
  })

  function pass(): void {
    clearTimeout(timer)
    timer = undefined
    blocks.pass()
  }

  function flush(): void {
    pass()
    file.flushSync()
  }

  // Before the file's own: that one knows nothing of what has not been passed on.
  process.prependOnceListener('exit', flush)

  return {
    get columns() {
      return stream.columns
    },
    write(text) {
      pass()
      stream.write(text)
    },
    gather(line) {
      blocks.write(line)
      timer ??= setTimeout(pass, passEveryMs).unref()
    },
    flush,
  }
}
