/** Reports each step when it is done: a line on standard error, or between the questions. */

import type { ConnectStep } from '@reveille/kit'
import { printable } from '../../observe/printable.ts'
import { wrapWords } from '../../observe/wrap-words.ts'
import { type Io, paintFor } from '../io.ts'
import type { Prompts } from '../prompts.ts'

export type Steps = ReturnType<typeof createSteps>

const marks = { done: '✓', unchanged: '·', warning: '!' } as const

/** The length of the longest usual name. */
const nameWidth = 'configuration'.length
const gap = '  '
/** The least width of the column of details. */
const minRoom = 30
/** The columns of the bar of the questions, or of the mark, with the space after it. */
const margin = 3

export function createSteps(io: Io, prompts: Prompts | undefined, json: boolean) {
  const all: ConnectStep[] = []
  const warnings: string[] = []
  const paint = paintFor(io)
  const colours = { done: paint.green, unchanged: paint.dim, warning: paint.yellow }

  function show(kind: keyof typeof marks, lines: readonly string[]): void {
    const mark = colours[kind](marks[kind])
    if (prompts !== undefined) prompts.step(mark, lines.join('\n'))
    else if (!json) io.err(`${mark} ${lines.join('\n  ')}\n`)
  }

  return {
    all,
    warnings,
    report(step: ConnectStep): void {
      all.push(step)
      const left = nameWidth + gap.length
      const room = Math.max(minRoom, (io.columns ?? Number.POSITIVE_INFINITY) - margin - left)
      const [first = '', ...more] = wrapWords(printable(step.detail), room)
      const soft = step.outcome === 'unchanged' ? paint.dim : (text: string) => text
      show(step.outcome, [
        `${soft(printable(step.step).padEnd(nameWidth))}${gap}${soft(first)}`,
        ...more.map((line) => `${' '.repeat(left)}${soft(line)}`),
      ])
    },
    /** Reports something that should be corrected and stops nothing. */
    warn(text: string): void {
      warnings.push(text)
      show('warning', wrapWords(printable(text), (io.columns ?? Number.POSITIVE_INFINITY) - margin))
    },
  }
}
