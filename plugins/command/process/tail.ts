/** Owns the last words of a stream: what a program says before it fails. */

import { withoutColours } from '../output/plain.ts'

const mostLines = 20
const mostCharacters = 2048

export interface Tail {
  write(chunk: string): void
  /** Lines without colours and without blank ones. */
  text(): string
}

export function createTail(): Tail {
  let kept = ''
  return {
    write(chunk) {
      // Twice the room, because colours and blank lines are taken out at the end.
      kept = (kept + chunk).slice(-2 * mostCharacters)
    },
    text() {
      const lines = withoutColours(kept)
        .split(/\r?\n/)
        .map((line) => line.trimEnd())
        .filter((line) => line !== '')
      return lines.slice(-mostLines).join('\n').slice(-mostCharacters)
    },
  }
}
