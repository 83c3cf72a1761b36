import assert from 'node:assert/strict'
import test from 'node:test'
import { checkValue } from './check.ts'
import { configurationSchema } from './configuration-schema.ts'

function violationsOf(endpoint: unknown): string[] {
  return checkValue(configurationSchema, { hooks: { endpoints: { forge: endpoint } } }).map(
    ({ path, problem, hint }) => `${path.slice(3).join('.')}: ${problem}${hint ? ` | ${hint}` : ''}`,
  )
}

test('quotes are advised only if the value would then be valid', () => {
  assert.match(violationsOf({ bots: [7] })[0] ?? '', /Put it in quotes\.$/)
  assert.match(violationsOf({ token: 7 })[0] ?? '', /Put it in quotes\.$/)
  for (const bad of [{ rate: { client: 60 } }, { auth: 1 }, { auth: true }, { verify: { tolerance: 5 } }]) {
    const [finding = ''] = violationsOf(bad)
    assert.match(finding, /must be /)
    assert.doesNotMatch(finding, /quotes/)
  }
})

test('where only certain numbers are allowed, one in quotes is distinguished from another text', () => {
  assert.deepEqual(violationsOf({ verify: { signatureVersion: '2' } }), [
    'verify.signatureVersion: must be one of 1, 2 | Write it without quotes and without a unit.',
  ])
  assert.deepEqual(violationsOf({ verify: { signatureVersion: 'two' } }), [
    'verify.signatureVersion: must be one of 1, 2',
  ])
})

test('an empty value is reported as empty, and a map with what it may contain', () => {
  assert.deepEqual(violationsOf({ rate: {} }), [
    'rate: must be a map with something in it | Known here: endpoint, client.',
  ])
  assert.deepEqual(violationsOf({ token: [] }), [
    'token: must be a list with something in it | Write what belongs into it, or remove the key.',
  ])
  assert.deepEqual(violationsOf({ rate: '60/1m' }), [
    'rate: must be a map of keys | Known here: endpoint, client.',
  ])
})
