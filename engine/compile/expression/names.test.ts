import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createScope } from '../../resolve/model/scope.ts'
import { requestOf } from '../fixture.ts'
import { compileExpression, ExpressionSyntaxError } from './compile-expression.ts'

/** Evaluates with headers, a path, one var, and the second element of a `forEach`. */
async function evaluate(source: string, payload: unknown): Promise<unknown> {
  const request = requestOf(JSON.stringify(payload), { headers: { 'x-kind': 'push' }, query: { q: '1' } })
  const scope = { ...createScope(request), vars: { x: 7 }, item: { id: 'm2' }, index: 1 }
  return compileExpression(source).evaluate(scope)
}

const order = JSON.parse('{ "lines": [{ "id": 1, "amount": 10 }, { "id": 2, "amount": 5 }] }')

test('the root of an expression is the payload alone', async () => {
  for (const [source, payload, expected] of [
    ['$sum(**.amount)', order, 15],
    ['$', order, order],
    ['$$', order, order],
    ['$keys($)', order, 'lines'],
    ['$keys($$)', order, 'lines'],
    ['*.amount', order, [10, 5]],
    ['lines.$count($$.lines)', order, [2, 2]],
    ['$string($)', { a: 1 }, '{"a":1}'],
    ['$type($)', [1, 2], 'array'],
    ['$count($)', [1, 2, 3], 3],
    ['$[1].id', [{ id: 'a' }, { id: 'b' }], 'b'],
    ['id', [{ id: 'a' }, { id: 'b' }], ['a', 'b']],
    ['$', 'text', 'text'],
    ['$', null, null],
  ] as const) {
    assert.deepEqual(await evaluate(source, payload), expected, source)
  }
})

test('reserved names are found whatever kind the payload is', async () => {
  for (const payload of [{ lines: [1] }, [{ path: 'its' }], 'text', null, 5]) {
    const own = '$map([1], function($n) { vars.x + $n })'
    const source = `[headers.\`x-kind\`, query.q, path, vars.x, item.id, index, now, ${own}]`
    const values = ['push', '1', 'test', 7, 'm2', 1, '2026-01-02T03:04:05.000Z', 8]
    assert.deepEqual(await evaluate(source, payload), values, JSON.stringify(payload))
    assert.deepEqual(await evaluate('payload', payload), payload)
    assert.deepEqual(await evaluate('{"kind": headers.`x-kind`}', { a: 1 }), { kind: 'push' })
  }
})

test('names within a path, its brackets and its braces are those of the element', async () => {
  const payload = { items: [{ headers: { x: 1 }, path: 'a', vars: 'v' }, { headers: { x: 2 } }] }
  for (const [source, expected] of [
    ['items[headers.x = 1].path', 'a'],
    ['items.headers.x', [1, 2]],
    ['items.(headers.x)', [1, 2]],
    ['items^(>headers.x).headers.x', [2, 1]],
    ['items{"all": $sum(headers.x)}', { all: 3 }],
    ['items.{"v": vars}', [{ v: 'v' }, {}]],
    ['items[0] ~> |$|{"path": vars}|', { headers: { x: 1 }, path: 'v', vars: 'v' }],
    ['($x := vars.x; items[0].{"x": $x})', { x: 7 }],
    ['items@$i.vars.x', [7, 7]],
    ['payload.items[0].path', 'a'],
  ] as const) {
    assert.deepEqual(await evaluate(source, payload), expected, source)
  }
})

function syntaxErrorOf(source: string): ExpressionSyntaxError {
  try {
    compileExpression(source, 100)
  } catch (error) {
    if (error instanceof ExpressionSyntaxError) return error
  }
  return assert.fail(`${source} is not refused`)
}

/** Expression, and the place in it. */
const unreachable: readonly (readonly [string, number])[] = [
  ['$.headers.x = 1', 0],
  ['a = 1 and $$.vars.x', 10],
  ['[a.{"q": $lookup($$.vars.t, id)}]', 17],
  ['items[id = $$.item.id]', 11],
  ['$.payload.id', 0],
  ['$.{"a": headers}', 8],
  ['$lookup($$, "headers")', 13],
  ['$[path = "x"]', 2],
]

for (const [source, offset] of unreachable)
  test(`${source} is refused with what to write instead`, () => {
    const error = syntaxErrorOf(source)
    assert.match(error.message, /^looks for \w+ below \$ or \$\$, which are the payload alone$/)
    assert.equal(error.offset, 100 + offset)
    assert.match(error.hint ?? '', /^Write `(\w+)` alone; .*`\(\$\1 := \1; … \$\1 …\)`.* `payload\.\1`\.$/)
  })

test('a field of an element may have a reserved name, also through $', async () => {
  const payload = { items: [{ path: 'a', item: 1 }, { path: 'b' }] }
  assert.deepEqual(await evaluate('items[$.path = "b"].path', payload), 'b')
  assert.deepEqual(await evaluate('$map(items, function($i) { $i.path })', payload), ['a', 'b'])
  assert.deepEqual(await evaluate('items.$.item', payload), 1)
})

/** Source, offset, the texts of message and hint. */
const unreadable: readonly (readonly [string, number, RegExp])[] = [
  ['$contains(a, /x(?=y)/)', 15, /lookahead .*not supported.*group/s],
  ['$match(a, /(a)\\1/i)', 14, /backreference/],
  ['$contains(a, /b/) or $contains(a, /b(?<!x)/)', 36, /lookbehind/],
  ['$contains(a, /(?<!x)b/) ?: "none"', 14, /lookbehind/],
  ['$contains(a, /[z-a]/)', 13, /regular expression/i],
  ['a.$eval("1")', 2, /\$eval is not allowed/],
  ['1 +', 3, /end of expression/],
]

for (const [source, offset, what] of unreadable)
  test(`${source} is refused at its place`, () => {
    const error = syntaxErrorOf(source)
    assert.match(`${error.message} ${error.hint}`, what)
    assert.equal(error.offset - 100, offset)
  })
