/** Checks the rules of a mapping that go beyond the shape of single keys. All paths begin at the mapping. */

import { duplicateField, type Finding, longerThan, noEffect } from '../file/diagnostic.ts'
import type { ParsedFile } from '../file/parsed-file.ts'
import type { MappingValue } from '../schema/mapping-schema.ts'
import { fieldNames, fieldsOf, otherNames } from '../values/fields.ts'
import { type Path, scalarsBelow, writePath } from '../values/path.ts'
import { bareName, checkEndpointName } from './endpoint-name.ts'
import { findChangedNumbers } from './inexact-number.ts'
import { checkModuleName } from './module-name.ts'

/** The part of an item that its rules read. */
interface WrittenMapping {
  readonly value: MappingValue
  readonly source: ParsedFile
  readonly path: Path
}

/** The part of `hooks` that the rules of mappings read. */
export interface HooksOfMappings {
  readonly path: string
  /** True if runs without a `sessionKey` share a session. */
  readonly hasDefaultSession: boolean
}

/** Yields the mistakes in a mapping whose keys are all valid. */
export function* checkMapping(mapping: WrittenMapping, hooks: HooksOfMappings): Iterable<Finding> {
  const { value } = mapping
  yield* checkNames(value)
  yield* checkContent(value)
  yield* checkTargets(value)
  const { window, maxWait } = value.coalesce ?? {}
  if (window && maxWait) yield* longerThan(['coalesce'], { window }, { maxWait })
  yield* checkOpenClawSession(value)
  yield* checkHeaders(Object.keys(value.match?.headers ?? {}))
  yield* checkBodyNumbers(mapping)
  yield* checkTransform(mapping)
  const endpoint = value.match?.path
  if (endpoint !== undefined && endpoint !== '/') yield* checkMatchPath(bareName(endpoint), ['match', 'path'])
  if (!hooks.hasDefaultSession) yield* unusedBusy(value)
  yield* unusedFields(value)
  yield* oddPaths(bareName(endpoint ?? ''), `${bareName(hooks.path)}/`)
  yield* singleQuotedBreaks(mapping)
}

function* checkNames(value: MappingValue): Iterable<Finding> {
  for (const [field, other] of otherNames) {
    if (value[field] === undefined || value[other] === undefined) continue
    const problem = `has both \`${field}\` and \`${other}\`, which are two names of one field`
    yield duplicateField([other], problem, `Keep \`${field}\`.`)
  }
  if (value.mode === undefined || value.wakeMode === undefined || value.mode === value.wakeMode) return
  yield duplicateField(['wakeMode'], 'has `mode` and `wakeMode`, and they differ', 'Keep one of the two.')
}

function* checkContent(value: MappingValue): Iterable<Finding> {
  const { action, text, message, transform } = value
  const needed = action === 'wake' ? 'text' : 'message'
  if (transform !== undefined || (value[needed] ?? value[`${needed}Template`]) !== undefined) return
  const problem = `has no \`${needed}\`, which the action \`${action}\` needs`
  let hint = `Write \`${needed}:\` and what the agent is to read.`
  if (action === 'agent' && text !== undefined) hint = 'Say `action: wake`, or rename `text` to `message`.'
  if (action === 'wake' && message !== undefined) hint = 'Rename `message` to `text`, or say `action: agent`.'
  yield { path: [], code: 'MISSING_KEY', problem, hint }
}

/** Applies to a mapping, and to the adjustments of a preset. */
export function* checkTargets(value: Pick<MappingValue, 'deliverTo' | 'channel' | 'to'>): Iterable<Finding> {
  if (value.deliverTo === undefined) return
  for (const field of ['channel', 'to'] as const) {
    if (value[field] === undefined) continue
    const hint = `Write \`${field}\` into the items of \`deliverTo\`, or leave \`deliverTo\` out.`
    yield duplicateField([field], `has both \`deliverTo\` and \`${field}\``, hint)
  }
}

