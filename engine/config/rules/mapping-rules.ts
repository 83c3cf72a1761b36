/** Checks the rules of a mapping that go beyond the shape of single keys. */

import type { Finding } from '../file/diagnostic.ts'
import { findingOf, noEffect } from '../file/key-fault.ts'
import type { ParsedFile } from '../file/parsed-file.ts'
import type { MappingValue } from '../schema/mapping-schema.ts'
import { fieldNames, fieldsOf, otherNames } from '../values/fields.ts'
import { type Path, scalarsBelow, writePath } from '../values/path.ts'
import { bareName, checkEndpointName } from './endpoint-name.ts'
import { findInexactNumbers, findRewrittenNumbers } from './inexact-number.ts'
import { longerThan } from './longer-than.ts'
import { checkModuleName } from './module-name.ts'

/** The part of an item that its rules read. */
interface WrittenMapping {
  readonly value: MappingValue
  readonly source: ParsedFile
  readonly path: Path
}

/** Yields the mistakes in a mapping whose keys are all valid. */
export function* checkMapping({ value, source, path }: WrittenMapping): Iterable<Finding> {
  yield* checkNames(value, path)
  yield* checkContent(value, path)
  yield* checkTargets(value, path)
  const { window, maxWait } = value.coalesce ?? {}
  if (window && maxWait) yield* longerThan([...path, 'coalesce'], { window }, { maxWait })
  yield* checkOpenClawSession(value, path)
  yield* checkHeaders(Object.keys(value.match?.headers ?? {}), [...path, 'match', 'headers'])
  yield* checkNumbers(source, value.match?.body, [...path, 'match', 'body'], compareAsText)
  for (const number of findRewrittenNumbers(source, value.match?.body, [...path, 'match', 'body']))
    yield {
      path: number.path,
      severity: 'warning',
      code: 'LITERAL_NUMBER',
      message: `\`${writePath(number.path)}\` is the number ${number.value}, not the string ${number.written}`,
      hint: `Put a string in quotes: "${number.written}". For the number write ${number.value}.`,
    }
  if (value.transform) {
    const finding = checkModuleName(value.transform.module, [...path, 'transform', 'module'], 'value')
    if (finding) yield finding
    const parameters = [...path, 'transform', 'with']
    yield* checkNumbers(source, value.transform.with, parameters, (digits) => `Give it as text: "${digits}".`)
  }
  const endpoint = value.match?.path
  if (endpoint !== undefined && endpoint !== '/')
    yield* checkMatchPath(bareName(endpoint), [...path, 'match', 'path'])
}

function* checkNames(value: MappingValue, path: Path): Iterable<Finding> {
  const name = writePath(path)
  for (const [field, other] of otherNames) {
    if (value[field] === undefined || value[other] === undefined) continue
    const message = `\`${name}\` has both \`${field}\` and \`${other}\`, which are two names of one field`
    yield { path: [...path, other], at: 'key', code: 'DUPLICATE_FIELD', message, hint: `Keep \`${field}\`.` }
  }
  if (value.mode !== undefined && value.wakeMode !== undefined && value.mode !== value.wakeMode) {
    const message = `\`${name}\` has \`mode\` and \`wakeMode\`, and they differ`
    const hint = 'Keep one of the two.'
    yield { path: [...path, 'wakeMode'], at: 'key', code: 'DUPLICATE_FIELD', message, hint }
  }
}

function* checkContent(value: MappingValue, path: Path): Iterable<Finding> {
  if (value.transform !== undefined) return
  const needed = value.action === 'wake' ? 'text' : 'message'
  if (value[needed] !== undefined || value[`${needed}Template`] !== undefined) return
  const message = `\`${writePath(path)}\` has no \`${needed}\`, which the action \`${value.action}\` needs`
  const hint = contentHint(value, needed)
  yield { path, code: 'MISSING_KEY', message, hint }
}

function contentHint({ action, text, message }: MappingValue, needed: string): string {
  if (action === 'agent' && text !== undefined) return 'With `text`, say `action: wake`.'
  if (action === 'wake' && message !== undefined) return 'With `message`, say `action: agent`.'
  return `Write \`${needed}:\` and what the agent is to read.`
}

/** Applies to a mapping, and to the adjustments of a preset. */
export function* checkTargets(
  value: Pick<MappingValue, 'deliverTo' | 'channel' | 'to'>,
  path: Path,
): Iterable<Finding> {
  if (value.deliverTo === undefined) return
  for (const field of ['channel', 'to'] as const) {
    if (value[field] === undefined) continue
    const message = `\`${writePath(path)}\` has both \`deliverTo\` and \`${field}\``
    const hint = `Write \`${field}\` into the items of \`deliverTo\`, or leave \`deliverTo\` out.`
    yield { path: [...path, field], at: 'key', code: 'DUPLICATE_FIELD', message, hint }
  }
}

function* checkHeaders(names: readonly string[], path: Path): Iterable<Finding> {
  const seen = new Set<string>()
  for (const name of names) {
    const folded = name.toLowerCase()
    if (seen.has(folded)) {
      const message = `\`${writePath([...path, name])}\` is the same header in another case`
      const hint = 'Name it once, with a list of texts of which any may be equal.'
      yield { path: [...path, name], at: 'key', code: 'DUPLICATE_FIELD', message, hint }
    }
    seen.add(folded)
  }
}

