/** Owns mapping entries: from the items of `mappings:` lists to entries whose other names are folded into one. */

import type { HeaderPattern, MappingEntry, MappingSource, Origin } from '../configuration.ts'
import type { Findings } from '../diagnostic/findings.ts'
import { otherNames } from '../fields.ts'
import type { Source } from '../file/source.ts'
import { freezeDeep } from '../freeze-deep.ts'
import type { Path } from '../path.ts'
import type { MappingValue } from '../schema/mapping-schema.ts'
import type { Finding } from '../schema/violation.ts'
import { bareName } from './endpoint-name.ts'
import { checkMapping, oddPaths, unusedFields } from './mapping-rules.ts'
import { moduleName } from './module-name.ts'
import type { PayloadSchema, PayloadSchemas } from './payload-schema.ts'

/** One item of a list, with the place of the list. */
export interface Item<Value = MappingValue> {
  readonly value: Value
  readonly source: Source
  readonly path: Path
  /** From 1, for the name of an entry that has none. */
  readonly position: number
  readonly origin: Origin
  /** Where a field was written instead, by its name; that of `match.path` is `match.path`. */
  readonly overridden?: ReadonlyMap<string, Written>
}

export interface Written {
  readonly source: Source
  readonly path: Path
}

export interface Entries {
  readonly mappings: readonly MappingEntry[]
  readonly disabled: readonly MappingEntry[]
  /** Ids of preset mappings that gave way to the operator's, by preset. */
  readonly replaced: ReadonlyMap<string, ReadonlySet<string>>
}

/** Entries of the items that are sound, in order; everything else is reported. The operator's come before presets. */
export async function createEntries(
  items: readonly Item[],
  schemas: PayloadSchemas,
  findings: Findings,
  hooksPath: string,
): Promise<Entries> {
  const entries = { mappings: [] as MappingEntry[], disabled: [] as MappingEntry[] }
  const replaced = new Map<string, Set<string>>()
  const taken = new Map<string, Item>()
  for (const item of items) {
    const { value, source, path, origin } = item
    if (!findings.isSound(source, path)) continue
    const id = value.id ?? `${origin.name}#${item.position}`
    const other = taken.get(id)
    if (other && origin.kind === 'preset' && other.origin.kind !== 'preset') {
      replaced.set(origin.name, (replaced.get(origin.name) ?? new Set()).add(id))
      continue
    }
    if (other) findings.report(source, duplicateId(id, item, other))
    else taken.set(id, item)
    for (const finding of checkMapping(item)) findings.report(source, finding)
    for (const finding of unusedFields(item)) findings.report(source, finding, 'warning')
    for (const finding of oddPaths(item, hooksPath)) findings.report(source, finding, 'warning')
    for (const place of source.cutTexts(path)) findings.add({ ...cutText, place })
    const schema = await schemas.read(value.schema, { source, path: [...path, 'schema'] })
    entries[value.enabled ? 'mappings' : 'disabled'].push(createEntry(id, item, schema))
  }
  return { ...entries, replaced }
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

function createEntry(id: string, item: Item, schema: PayloadSchema | undefined): MappingEntry {
  const { value, source, path, origin } = item
  const { line, column } = source.place(path)
  return Object.freeze({
    id,
    origin,
    value: foldNames(value, schema),
    label: `${source.name}:${line}:${column}`,
    locate: (below: Path, offset?: number) => {
      if (below[0] === 'schema' && schema?.source) return schema.source.place(below.slice(1))
      const written = whereWritten(item, writtenPath(value, below))
      if (offset === undefined) return written.source.place(written.path)
      return written.source.placeInText(written.path, offset)
    },
  })
}

function whereWritten({ source, path, overridden }: Item, below: Path): Written {
  const depth = below[0] === 'match' ? 2 : 1
  const elsewhere = overridden?.get(below.slice(0, depth).join('.'))
  if (!elsewhere) return { source, path: [...path, ...below] }
  return { source: elsewhere.source, path: [...elsewhere.path, ...below.slice(depth)] }
}

function foldNames(value: MappingValue, schema: PayloadSchema | undefined): MappingSource {
  const {
    id: _id,
    enabled: _enabled,
    match,
    textTemplate,
    messageTemplate,
    mode,
    wakeMode,
    transform,
    ...rest
  } = value
  const wakeWord = mode ?? wakeMode
  return freezeDeep({
    ...(rest as Omit<MappingSource, 'match' | 'schema' | 'transform'>),
    ...(match && { match: foldMatch(match) }),
    ...present('schema', schema?.value),
    ...(transform && { transform: { ...transform, module: moduleName(transform.module) } }),
    ...present('text', value.text ?? textTemplate),
    ...present('message', value.message ?? messageTemplate),
    ...present(value.action === 'wake' ? 'mode' : 'wakeMode', wakeWord),
  })
}

function present<Name extends string, Value>(
  name: Name,
  value: Value | undefined,
): { [key in Name]?: Value } {
  return value === undefined ? {} : ({ [name]: value } as { [key in Name]: Value })
}

function foldMatch({
  path,
  headers,
  ...rest
}: NonNullable<MappingValue['match']>): NonNullable<MappingSource['match']> {
  const folded: Record<string, HeaderPattern> = Object.create(null)
  for (const [name, wanted] of Object.entries(headers ?? {})) folded[name.toLowerCase()] = wanted
  return {
    ...rest,
    ...(path === '/' || path === undefined ? {} : { path: bareName(path) }),
    ...(headers && { headers: folded }),
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
