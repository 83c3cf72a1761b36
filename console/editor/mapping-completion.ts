/** Completes a mapping: keys and values from the schema that editors use too, fields of the payload, headers. */

import type { Completion, CompletionContext, CompletionResult } from '@codemirror/autocomplete'
import mappingsSchema from '../../runtime/schemas/mappings.json' with { type: 'json' }
import type { FieldPath } from './payload-paths.ts'
import { readCursor, type YamlCursor } from './yaml-cursor.ts'

/** Fields of the requests that the mapping is about. */
export interface KnownFields {
  readonly paths: readonly FieldPath[]
  /** Names in lower case, with their values. */
  readonly headers: Readonly<Record<string, string>>
  readonly endpoints: readonly string[]
}

interface Schema {
  readonly description?: string
  readonly type?: string | readonly string[]
  readonly enum?: readonly unknown[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly additionalProperties?: Schema | boolean
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
  readonly allOf?: readonly Schema[]
  readonly then?: Schema
  readonly $ref?: string
}

const file = mappingsSchema as unknown as Schema & { readonly definitions: Readonly<Record<string, Schema>> }
/** Keys whose values are expressions. */
const expressions = new Set(['when', 'forEach', 'key'])
const operators = Object.entries(file.definitions['bodyValue']?.anyOf ?? {}).flatMap(([, one]) =>
  Object.entries(one.then?.properties ?? {}),
)

/** `known` is asked at each completion, because the payload changes. */
export function completeMapping(known: () => KnownFields) {
  return ({ state, pos, explicit }: CompletionContext): CompletionResult | null => {
    const line = state.doc.lineAt(pos)
    const cursor = readCursor(state.sliceDoc(0, pos))
    if (!explicit && cursor.typed === '' && cursor.at !== 'template') return null
    const options = optionsFor(withRoot(cursor, state.sliceDoc()), known())
    const word = wordOf(cursor)
    if (options.length === 0 || pos - word.length < line.from) return null
    return { from: pos - word.length, options, validFor: /^[\w.[\]`-]*$/ }
  }
}

/** In an expression the last path is completed, and else all that was typed. */
function wordOf({ at, typed }: YamlCursor): string {
  return at === 'value' ? (/[\w.[\]`-]*$/.exec(typed)?.[0] ?? '') : typed
}

/** A text may be a whole file, a list of entries, or one entry. The path begins at the file. */
function withRoot(cursor: YamlCursor, text: string): YamlCursor {
  const first = text.split('\n').find((line) => line.trim() !== '' && !line.trimStart().startsWith('#')) ?? ''
  if (/^(mappings|tests|endpoints|\$schema)\s*:/m.test(text)) return cursor
  const above = /^\s*-(\s|$)/.test(first) ? ['mappings'] : ['mappings', '[]']
  return { ...cursor, path: [...above, ...cursor.path] }
}

function optionsFor({ path, at }: YamlCursor, known: KnownFields): Completion[] {
  if (at === 'text') return []
  if (at === 'template') return fields(known.paths)
  const inMatch = path[0] === 'mappings' && path[2] === 'match' ? path.slice(3) : []
  const key = path.at(-1) ?? ''
  if (inMatch[0] === 'body') {
    const above = inMatch.slice(1).filter((step) => step !== '[]')
    return at === 'key' ? bodyKeys(above, known) : bodyValues(above, known)
  }
  if (inMatch[0] === 'headers') {
    const headers = Object.entries(known.headers)
    if (at === 'key') return headers.map(([name, value]) => pair(name, value))
    return headers.flatMap(([name, value]) =>
      name === key.toLowerCase() ? literal(JSON.stringify(value)) : [],
    )
  }
  if (inMatch[0] === 'path') return known.endpoints.map((label) => ({ label, type: 'text' }))
  if (at === 'value' && (expressions.has(key) || path.at(-2) === 'vars')) return fields(known.paths)
  const schemas = schemasAt(path)
  return at === 'key' ? schemas.flatMap(keysOf) : schemas.flatMap(valuesOf)
}

const fields = (paths: readonly FieldPath[]): Completion[] =>
  paths.map(({ path, types, example }) => ({
    label: path,
    detail: example ?? types.join(', '),
    type: 'property',
  }))

/** A path as a pattern writes it. */
const plainPath = (path: string) => path.replaceAll(/\[0\]|`/g, '')

/** The fields of the payload one step below the pattern's place, and the operators. */
function bodyKeys(above: readonly string[], { paths }: KnownFields): Completion[] {
  const prefix = above.map((key) => `${key}.`).join('')
  const below = new Map<string, Completion>()
  for (const { path, types, example } of paths) {
    const name = plainPath(path).slice(prefix.length)
    if (plainPath(path).startsWith(prefix) && !name.includes('.'))
      below.set(name, pair(name, example ?? types.join(', '), undefined, 1))
  }
  const tests = above.length === 0 ? [] : operators
  return [...below.values(), ...tests.map(([name, { description }]) => pair(name, undefined, description))]
}

/** The values that the field had. */
function bodyValues(above: readonly string[], { paths }: KnownFields): Completion[] {
  return paths.flatMap(({ path, example }) =>
    example === undefined || example.endsWith('…') || plainPath(path) !== above.join('.')
      ? []
      : literal(example),
  )
}

/** A value as JSON has it, without its quotes where YAML needs none. */
function literal(json: string): Completion[] {
  const [, word] = /^"([A-Za-z][\w./-]*)"$/.exec(json) ?? []
  const needsQuotes = word === undefined || /^(true|false|null|yes|no|on|off)$/i.test(word)
  return [{ label: needsQuotes ? json : word, detail: 'of the request', type: 'text' }]
}

function pair(label: string, detail?: string, info?: string, boost = 0): Completion {
  const written = /^[\w.$-]+$/.test(label) ? label : JSON.stringify(label)
  return {
    label,
    apply: `${written}: `,
    type: 'property',
    boost,
    ...(detail !== undefined && { detail }),
    ...(info !== undefined && { info }),
  }
}

/** Schemas of a place; several where it allows several kinds of values. */
function schemasAt(path: readonly string[]): Schema[] {
  return path.reduce<Schema[]>((found, key) => found.flatMap((schema) => step(schema, key)), kinds(file))
}

function step(schema: Schema, key: string): Schema[] {
  if (key === '[]') return schema.items ? kinds(schema.items) : []
  const named = schema.properties?.[key]
  if (named !== undefined) return kinds(named)
  return typeof schema.additionalProperties === 'object' ? kinds(schema.additionalProperties) : []
}

function kinds(schema: Schema): Schema[] {
  const { $ref, anyOf = [], allOf = [] } = schema
  const referred = $ref === undefined ? undefined : file.definitions[$ref.replace('#/definitions/', '')]
  return [schema, ...[...anyOf, ...allOf, ...(referred ? [referred] : [])].flatMap(kinds)]
}

function keysOf({ properties = {} }: Schema): Completion[] {
  return Object.entries(properties)
    .filter(([name]) => name !== '$schema')
    .map(([name, { description }]) => pair(name, undefined, description))
}

function valuesOf(schema: Schema): Completion[] {
  const values = schema.enum ?? ([schema.type].flat().includes('boolean') ? [true, false] : [])
  return values.map((value) => ({ label: String(value), type: 'enum' }))
}
