/** Shows how far a long task is, on a terminal alone: in one line that is written over and over. */

import type { Io } from './io.ts'
import { fitWidth } from './table.ts'

/** In characters. */
const barWidth = 24

export function createBar(io: Io) {
  const isShown = io.columns !== undefined
  const write = (text: string) => {
    if (isShown) io.err(`\r\x1b[K${fitWidth(text, (io.columns ?? 0) - 1)}`)
  }
  return {
    show(done: number, total: number, text: string): void {
      const filled = Math.floor((barWidth * done) / Math.max(1, total))
      write(`${'█'.repeat(filled)}${'░'.repeat(barWidth - filled)}  ${text}`)
    },
    /** Shows a text in place of the bar. */
    say: write,
    clear: () => write(''),
  }
}