/** OpenClaw gives each run a session of its own unless `sessionMode` is `persistent`, whatever its key. */
function* checkOpenClawSession(value: MappingValue, path: Path): Iterable<Finding> {
  const isOfOpenClaw = ['messageTemplate', 'textTemplate', 'agentId'].some((name) =>
    Object.hasOwn(value, name),
  )
  if (!isOfOpenClaw || value.sessionKey === undefined || Object.hasOwn(value, 'sessionMode')) return
  yield {
    path: [...path, 'sessionKey'],
    severity: 'warning',
    code: 'SHARED_KEY',
    message: `\`${writePath([...path, 'sessionKey'])}\` joins runs to one conversation, which OpenClaw keeps apart without \`sessionMode: persistent\``,
    hint: 'Remove it for a fresh conversation each time, or write `sessionMode: persistent` beside it.',
  }
}

/** `advice` returns what to write instead of a number with these digits at this path below `path`. */
function* checkNumbers(
  source: ParsedFile,
  value: unknown,
  path: Path,
  advice: (digits: string, below: Path) => string,
): Iterable<Finding> {
  for (const { path: found, digits } of findInexactNumbers(source, value, path)) {
    const message = `\`${writePath(found)}\` is a number beyond 2^53, which would lose digits`
    yield { path: found, code: 'INEXACT_NUMBER', message, hint: advice(digits, found.slice(path.length)) }
  }
}

function compareAsText(digits: string, below: Path): string {
  const field = writePath(below.filter((key) => typeof key === 'string'))
  return `Compare it as text instead: \`when: ${field} = "${digits}"\`.`
}

/** Applies to `match.path`, and to the `path` under which a preset is served. */
export function* checkMatchPath(endpoint: string, path: Path): Iterable<Finding> {
  if (endpoint === 'wake' || endpoint === 'agent') {
    const message = `\`${writePath(path)}\` is the name of a built-in endpoint`
    const hint = '`wake` and `agent` take no mappings; choose another name.'
    yield { path, code: 'RESERVED_ENDPOINT', message, hint }
    return
  }
  const finding = checkEndpointName(endpoint, path, 'value')
  if (finding) yield finding
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

export function* oddPaths({ value, path }: WrittenMapping, hooksPath: string): Iterable<Finding> {
  const endpoint = bareName(value.match?.path ?? '')
  const prefix = `${bareName(hooksPath)}/`
  const keys = ['match', 'path']
  if (endpoint.startsWith(prefix)) {
    const hint = `Write \`${endpoint.slice(prefix.length)}\`: \`hooks.path\` is no part of it.`
    yield findingOf({ keys, code: 'ODD_PATH', problem: `is served at /${prefix}${endpoint}`, hint }, path)
  }
  for (const [pattern, problem, fix] of odd) {
    const found = pattern.exec(endpoint)
    if (!found) continue
    const hint = fix.replace('$1', () => found[1] ?? '')
    yield findingOf({ keys, code: 'ODD_PATH', problem, hint }, path)
  }
}

const templates = [...fieldNames, ...otherNames.map(([, other]) => other)]

/** Warns of `'a ⏎ b'`, which is two lines in JSON5 and one in YAML. */
export function* singleQuotedBreaks({ value, source, path }: WrittenMapping): Iterable<Finding> {
  for (const field of templates) {
    const text = value[field]
    const [, written] = (typeof text === 'string' && /(?<!\\)(?:\\\\)*(\\[nt])/.exec(text)) || []
    const place = [...path, field]
    if (written === undefined || !source.isSingleQuoted(place)) continue
    yield {
      path: place,
      code: 'SINGLE_QUOTED_BREAK',
      message: `\`${writePath(place)}\` holds \`${written}\` in single quotes, where it is no ${written === '\\n' ? 'line break' : 'tab'}`,
      hint: 'Write the text in double quotes. A backslash that is meant is doubled there.',
    }
  }
}

/** `transform.with` is read once for all requests, so a placeholder in it is passed to the transform as it is written. */
export function* unrenderedParameters({ value, path }: WrittenMapping): Iterable<Finding> {
  for (const [at, written] of scalarsBelow(value.transform?.with, [...path, 'transform', 'with'])) {
    const [placeholder] = (typeof written === 'string' && /\{\{[^{}]+\}\}/.exec(written)) || []
    if (placeholder === undefined) continue
    yield {
      path: at,
      code: 'UNRENDERED_TEMPLATE',
      message: `\`${writePath(at)}\` holds \`${placeholder}\`, and nothing is rendered there`,
      hint: '`with` is the same for every request. The transform reads the payload itself, and as `vars` what the mapping computes.',
    }
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

/** Warns of fields that have no effect on the mapping's action, or beside its other fields. */
export function* unusedFields(
  { value, path }: WrittenMapping,
  hasDefaultSession: boolean,
): Iterable<Finding> {
  if (!hasDefaultSession) yield* unusedBusy(value, path)
  for (const field of unused[value.action]) {
    if (value[field as keyof MappingValue] === undefined) continue
    const message = `\`${writePath([...path, field])}\` has no effect on the action \`${value.action}\``
    const hint = 'Remove it, or change `action`.'
    yield { path: [...path, field], at: 'key', code: 'UNUSED_FIELD', message, hint }
  }
}

/** A transform may still set a session key. */
function* unusedBusy({ action, busy, sessionKey, transform }: MappingValue, path: Path): Iterable<Finding> {
  const hasSession = (sessionKey ?? '').trim() !== '' || transform !== undefined
  if (action === 'wake' || busy !== 'reject' || hasSession) return
  const why = 'without `sessionKey` each run has a session of its own'
  const hint = 'Write the `sessionKey` whose runs are meant, or leave `busy` out.'
  yield findingOf(noEffect(['busy'], why, hint), path)
}
