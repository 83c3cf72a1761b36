/** Formats a report: groups, a line for each result with what to do below it, and the counts. */

import type { Paint } from '../../observe/paint.ts'
import { printable } from '../../observe/printable.ts'
import { wrapWords } from '../../observe/wrap-words.ts'
import { counted, listed } from '../print.ts'
import { type Checked, groups, type Result, type State } from './check.ts'

const gap = '  '
/** The narrowest column for texts; a narrower terminal wraps lines itself. */
const minRoom = 30

export type Counts = Readonly<Record<State, number>>

interface Line {
  readonly title: string
  readonly result: Result
}

/** Returns lines. */
export function formatReport(checked: readonly Checked[], paint: Paint, columns: number): string[] {
  const sections = groups.map((group) => ({
    group,
    lines: reportedLines(checked.filter(({ check }) => check.group === group)),
  }))
  const width = Math.max(0, ...sections.flatMap(({ lines }) => lines.map(({ title }) => title.length)))
  return sections.flatMap(({ group, lines }) => {
    if (lines.length === 0) return []
    const texts = lines.flatMap((line) => linesOf(line, width, paint, columns))
    const title = group.replace(/^./, (first) => first.toUpperCase())
    return [paint.bold(title), ...texts, '']
  })
}

/** Checks that were skipped for the same reason share one line, after the others. */
function reportedLines(checked: readonly Checked[]): readonly Line[] {
  const all = checked.flatMap(({ check: { title }, results }) => results.map((result) => ({ title, result })))
  const isChecked = ({ result }: Line) => result.state !== 'not-checked'
  const reasons = Map.groupBy(
    all.filter((line) => !isChecked(line)),
    ({ result }) => result.message,
  )
  const missing = [...reasons].flatMap(([message, lines]): Line[] => {
    const [first] = lines
    if (first === undefined) return []
    const names = [...new Set(lines.map(({ title }) => title))]
    return [{ title: 'not checked', result: { ...first.result, message: `${listed(names)}: ${message}` } }]
  })
  return [...all.filter(isChecked), ...missing]
}

function linesOf({ title, result }: Line, width: number, paint: Paint, columns: number): string[] {
  const { state, fix } = result
  const name = title.padEnd(width)
  const head = `${gap}${markOf(state, paint)} ${state === 'not-checked' ? paint.dim(name) : name}${gap}`
  const left = ' '.repeat(gap.length + 2 + width + gap.length)
  const room = Math.max(minRoom, columns - left.length)
  const text = wrapWords(printable(resultText(result)), room)
  const advice = fix === undefined ? [] : wrapWords(printable(fix), room - 2)
  return [
    ...text.map(
      (line, index) => `${index === 0 ? head : left}${state === 'not-checked' ? paint.dim(line) : line}`,
    ),
    ...advice.map((line, index) => `${left}${index === 0 ? paint.cyan('→') : ' '} ${line}`),
  ]
}

function resultText({ state, place, message, code }: Result): string {
  const text = place === undefined ? message : `${place}: ${message}`
  return code === undefined || state === 'not-checked' ? text : `${text} [${code}]`
}

function markOf(state: State, { green, yellow, red, dim }: Paint): string {
  const marks = { ok: green('✓'), warning: yellow('!'), problem: red('✗'), 'not-checked': dim('-') }
  return marks[state]
}

export function countsOf(checked: readonly Checked[]): Counts {
  const counts = { ok: 0, warning: 0, problem: 0, 'not-checked': 0 }
  for (const { results } of checked) for (const { state } of results) counts[state] += 1
  return counts
}

/** Returns `2 problems, 1 warning, 9 ok, 3 not checked`. */
export function formatCounts(counts: Counts): string {
  const parts = [
    counts.problem > 0 ? counted(counts.problem, 'problem') : '',
    counts.warning > 0 ? counted(counts.warning, 'warning') : '',
    `${counts.ok} ok`,
    counts['not-checked'] > 0 ? `${counts['not-checked']} not checked` : '',
  ]
  return parts.filter(Boolean).join(', ')
}
