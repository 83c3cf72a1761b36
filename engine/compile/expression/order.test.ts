import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createScope } from '../../resolve/scope.ts'
import { compileExpression } from '../expression.ts'
import { requestOf } from '../fixture.ts'

async function evaluate(source: string, payload: unknown): Promise<unknown> {
  return await compileExpression(source).evaluate(createScope(requestOf(payload)))
}

test('a long list is sorted without a copy for each of its elements', async () => {
  const list = Array.from({ length: 60_000 }, (_, index) => (index * 7919) % 60_000)
  assert.equal(await evaluate('$sort(list)[59999]', { list }), 59_999)
})

test('sorting keeps the order of equals, by the author’s own comparison too', async () => {
  const list = [
    { n: 2, t: 'a' },
    { n: 1, t: 'b' },
    { n: 2, t: 'c' },
    { n: 1, t: 'd' },
    { n: 3, t: 'e' },
  ]
  const ordered = ['b', 'd', 'a', 'c', 'e']
  assert.deepEqual(await evaluate('$sort(list, function($l, $r) { $l.n > $r.n }).t', { list }), ordered)
  assert.deepEqual(await evaluate('list^(n).t', { list }), ordered)
  assert.deepEqual(await evaluate('$sort(list.t ~> $reverse())', { list }), ['a', 'b', 'c', 'd', 'e'])
  await assert.rejects(evaluate('$sort(list)', { list }), { code: 'D3070' })
})

test('an ordering of more elements than the memory should hold is refused', async () => {
  const list = Array.from({ length: 2_001 }, (_, n) => ({ n }))
  await assert.rejects(evaluate('list^(>n)', { list }), { code: 'D2015' })
  assert.equal(await evaluate('list^(>n)[0].n', { list: list.slice(0, 200) }), 199)
})

test('what is distinct is found without comparing all with all', async () => {
  const list = Array.from({ length: 100_000 }, (_, index) => index)
  assert.equal(await evaluate('$count($distinct(list))', { list }), 100_000)
})

test('equal elements are one, whatever the order of their keys, and kinds are kept apart', async () => {
  const list = [1, '1', { a: 1, b: [2] }, { b: [2], a: 1 }, null, '{"a":1}', { a: 1 }, 1, true, null]
  assert.deepEqual(await evaluate('$distinct(list)', { list }), [
    1,
    '1',
    { a: 1, b: [2] },
    null,
    '{"a":1}',
    { a: 1 },
    true,
  ])
  assert.equal(await evaluate('$distinct(list.n)', { list: [{ n: 5 }, { n: 5 }] }), 5)
})
