import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createScope } from '../../resolve/model/scope.ts'
import { requestOf } from '../fixture.ts'
import { compileExpression } from './compile-expression.ts'

async function evaluate(source: string, payload: unknown = {}, now = 0): Promise<unknown> {
  return await compileExpression(source).evaluate(createScope({ ...requestOf(payload), now }))
}

/** Source, payload, the text of the error. */
const failing: readonly (readonly [string, unknown, RegExp])[] = [
  [
    '$sum(items.price)',
    { items: [{ price: 'free' }] },
    /`\$sum\(items\.price\)` failed at column 1: \$sum takes numbers, and was given text \(T0412\)/,
  ],
  ['1 + total', { total: 'free' }, /column 3: the right side of \+ must be a number, and is text \(T2002\)/],
  ['a < b', { a: 'free', b: 1 }, /column 3: < cannot compare text and a number/],
  ['$uppercase(a)', { a: [1] }, /\$uppercase does not take a list as argument 1 \(T0410\)/],
  ['($f := a; $f(1))', { a: {} }, /what it calls is no function \(T1006\)/],
  ['$pad(a, 1e9)', { a: 'free' }, /a text of more than 2097152 characters/],
  ['$join(a, b)', { a: Array(50).fill('x'), b: 'free'.repeat(20_000) }, /a text of more than/],
  ['$contains(a, /x/)', { a: 'free'.repeat(80_000) }, /more than 262144 characters is not searched/],
  [
    '$formatNumber(1, "0", o)',
    { o: { 'zero-digit': '', 'decimal-separator': '' } },
    /a picture of \$formatNumber cannot be read \(D3086\)/,
  ],
]

for (const [source, payload, what] of failing) {
  test(`${source} fails with a sentence that names no value`, async () => {
    await assert.rejects(evaluate(source, payload), (error: Error) => {
      assert.match(error.message, what)
      assert.doesNotMatch(error.message, /free/)
      return true
    })
  })
}

test('$now and $millis are constant in one evaluation and those of its request beside others', async () => {
  const source = '[$millis(), $reduce([1..300], function($a, $b) { $a + $b }), $millis(), $now("[Y]-[M01]")]'
  const [one, other] = await Promise.all([
    evaluate(source, {}, Date.UTC(2020, 0, 1)),
    evaluate(source, {}, Date.UTC(2030, 5, 1)),
  ])
  assert.deepEqual(one, [Date.UTC(2020, 0, 1), 45_150, Date.UTC(2020, 0, 1), '2020-01'])
  assert.deepEqual(other, [Date.UTC(2030, 5, 1), 45_150, Date.UTC(2030, 5, 1), '2030-06'])
})

test('a time of day is on the day of the request', async () => {
  assert.equal(
    await evaluate('$toMillis("13:45", "[H]:[m]")', {}, Date.UTC(2024, 1, 29)),
    Date.UTC(2024, 1, 29, 13, 45),
  )
})

test('an empty list of the payload is still empty after it was grouped', async () => {
  for (const source of [
    'a{"k": 1}',
    '(a){"k": 1}',
    '$reverse(a){"k": 1}',
    '($l := a; $l{"k": 1})',
    'b.a{"k": 1}',
  ]) {
    const payload = { a: [], b: { a: [] } }
    assert.deepEqual(await evaluate(source, payload), { k: 1 })
    assert.deepEqual(payload, { a: [], b: { a: [] } }, source)
  }
})
