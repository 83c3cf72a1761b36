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
  if (inMatch[0] === 'body') return at === 'key' ? bodyKeys(inMatch, known) : bodyValues(inMatch, known)
  if (inMatch[0] === 'headers' && at === 'key') return headerNames(known)
  if (inMatch[0] === 'headers') return headerValue(inMatch[1] ?? '', known)
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

/** The fields of the payload one step below the pattern's place, and the operators. */
function bodyKeys(path: readonly string[], { paths }: KnownFields): Completion[] {
  const above = path.slice(1).filter((key) => key !== '[]')
  const prefix = above.map((key) => `${key}.`).join('')
  const below = paths.flatMap(({ path: name, types, example }): Completion[] => {
    const rest = name.replaceAll(/\[0\]|`/g, '')
    if (!rest.startsWith(prefix) || rest.slice(prefix.length).includes('.')) return []
    return [pair(rest.slice(prefix.length), ' ', example ?? types.join(', '), 1)]
  })
  const unique = [...new Map(below.map((one) => [one.label, one])).values()]
  const tests = above.length === 0 ? [] : operators
  return [...unique, ...tests.map(([name, schema]) => pair(name, ' ', undefined, 0, schema.description))]
}

/** The values that the field had. */
function bodyValues(path: readonly string[], { paths }: KnownFields): Completion[] {
  const segments = path
    .slice(1)
    .filter((key) => key !== '[]')
    .join('.')
  return paths.flatMap(({ path: name, example }): Completion[] => {
    if (example === undefined || name.replaceAll(/\[0\]|`/g, '') !== segments || example.endsWith('…'))
      return []
    return [{ label: plain(example), detail: 'of the payload', type: 'text' }]
  })
}

function headerNames({ headers }: KnownFields): Completion[] {
  return Object.entries(headers).map(([name, value]) => pair(name, ' ', value))
}

function headerValue(name: string, { headers }: KnownFields): Completion[] {
  const value = headers[name.toLowerCase()]
  return value === undefined ? [] : [{ label: plain(JSON.stringify(value)), type: 'text' }]
}

/** Writes a value of JSON without its quotes where YAML needs none. */
function plain(json: string): string {
  const text = json.slice(1, -1)
  const isWord =
    json.startsWith('"') &&
    /^[A-Za-z][\w./-]*$/.test(text) &&
    !/^(true|false|null|yes|no|on|off)$/i.test(text)
  return isWord ? text : json
}

function pair(label: string, after: string, detail?: string, boost = 0, info?: string): Completion {
  const written = /^[\w.$-]+$/.test(label) ? label : JSON.stringify(label)
  return {
    label,
    apply: `${written}:${after}`,
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
    .map(([name, { description }]) => pair(name, ' ', undefined, 0, description))
}

function valuesOf(schema: Schema): Completion[] {
  const values = schema.enum ?? ([schema.type].flat().includes('boolean') ? [true, false] : [])
  return values.map((value) => ({ label: String(value), type: 'enum' }))
}
