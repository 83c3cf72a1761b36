import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createSecretMatcher, isSameSecret } from './compare.ts'

test('during a rotation each of several secrets matches, and the result says which', () => {
  const matches = createSecretMatcher(['new', 'old'])
  assert.equal(matches('new'), 0)
  assert.equal(matches('old'), 1)
})

test('a prefix, an extension, another case and the empty text do not match', () => {
  const matches = createSecretMatcher(['secret'])
  for (const given of ['secre', 'secrets', 'Secret', '']) assert.equal(matches(given), undefined, given)
})

test('without secrets nothing matches', () => {
  assert.equal(createSecretMatcher([])(''), undefined)
})

test('an empty secret is refused when the matcher is made', () => {
  assert.throws(() => createSecretMatcher(['good', '']), TypeError)
})

test('two texts are the same only if all their bytes are equal, whatever their lengths', () => {
  assert.equal(isSameSecret('signature', Buffer.from('signature')), true)
  for (const given of ['', 'signatur', 'signatures', 'Signature']) {
    assert.equal(isSameSecret(given, 'signature'), false, given)
  }
})
