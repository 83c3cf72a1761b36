import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { ExpressionError } from '../../resolve/model/program.ts'
import { createScope } from '../../resolve/model/scope.ts'
import { requestOf } from '../fixture.ts'
import { compileExpression, ExpressionSyntaxError } from './compile-expression.ts'

async function evaluate(source: string, payload: unknown = {}, now = Date.UTC(2026, 0, 2, 3, 4, 5)) {
  return await compileExpression(source).evaluate(createScope({ ...requestOf(payload), now }))
}

test('results are plain JSON, without the hidden properties of the library', async () => {
  const payload = { d: [{ x: 1 }, { x: 2 }] }
  for (const [source, expected] of [
    ['d.x', [1, 2]],
    ['{"all": d.x}', { all: [1, 2] }],
    ['d[x > 5]', undefined],
    ['$sum', undefined],
    ['function($x) { $x }', undefined],
    ['{"a": $sum, "b": 1}', { b: 1 }],
  ] as const) {
    const result = await evaluate(source, payload)
    assert.deepEqual(result, expected)
    for (const list of [result, (result as { all?: unknown })?.all])
      if (Array.isArray(list)) assert.deepEqual(Object.getOwnPropertyNames(list), ['0', '1', 'length'])
  }
})

/** The payload has `t`, which is 2026-01-02T03:04:05Z, and the name of a zone. The time of the request is the same. */
const times: readonly (readonly [source: string, expected: unknown])[] = [
  ['$millis()', Date.UTC(2026, 0, 2, 3, 4, 5)],
  ['$now()', '2026-01-02T03:04:05.000Z'],
  ['$now("[H01]:[m01]", "Europe/Berlin")', '04:04'],
  ['$now("[H01]:[m01]", "+05:00")', '08:04'],
  ['$now("[H01]:[m01]", "+0500")', '08:04'],
  ['$now("[H01]:[m01]", "+2")', '05:04'],
  ['$now("[H01]:[m01]", "Z")', '03:04'],
  ['$now("[H01]:[m01] [Z01:01t]", "-0330")', '23:34 -03:30'],
  ['$fromMillis(t, "[H01]:[m01] [Z01:01t]", zone)', '08:34 +05:30'],
  ['$fromMillis(t, "[H01]", "America/New_York")', '22'],
  ['$fromMillis(t)', '2026-01-02T03:04:05.000Z'],
  ['$toMillis("2026-01-02T03:04:05")', Date.UTC(2026, 0, 2, 3, 4, 5)],
  ['$toMillis("2026-01-02")', Date.UTC(2026, 0, 2)],
  ['$toMillis("13:45", "[H]:[m]")', Date.UTC(2026, 0, 2, 13, 45)],
]

for (const [source, expected] of times)
  test(`${source} is ${JSON.stringify(expected)}`, async () => {
    assert.equal(await evaluate(source, { t: Date.UTC(2026, 0, 2, 3, 4, 5), zone: 'Asia/Kolkata' }), expected)
  })

test('a time zone or a picture of the payload that cannot be read is an error, and never NaN', async () => {
  const payload = { word: 'Mars/Base', pattern: 'YYYY-MM-DD' }
  for (const given of ['0, "[H01]", word', '0, pattern', '1e300, "[H01]"', '1e300'])
    await assert.rejects(evaluate(`$fromMillis(${given})`, payload), /failed at column 1/, given)
})

const noDigits = { 'zero-digit': '', 'decimal-separator': '' }

/** Expression, payload, the error's code and a part of its text. The payload's word `free` is in none. */
const failing: readonly (readonly [string, unknown, string, RegExp])[] = [
  ['($f := function($x) { 1 + $f($x) }; $f(1))', {}, 'D1011', /./],
  ['($f := function($x) { $f($x) }; $f(1))', {}, 'D1012', /./],
  ['[1..10000000]', {}, 'D2015', /./],
  ['$error(a)', { a: 'free' }, 'D3137', /./],
  ['$number(a)', { a: 'free' }, 'D3030', /./],
  [
    '$sum(a.b)',
    { a: { b: 'free' } },
    'T0412',
    /`\$sum\(a\.b\)` failed at column 1: Argument 1 .* "numbers"; it is text/,
  ],
  ['1 + a', { a: 'free' }, 'T2002', /column 3: The right side of the "\+" operator .*; it is text \(T2002\)/],
  ['a + 1', { a: 'free' }, 'T2001', /The left side of the "\+" operator/],
  ['a < b', { a: 'free', b: 1 }, 'T2009', /column 3: The values text and a number either side/],
  ['$uppercase(a)', { a: [1] }, 'T0410', /Argument 1 of function "uppercase" .*; it is a list \(T0410\)/],
  ['($f := a; $f(1))', { a: {} }, 'T1006', /invoke a non-function.* \(T1006\)/],
  ['$pad(a, 1e9)', { a: 'free' }, 'LIMIT', /a text of more than 2097152 characters/],
  ['$join(a, b)', { a: Array(50).fill('x'), b: 'free'.repeat(20_000) }, 'LIMIT', /a text of more than/],
  ['$toMillis("2020", a)', { a: '[Y]'.repeat(3_334) }, 'LIMIT', /the picture is too long/],
  ['$contains(a, /x/)', { a: 'free'.repeat(80_000) }, 'LIMIT', /more than 262144 characters is not searched/],
  ['$formatNumber(1, "0", o)', { o: noDigits }, 'D3086', /The sub-picture .* \(D3086\)/],
  ['$power(n, m)', { n: 31337, m: 271828 }, 'D3061', /^[^37]+$|too large \(D3061\)$/],
]

