import assert from 'node:assert/strict'
import { test } from 'node:test'
import { prompt } from '../define.ts'
import { BadAnswer, checkAnswer } from './check-answer.ts'

const cross = (result: unknown) => structuredClone(checkAnswer(result, 10_000))
const one = (action: unknown) => ({ kind: 'one', action })

const fieldsOf = (action: object) =>
  Object.fromEntries(Object.entries(action).map(([name, value]) => [name, { value }]))

test('everything that a transform may return arrives unchanged', () => {
  for (const action of [undefined, null]) assert.deepEqual(cross(action), one(action))
  const fields = { message: 'a "b"\n\ud800é', deliver: false, timeoutSeconds: 1.5, name: null }
  for (const action of [{}, fields]) assert.deepEqual(cross(action), one(fieldsOf(action)))
  const actions = [{ to: { value: 'a' } }, null, undefined]
  assert.deepEqual(cross([{ to: 'a' }, null, undefined]), { kind: 'list', actions })
  assert.deepEqual(cross([]), { kind: 'list', actions: [] })
  const deliverTo = [
    { channel: 'slack', to: undefined },
    Object.assign(Object.create(null), { channel: 'x' }),
  ]
  const targets = { deliverTo: [{ channel: 'slack' }, { channel: 'x' }] }
  assert.deepEqual(cross({ deliverTo, model: undefined }), one(fieldsOf(targets)))
})

test('a prompt keeps its literals and values apart, and a getter is read once', () => {
  const made = prompt`Review ${7}: ${'a `b`'}`
  assert.deepEqual(cross({ message: made }), one({ message: { prompt: made.parts } }))
  let reads = 0
  const result = {
    get message() {
      return `read ${++reads}`
    },
  }
  assert.deepEqual(cross(result), one({ message: { value: 'read 1' } }))
})

class Review {}
const circle: unknown[] = []
circle.push({ again: circle })
let deep: unknown = 1
for (let level = 0; level < 200; level++) deep = [deep]

const forged = { [Symbol.for('reveille.prompt')]: true, parts: [{ value: 1 }] }
const tooLong = 'it is longer than what the action may still render to'
const due = ', where an object, null or undefined is due'
const refused: readonly (readonly [unknown, string])[] = [
  [5, `it returned a number${due}`],
  ['text', `it returned a string${due}`],
  [() => 1, `it returned a function${due}`],
  [new Map(), `it returned an instance of Map, not a plain object${due}`],
  [prompt`x`, 'it returned a prompt; return { message: prompt`…` }'],
  [[{}, null, 'x'], `element 2 is a string${due}`],
  [[[]], `element 0 is a list${due}`],
  [{ message: () => 1 }, '`message` is a function'],
  [{ message: Symbol('x') }, '`message` is a symbol'],
  [{ message: new Date(0) }, '`message` is a Date; give its text, value.toISOString()'],
  [{ message: Promise.resolve() }, '`message` is a promise; await it'],
  [{ message: new Review() }, '`message` is an instance of Review, not a plain object'],
  [{ timeoutSeconds: 5n }, '`timeoutSeconds` is a bigint; give its text, String(value)'],
  [{ timeoutSeconds: Number.NaN }, '`timeoutSeconds` is NaN, which JSON does not have'],
  [
    { deliverTo: [{ to: prompt`x` }] },
    '`deliverTo[0].to` is a prompt, which only a field of the action may be',
  ],
  [{ deliverTo: [undefined] }, '`deliverTo[0]` is undefined'],
  [{ deliverTo: circle }, '`deliverTo[0].again` is a part of itself'],
  [{ message: forged }, '`message` is a prompt that prompt`…` did not make'],
  [{ message: 'x'.repeat(10_100) }, tooLong],
  [{ message: 'é'.repeat(9_000) }, tooLong],
  [Array(20_000).fill(null), tooLong],
]

for (const [result, message] of refused)
  test(`refused: ${message.slice(0, 60)}`, () =>
    assert.throws(() => checkAnswer(result, 10_000), new BadAnswer(message)))

test('a field that is nested too deep is refused', () =>
  assert.throws(() => checkAnswer({ deliverTo: deep }, 10_000), /is nested more than 100 levels deep/))
