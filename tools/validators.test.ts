import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { type TestContext, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import type { ValidateFunction } from 'ajv'
import { build } from 'esbuild'
import fc from 'fast-check'
import { configurationShape } from '../engine/config/schema/configuration-schema.ts'
import type { FileShape } from '../engine/config/schema/file-shape.ts'
import { mappingFileShape } from '../engine/config/schema/mapping-schema.ts'
import { validatorOf } from '../engine/config/schema/validators.ts'
import { schemasOfRoutes } from '../runtime/api/routes/index.ts'
import { validatorOf as apiValidatorOf } from '../runtime/api/validation/validators.ts'
import { collectSecrets, createCompiler } from '../runtime/plugin/configuration/create-compiler.ts'
import { apiValidators, ownValidators, pluginSchemas, pluginValidators } from './validators.ts'

const root = path.join(import.meta.dirname, '..')

/** Bundles generated code as it is bundled for a gateway, with more that a test needs, and imports it. */
async function importGenerated<Module>(t: TestContext, contents: string, folder: string): Promise<Module> {
  const home = await mkdtemp(path.join(tmpdir(), 'reveille-validators-'))
  t.after(() => rm(home, { recursive: true, force: true }))
  const outfile = path.join(home, 'validators.mjs')
  await build({
    stdin: { contents, resolveDir: path.join(root, folder) },
    ...{ outfile, bundle: true, platform: 'node', format: 'esm', logLevel: 'error' },
  })
  return import(pathToFileURL(outfile).href)
}

interface Node {
  readonly type?: string | readonly string[]
  readonly $ref?: string
  readonly properties?: Readonly<Record<string, Node>>
  readonly items?: Node
  readonly additionalProperties?: boolean | Node
  readonly enum?: readonly unknown[]
  readonly default?: unknown
}

/** Values that nearly keep to a schema, so that most rules are met and broken: some keys are left out, some values are of another kind. */
function nearly(node: Node | undefined, depth = 0): fc.Arbitrary<unknown> {
  const odd = fc.constantFrom<unknown>(
    '',
    ' ',
    'x',
    '30m',
    '99999d',
    '1/s',
    0,
    -1,
    2.5,
    70_000,
    true,
    null,
    [],
    {},
    [''],
    { x: 1 },
  )
  if (node === undefined || depth > 6) return odd
  const arms: { arbitrary: fc.Arbitrary<unknown>; weight: number }[] = [{ arbitrary: odd, weight: 1 }]
  if (node.enum) arms.push({ arbitrary: fc.constantFrom(...node.enum), weight: 3 })
  if (node.default !== undefined) arms.push({ arbitrary: fc.constant(node.default), weight: 1 })
  if (node.properties) {
    const keys = Object.entries(node.properties).map(([name, below]) => [name, nearly(below, depth + 1)])
    arms.push({
      arbitrary: fc.record(Object.fromEntries(keys), { requiredKeys: [], noNullPrototype: true }),
      weight: 8,
    })
  }
  if (node.items)
    arms.push({ arbitrary: fc.array(nearly(node.items, depth + 1), { maxLength: 2 }), weight: 4 })
  const more = node.additionalProperties
  if (typeof more === 'object' || node.type === 'object') {
    const below = nearly(typeof more === 'object' ? more : undefined, depth + 1)
    arms.push({
      arbitrary: fc.dictionary(fc.constantFrom('one', 'Two!', '', 'other'), below, { maxKeys: 2 }),
      weight: 2,
    })
  }
  return fc.oneof(...arms)
}

/** Both must agree on the verdict, on every error with all that it says, and on the defaults that they fill in. */
function assertSame(
  schema: Node,
  compiled: ValidateFunction,
  generated: ValidateFunction,
  runs: number,
): void {
  let refused = 0
  fc.assert(
    fc.property(nearly(schema), (value) => {
      const [one, other] = [structuredClone(value), structuredClone(value)]
      const isGood = compiled(one)
      if (!isGood) refused += 1
      assert.equal(generated(other), isGood)
      assert.deepEqual(generated.errors, compiled.errors)
      assert.deepEqual(other, one)
    }),
    { numRuns: runs },
  )
  assert.ok(refused > 0, 'some values break a rule')
}

test('generated validators of our schemas answer as the compiled ones, with the same errors and defaults', async (t) => {
  const contents = `${ownValidators()}\nexport { configurationShape, mappingFileShape }`
  const generated = await importGenerated<{
    readonly configurationShape: FileShape
    readonly mappingFileShape: FileShape
    readonly validatorOf: typeof validatorOf
  }>(t, contents, 'engine/config/schema')
  const pairs = [
    [configurationShape, generated.configurationShape],
    [mappingFileShape, generated.mappingFileShape],
  ] as const
  for (const [ours, theirs] of pairs) {
    const schemas = [ours.frame, ...ours.lists.map(({ item }) => item)]
    const copies = [theirs.frame, ...theirs.lists.map(({ item }) => item)]
    for (const [index, schema] of schemas.entries()) {
      const copy = copies[index]
      assert.ok(copy !== undefined)
      assertSame(schema as Node, validatorOf(schema), generated.validatorOf(copy), 400)
    }
  }
})

test('generated validators of plugins answer as the compiled ones, and find the same secrets', async (t) => {
  const code = `${pluginValidators(root)}\nexport { collectSecrets } from './create-compiler.ts'`
  const generated = await importGenerated<{
    readonly knownValidator: (text: string) => ValidateFunction | undefined
    readonly collectSecrets: typeof collectSecrets
  }>(t, code, 'runtime/plugin/configuration')
  const compiler = createCompiler({ optimize: false })
  const files = pluginSchemas(root)
  assert.ok(files.length > 10)
  for (const file of files) {
    const text = readFileSync(path.join(root, file), 'utf8')
    const schema = JSON.parse(text)
    const known = generated.knownValidator(text)
    assert.ok(known !== undefined, file)
    const compiled = compiler.compile(schema)
    assertSame(schema, compiled, known, 100)
    fc.assert(
      fc.property(nearly(schema), (value) => {
        const found = collectSecrets(() => compiled(structuredClone(value)))
        assert.deepEqual(
          generated.collectSecrets(() => known(structuredClone(value))),
          found,
        )
      }),
      { numRuns: 50 },
    )
  }
  assert.equal(generated.knownValidator('{}'), undefined)
})

test("generated validators of the API's queries and bodies answer as the compiled ones", async (t) => {
  const generated = await importGenerated<{ readonly validatorOf: typeof apiValidatorOf }>(
    t,
    apiValidators(),
    'runtime/api/validation',
  )
  const schemas = Object.entries(schemasOfRoutes())
  assert.ok(schemas.length > 5)
  for (const [name, schema] of schemas)
    assertSame(schema as Node, apiValidatorOf(name, schema), generated.validatorOf(name, schema), 100)
})