for (const [source, payload, code, what] of failing)
  test(`${source} fails with its code, and with a sentence that names no value`, async () => {
    await assert.rejects(evaluate(source, payload), (error) => {
      assert.ok(error instanceof ExpressionError)
      assert.equal(error.code, code)
      assert.match(error.message, what)
      assert.doesNotMatch(error.message, /free/)
      return true
    })
  })

/** Sets the clock and the processor time of this thread to the number of times that the clock or that time was read. */
function countTime(context: TestContext, { processorMs }: { readonly processorMs: number }): void {
  let reads = 0
  context.mock.method(Date, 'now', () => 1_000 * ++reads)
  context.mock.method(process, 'threadCpuUsage', () => ({ user: 1_000 * processorMs * ++reads, system: 0 }))
}

test('an expression that other work keeps from the processor is not late, whatever the clock says', async (context) => {
  countTime(context, { processorMs: 0 })
  assert.equal(await evaluate('$sum($map([1..2000], function($n) { $n * 2 }))'), 4_002_000)
})

test('an expression is late when it has used a second of processor time', async (context) => {
  countTime(context, { processorMs: 400 })
  await assert.rejects(evaluate('$sum($map([1..2000], function($n) { $n * 2 }))'), { code: 'D1012' })
})

test('$eval is refused however it is reached', () => {
  for (const source of [
    '$eval("1")',
    '($e := $eval; $e("1"))',
    '"1" ~> $eval',
    '$map(a, $eval)',
    '{"a": [$eval]}',
  ])
    assert.throws(() => compileExpression(source), ExpressionSyntaxError, source)
})

test('an expression does not change the payload', async () => {
  const request = requestOf({ list: [3, 1, 2], o: { a: 1 } })
  const before = JSON.stringify(request.payload)
  const source = '[$sort(list), $append(list, 4), o ~> |$|{"a": 2}|, $reverse(list)]'
  await compileExpression(source).evaluate(createScope(request))
  assert.equal(JSON.stringify(request.payload), before)
})

test('reserved names hide a payload’s keys from expressions as they do from templates', async () => {
  const payload = { path: 5, now: 6, other: 7 }
  assert.deepEqual(await evaluate('[path, other, payload.path]', payload), ['test', 7, 5])
})

test('$now and $millis are constant in one evaluation and those of its request beside others', async () => {
  const source = '[$millis(), $reduce([1..300], function($a, $b) { $a + $b }), $millis(), $now("[Y]-[M01]")]'
  const [one, other] = await Promise.all([
    evaluate(source, {}, Date.UTC(2020, 0, 1)),
    evaluate(source, {}, Date.UTC(2030, 5, 1)),
  ])
  assert.deepEqual(one, [Date.UTC(2020, 0, 1), 45_150, Date.UTC(2020, 0, 1), '2020-01'])
  assert.deepEqual(other, [Date.UTC(2030, 5, 1), 45_150, Date.UTC(2030, 5, 1), '2030-06'])
})

test('an empty list of the payload is still empty after it was grouped', async () => {
  for (const list of ['a', '(a)', '$reverse(a)', '($l := a; $l)', 'b.a']) {
    const payload = { a: [], b: { a: [] } }
    const source = list.endsWith('$l)') ? '($l := a; $l{"k": 1})' : `${list}{"k": 1}`
    assert.deepEqual(await evaluate(source, payload), { k: 1 })
    assert.deepEqual(payload, { a: [], b: { a: [] } }, source)
  }
})
