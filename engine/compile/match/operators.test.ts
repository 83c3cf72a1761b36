import assert from 'node:assert/strict'
import { test } from 'node:test'
import { uncontained } from '../../resolve/model/containment.ts'
import type { Finding } from '../fields/report.ts'
import { isMatch, missOf } from './pattern.ts'
import { readBody } from './read-pattern.ts'

function read(body: unknown) {
  const [errors, warnings]: [Finding[], Finding[]] = [[], []]
  const noting = (all: Finding[]) => (found: Finding) => void all.push(found)
  const pattern = readBody(body, ['match', 'body'], { error: noting(errors), warn: noting(warnings) })
  assert.equal(pattern === undefined, errors.length > 0, 'an error leaves no pattern')
  const shown = (all: readonly Finding[]) =>
    all.map(({ path, message }) => `${path.slice(2).join('/')}: ${message}`)
  const keys = pattern?.keys.map(([key]) => key)
  return { pattern, errors: shown(errors), warnings: shown(warnings), keys }
}

/** A test of a field, its words, values that pass, and values that fail. `undefined` is an absent field. */
const tests: readonly (readonly [unknown, string, readonly unknown[], readonly unknown[]])[] = [
  ['x', '"x"', ['x', ['y', 'x'], [['z', ['x']]]], [undefined, 'X', ['y'], [], { x: 1 }]],
  ['42', '"42"', ['42'], [42]],
  [null, 'null', [null], [undefined, 'null', 0]],
  [['a', 1, true], 'one of "a", 1, true', ['a', 1, true, ['z', 1]], [undefined, '1', 'true', []]],
  [['x', { exists: false }], '"x" or no such field', ['x', undefined], ['y']],
  [{ exists: true }, 'the field to be there', [1, '', false, null, [], {}], [undefined]],
  [{ exists: false }, 'no such field', [undefined], [1, null, []]],
  [{ 'anything-but': 'x' }, 'anything but "x"', ['y', null, 5, ['x', 'y']], [undefined, 'x', ['x'], []]],
  [{ 'anything-but': ['x', null] }, 'anything but "x", null', ['y', '5'], [undefined, 'x', null]],
  [
    { numeric: ['>', 1, '<=', 20] },
    'a number > 1 and <= 20',
    [1.5, 20],
    [undefined, '15', null, true, 1, 21],
  ],
  [{ numeric: ['!=', 0] }, 'a number != 0', [1], [0]],
  [{ prefix: '5' }, 'text that begins with "5"', ['5', '51'], [undefined, 5, null, { 5: 5 }, '15']],
  [{ suffix: '5' }, 'text that ends with "5"', ['5', '15'], [undefined, 5, '51']],
  [{ pattern: '^v[0-9]$' }, 'text matching /^v[0-9]$/', ['v5'], [undefined, 5, null, 'x v5']],
  [
    { prefix: 'a', suffix: 'z' },
    'text that begins with "a" and text that ends',
    ['az', ['b', 'az']],
    [['ab', 'yz']],
  ],
  [
    { b: { exists: false } },
    'an object with b: no',
    [undefined, 5, {}, [{ b: 1 }, {}]],
    [[], { b: 0 }, [{ b: 1 }]],
  ],
]

for (const [wanted, words, holding, failing] of tests)
  test(`${JSON.stringify(wanted)} expects ${words}`, () => {
    const { pattern, errors } = read({ a: wanted })
    assert.deepEqual(errors, [])
    assert.ok(pattern)
    for (const a of holding) assert.equal(isMatch(pattern, { a }, uncontained), true, JSON.stringify(a))
    for (const a of failing) {
      assert.equal(isMatch(pattern, { a }, uncontained), false, JSON.stringify(a))
      assert.notEqual(missOf(pattern, { a }, [], uncontained), undefined, JSON.stringify(a))
    }
    assert.ok(missOf(pattern, { a: failing[0] }, [], uncontained)?.expected.startsWith(words))
  })

