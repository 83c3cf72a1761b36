import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BoundedMap } from './bounded-map.ts'

test('a full map forgets its oldest entries', () => {
  const map = new BoundedMap<string, number>(2).set('one', 1).set('two', 2).set('one', 3).set('three', 4)
  assert.deepEqual(
    [...map],
    [
      ['two', 2],
      ['three', 4],
    ],
  )
})
