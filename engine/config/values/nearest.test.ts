import assert from 'node:assert/strict'
import test from 'node:test'
import { editDistance, nearestName } from './nearest.ts'

test('the nearest known name is found for a misspelt one, and none for a name that resembles no other', () => {
  const known = ['maxBodyBytes', 'mappingsDir', 'mappings', 'path', 'token']
  const nearest = ['maxBodyByte', 'MAXBODYBYTES', 'mapings', 'tokne', 'colour'].map((name) =>
    nearestName(name, known),
  )
  assert.deepEqual(nearest, ['maxBodyBytes', 'maxBodyBytes', 'mappings', 'token', undefined])
  assert.deepEqual([nearestName('too', ['to']), nearestName('IDS', ['id', 'to'])], ['to', 'id'])
  for (const pair of ['foo to', 'if id', 'env n', 'on to'].map((each) => each.split(' ')))
    assert.equal(nearestName(pair[0] ?? '', pair.slice(1)), undefined, pair[0])
})

test('swapped neighbours count as one mistake, and counting stops at the limit', () => {
  const distances = [
    ['tokne', 'token', 5],
    ['kitten', 'sitting', 9],
    ['', 'abc', 9],
    ['aaaa', 'bbbb', 2],
  ] as const
  const found = distances.map(([one, other, most]) => editDistance(one, other, most))
  assert.deepEqual(found, [1, 3, 3, 2])
})
