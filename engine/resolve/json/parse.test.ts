import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { watchTurns } from '../watch-turns.ts'
import { parseInTurns, parseJson } from './parse.ts'

const spaces = fc.constantFrom('', '', ' ', '\n\t', '\r')
const scalar = fc.constantFrom(
  '0',
  '-1.5e3',
  '1e400',
  'true',
  'null',
  '""',
  '"a,]}"',
  '"\\"[{\\\\"',
  '"\\ud83d"',
  '"😀"',
)
const name = fc.constantFrom('a', 'b', '__proto__', 'constructor', '0', '10', '{', '\\"', '')

/** JSON as text, so that keys may stand twice and spaces anywhere. */
const json = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'medium' },
    scalar,
    fc
      .array(fc.tuple(spaces, tie('value'), spaces), { maxLength: 6 })
      .map((members) => `[${members.map((each) => each.join('')).join()}]`),
    fc
      .array(fc.tuple(spaces, name, spaces, tie('value'), spaces), { maxLength: 6 })
      .map(
        (fields) => `{${fields.map(([a, key, b, value, c]) => `${a}"${key}"${b}:${b}${value}${c}`).join()}}`,
      ),
  ),
})).value

const length = fc.constantFrom(0, 1, 3, 10, 50)

function outcome(parse: () => unknown): unknown {
  try {
    return parse()
  } catch {
    return 'refused'
  }
}

test('what is read piece by piece is what the parser reads at once, down to the order of keys', async () => {
  await fc.assert(
    fc.asyncProperty(json, spaces, length, async (text, around, piece) => {
      const whole = around + text + around
      const read = await parseInTurns(whole, (each) => JSON.parse(each), piece)
      assert.equal(JSON.stringify(read), JSON.stringify(JSON.parse(whole)))
      assert.deepEqual(read, JSON.parse(whole))
    }),
    { seed: 7, numRuns: 1000 },
  )
})

test('what the parser refuses is refused, wherever the pieces are cut', async () => {
  const change = fc.tuple(
    fc.nat(),
    fc.nat({ max: 2 }),
    fc.constantFrom('', ',', '[', ']', '{', '}', '"', ':', '0', '\\', ' '),
  )
  let refused = 0
  await fc.assert(
    fc.asyncProperty(json, change, length, async (text, [place, removed, added], piece) => {
      const at = place % (text.length + 1)
      const broken = text.slice(0, at) + added + text.slice(at + removed)
      const expected = outcome(() => JSON.parse(broken))
      const read = await parseInTurns(broken, (each) => JSON.parse(each), piece).catch(() => 'refused')
      assert.deepEqual(read, expected, broken)
      if (expected === 'refused') refused += 1
    }),
    { seed: 8, numRuns: 3000 },
  )
  assert.ok(refused > 500, `${refused} were refused`)
})

test('a __proto__ in a long text is a field like any other', async () => {
  const rest = `"rest":"${'a'.repeat(100_000)}"`
  const read = (await parseJson(`{"__proto__":{"polluted":1},${rest}}`)) as object
  assert.equal(Object.getPrototypeOf(read), Object.prototype)
  assert.deepEqual(Object.keys(read), ['__proto__', 'rest'])
  assert.equal('polluted' in read, false)
})

test('a short text is read at once', () => {
  assert.deepEqual(parseJson('{"a":[1]}'), { a: [1] })
  assert.throws(() => parseJson('{'), SyntaxError)
})

test('a long text lets everything else have its turn', async () => {
  const text = `[${'[[]],'.repeat(200_000)}0]`
  const { result, turns } = await watchTurns(() => parseJson(text))
  assert.equal((result as unknown[]).length, 200_001)
  assert.ok(turns >= 2, `${turns} turns`)
})
