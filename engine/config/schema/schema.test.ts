import assert from 'node:assert/strict'
import test from 'node:test'
import { Ajv } from 'ajv'
import { configurationSchema } from './configuration-schema.ts'
import { mappingFileSchema } from './mapping-schema.ts'

interface Node {
  readonly type?: string | readonly string[]
  readonly description?: string
  readonly default?: unknown
  readonly required?: readonly string[]
  readonly properties?: Readonly<Record<string, Node>>
  readonly items?: Node
  readonly additionalProperties?: boolean | Node
}

/** Yields every key of a schema with its path. */
function* keysOf(node: Node, path = ''): Iterable<[path: string, key: Node, required: boolean]> {
  for (const [name, key] of Object.entries(node.properties ?? {})) {
    yield [`${path}${name}`, key, node.required?.includes(name) ?? false]
    yield* keysOf(key, `${path}${name}.`)
  }
  if (node.items) yield* keysOf(node.items, `${path}[].`)
  if (typeof node.additionalProperties === 'object')
    yield* keysOf(node.additionalProperties, `${path}<name>.`)
}

const keys = [configurationSchema, mappingFileSchema].flatMap((schema) => [...keysOf(schema as Node)])

/** Matches required parts of an optional value. */
const requiredPart =
  /^agents\.(runners\.<name>\.kind|route\.channel|prices\.<name>\.(input|output))$|deliverTo\.\[\]\.channel$|transform\.module$|coalesce\.key$|verify\.hmac\.header$|quietHours\.(from|to)$|issues\.webhook\.(url|secret)$|auth\.tokens\.\[\]\.(name|token|may)$|^hooks\.presets\.\[\]\.name$|^tests\.\[\]\.(request|request\.endpoint|expect)$/

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

test('a key has a default exactly if it is always present', () => {
  const odd = keys.filter(
    ([path, key, required]) => required === (key.default === undefined) && !requiredPart.test(path),
  )
  assert.deepEqual(
    odd.map(([path]) => path),
    [],
  )
})
