/** Owns how a report reads: groups, a line for each result, below it what to do, and the sum. */

import type { Paint } from '../../observe/paint.ts'
import { printable } from '../../observe/printable.ts'
import { wrapWords } from '../../observe/wrap-words.ts'
import { counted } from '../counted.ts'
import { groups, type Result, type State } from './check.ts'
import type { Checked } from './run-checks.ts'

const titles: Readonly<Record<(typeof groups)[number], string>> = {
  configuration: 'Configuration',
  files: 'Files',
  gateway: 'Gateway',
  work: 'Work',
  machine: 'Machine',
}

const indent = ' '.repeat(4)

export type Counts = Readonly<Record<State, number>>

/** Lines. */
export function formatReport(checked: readonly Checked[], paint: Paint, columns: number): string[] {
  return groups.flatMap((group) => {
    const results = checked.filter(({ check }) => check.group === group).flatMap(({ results }) => results)
    if (results.length === 0) return []
    return [paint.bold(titles[group]), ...results.flatMap((result) => linesOf(result, paint, columns)), '']
  })
}

function linesOf({ state, message, fix, place, code }: Result, paint: Paint, columns: number): string[] {
  const room = columns - indent.length
  const text = [place === undefined ? '' : `${place}: `, message, code === undefined ? '' : ` [${code}]`]
  const [first = '', ...others] = wrapWords(printable(text.join('')), room)
  const told = [first, ...others.map((line) => `${indent}${line}`)].map((line) =>
    state === 'not-checked' ? paint.dim(line) : line,
  )
  const advice = fix === undefined ? [] : wrapWords(printable(fix), room - 2)
  return [
    `  ${markOf(state, paint)} ${told[0]}`,
    ...told.slice(1),
    ...advice.map((line, index) => `${indent}${index === 0 ? paint.cyan('→') : ' '} ${line}`),
  ]
}

function markOf(state: State, paint: Paint): string {
  switch (state) {
    case 'ok':
      return paint.green('✓')
    case 'warning':
      return paint.yellow('!')
    case 'problem':
      return paint.red('✗')
    case 'not-checked':
      return paint.dim('-')
  }
}

export function countsOf(checked: readonly Checked[]): Counts {
  const counts = { ok: 0, warning: 0, problem: 0, 'not-checked': 0 }
  for (const { results } of checked) for (const { state } of results) counts[state] += 1
  return counts
}

/** `2 problems, 1 warning, 9 ok, 3 not checked`. */
export function formatCounts(counts: Counts): string {
  const parts = [
    counts.problem > 0 ? counted(counts.problem, 'problem') : '',
    counts.warning > 0 ? counted(counts.warning, 'warning') : '',
    `${counts.ok} ok`,
    counts['not-checked'] > 0 ? `${counts['not-checked']} not checked` : '',
  ]
  return parts.filter(Boolean).join(', ')
}
