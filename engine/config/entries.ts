/** Owns mapping entries: from the items of a `mappings:` list to entries whose other names are folded into one. */

import type { HeaderPattern, MappingEntry, MappingSource } from './configuration.ts'
import { checkEndpointName } from './endpoint-name.ts'
import type { Findings } from './findings.ts'
import type { MappingValue } from './mapping-schema.ts'
import { type Path, writePath } from './path.ts'
import type { Source } from './source.ts'
import type { Finding } from './violation.ts'

/** One item of a list, with the place of the list. */
export interface Item {
  readonly value: MappingValue
  readonly source: Source
  readonly path: Path
  /** From 1, for the id of an entry that has none. */
  readonly position: number
}

type Field = keyof MappingValue & string

/** Field -> the other name it may be written under. */
const otherNames: readonly (readonly [Field, Field])[] = [
  ['text', 'textTemplate'],
  ['message', 'messageTemplate'],
]
const wakeFields: readonly Field[] = ['text', 'textTemplate']
const agentFields: readonly Field[] = [
  'message',
  'messageTemplate',
  'name',
  'sessionKey',
  'deliver',
  'channel',
  'to',
  'model',
  'thinking',
  'timeoutSeconds',
  'runner',
]

/** Entries of the items that are sound and enabled, in order; everything else is reported. */
export function createEntries(items: readonly Item[], findings: Findings): MappingEntry[] {
  const entries: MappingEntry[] = []
  const taken = new Map<string, Item>()
  for (const item of items) {
    const { value, source, path } = item
    if (!findings.isSound(source, path)) continue
    const id = value.id ?? `${source.name}#${item.position}`
    const other = taken.get(id)
    if (other) findings.report(source, duplicateId(id, item, other))
    else taken.set(id, item)
    for (const finding of checkFields(item)) findings.report(source, finding)
    for (const finding of unusedFields(item)) findings.report(source, finding, 'warning')
    for (const place of source.cutTexts(path)) findings.add({ ...cutText, place })
    if (value.enabled) entries.push(createEntry(id, item))
  }
  return entries
}

const cutText = {
  severity: 'warning',
  code: 'TEMPLATE_IN_COMMENT',
  message: 'The text ends here: YAML takes ` #` and what follows for a comment',
  hint: 'Put the whole text in quotes.',
} as const

function duplicateId(id: string, { path, value }: Item, other: Item): Finding {
  const place = other.source.place(other.path)
  return {
    path: value.id === undefined ? path : [...path, 'id'],
    code: 'DUPLICATE_ID',
    message: `The id \`${id}\` is already that of the mapping at ${other.source.name}:${place.line}:${place.column}`,
    hint: 'Every mapping has an id of its own.',
  }
}

