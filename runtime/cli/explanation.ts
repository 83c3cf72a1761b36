/** Owns how an explanation is set: the mappings in their order, then each action's fields with their sources. */

import type { ActionTrace, CandidateTrace, Explanation, FieldTrace, SourceTrace } from '@reveille/engine'
import type { Paint } from '../observe/paint.ts'
import { printable } from '../observe/printable.ts'
import { formatClause } from './clause.ts'
import { formatOutcome } from './verdict.ts'

const gap = '  '

/** Lines. */
export function formatExplanation(explanation: Explanation, status: number, paint: Paint): string[] {
  const { endpoint, decision, candidates, actions } = explanation
  return [
    ...formatOutcome(endpoint, decision, status, paint),
    ...(candidates.length > 0 ? ['', ...formatCandidates(candidates, paint)] : []),
    ...actions.flatMap((action) => ['', ...formatAction(action, paint)]),
  ]
}

/** Lines: each mapping with its verdict, and of those that failed the clause. */
export function formatCandidates(candidates: readonly CandidateTrace[], paint: Paint): string[] {
  const width = Math.max(...candidates.map(({ mapping }) => mapping.length))
  return candidates.flatMap((candidate) => {
    const { mapping, place, verdict, clause, params = {} } = candidate
    const name = printable(mapping).padEnd(width)
    const took = Object.entries(params).map(([key, value]) => `:${key} = ${JSON.stringify(value)}`)
    const notes = [place, notesOn[verdict], ...took].filter((note) => note !== '').map(printable)
    const head = `${markOf(verdict, paint)} ${verdict === 'matched' ? paint.bold(name) : name}`
    return [
      `${head}${gap}${paint.dim(notes.join(gap))}`,
      ...(clause ? formatClause(clause).map((line) => `    ${line}`) : []),
    ]
  })
}

const notesOn: Record<CandidateTrace['verdict'], string> = {
  matched: '',
  failed: '',
  'not-reached': 'not reached: an earlier mapping matched',
  disabled: 'disabled: it says `enabled: false`',
}

function markOf(verdict: CandidateTrace['verdict'], paint: Paint): string {
  if (verdict === 'matched') return paint.green('✓')
  return verdict === 'failed' ? paint.red('✗') : paint.dim('-')
}

function formatAction({ mapping, index, vars, fields }: ActionTrace, paint: Paint): string[] {
  const element = index === undefined ? '' : `, element ${index} of \`forEach\``
  return [
    paint.bold(`${printable(mapping)}${element}`),
    ...(vars.length > 0 ? [paint.dim('vars'), ...columns(vars).map((line) => `${gap}${line}`)] : []),
    ...formatFields(fields, paint),
  ]
}

/** Field, where it comes from, value; below it what of the request went into it. */
function formatFields(fields: readonly FieldTrace[], paint: Paint): string[] {
  const width = Math.max(0, ...fields.map(({ field }) => field.length))
  return fields.flatMap(({ field, from, value, sources }) => [
    `${gap}${printable(field).padEnd(width)}${gap}${paint.dim(from.padEnd('expression'.length))}${gap}${printable(value)}`,
    ...columns(sources).map((line) => paint.dim(`${' '.repeat(width + 2 * gap.length)}← ${line}`)),
  ])
}

function columns(sources: readonly SourceTrace[]): string[] {
  const width = Math.max(0, ...sources.map(({ path }) => path.length))
  return sources.map(({ path, value }) => `${printable(path).padEnd(width)}${gap}${printable(value)}`)
}
