/** Makes the JSON Schemas for editors, which have the same meaning as our own in standard keywords. */

import { configurationSchema } from './configuration-schema.ts'
import { keywords, type SchemaNode } from './keywords.ts'
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

const ownKeywords: ReadonlySet<string> = new Set([...keywords, 'maxMs', 'format', '$id'])

/** `references` is whether `${…}` is resolved here. */
function convert(node: SchemaNode, references: boolean): EditorSchema {
  const open = references && node.references !== false
  const { description, default: preset, $ref, editor = $ref, ...rest } = node
  const value =
    editor === undefined ? convertKeywords(rest, open) : { allOf: [{ $ref: `#/definitions/${editor}` }] }
  const isReferable = open && editor === undefined && !takesAnyReference(node)
  return { description, default: preset, ...(isReferable ? { anyOf: [value, reference] } : value) }
}

function convertKeywords(node: SchemaNode, open: boolean): EditorSchema {
  const below = (schema: unknown) =>
    typeof schema === 'object' ? convert(schema as SchemaNode, open) : schema
  const found = Object.entries(node).map(([keyword, value]) => {
    if (ownKeywords.has(keyword)) return []
    if (keyword === 'properties')
      return [keyword, Object.fromEntries(Object.entries(value).map(([name, key]) => [name, below(key)]))]
    if (keyword === 'propertyNames') return [keyword, convertKeywords(value, false)]
    // A key with a default is filled in before it is required, so editors need not require it.
    if (keyword === 'required')
      return [keyword, node.required?.filter((name) => node.properties?.[name]?.default === undefined)]
    return [keyword, keyword === 'items' || keyword === 'additionalProperties' ? below(value) : value]
  })
  return Object.fromEntries(found.filter(([keyword]) => keyword !== undefined))
}

const reference = {
  type: 'string',
  pattern: '\\$\\{',
  description: '${NAME}, ${NAME:-default} or ${file:/path}.',
}

/** True if a reference is valid as the whole value. Otherwise it is searched in the value's parts. */
function takesAnyReference({ type, enum: names, pattern }: SchemaNode): boolean {
  const types = [type ?? []].flat()
  if (types.every((each) => each === 'array' || each === 'object')) return true
  if (!types.includes('string') || names) return false
  return pattern === undefined || new RegExp(pattern, 'u').test('${NAME}')
}

const scalars = [{ type: 'string' }, { type: 'number' }, { type: 'boolean' }, { type: 'null' }] as const

const operators = {
  exists: { type: 'boolean', description: 'True if the field must be present; a null is.' },
  prefix: { type: 'string', minLength: 1, description: 'The string begins with this one.' },
  suffix: { type: 'string', minLength: 1, description: 'The string ends with this one.' },
  'anything-but': {
    anyOf: [...scalars, { type: 'array', minItems: 1, items: { anyOf: scalars } }],
    description: 'The field is there and equals neither this nor any of these.',
  },
  numeric: {
    type: 'array',
    minItems: 2,
    items: { anyOf: [{ type: 'string', enum: ['=', '!=', '<', '<=', '>', '>='] }, { type: 'number' }] },
    description: 'Pairs that must all hold: [">", 10, "<=", 20]. A string is no number.',
  },
  pattern: {
    type: 'string',
    minLength: 1,
    description: 'This regular expression (RE2) is found somewhere in the string.',
  },
}

/** For the `definitions` of a schema. The note `editor` of a key refers to one of them. */
const bodyPatternDefinitions = {
  bodyPattern: {
    type: 'object',
    minProperties: 1,
    additionalProperties: { $ref: '#/definitions/bodyValue' },
    description: 'Keys of the payload, all of which must match.',
  },
  bodyValue: {
    anyOf: [
      ...scalars,
      {
        type: 'array',
        minItems: 1,
        items: { $ref: '#/definitions/bodyValue' },
        description: 'Any of these.',
      },
      {
        type: 'object',
        minProperties: 1,
        // A payload may have keys with the names of operators, so they count as operators only if all keys are.
        if: { type: 'object', propertyNames: { enum: Object.keys(operators) } },
        // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema; nothing awaits this.
        then: { type: 'object', properties: operators },
        else: { $ref: '#/definitions/bodyPattern' },
      },
    ],
    description: 'Equal to this; any of a list; operators, all of which must hold; or keys below.',
  },
}
