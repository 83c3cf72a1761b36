/** Formats how a request ends, or would end: the outcome, the mappings in their order, the fields of each action. Functions return lines. */

import type {
  ActionTrace,
  CandidateTrace,
  Decision,
  Explanation,
  FieldTrace,
  HookRequest,
  SourceTrace,
} from '@reveille/engine'
import type { Paint } from '../../../observe/paint.ts'
import { printable } from '../../../observe/printable.ts'
import { type Io, paintFor } from '../../io.ts'
import { fitWidth } from '../../print.ts'
import { formatClause } from '../clause.ts'

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

export function formatOutcome(endpoint: string, decision: Decision, status: number, paint: Paint): string[] {
  const outcome = 'code' in decision ? paint.red(decision.outcome) : paint.green(decision.outcome)
  const head = `/${printable(endpoint)}  ${paint.bold(String(status))}  ${outcome}`
  const pointed = (all: readonly { readonly pointer: string; readonly message: string }[]) =>
    all.map(({ pointer, message }) => `  ${printable(pointer)}  ${printable(message)}`)
  if (decision.outcome === 'accepted') {
    const mappings = [...new Set(decision.actions.map(({ mapping }) => mapping))].filter(Boolean)
    const by = mappings.length > 0 ? `  by ${printable(mappings.join(', '))}` : ''
    return [`${head}${by}`, ...pointed(decision.warnings ?? [])]
  }
  if (!('code' in decision)) return [`${head}  ${printable(decision.reason)}`]
  const { code, message, reason, details, cause } = decision
  const isBare = reason === undefined && decision.outcome === 'failed' && cause instanceof Error
  return [
    `${head}  ${code}  ${printable(reason ?? message)}`,
    ...pointed(details),
    ...(isBare ? [`  ${printable(cause.message)}`] : []),
  ]
}

/** Says how a body was read that is no JSON, since its author may have meant JSON. */
export function formatReading(
  request: Partial<Pick<HookRequest, 'isForm' | 'unwrapped'>> | undefined,
): string[] {
  if (request?.unwrapped !== undefined) return ['  body  read as a form, and its field `payload` as JSON']
  return request?.isForm === true ? ['  body  read as a form: every value is a text'] : []
}

export interface Stopped {
  readonly module: string
  readonly target: string
  /** `file:line:column`. */
  readonly place?: string
}

/** Where transforms were stopped, and the way out. */
export function formatStops(stops: readonly Stopped[]): string[] {
  if (stops.length === 0) return []
  const lines = stops.map(({ module, target, place }) => {
    const where = place === undefined ? '' : ` (${place})`
    return `stopped  ${printable(`${module} at ${target}${where}`)}`
  })
  const advice = 'A dry run reaches nothing outside; --call-out lets transforms do so.'
  return [...lines, advice]
}

/** A text behind a bar, which a text from a payload cannot leave. */
export function frame(title: string, text: string, io: Io): string[] {
  const { bold, cyan } = paintFor(io)
  const lines = text.split(/\r?\n/).map(printable)
  return [
    `${cyan('╭')} ${bold(title)}`,
    ...lines.map((line) => (line === '' ? cyan('│') : `${cyan('│')} ${line}`)),
    cyan('╰'),
  ]
}

export function formatExplanation(
  { endpoint, decision, candidates, actions }: Explanation,
  status: number,
  setting: Setting,
  request?: Parameters<typeof formatReading>[0],
): string[] {
  // An action that failed before it had a field is left out.
  const traced = actions.filter(({ vars, fields }) => vars.length > 0 || fields.length > 0)
  return [
    ...formatOutcome(endpoint, decision, status, setting.paint),
    ...formatReading(request),
    ...(candidates.length > 0 ? ['', ...formatCandidates(candidates, setting)] : []),
    ...traced.flatMap((action) => ['', ...formatAction(action, setting)]),
  ]
}

/** Each mapping with its verdict, and the clause of those that failed. */
export function formatCandidates(
  candidates: readonly CandidateTrace[],
  { paint, placeOf }: Setting,
): string[] {
  const width = Math.max(...candidates.map(({ mapping }) => mapping.length))
  const isMatched = candidates.some(({ verdict }) => verdict === 'matched')
  const marks = { matched: paint.green('✓'), failed: paint.red('✗'), other: paint.dim('-') }
  return candidates.flatMap((candidate) => {
    const { mapping, place, verdict, clause, params = {} } = candidate
    const name = printable(mapping).padEnd(width)
    const took = Object.entries(params).map(([key, value]) => `:${key} = ${JSON.stringify(value)}`)
    const notes = [placeOf(place), noteOn(candidate, isMatched), ...took].filter(Boolean).map(printable)
    const mark = verdict === 'matched' || verdict === 'failed' ? marks[verdict] : marks.other
    const head = `${mark} ${verdict === 'matched' ? paint.bold(name) : name}`
    return [
      `${head}${gap}${paint.dim(notes.join(gap))}`,
      ...(clause ? formatClause(clause).map((line) => `${indent}${line}`) : []),
    ]
  })
}

function noteOn({ verdict, clause }: CandidateTrace, isMatched: boolean): string {
  if (clause?.isOnly) return 'all other conditions match'
  if (verdict === 'disabled') return 'disabled: it says `enabled: false`'
  if (verdict !== 'not-reached') return ''
  return isMatched ? 'not reached: an earlier mapping matched' : 'not reached: the request was ignored before'
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

/** Maximum length of the word for a field's origin. */
const origins = 'expression'.length

/** Field, where it comes from, value; below it what of the request went into it. */
function formatFields(fields: readonly FieldTrace[], paint: Paint, columns: number): string[] {
  const width = Math.max(0, ...fields.map(({ field }) => field.length))
  const room = columns - width - 3 * gap.length - origins
  return fields.flatMap(({ field, from, value, sources }) => {
    const head = `${gap}${printable(field).padEnd(width)}${gap}${paint.dim(from.padEnd(origins))}${gap}`
    const [setting] = from === 'default' ? sources : []
    // The value of a setting is that of the field.
    if (setting !== undefined) return [`${head}${printable(value)}${gap}${paint.dim(`← ${setting.path}`)}`]
    const left = ' '.repeat(width + 2 * gap.length)
    return [
      `${head}${fitWidth(printable(value), room)}`,
      ...columnsOf(sources).map((line) => paint.dim(fitWidth(`${left}← ${line}`, columns))),
    ]
  })
}

function columnsOf(sources: readonly SourceTrace[]): string[] {
  const width = Math.max(0, ...sources.map(({ path }) => path.length))
  return sources.map(({ path, value }) => `${printable(path).padEnd(width)}${gap}${printable(value)}`)
}
