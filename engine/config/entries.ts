/** Turns the items of `mappings:` lists into mapping entries, with one name for each field. */

import { backgroundMs, yieldIfDue } from '../yield.ts'
import type { Coalesce, DedupeSource, MappingEntry, MappingSource } from './configuration.ts'
import type { Finding } from './file/diagnostic.ts'
import type { Diagnostics } from './file/diagnostics.ts'
import { keepTree, type Memo, remember } from './file/kept.ts'
import type { LoadContext } from './file/load-context.ts'
import type { ParsedFile } from './file/parsed-file.ts'
import type { Item, WrittenPlace } from './items.ts'
import { bareName } from './rules/endpoint-name.ts'
import { checkMapping, type HooksOfMappings } from './rules/mapping-rules.ts'
import { moduleName } from './rules/module-name.ts'
import { parseFile, readNamedFile } from './schema/checked-file.ts'
import { foreignInMapping } from './schema/foreign-keys.ts'
import type { MappingValue } from './schema/mapping-schema.ts'
import { findReferences, normalizeValue, plainCopy } from './schema/normalize.ts'
import { resolveReferences } from './schema/resolution.ts'
import { otherNames } from './values/fields.ts'
import { freezeDeep } from './values/freeze-deep.ts'
import { isRecord } from './values/is-record.ts'
import type { Path } from './values/path.ts'
import { parseDuration } from './values/quantities.ts'

export interface Entries {
  readonly mappings: readonly MappingEntry[]
  readonly disabled: readonly MappingEntry[]
  /** The ids of preset mappings that the operator's mappings replace, by preset. */
  readonly replaced: ReadonlyMap<string, ReadonlySet<string>>
}

/** Returns entries for the valid items, in order, and reports all mistakes. The operator's come before presets. */
export async function createEntries(
  items: readonly Item[],
  context: LoadContext,
  diagnostics: Diagnostics,
  hooks: HooksOfMappings,
): Promise<Entries> {
  const entries = { mappings: [] as MappingEntry[], disabled: [] as MappingEntry[] }
  const replaced = new Map<string, Set<string>>()
  const taken = new Map<string, Item>()
  for (const item of items) {
    await yieldIfDue(backgroundMs)
    const { value, source, path, origin } = item
    if (!diagnostics.isSound(source, path)) continue
    const id = value.id ?? `${origin.name}#${item.position}`
    const other = taken.get(id)
    if (other && origin.kind === 'preset' && other.origin.kind !== 'preset') {
      replaced.set(origin.name, (replaced.get(origin.name) ?? new Set()).add(id))
      continue
    }
    if (other) diagnostics.report(source, [duplicateId(id, item, other)])
    else taken.set(id, item)
    const found = remember(checked, value, [hooks.path, hooks.hasDefaultSession], () => [
      ...checkMapping(item, hooks),
    ])
    diagnostics.report(source, found, path)
    for (const place of source.templatesInComments(path)) diagnostics.add({ ...cutText, place })
    const schema = await readPayloadSchema(item, context, diagnostics)
    const folded = remember(sources, value, [id, schema?.value], () =>
      keepTree('mapping', `${source.file} ${id}`, foldNames(value, schema)),
    )
    const parameters = await resolveParameters(item, context, diagnostics)
    // A load with errors also reports mistakes in the otherwise valid items, and nothing twice.
    if (!diagnostics.isSound(source, path)) continue
    const order = entries.mappings.length + entries.disabled.length
    const entry = createEntry(id, order, item, folded, schema, parameters)
    entries[value.enabled ? 'mappings' : 'disabled'].push(entry)
  }
  return { ...entries, replaced }
}

/** The result is never cached, because the value of a reference may change while the mapping does not. */
async function resolveParameters(
  { value, source, path }: Item,
  context: LoadContext,
  diagnostics: Diagnostics,
): Promise<MappingEntry['parameters']> {
  const written = value.transform?.with
  if (written === undefined) return undefined
  const at = { source, path: [...path, 'transform', 'with'] }
  const resolved = (await resolveReferences(findReferences(written, {}), context, at, diagnostics)).values()
  const parameters = normalizeValue(written, {}, () => resolved.next().value)
  return freezeDeep(parameters as Record<string, unknown>)
}

/** The findings about a mapping are found once: a value whose file did not change keeps its path. */
const checked: Memo<readonly Finding[]> = new WeakMap()
const sources: Memo<MappingSource> = new WeakMap()

const cutText = {
  severity: 'warning',
  code: 'TEMPLATE_IN_COMMENT',
  message: 'The string ends here: YAML takes ` #` and what follows for a comment',
  hint: 'Put the whole string in quotes.',
} as const

function duplicateId(id: string, { path: at, value }: Item, other: Item): Finding {
  const message = `The id \`${id}\` is already that of the mapping at ${other.source.label(other.path)}`
  const path = value.id === undefined ? at : [...at, 'id']
  return { path, code: 'DUPLICATE_ID', message, hint: 'Every mapping has an id of its own.' }
}

