/** Turns the items of `mappings:` lists into mapping entries, with one name for each field. */

import { backgroundMs, yieldIfDue } from '../yield.ts'
import type { MappingEntry, MappingSource, Origin } from './configuration.ts'
import type { Finding } from './file/diagnostic.ts'
import type { Findings } from './file/diagnostics.ts'
import { type Memo, remember } from './file/load-cache.ts'
import type { LoadContext } from './file/load-context.ts'
import type { ParsedFile } from './file/parsed-file.ts'
import { type PayloadSchema, readPayloadSchema } from './payload-schema.ts'
import { bareName } from './rules/endpoint-name.ts'
import {
  checkMapping,
  oddPaths,
  singleQuotedBreaks,
  unrenderedParameters,
  unusedFields,
} from './rules/mapping-rules.ts'
import { moduleName } from './rules/module-name.ts'
import { foreignInMapping } from './schema/foreign-keys.ts'
import type { MappingValue } from './schema/mapping-schema.ts'
import { resolveReferences } from './schema/resolution.ts'
import { shapeValue } from './schema/shape.ts'
import { parseDuration } from './values/duration.ts'
import { otherNames } from './values/fields.ts'
import { freezeDeep } from './values/freeze-deep.ts'
import type { Path } from './values/path.ts'

/** One item of a list, with the place of the list. */
export interface Item<Value = MappingValue> {
  readonly value: Value
  readonly source: ParsedFile
  readonly path: Path
  /** The position from 1, for the name of an entry without an id. */
  readonly position: number
  readonly origin: Origin
  /** The place where a field is written instead, by its name; for `match.path` the name is `match.path`. */
  readonly overridden?: ReadonlyMap<string, WrittenPlace>
}

export interface WrittenPlace {
  readonly source: ParsedFile
  readonly path: Path
}

export interface Entries {
  readonly mappings: readonly MappingEntry[]
  readonly disabled: readonly MappingEntry[]
  /** The ids of preset mappings that the operator's mappings replace, by preset. */
  readonly replaced: ReadonlyMap<string, ReadonlySet<string>>
}

/** The part of `hooks` that the rules of mappings read. */
export interface HooksOfMappings {
  readonly path: string
  /** Whether runs without a `sessionKey` share a session. */
  readonly hasDefaultSession: boolean
}

/** Returns entries for the valid items, in order, and reports all mistakes. The operator's come before presets. */
export async function createEntries(
  items: readonly Item[],
  context: LoadContext,
  findings: Findings,
  hooks: HooksOfMappings,
): Promise<Entries> {
  const entries = { mappings: [] as MappingEntry[], disabled: [] as MappingEntry[] }
  const replaced = new Map<string, Set<string>>()
  const taken = new Map<string, Item>()
  for (const item of items) {
    await yieldIfDue(backgroundMs)
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
    for (const finding of findingsOf(item, hooks)) findings.report(source, finding)
    for (const place of source.templatesInComments(path)) findings.add({ ...cutText, place })
    const at = { source, path: [...path, 'schema'] }
    const schema = await readPayloadSchema(value.schema, at, context, findings)
    const folded = context.cache.keepMade('mapping', `${source.file} ${id}`, value, [id, schema?.value], () =>
      foldNames(value, schema),
    )
    const parameters = await resolveParameters(item, context, findings)
    // A load with errors also reports mistakes in the otherwise valid items, and nothing twice.
    if (!findings.isSound(source, path)) continue
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
  findings: Findings,
): Promise<MappingEntry['parameters']> {
  const written = value.transform?.with
  if (written === undefined) return undefined
  const { value: parameters, pending } = shapeValue(written, {})
  const below = [...path, 'transform', 'with']
  const located = pending.map((each) => ({ ...each, path: [...below, ...each.path] }))
  await resolveReferences(located, context, { source, findings })
  return freezeDeep(parameters as Record<string, unknown>)
}

/** Returns all findings about a mapping, which are found once: a value whose file did not change keeps its path. */
function findingsOf(item: Item, { path, hasDefaultSession }: HooksOfMappings): readonly Finding[] {
  return remember(checked, item.value, [path, hasDefaultSession], () => [
    ...checkMapping(item),
    ...[
      ...unusedFields(item, hasDefaultSession),
      ...oddPaths(item, path),
      ...singleQuotedBreaks(item),
      ...unrenderedParameters(item),
    ].map((finding): Finding => ({ ...finding, severity: 'warning' })),
  ])
}

const checked: Memo<readonly Finding[]> = new WeakMap()

const cutText = {
  severity: 'warning',
  code: 'TEMPLATE_IN_COMMENT',
  message: 'The text ends here: YAML takes ` #` and what follows for a comment',
  hint: 'Put the whole text in quotes.',
} as const

function duplicateId(id: string, { path, value }: Item, other: Item): Finding {
  const place = other.source.position(other.path)
  return {
    path: value.id === undefined ? path : [...path, 'id'],
    code: 'DUPLICATE_ID',
    message: `The id \`${id}\` is already that of the mapping at ${other.source.name}:${place.line}:${place.column}`,
    hint: 'Every mapping has an id of its own.',
  }
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
  const { line, column } = source.position(path)
  return Object.freeze({
    id,
    order,
    origin,
    value: folded,
    ...(parameters && { parameters }),
    label: `${source.name}:${line}:${column}`,
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
  const {
    id: _id,
    enabled: _enabled,
    match,
    textTemplate,
    messageTemplate,
    mode,
    wakeMode,
    transform,
    coalesce,
    dedupe,
    ...rest
  } = value
  const wakeWord = mode ?? wakeMode
  return {
    ...(ofOurs(rest) as Omit<MappingSource, 'match' | 'schema' | 'transform' | 'coalesce' | 'dedupe'>),
    ...(match && { match: foldMatch(match) }),
    ...present('schema', schema?.value),
    ...(transform && { transform: { ...transform, module: moduleName(transform.module) } }),
    ...(coalesce && { coalesce: foldCoalesce(coalesce) }),
    ...(dedupe && { dedupe: foldDedupe(dedupe) }),
    ...present('text', value.text ?? textTemplate),
    ...present('message', value.message ?? messageTemplate),
    ...present(value.action === 'wake' ? 'mode' : 'wakeMode', wakeWord),
  }
}

/** Removes keys that only OpenClaw has. They were reported as having no effect. */
function ofOurs<Fields extends object>(fields: Fields): Partial<Fields> {
  return Object.fromEntries(
    Object.entries(fields).filter(([name]) => !foreignInMapping.has(name)),
  ) as Partial<Fields>
}

function foldCoalesce({
  window,
  maxWait,
  ...rest
}: NonNullable<MappingValue['coalesce']>): NonNullable<MappingSource['coalesce']> {
  return { windowMs: parseDuration(window), maxWaitMs: parseDuration(maxWait), ...rest }
}

function foldDedupe({
  window,
  ...rest
}: NonNullable<MappingValue['dedupe']>): NonNullable<MappingSource['dedupe']> {
  return { ...rest, ...(window !== undefined && { windowMs: parseDuration(window) }) }
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
  return {
    ...rest,
    ...(path === '/' || path === undefined ? {} : { path: bareName(path) }),
    ...(headers && { headers: foldHeaders(headers) }),
  }
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
