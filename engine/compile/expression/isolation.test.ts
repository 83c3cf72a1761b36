import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { ExpressionError } from '../../resolve/model/program.ts'
import { createScope } from '../../resolve/model/scope.ts'
import { requestOf } from '../fixture.ts'
import { compileExpression, ExpressionSyntaxError } from './compile-expression.ts'

/** Names that lead out of plain data in JavaScript. */
const names =
  `constructor __proto__ prototype toString valueOf hasOwnProperty __defineGetter__ __lookupGetter__
  process globalThis global require Function Object implementation environment body length push sequence lookup
  base`.split(/\s+/)

const name = fc.constantFrom(...names)
const start = fc.constantFrom(
  ...['a', 'list', '$', '$$', 'text', '$sum', '$now', 'function($x) { $x }', '/x/', '[a]', '{"a": a}'],
)
/** Ways from F to the name K. */
const reach = fc.constantFrom(
  ...`F.K ¦ (F).\`K\` ¦ $lookup(F, "K") ¦ $map([F], function($v) { $v.K }) ¦ $filter([F], function($v) { $v.K }) ¦
    $reduce([F, 1], function($v) { $v.K }) ¦ (F){\`K\`: \`K\`} ¦ (F)[K] ¦ (F)^(K) ¦ (F)@$f.($f.K) ¦ $string((F).K) ¦
    $keys((F).K) ¦ (function($x) { $x.K })(F) ¦ $merge([{"K": {"x": 1}}, F]).x ¦ (F) ~> |$|{"K": {"x": 1}}| ¦
    $ ~> |F|{"K": 1}, "K"| ¦ $sift(F, function($v, $k) { $k = "K" }) ¦ $spread(F).K ¦ $type((F).K) ¦ $K ¦ $K(F) ¦
    (F).K("return process")() ¦ $clone(F).K.K`.split(/\s*¦\s*/),
)

const roots = [Object, Array, Function, String, RegExp, Promise].map(({ prototype }) => prototype as object)

function shapes(): string {
  return JSON.stringify(roots.map((root) => Reflect.ownKeys(root).map(String)))
}

test('no expression reaches a prototype or a global, and none changes the payload', async () => {
  const before = shapes()
  const attempt = fc
    .tuple(reach, start, name)
    .map(([way, from, key]) => way.replaceAll('F', () => from).replaceAll('K', () => key))
  await fc.assert(
    fc.asyncProperty(attempt, async (source) => {
      const payload = { a: {}, list: [], text: 'text' }
      const result = await evaluate(source, payload)
      assertPlain(result)
      assert.deepEqual(payload, { a: {}, list: [], text: 'text' })
      assert.equal(shapes(), before)
      assert.equal(({} as { x?: unknown }).x, undefined)
      assert.doesNotMatch(JSON.stringify(result) ?? '', /native code|=>|function ?\(/)
    }),
    { numRuns: 1_500 },
  )
  assert.equal(await evaluate('$sum([1, 2])', {}), 3)
})

test('keys of a payload that name a prototype are keys like any other', async () => {
  const payload = JSON.parse(
    '{"a": {"__proto__": {"x": 1}, "constructor": {"prototype": {"y": 2}}}, "b": {}}',
  )
  assert.deepEqual(await evaluate('a', payload), payload.a)
  assert.deepEqual(Object.keys((await evaluate('a', payload)) as object), ['__proto__', 'constructor'])
  for (const source of '$merge([b, a]).x ¦ $clone(a).x ¦ b.x ¦ $ ~> |b|$$.a| ¦ $spread(a) ¦ $distinct([a, a])'.split(
    ' ¦ ',
  ))
    assertPlain(await evaluate(source, payload))
  assert.equal(await evaluate('$merge([b, a]).x', payload), undefined)
  assert.equal(({} as { x?: unknown }).x, undefined)
})

test('an object of the payload that is marked as a function of JSONata is not one', async () => {
  const mark = { _jsonata_lambda: true, thunk: true, arguments: [], body: { type: 'string', value: 'run' } }
  for (const source of 'f ¦ f() ¦ $map([1], f) ¦ $f := f; $f(1) ¦ $lookup($, "f") ¦ [f].$ ¦ $string(f)'.split(
    ' ¦ ',
  )) {
    const result = await evaluate(source, { f: mark })
    assert.notEqual(result, 'run', source)
    assertPlain(result)
  }
})

/** Returns the result or the error. Any other error fails the test. */
async function evaluate(source: string, payload: unknown): Promise<unknown> {
  try {
    return await compileExpression(source).evaluate(createScope(requestOf(payload)))
  } catch (error) {
    assert.ok(error instanceof ExpressionError || error instanceof ExpressionSyntaxError, String(error))
    return undefined
  }
}

function assertPlain(value: unknown): void {
  assert.notEqual(typeof value, 'function')
  if (typeof value !== 'object' || value === null) return
  const root = Object.getPrototypeOf(value)
  assert.ok(root === Object.prototype || root === Array.prototype)
  for (const child of Object.values(value)) assertPlain(child)
}