function* checkHeaders(names: readonly string[]): Iterable<Finding> {
  const seen = new Set<string>()
  for (const name of names) {
    const path = ['match', 'headers', name]
    const problem = 'is the same header in another case'
    const hint = 'Name it once, with a list of strings of which any may be equal.'
    if (seen.has(name.toLowerCase())) yield { path, at: 'key', code: 'DUPLICATE_FIELD', problem, hint }
    seen.add(name.toLowerCase())
  }
}

/** OpenClaw gives each run a session of its own unless `sessionMode` is `persistent`, whatever its key. */
function* checkOpenClawSession(value: MappingValue): Iterable<Finding> {
  const isOfOpenClaw = ['messageTemplate', 'textTemplate', 'agentId'].some((name) =>
    Object.hasOwn(value, name),
  )
  if (!isOfOpenClaw || value.sessionKey === undefined || Object.hasOwn(value, 'sessionMode')) return
  const problem =
    'joins runs to one conversation, which OpenClaw keeps apart without `sessionMode: persistent`'
  const hint = 'Remove it for a fresh conversation each time, or write `sessionMode: persistent` beside it.'
  yield { path: ['sessionKey'], severity: 'warning', code: 'SHARED_KEY', problem, hint }
}

function* checkBodyNumbers(mapping: WrittenMapping): Iterable<Finding> {
  const path = ['match', 'body']
  const body = mapping.value.match?.body
  yield* checkNumbers(mapping, body, path, (digits, below) => {
    const field = writePath(below.slice(path.length).filter((key) => typeof key === 'string'))
    return `Compare it as text instead: \`when: ${field} = "${digits}"\`.`
  })
  for (const number of findChangedNumbers(mapping.source, body, [...mapping.path, ...path])) {
    if (number.isInexact) continue
    const problem = `is the number ${number.value}, not the string ${number.written}`
    const hint = `Put a string in quotes: "${number.written}". For the number write ${number.value}.`
    const below = number.path.slice(mapping.path.length)
    yield { path: below, severity: 'warning', code: 'LITERAL_NUMBER', problem, hint }
  }
}

/** `advice` returns what to write instead of a number with these digits at this path. */
function* checkNumbers(
  { source, path }: WrittenMapping,
  value: unknown,
  at: Path,
  advice: (digits: string, path: Path) => string,
): Iterable<Finding> {
  const problem = 'is a number beyond 2^53, which would lose digits'
  for (const { path: found, written, isInexact } of findChangedNumbers(source, value, [...path, ...at])) {
    const below = found.slice(path.length)
    if (isInexact) yield { path: below, code: 'INEXACT_NUMBER', problem, hint: advice(written, below) }
  }
}

/** `transform.with` is read once for all requests, so a placeholder in it is passed to the transform as it is written. */
function* checkTransform(mapping: WrittenMapping): Iterable<Finding> {
  const { transform } = mapping.value
  if (transform === undefined) return
  yield* checkModuleName(transform.module, ['transform', 'module'], 'value')
  const path = ['transform', 'with']
  yield* checkNumbers(mapping, transform.with, path, (digits) => `Give it as text: "${digits}".`)
  for (const [at, written] of scalarsBelow(transform.with, path)) {
    const [placeholder] = (typeof written === 'string' && /\{\{[^{}]+\}\}/.exec(written)) || []
    if (placeholder === undefined) continue
    const problem = `holds \`${placeholder}\`, and nothing is rendered there`
    const hint =
      '`with` is the same for every request. The transform reads the payload itself, and as `vars` what the mapping computes.'
    yield { path: at, severity: 'warning', code: 'UNRENDERED_TEMPLATE', problem, hint }
  }
}

/** Applies to `match.path`, and to the `path` under which a preset is served. */
export function checkMatchPath(endpoint: string, path: Path): Iterable<Finding> {
  if (endpoint !== 'wake' && endpoint !== 'agent') return checkEndpointName(endpoint, path, 'value')
  const hint = '`wake` and `agent` take no mappings; choose another name.'
  return [{ path, code: 'RESERVED_ENDPOINT', problem: 'is the name of a built-in endpoint', hint }]
}

