import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { mergeOrdered } from './ordered-merge.ts'

test('sorted lists are merged into one, in order and without repetition', () => {
  const list = fc.uniqueArray(fc.nat(30)).map((values) => values.sort((a, b) => a - b))
  const identity = Array.from({ length: 31 }, (_, position) => position)
  const property = fc.property(fc.array(list, { maxLength: 12 }), (lists) => {
    const next = mergeOrdered(
      // Half of them identify their positions by place, as the members of a group do.
      lists.map((each, tag) =>
        tag % 2 === 0
          ? { list: each, positions: identity, tag }
          : { list: [...each.keys()], positions: each, tag },
      ),
    )
    const merged: number[] = []
    for (let each = next(); each !== undefined; each = next()) {
      assert.ok(lists[each.tag]?.includes(each.position))
      merged.push(each.position)
    }
    assert.deepEqual(
      merged,
      [...new Set(lists.flat())].sort((a, b) => a - b),
    )
    assert.equal(next(), undefined)
  })
  fc.assert(property, { seed: 5, numRuns: 500 })
})
