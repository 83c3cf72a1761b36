/** Makes the JSON Schemas for editors, which have the same meaning as our own in standard keywords. */

import { bodyPatternDefinitions } from './body-pattern-definitions.ts'
import { configurationSchema } from './configuration-schema.ts'
import type { SchemaNode, TypeName } from './keywords.ts'
import { mappingFileSchema } from './mapping-schema.ts'
import { expectedValue } from './test-schema.ts'

/** A JSON Schema as plain JSON. */
export type EditorSchema = Readonly<Record<string, unknown>>

/** Both are of draft 7, which editors support best. */
export function editorSchemas(): { readonly configuration: EditorSchema; readonly mappings: EditorSchema } {
  return {
    configuration: createDocument('configuration', 'Configuration of Reveille', configurationSchema),
    mappings: createDocument('mappings', 'Mappings of Reveille', mappingFileSchema),
  }
}

function createDocument(name: string, title: string, schema: unknown): EditorSchema {
  const document = {
    $schema: 'http://json-schema.org/draft-07/schema#',
    $id: `urn:reveille:${name}`,
    title,
    ...convert(schema as SchemaNode, true),
    definitions: {
      ...bodyPatternDefinitions,
      [expectedValue.$id]: convert(expectedValue as SchemaNode, false),
    },
  }
  return JSON.parse(JSON.stringify(document)) as EditorSchema
}

/** The keywords that are copied unchanged. Those of lists and maps contain schemas, or depend on some. */
const plainKeywords: Readonly<Record<TypeName, readonly string[]>> = {
  string: ['enum', 'minLength', 'maxLength', 'pattern'],
  number: ['minimum', 'maximum'],
  integer: ['minimum', 'maximum'],
  boolean: [],
  array: ['minItems', 'maxItems'],
  object: ['minProperties'],
}

/** `references` is whether `${…}` is resolved here. */
function convert(node: SchemaNode, references: boolean): EditorSchema {
  const open = references && node.references !== false
  const { description, default: preset, $ref, editor = $ref } = node
  return {
    ...(description !== undefined && { description }),
    ...(preset !== undefined && { default: preset }),
    ...(editor === undefined
      ? oneOrAny(alternatives(node, open))
      : { allOf: [{ $ref: `#/definitions/${editor}` }] }),
  }
}

/** Splits a schema into one for each type, because strict readers refuse keywords beside several types. */
function alternatives(node: SchemaNode, open: boolean): EditorSchema[] {
  const types = node.type === undefined ? [] : [node.type].flat()
  const found = types.map((type) => ({
    type,
    ...pick(node, plainKeywords[type]),
    ...(type === 'array' && node.items && { items: convert(node.items, open) }),
    ...(type === 'object' && mapKeywords(node, open)),
  }))
  const takesReference = open && types.some((type) => type !== 'array' && type !== 'object')
  return takesReference && !isFreeText(node, types) ? [...found, reference] : found
}

const reference = {
  type: 'string',
  pattern: '\\$\\{',
  description: '${NAME}, ${NAME:-default} or ${file:/path}.',
}

function isFreeText(node: SchemaNode, types: readonly TypeName[]): boolean {
  if (!types.includes('string') || node.enum) return false
  return node.pattern === undefined || new RegExp(node.pattern, 'u').test('${NAME}')
}

function oneOrAny(found: readonly EditorSchema[]): EditorSchema {
  const [only = {}] = found
  return found.length > 1 ? { anyOf: found } : only
}

function mapKeywords(node: SchemaNode, open: boolean): EditorSchema {
  const { properties, additionalProperties: rest, propertyNames: names } = node
  const known = Object.entries(properties ?? {})
  // A key with a default is filled in before it is required, so editors need not require it.
  const required = node.required?.filter((name) => properties?.[name]?.default === undefined) ?? []
  return {
    ...(properties && {
      properties: Object.fromEntries(known.map(([name, key]) => [name, convert(key, open)])),
    }),
    ...(required.length > 0 && { required }),
    ...(rest !== undefined && {
      additionalProperties: typeof rest === 'object' ? convert(rest, open) : rest,
    }),
    ...(names && { propertyNames: pick(names, plainKeywords.string) }),
  }
}

function pick(node: SchemaNode, keywords: readonly string[]): EditorSchema {
  return Object.fromEntries(
    keywords.flatMap((keyword) => (keyword in node ? [[keyword, node[keyword as keyof SchemaNode]]] : [])),
  )
}