const noText = ': must be text, and not empty'
const noBound = ': holds bounds that no number satisfies together'
const noPairs = ': must be a list of pairs, each an operator and a number'

/** A body, and its errors by path below `match.body`. */
const refused: readonly (readonly [unknown, ...string[]])[] = [
  ...['x', 5, null, ['a'], true].map((body) => [body, ': must be a map of keys of the payload'] as const),
  [{}, ': must not be empty'],
  [{ a: { b: {} } }, 'a/b: must not be an empty map'],
  [{ a: ['x', []] }, 'a/1: must not be an empty list: nothing would match'],
  [{ a: { 'anything-but': [] } }, 'a/anything-but: must not be an empty list'],
  [{ a: { 'anything-but': { prefix: 'x' } } }, 'a/anything-but: must be text, a number, true, false or null'],
  [{ a: { 'anything-but': ['x', ['y']] } }, 'a/anything-but/1: must be text, a number, true, false or null'],
  [{ a: { exists: 'true' }, b: { prefix: 5 } }, 'a/exists: must be true or false', `b/prefix${noText}`],
  [{ a: { suffix: '' } }, `a/suffix${noText}`],
  [{ a: { pattern: 5 } }, 'a/pattern: must be a regular expression'],
  [{ a: { pattern: 'v(' } }, 'a/pattern: missing closing ): v('],
  [{ a: Number.POSITIVE_INFINITY }, 'a: must be a number that JSON has: no payload holds an infinite one'],
  [{ a: [new Date(0)] }, 'a: must be text, a number, true, false or null'.replace('a:', 'a/0:')],
  [{ a: { exists: false, prefix: 'x' } }, 'a: asks a field that is absent for more, which never holds'],
  ...[5, '> 5', [], ['>'], ['>', 5, '<']].map(
    (numeric) => [{ n: { numeric } }, `n/numeric${noPairs}`] as const,
  ),
  [{ n: { numeric: ['=>', 5] } }, 'n/numeric/0: must be one of = != < <= > >='],
  [{ n: { numeric: ['>', 5, '<', '9'] } }, 'n/numeric/3: must be a number'],
  ...['> 5 < 5', '> 5 <= 5', '>= 6 <= 5', '= 5 = 6', '= 5 > 5', '= 5 != 5', '>= 5 <= 5 != 5'].map(
    (bounds) => [{ n: { numeric: boundsOf(bounds) } }, `n/numeric${noBound}`] as const,
  ),
  ...['>= 5 <= 5', '> 5 < 6 != 5.5', '= 5 = 5', '!= 1 != 2'].map(
    (bounds) => [{ n: { numeric: boundsOf(bounds) } }] as const,
  ),
]

function boundsOf(text: string): unknown[] {
  return text.split(' ').map((part) => (/\d/.test(part) ? Number(part) : part))
}

for (const [body, ...errors] of refused)
  test(`${JSON.stringify(body)} has ${errors.length || 'no'} errors`, () =>
    assert.deepEqual(read(body).errors, errors))

test('the top level lists keys, whatever their names, and the cheap ones are tested first', () => {
  assert.deepEqual(read({ exists: true, prefix: 'a' }).keys, ['exists', 'prefix'])
  assert.deepEqual(read({ exists: true, prefix: 'a' }).warnings, [])
  assert.deepEqual(read(JSON.parse('{"__proto__": {"a": 1}}')).keys, ['__proto__'])
  const mixed = { a: { pattern: 'x' }, b: { c: { pattern: 'y' } }, d: { prefix: 'z' }, e: 1 }
  assert.deepEqual(read(mixed).keys, ['e', 'd', 'a', 'b'])
})

test('a map with both operators and other keys is keys, with a warning', () => {
  const { pattern, warnings } = read({ ref: { prefix: 'refs/', sufix: 'x' } })
  assert.equal(pattern?.keys[0]?.[1].kind, 'keys')
  assert.match(
    warnings.join(),
    /^ref: takes `prefix` for keys of the payload, because `sufix` beside it is no operator$/,
  )
})
