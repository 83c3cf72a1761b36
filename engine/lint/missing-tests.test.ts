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

test('a mapping that no test expects is reported, where others of its file are expected', async () => {
  const found = await missing([testOf('one', { body: { action: 'one' } })])
  assert.deepEqual(found, ['No test of this file expects the mapping "two"'])
})

test('a file without any test is reported once', async () => {
  assert.deepEqual(await missing([]), ['No test expects any of the 2 mappings of this file'])
})

test('a test among several actions counts', async () => {
  const one = testOf('one', { body: { action: 'one' } })
  const listed: TestEntry = {
    ...one,
    value: { ...one.value, expect: { actions: [{ mapping: 'one' }, { mapping: 'two' }] } },
  }
  assert.deepEqual(await missing([listed]), [])
})

test('a test that names no mapping counts for those of its endpoint', async () => {
  const unnamed = (endpoint: string): TestEntry => ({
    ...testOf('one', { body: { action: 'one' } }),
    value: { name: 'x', request: { endpoint, body: { action: 'two' } }, expect: { action: 'agent' } },
  })
  assert.deepEqual(await missing([unnamed('test')]), [])
  assert.equal((await missing([unnamed('elsewhere')])).length, 1)
})

test('a test of another file does not count, and a preset needs no tests from the user', async () => {
  const outsider: TestEntry = {
    ...testOf('one', { body: { action: 'one' } }),
    origin: { kind: 'file', name: 'mappings/other.yaml' },
  }
  assert.equal((await missing([outsider])).length, 1)
  const configuration = configurationOf(mappings)
  const ofPreset = configuration.mappings.map((entry) => ({
    ...entry,
    origin: { kind: 'preset' as const, name: 'github' },
  }))
  assert.deepEqual(await lintConfiguration({ configuration: { ...configuration, mappings: ofPreset } }), [])
})
