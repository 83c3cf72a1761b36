import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { parseExact } from '../exact-numbers.ts'
import { watchTurns } from '../watch-turns.ts'
import { isLarge, printInTurns } from './print.ts'

const print = (value: object, indent = 0) => printInTurns(value, indent, () => {})

test('a value is printed as the platform prints it, indented or not', async () => {
  const value = fc.oneof(
    fc.array(fc.jsonValue({ maxDepth: 6 }), { maxLength: 30 }),
    fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 6 })),
  )
  await fc.assert(
    fc.asyncProperty(value, fc.nat({ max: 4 }), async (drawn, indent) => {
      assert.equal(await print(drawn, indent), JSON.stringify(drawn, undefined, indent))
    }),
    { seed: 5, numRuns: 1000 },
  )
})

test('what JSON has in few places is printed as well: odd keys, halves of characters, exact numbers', async () => {
  const text = `{"__proto__":[1,{}],"\\ud83d":"\\udc00","":[[],[[]],"\\n"],"n":[12345678901234567890,{"m":-9007199254740993}]}`
  const value = parseExact(text) as object
  assert.equal(await print(value), text)
  assert.equal(await print(value, 2), JSON.stringify(value, undefined, 2))
})

test('a megabyte of lists a thousand levels deep is printed in turns', async () => {
  const tower = `${'['.repeat(990)}${']'.repeat(990)}`
  const text = `[${Array.from({ length: 500 }, () => tower).join()}]`
  const value: object = JSON.parse(text)
  assert.ok(isLarge(value))
  const { result, turns } = await watchTurns(() => print(value))
  assert.equal(result, text)
  assert.ok(turns > 2, `${turns} turns`)
})

test('whoever counts what is printed may stop it', async () => {
  let made = 0
  const stop = (characters: number) => {
    made += characters
    if (made > 5000) throw new RangeError('enough')
  }
  await assert.rejects(printInTurns(Array.from({ length: 100_000 }, String), 0, stop), RangeError)
  assert.ok(made < 20_000, `${made} characters were made`)
})