function createEntry(
  id: string,
  order: number,
  item: Item,
  folded: MappingSource,
  schema: PayloadSchema | undefined,
  parameters: MappingEntry['parameters'],
): MappingEntry {
  const { value, source, path, origin } = item
  return Object.freeze({
    id,
    order,
    origin,
    value: folded,
    ...(parameters && { parameters }),
    label: source.label(path),
    locate: (below: Path, offset?: number) => {
      if (below[0] === 'schema' && schema?.source) return schema.source.place(below.slice(1))
      const written = whereWritten(item, writtenPath(value, below))
      return written.source.placeInText(written.path, offset)
    },
  })
}

function whereWritten({ source, path, overridden }: Item, below: Path): WrittenPlace {
  const depth = below[0] === 'match' ? 2 : 1
  const elsewhere = overridden?.get(below.slice(0, depth).join('.'))
  if (!elsewhere) return { source, path: [...path, ...below] }
  return { source: elsewhere.source, path: [...elsewhere.path, ...below.slice(depth)] }
}

function foldNames(value: MappingValue, schema: PayloadSchema | undefined): MappingSource {
  const { id: _id, enabled: _enabled, textTemplate, messageTemplate, mode, wakeMode, ...rest } = value
  const { match, transform, coalesce, dedupe, ...fields } = rest
  // Keys that only OpenClaw has were reported as having no effect.
  const ours = Object.entries(fields).filter(([name]) => !foreignInMapping.has(name))
  return defined({
    ...(Object.fromEntries(ours) as Omit<MappingSource, keyof typeof rest>),
    action: value.action,
    match: match && foldMatch(match),
    schema: schema?.value,
    transform: transform && { ...transform, module: moduleName(transform.module) },
    coalesce: coalesce && foldCoalesce(coalesce),
    dedupe: dedupe && foldDedupe(dedupe),
    text: value.text ?? textTemplate,
    message: value.message ?? messageTemplate,
    [value.action === 'wake' ? 'mode' : 'wakeMode']: mode ?? wakeMode,
  })
}

/** Leaves out the keys without a value. */
function defined<Fields extends object>(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Fields
}

type Written<Field extends keyof MappingValue> = NonNullable<MappingValue[Field]>

function foldCoalesce({ window, maxWait, ...rest }: Written<'coalesce'>): Coalesce {
  return { windowMs: parseDuration(window), maxWaitMs: parseDuration(maxWait), ...rest }
}

function foldDedupe({ window, ...rest }: Written<'dedupe'>): DedupeSource {
  return { ...rest, ...(window !== undefined && { windowMs: parseDuration(window) }) }
}

function foldMatch({ path, headers, ...rest }: Written<'match'>): Written<'match'> {
  return defined({
    ...rest,
    path: path === '/' || path === undefined ? undefined : bareName(path),
    headers: headers && foldHeaders(headers),
  })
}

/** Returns headers with their names in lower case. */
export function foldHeaders<Value>(headers: Readonly<Record<string, Value>>): Record<string, Value> {
  const folded: Record<string, Value> = Object.create(null)
  for (const [name, value] of Object.entries(headers)) folded[name.toLowerCase()] = value
  return folded
}

/** Returns the path as the author wrote it: under the alternative name, or with the header in another case. */
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

interface PayloadSchema {
  readonly value: NonNullable<MappingSource['schema']>
  /** The file with the schema, if it is not inline. */
  readonly source?: ParsedFile
}

/** Returns undefined if there is no schema, or an invalid one, which is reported. */
async function readPayloadSchema(
  { value: { schema: written }, source: naming, path }: Item,
  context: LoadContext,
  diagnostics: Diagnostics,
): Promise<PayloadSchema | undefined> {
  if (typeof written === 'object') return { value: copyOf(written) }
  if (typeof written !== 'string') return written === undefined ? undefined : { value: written }
  const at = { source: naming, path: [...path, 'schema'] }
  const named = await readNamedFile(written, at, context, diagnostics)
  if (!named) return undefined
  const { file, text } = named
  const result = await parseFile({ kind: 'schema', file, text }, context)
  if ('problems' in result) {
    diagnostics.add(...result.problems)
    return undefined
  }
  const { source } = result
  const { value } = source
  if (typeof value === 'boolean') return { value, source }
  if (isRecord(value)) return { value: keepTree('schema', file, copyOf(value)), source }
  const message = 'The file must hold a JSON Schema, which is a map of keys'
  const hint = 'Write at least `type: object`.'
  // Another mapping may have named it.
  if (diagnostics.isSound(source, []))
    diagnostics.report(source, [{ path: [], code: 'INVALID_VALUE', message, hint }])
  return undefined
}

type Schema = Readonly<Record<string, unknown>>

const copies: Memo<Schema> = new WeakMap()

function copyOf(written: Schema): Schema {
  return remember(copies, written, [], () => plainCopy(written))
}