/** Paths that are valid but hardly intended. In a fix, `$1` is what the pattern found. */
const odd: readonly (readonly [RegExp, problem: string, fix: string])[] = [
  [
    /\*/,
    'holds a `*`, which stands for itself',
    'Write `:name` for any one segment; without `path` a mapping serves every endpoint.',
  ],
  [
    /(?:^|\/)[{<[]:?(\w+)[}>\]](?:\/|$)/,
    'is no parameter as it is written, and stands for itself',
    'Write `:$1` for any one segment.',
  ],
  [
    /^(?:POST|GET|PUT|PATCH|DELETE|ANY)\s+\/*(.*)$/i,
    'names a method, which is no part of an address',
    'Write `$1`: endpoints take POST.',
  ],
  [
    /^\^|\$$|\(.*\)|\.\*/,
    'looks like a regular expression, and stands for itself',
    'Write the name, or `:name` for any one segment.',
  ],
  [/%[0-9a-f]{2}/i, 'holds a `%` code, and names are compared once decoded', 'Write the character itself.'],
]

function* oddPaths(endpoint: string, prefix: string): Iterable<Finding> {
  const at = { path: ['match', 'path'], severity: 'warning', code: 'ODD_PATH' } as const
  if (endpoint.startsWith(prefix)) {
    const hint = `Write \`${endpoint.slice(prefix.length)}\`: \`hooks.path\` is no part of it.`
    yield { ...at, problem: `is served at /${prefix}${endpoint}`, hint }
  }
  for (const [pattern, problem, fix] of odd) {
    const found = pattern.exec(endpoint)
    if (found) yield { ...at, problem, hint: fix.replace('$1', () => found[1] ?? '') }
  }
}

const templates = [...fieldNames, ...otherNames.map(([, other]) => other)]

/** Warns of `'a ⏎ b'`, which is two lines in JSON5 and one in YAML. */
function* singleQuotedBreaks({ value, source, path }: WrittenMapping): Iterable<Finding> {
  for (const field of templates) {
    const text = value[field]
    const [, written] = (typeof text === 'string' && /(?<!\\)(?:\\\\)*(\\[nt])/.exec(text)) || []
    if (written === undefined || !source.isSingleQuoted([...path, field])) continue
    const meant = written === '\\n' ? 'line break' : 'tab'
    const problem = `holds \`${written}\` in single quotes, where it is no ${meant}`
    const hint = 'Write the string in double quotes. A backslash that is meant is doubled there.'
    yield { path: [field], severity: 'warning', code: 'SINGLE_QUOTED_BREAK', problem, hint }
  }
}

const notOfWakes = [
  ...fieldsOf.agent.filter((name) => !fieldsOf.wake.includes(name)),
  ...['deliverTo', 'runner', 'busy', 'coalesce'],
]
const unused: Readonly<Record<MappingValue['action'], readonly string[]>> = {
  wake: [...notOfWakes, 'messageTemplate'],
  agent: ['text', 'textTemplate'],
}

/** Warns of fields that have no effect on the mapping's action. */
function* unusedFields(value: MappingValue): Iterable<Finding> {
  for (const field of unused[value.action]) {
    if (value[field as keyof MappingValue] === undefined) continue
    const problem = `has no effect on the action \`${value.action}\``
    yield { ...noEffect([field], '', 'Remove it, or change `action`.'), problem }
  }
}

/** A transform may still set a session key. */
function* unusedBusy({ action, busy, sessionKey, transform }: MappingValue): Iterable<Finding> {
  const hasSession = (sessionKey ?? '').trim() !== '' || transform !== undefined
  if (action === 'wake' || busy !== 'reject' || hasSession) return
  const why = 'without `sessionKey` each run has a session of its own'
  yield noEffect(['busy'], why, 'Write the `sessionKey` whose runs are meant, or leave `busy` out.')
}
