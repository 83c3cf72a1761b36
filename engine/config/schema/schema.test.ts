import assert from 'node:assert/strict'
import test from 'node:test'
import { Ajv } from 'ajv'
import { configurationSchema } from './configuration-schema.ts'
import { mappingFileSchema } from './mapping-schema.ts'

interface Node {
  readonly type?: string | readonly string[]
  readonly description?: string
  readonly properties?: Readonly<Record<string, Node>>
  readonly items?: Node
  readonly additionalProperties?: boolean | Node
}

/** Yields every key of a schema with its path. */
function* keysOf(node: Node, path = ''): Iterable<[path: string, key: Node]> {
  for (const [name, key] of Object.entries(node.properties ?? {})) {
    yield [`${path}${name}`, key]
    yield* keysOf(key, `${path}${name}.`)
  }
  if (node.items) yield* keysOf(node.items, `${path}[].`)
  if (typeof node.additionalProperties === 'object')
    yield* keysOf(node.additionalProperties, `${path}<name>.`)
}

const keys = [configurationSchema, mappingFileSchema].flatMap((schema) => [...keysOf(schema as Node)])

test('every schema is valid JSON Schema', () => {
  const ajv = new Ajv()
  for (const schema of [configurationSchema, mappingFileSchema]) {
    assert.ok(ajv.validateSchema(schema), ajv.errorsText())
  }
})

test('every key has one line of documentation', () => {
  const bare = keys.filter(([, key]) => !key.description).map(([path]) => path)
  assert.deepEqual(bare, [])
})
