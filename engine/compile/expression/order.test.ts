import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createScope } from '../../resolve/model/scope.ts'
import { requestOf } from '../fixture.ts'
import { compileExpression } from './compile-expression.ts'

async function evaluate(source: string, payload: unknown): Promise<unknown> {
  return await compileExpression(source).evaluate(createScope(requestOf(payload)))
}

test('a long list is sorted', async () => {
  const list = Array.from({ length: 2_000 }, (_, index) => (index * 7919) % 2_000)
  assert.equal(await evaluate('$sort(list)[1999]', { list }), 1_999)
})

test('sorting keeps the order of equal elements, also with the author’s own comparison', async () => {
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

test('elements that differ only in the order of their keys are equal, and kinds are kept apart', async () => {
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
