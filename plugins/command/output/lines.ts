/** Owns cutting a stream of text into lines. */

export interface Lines {
  write(chunk: string): void
  /** Gives out what has no line end. */
  end(): void
}

export function createLines(onLine: (line: string) => void): Lines {
  // Joined once per line: a long line comes in many chunks.
  let rest: string[] = []
  function give(line: string) {
    rest = []
    onLine(line.endsWith('\r') ? line.slice(0, -1) : line)
  }
  return {
    write(chunk) {
      let start = 0
      for (let end = chunk.indexOf('\n'); end >= 0; end = chunk.indexOf('\n', start)) {
        give(rest.join('') + chunk.slice(start, end))
        start = end + 1
      }
      if (start < chunk.length) rest.push(chunk.slice(start))
    },
    end() {
      if (rest.length > 0) give(rest.join(''))
    },
  }
}
