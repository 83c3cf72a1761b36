import assert from 'node:assert/strict'
import { globSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import test from 'node:test'
import { Ajv } from 'ajv'
import { parse } from 'yaml'
import { testBlocks } from '../blocks-fixture.ts'
import { configurationSchema } from './configuration-schema.ts'
import { editorSchemas } from './editor-schema.ts'
import { mappingFileSchema } from './mapping-schema.ts'

const root = resolve(import.meta.dirname, '../../..')
const schemas = editorSchemas()

const ajv = new Ajv({ strict: true, allowUnionTypes: true, allErrors: true })
const validators = {
  configuration: ajv.compile(schemas.configuration),
  mappings: ajv.compile(schemas.mappings),
}

/** Returns the values that an editor would underline, by path. */
function violations(name: keyof typeof validators, text: string): string[] {
  const validate = validators[name]
  return validate(parse(text)) ? [] : [...new Set(validate.errors?.map(({ instancePath }) => instancePath))]
}

/** Parts of a schema. */
interface Node {
  readonly type?: unknown
  readonly description?: string
  readonly anyOf?: readonly Node[]
  readonly properties?: Readonly<Record<string, Node>>
  readonly items?: Node
  readonly additionalProperties?: boolean | Node
}

/** Pairs every key of ours with the one that an editor sees. */
function* pairs(ours: Node, shown: Node | undefined, path = ''): Iterable<[string, Node | undefined]> {
  const of = (type: string) =>
    [shown, ...(shown?.anyOf ?? [])].find((one) => [one?.type].flat().includes(type))
  for (const [name, key] of Object.entries(ours.properties ?? {})) {
    const found = of('object')?.properties?.[name]
    yield [`${path}${name}`, found]
    yield* pairs(key, found, `${path}${name}.`)
  }
  if (ours.items) yield* pairs(ours.items, of('array')?.items, `${path}[].`)
  const { additionalProperties: own } = ours
  const rest = of('object')?.additionalProperties
  if (typeof own === 'object')
    yield* pairs(own, typeof rest === 'object' ? rest : undefined, `${path}<name>.`)
}

test('the schemas for editors are strict JSON Schema of draft 7', () => {
  for (const name of ['configuration', 'mappings'] as const) {
    assert.equal(schemas[name]['$schema'], 'http://json-schema.org/draft-07/schema#')
    assert.ok(schemas[name]['title'])
  }
})

test('every key is shown with its line of documentation', () => {
  const keys = [
    ...pairs(configurationSchema as Node, schemas.configuration as Node),
    ...pairs(mappingFileSchema as Node, schemas.mappings as Node),
  ]
  assert.ok(keys.length > 100)
  const found = keys.flatMap(([path, shown]) => (shown?.description ? [] : path))
  assert.deepEqual(found, [])
})

test('the schemas for editors hold no keyword of our own', () => {
  const words = JSON.stringify(schemas).match(/"(expects|references|editor|maxMs|form|hint)":/g)
  assert.equal(words, null)
})

test('keys with a default are not required', () => {
  assert.deepEqual(violations('configuration', '{}'), [])
  assert.deepEqual(violations('mappings', '{}'), [])
  const port = (schemas.configuration as Node).properties?.['gateway']?.properties?.['port']
  assert.partialDeepStrictEqual(port, { default: 8787 })
})

test('the configuration that init writes, its mappings and every preset are valid', async () => {
  const template = join(root, 'runtime/scaffold/template')
  assert.deepEqual(violations('configuration', await readFile(join(template, 'reveille.yaml'), 'utf8')), [])
  const files = globSync(['mappings/*.yaml', 'runtime/scaffold/template/mappings/*.yaml'], { cwd: root })
  assert.ok(files.length >= 2)
  for (const name of files)
    assert.deepEqual(violations('mappings', await readFile(join(root, name), 'utf8')), [], name)
})

test('a complete configuration with references is valid', () => {
  const text = `
$schema: ./configuration.json
gateway: { port: "\${PORT:-8787}", log: { level: "\${LEVEL}", format: json } }
hooks:
  enabled: "\${HOOKS}"
  token: [a, "\${B}"]
  bodyTimeout: "\${TIMEOUT:-10s}"
  presets: [github, { name: stripe, channel: slack, deliver: "\${DELIVER}", deliverTo: [{ channel: last }] }]
  mappings: [{ message: x, deliver: "{{a}}", timeoutSeconds: 5 }]
history: { keep: 7d }
agents: { defaults: { models: { openai/gpt-5: { alias: fast } } }, runners: { claude: { kind: command, preset: claude } } }
channels: { terminal: {}, slack: { botToken: "\${TOKEN}" } }
`
  assert.deepEqual(violations('configuration', text), [])
})

test('a body pattern is valid in each of its forms', () => {
  const text = `mappings:
  - message: x
    match:
      path: orders/:id
      headers: { a: b, c: [d, e], f: { exists: true, pattern: "^g" } }
      body:
        action: opened
        prefix: a key of the payload
        count: { numeric: ['>', 10, '<=', 20], exists: true }
        author: { anything-but: [a, null], suffix: x }
        labels: [bug, null, 5, { name: { prefix: area/ } }, { prefix: odd, other: [{ pattern: x }] }]
`
  assert.deepEqual(violations('mappings', text), [])
})

/** Under a title: what is written in a configuration or in a mapping file, and what is underlined. */
testBlocks(
  `
# what is no key, and what is no value of a key, is underlined
configuration: hooks: { enabld: true } ⇒ /hooks
configuration: gateway: { port: 70000 } ⇒ /gateway/port
mappings: mappings: [{ mesage: x }] ⇒ /mappings/0
mappings: mappings: [{ strict: "\${A}" }] ⇒ /mappings/0/strict
mappings: mappings: [{ match: { body: { a: { numeric: 5 } } } }] ⇒ /mappings/0/match/body/a/numeric
mappings: mappings: [{ match: { body: {} } }] ⇒ /mappings/0/match/body
mappings: tests: [{ expect: { message: { contain: x } } }] ⇒ /tests/0/expect/message
mappings: endpoints: { gh: { expectEvery: 60 } } ⇒ /endpoints/gh/expectEvery
`,
  (row) => {
    const [, name, text = '', at = ''] = /^(\w+): (.*) ⇒ (.*)$/.exec(row) ?? []
    assert.ok(violations(name as keyof typeof validators, text).includes(at), row)
  },
)
