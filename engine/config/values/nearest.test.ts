import assert from 'node:assert/strict'
import test from 'node:test'
import { editDistance, nearestName } from './nearest.ts'

test('the nearest known name is found for a misspelt one', () => {
  const known = ['maxBodyBytes', 'mappingsDir', 'mappings', 'path', 'token']
  assert.equal(nearestName('maxBodyByte', known), 'maxBodyBytes')
  assert.equal(nearestName('MAXBODYBYTES', known), 'maxBodyBytes')
  assert.equal(nearestName('mapings', known), 'mappings')
  assert.equal(nearestName('tokne', known), 'token')
  assert.equal(nearestName('too', ['to']), 'to')
  assert.equal(nearestName('IDS', ['id', 'to']), 'id')
})

test('for a name that resembles no other, none is found', () => {
  assert.equal(nearestName('colour', ['maxBodyBytes', 'path']), undefined)
  assert.equal(nearestName('x', []), undefined)
  for (const [name, known] of [
    ['foo', 'to'],
    ['if', 'id'],
    ['env', 'n'],
    ['on', 'to'],
  ] as const)
    assert.equal(nearestName(name, [known]), undefined, name)
})

test('swapped neighbours count as one mistake, and counting stops at the limit', () => {
  assert.equal(editDistance('tokne', 'token', 5), 1)
  assert.equal(editDistance('kitten', 'sitting', 9), 3)
  assert.equal(editDistance('', 'abc', 9), 3)
  assert.equal(editDistance('aaaa', 'bbbb', 2), 2)
})
