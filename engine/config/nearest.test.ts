import assert from 'node:assert/strict'
import test from 'node:test'
import { editDistance, nearestName } from './nearest.ts'

test('a misspelt name finds the one that was meant', () => {
  const known = ['maxBodyBytes', 'mappingsDir', 'mappings', 'path', 'token']
  assert.equal(nearestName('maxBodyByte', known), 'maxBodyBytes')
  assert.equal(nearestName('MAXBODYBYTES', known), 'maxBodyBytes')
  assert.equal(nearestName('mapings', known), 'mappings')
  assert.equal(nearestName('tokne', known), 'token')
  assert.equal(nearestName('too', ['to']), 'to')
  assert.equal(nearestName('IDS', ['id', 'to']), 'id')
})

test('a name that is like nothing finds nothing', () => {
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

test('swapped neighbours are one mistake, and counting stops at the limit', () => {
  assert.equal(editDistance('tokne', 'token', 5), 1)
  assert.equal(editDistance('kitten', 'sitting', 9), 3)
  assert.equal(editDistance('', 'abc', 9), 3)
  assert.equal(editDistance('aaaa', 'bbbb', 2), 2)
})
