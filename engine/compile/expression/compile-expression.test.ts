import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ExpressionError } from '../../resolve/model/program.ts'
import { createScope } from '../../resolve/model/scope.ts'
import { requestOf } from '../fixture.ts'
import { compileExpression, ExpressionSyntaxError } from './compile-expression.ts'

async function evaluate(source: string, payload: unknown = {}): Promise<unknown> {
  return await compileExpression(source).evaluate(createScope(requestOf(payload)))
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
    for (const list of [result, (result as { all?: unknown })?.all]) {
      if (Array.isArray(list)) assert.deepEqual(Object.getOwnPropertyNames(list), ['0', '1', 'length'])
    }
  }
})

test('the time in an expression is the request’s', async () => {
  assert.equal(await evaluate('$millis()'), Date.UTC(2026, 0, 2, 3, 4, 5))
  assert.equal(await evaluate('$now()'), '2026-01-02T03:04:05.000Z')
  assert.equal(await evaluate('$now("[Y0001]/[M01]", "+0100")'), '2026/01')
})

/** The payload has `t`, which is 2026-01-02T03:04:05Z, and the name of a zone. The time of the request is the same. */
const times: readonly (readonly [source: string, expected: unknown])[] = [
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
]

for (const [source, expected] of times) {
  test(`${source} is ${JSON.stringify(expected)}`, async () => {
    assert.equal(await evaluate(source, { t: Date.UTC(2026, 0, 2, 3, 4, 5), zone: 'Asia/Kolkata' }), expected)
  })
}

test('a time zone or a picture of the payload that cannot be read is an error, and never NaN', async () => {
  for (const source of [
    '$fromMillis(0, "[H01]", word)',
    '$fromMillis(0, pattern)',
    '$fromMillis(1e300, "[H01]")',
    '$fromMillis(1e300)',
  ]) {
    await assert.rejects(
      evaluate(source, { word: 'Mars/Base', pattern: 'YYYY-MM-DD' }),
      /failed at column 1/,
      source,
    )
  }
})

/** Title, expression, code. */
const failing: readonly (readonly [string, string, string])[] = [
  ['endless recursion', '($f := function($x) { 1 + $f($x) }; $f(1))', 'D1011'],
  ['an endless loop', '($f := function($x) { $f($x) }; $f(1))', 'D1012'],
  ['a list without measure', '[1..10000000]', 'D2015'],
  ['an error of the author’s', '$error(word)', 'D3137'],
  ['a type that does not fit', 'word + 1', 'T2001'],
  ['a text that is no number', '$number(word)', 'D3030'],
  ['a function of a wrong type', '$sum(word)', 'T0412'],
]

for (const [what, source, code] of failing) {
  test(`${what} fails with its code and without a value`, async () => {
    await assert.rejects(evaluate(source, { word: 'secret' }), (error) => {
      assert.ok(error instanceof ExpressionError)
      assert.equal(error.code, code)
      assert.doesNotMatch(error.message, /secret/)
      return true
    })
  })
}

test('$eval is refused however it is reached', () => {
  for (const source of [
    '$eval("1")',
    '($e := $eval; $e("1"))',
    '"1" ~> $eval',
    '$map(a, $eval)',
    '{"a": [$eval]}',
  ]) {
    assert.throws(() => compileExpression(source), ExpressionSyntaxError, source)
  }
})

test('an expression does not change the payload', async () => {
  const request = requestOf({ list: [3, 1, 2], o: { a: 1 } })
  const before = JSON.stringify(request.payload)
  const scope = createScope(request)
  await compileExpression('[$sort(list), $append(list, 4), o ~> |$|{"a": 2}|, $reverse(list)]').evaluate(
    scope,
  )
  assert.equal(JSON.stringify(request.payload), before)
})

test('reserved names hide a payload’s keys from expressions as they do from templates', async () => {
  const payload = { path: 5, now: 6, other: 7 }
  assert.deepEqual(await evaluate('[path, other, payload.path]', payload), ['test', 7, 5])
})
