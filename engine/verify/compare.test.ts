import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createSecretMatcher } from './secret.ts'

test('every one of several secrets matches while they rotate', () => {
  const matches = createSecretMatcher(['old', 'new'])
  assert.equal(matches('old'), true)
  assert.equal(matches('new'), true)
})

test('a prefix, an extension, another case and the empty text do not match', () => {
  const matches = createSecretMatcher(['secret'])
  for (const given of ['secre', 'secrets', 'Secret', '']) assert.equal(matches(given), false, given)
})

test('without secrets nothing matches', () => {
  assert.equal(createSecretMatcher([])(''), false)
})

test('an empty secret is refused when the matcher is made', () => {
  assert.throws(() => createSecretMatcher(['good', '']), TypeError)
})