function* checkFields({ value, path }: Item): Iterable<Finding> {
  const name = writePath(path)
  for (const [field, other] of otherNames) {
    if (value[field] === undefined || value[other] === undefined) continue
    const message = `\`${name}\` has both \`${field}\` and \`${other}\`, which are two names of one field`
    yield { path: [...path, other], at: 'key', code: 'DUPLICATE_FIELD', message, hint: `Keep \`${field}\`.` }
  }
  if (value.mode !== undefined && value.wakeMode !== undefined && value.mode !== value.wakeMode) {
    const message = `\`${name}\` has \`mode\` and \`wakeMode\`, and they differ`
    yield {
      path: [...path, 'wakeMode'],
      at: 'key',
      code: 'DUPLICATE_FIELD',
      message,
      hint: 'Keep one of the two.',
    }
  }
  const needed = value.action === 'wake' ? 'text' : 'message'
  if (value[needed] === undefined && value[`${needed}Template`] === undefined) {
    const message = `\`${name}\` has no \`${needed}\`, which the action \`${value.action}\` needs`
    const hint =
      value.action === 'agent' && value.text !== undefined ? 'With `text`, say `action: wake`.' : undefined
    yield {
      path,
      code: 'MISSING_KEY',
      message,
      hint: hint ?? `Write \`${needed}:\` and what the agent is to read.`,
    }
  }
  yield* checkHeaders(Object.keys(value.match?.headers ?? {}), [...path, 'match', 'headers'])
  const where = [...path, 'match', 'path']
  const endpoint = value.match?.path
  if (endpoint === undefined || endpoint === '/') return
  if (endpoint === 'wake' || endpoint === 'agent') {
    const message = `\`${writePath(where)}\` is the name of a built-in endpoint`
    yield {
      path: where,
      code: 'RESERVED_ENDPOINT',
      message,
      hint: '`wake` and `agent` take no mappings; choose another name.',
    }
    return
  }
  const finding = checkEndpointName(endpoint, where, 'value')
  if (finding) yield finding
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

function* unusedFields({ value, path }: Item): Iterable<Finding> {
  for (const field of value.action === 'wake' ? agentFields : wakeFields) {
    if (value[field] === undefined) continue
    const message = `\`${writePath([...path, field])}\` has no effect on the action \`${value.action}\``
    yield {
      path: [...path, field],
      at: 'key',
      code: 'UNUSED_FIELD',
      message,
      hint: 'Remove it, or change `action`.',
    }
  }
}

function createEntry(id: string, { value, source, path }: Item): MappingEntry {
  const { line, column } = source.place(path)
  return Object.freeze({
    id,
    origin: { kind: 'configuration' as const, name: source.name },
    value: foldNames(value),
    label: `${source.name}:${line}:${column}`,
    locate: (below: Path, offset?: number) => {
      const written = [...path, ...writtenPath(value, below)]
      return offset === undefined ? source.place(written) : source.placeInText(written, offset)
    },
  })
}

function foldNames(value: MappingValue): MappingSource {
  const { id: _id, enabled: _enabled, match, textTemplate, messageTemplate, mode, wakeMode, ...rest } = value
  const wakeWord = mode ?? wakeMode
  return deepFreeze({
    ...(rest as Omit<MappingSource, 'match'>),
    ...(match && { match: foldMatch(match) }),
    ...present('text', value.text ?? textTemplate),
    ...present('message', value.message ?? messageTemplate),
    ...present(value.action === 'wake' ? 'mode' : 'wakeMode', wakeWord),
  })
}

function present<Name extends string>(name: Name, value: string | undefined): { [key in Name]?: string } {
  return value === undefined ? {} : ({ [name]: value } as { [key in Name]: string })
}

function foldMatch({
  path,
  source,
  headers,
  when,
}: NonNullable<MappingValue['match']>): NonNullable<MappingSource['match']> {
  const folded: Record<string, HeaderPattern> = Object.create(null)
  for (const [name, wanted] of Object.entries(headers ?? {})) folded[name.toLowerCase()] = wanted
  return {
    ...(path === '/' ? {} : present('path', path)),
    ...present('source', source),
    ...(headers && { headers: folded }),
    ...present('when', when),
  }
}

/** The path as the author wrote it: under the other name, or the header in another case. */
function writtenPath(value: MappingValue, path: Path): Path {
  const [first, second, third, ...rest] = path
  if (first === 'match' && second === 'headers' && typeof third === 'string') {
    const name = Object.keys(value.match?.headers ?? {}).find((one) => one.toLowerCase() === third)
    return [first, second, name ?? third, ...rest]
  }
  const pair = [...otherNames, ['mode', 'wakeMode'] as const, ['wakeMode', 'mode'] as const].find(
    ([name, other]) => name === first && value[name] === undefined && value[other] !== undefined,
  )
  return pair ? [pair[1], ...path.slice(1)] : path
}

/** Freezes what loading itself built; no value comes from elsewhere, and none is a circle. */
export function deepFreeze<Value>(value: Value): Value {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.values(value).forEach(deepFreeze)
    Object.freeze(value)
  }
  return value
}
