/** Formats an explanation: the mappings in their order, then the fields of each action with their sources. */

import type {
  ActionTrace,
  CandidateTrace,
  Explanation,
  FieldTrace,
  HookRequest,
  SourceTrace,
} from '@reveille/engine'
import type { Paint } from '../../../observe/paint.ts'
import { printable } from '../../../observe/printable.ts'
import { wrapWords } from '../../../observe/wrap-words.ts'
import { fitWidth } from '../../print.ts'
import { formatClause } from '../clause.ts'
import { formatOutcome, formatReading } from './outcome.ts'

const gap = '  '
/** The indentation of a clause. */
const indent = ' '.repeat(4)

export interface Setting {
  readonly paint: Paint
  /** The width of the terminal; absent: nothing is cut. */
  readonly columns: number | undefined
  /** A place of the trace, as the user would write it. */
  placeOf(place: string): string
}

/** Returns lines. */
export function formatExplanation(
  explanation: Explanation,
  status: number,
  setting: Setting,
  request?: HookRequest,
): string[] {
  const { endpoint, decision, candidates, actions } = explanation
  return [
    ...formatOutcome(endpoint, decision, status, setting.paint),
    ...formatReading(request),
    ...(candidates.length > 0 ? ['', ...formatCandidates(candidates, setting)] : []),
    ...actions.filter(hasTrace).flatMap((action) => ['', ...formatAction(action, setting)]),
  ]
}

/** Returns lines: each mapping with its verdict, and the clause of those that failed. */
export function formatCandidates(
  candidates: readonly CandidateTrace[],
  { paint, columns = Number.POSITIVE_INFINITY, placeOf }: Setting,
): string[] {
  const width = Math.max(...candidates.map(({ mapping }) => mapping.length))
  const isMatched = candidates.some(({ verdict }) => verdict === 'matched')
  return candidates.flatMap((candidate) => {
    const { mapping, place, verdict, clause, params = {} } = candidate
    const name = printable(mapping).padEnd(width)
    const took = Object.entries(params).map(([key, value]) => `:${key} = ${JSON.stringify(value)}`)
    const notes = [placeOf(place), noteOn(candidate, isMatched), ...took]
      .filter((note) => note !== '')
      .map(printable)
    const head = `${markOf(verdict, paint)} ${verdict === 'matched' ? paint.bold(name) : name}`
    const room = columns - width - 2 - gap.length
    const beside = notes.filter((_, index) => notes.slice(0, index + 1).join(gap).length <= room)
    const below = notes.slice(beside.length).flatMap((note) => wrapWords(note, columns - indent.length))
    return [
      beside.length === 0 ? head.trimEnd() : `${head}${gap}${paint.dim(beside.join(gap))}`,
      ...below.map((line) => `${indent}${paint.dim(line)}`),
      ...(clause ? formatClause(clause, columns - indent.length).map((line) => `${indent}${line}`) : []),
    ]
  })
}

function noteOn({ verdict, clause }: CandidateTrace, isMatched: boolean): string {
  if (clause?.isOnly) return 'all other conditions match'
  if (verdict === 'disabled') return 'disabled: it says `enabled: false`'
  if (verdict !== 'not-reached') return ''
  return isMatched ? 'not reached: an earlier mapping matched' : 'not reached: the request was ignored before'
}

function markOf(verdict: CandidateTrace['verdict'], paint: Paint): string {
  if (verdict === 'matched') return paint.green('✓')
  return verdict === 'failed' ? paint.red('✗') : paint.dim('-')
}

/** An action that failed before it had a field is left out. */
function hasTrace({ vars, fields }: ActionTrace): boolean {
  return vars.length > 0 || fields.length > 0
}

function formatAction({ mapping, index, vars, fields }: ActionTrace, setting: Setting): string[] {
  const { paint, columns = Number.POSITIVE_INFINITY } = setting
  const element = index === undefined ? '' : `, element ${index} of \`forEach\``
  const computed = columnsOf(vars).map((line) => fitWidth(`${gap}${gap}${line}`, columns))
  return [
    paint.bold(`${printable(mapping)}${element}`),
    ...(vars.length > 0 ? [`${gap}vars`, ...computed.map(paint.dim)] : []),
    ...formatFields(fields, paint, columns),
  ]
}

/** Field, where it comes from, value; below it what of the request went into it. */
function formatFields(fields: readonly FieldTrace[], paint: Paint, columns: number): string[] {
  const width = Math.max(0, ...fields.map(({ field }) => field.length))
  const room = columns - width - 3 * gap.length - origins
  return fields.flatMap(({ field, from, value, sources }) => {
    const head = `${gap}${printable(field).padEnd(width)}${gap}${paint.dim(from.padEnd(origins))}${gap}`
    const [setting] = from === 'default' ? sources : []
    // The value of a setting is that of the field.
    if (setting !== undefined) return [`${head}${printable(value)}${gap}${paint.dim(`← ${setting.path}`)}`]
    return [
      `${head}${fitWidth(printable(value), room)}`,
      ...columnsOf(sources).map((line) =>
        paint.dim(fitWidth(`${' '.repeat(width + 2 * gap.length)}← ${line}`, columns)),
      ),
    ]
  })
}

/** The longest word for where a field comes from. */
const origins = 'expression'.length

function columnsOf(sources: readonly SourceTrace[]): string[] {
  const width = Math.max(0, ...sources.map(({ path }) => path.length))
  return sources.map(({ path, value }) => `${printable(path).padEnd(width)}${gap}${printable(value)}`)
}
