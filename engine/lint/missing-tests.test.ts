import assert from 'node:assert/strict'
import { test } from 'node:test'
import { configurationOf } from '../compile/fixture.ts'
import type { TestEntry } from '../config/configuration.ts'
import { mappingOf, testOf } from './fixture.ts'
import { lintConfiguration } from './lint-configuration.ts'

const mappings = [
  mappingOf('one', { match: { path: 'test', body: { action: 'one' } } }),
  mappingOf('two', { match: { path: 'test', body: { action: 'two' } } }),
]

async function missing(tests: readonly TestEntry[]): Promise<readonly string[]> {
  const configuration = { ...configurationOf(mappings), tests }
  return (await lintConfiguration({ configuration })).map(({ code, message }) => {
    assert.equal(code, 'MISSING_TESTS')
    return message
  })
}

const one = testOf('one', { body: { action: 'one' } })
/** A test that expects something else than the mapping `one`. */
const expecting = (value: Partial<TestEntry['value']>, more: Partial<TestEntry> = {}): TestEntry => {
  return { ...one, ...more, value: { ...one.value, ...value } }
}
const unnamed = (endpoint: string) =>
  expecting({ request: { endpoint, body: { action: 'two' } }, expect: { action: 'agent' } })
const ofBoth = expecting({
  request: { endpoint: 'elsewhere', body: {} },
  expect: { actions: [{ mapping: 'one' }, { mapping: 'two' }] },
})
const none = 'No test expects any of the 2 mappings of this file'

for (const [what, tests, ...wanted] of [
  [
    'a mapping that no test expects, where others of its file are expected',
    [one],
    'No test of this file expects the mapping "two"',
  ],
  ['a file without any test, once', [], none],
  ['none, where a test among several actions counts', [ofBoth]],
  ['none, where a test that names no mapping counts for those of its endpoint', [unnamed('test')]],
  ['a file whose test is of another endpoint', [unnamed('elsewhere')], none],
  [
    'a file whose mapping is tested by another file',
    [expecting({}, { origin: { kind: 'file', name: 'mappings/other.yaml' } })],
    none,
  ],
] as const)
  test(`reported is ${what}`, async () => assert.deepEqual(await missing(tests), wanted))

test('a preset needs no tests from the user', async () => {
  const configuration = configurationOf(mappings)
  const origin = { kind: 'preset', name: 'github' } as const
  const ofPreset = {
    ...configuration,
    mappings: configuration.mappings.map((entry) => ({ ...entry, origin })),
  }
  assert.deepEqual(await lintConfiguration({ configuration: ofPreset }), [])
})
