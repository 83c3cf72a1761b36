import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parse } from 'yaml'
import { snapshotOf } from '../compile/fixture.ts'
import { testBlocks } from '../config/blocks-fixture.ts'
import { watchEventLoop } from '../resolve/event-loop-fixture.ts'
import { mismatchesOf, plainSurface, resultOf, testOf } from './fixture.ts'
import { runTests } from './run-tests.ts'
import { checkValue } from './value-check.ts'

type Expected = Parameters<typeof resultOf>[0]
type Situation = NonNullable<Parameters<typeof resultOf>[1]>

const wake = { action: 'wake', text: 'Seen {{title}}', mode: 'next-heartbeat' } as const

const several = [
  { id: 'one', continue: true, action: 'wake', text: 'Seen {{title}}' },
  { id: 'each', forEach: 'items', message: 'Item {{item}}' },
] as const
const coalesce = { key: 'ref', windowMs: 1, maxWaitMs: 1, keep: 'latest', maxRunsPerHour: 1 } as const
const deduping = { message: 'x', text: 'x', dedupe: { enabled: true, key: 'id' } }
const items = { mappings: several, body: { title: 'crash', items: ['a', 'b'] } }

/** Replacements for the default mapping, by the name that a row gives. */
const situations: Readonly<Record<string, Situation>> = {
  wake: { mappings: [wake] },
  absent: { mappings: [{ message: '{{absent}}' }] },
  busy: { mappings: [{ message: 'x', busy: 'reject', coalesce }] },
  each: { mappings: several.slice(1) },
  items,
  elsewhere: { mappings: [{ match: { path: 'github' }, message: 'x' }], endpoint: 'gitlab' },
  builtIn: { endpoint: 'wake' },
  dedupe: { mappings: [deduping] },
  targets: {
    mappings: [{ message: 'x', deliverTo: [{ channel: 'slack', to: 'C1' }, { channel: 'terminal' }] }],
  },
  dedupeWake: { mappings: [{ ...deduping, action: 'wake' }] },
}

/** Under a title: what a test expects, perhaps ` @ situation body`, and the mismatches that are reported. */
const cases = `
# a test passes when everything that it names is as expected
{ mapping: first, action: agent, message: See crash, prompt: { contains: 'See [title]' } } ¦ { sessionKey: { prefix: 'hook:' }, deliver: true, channel: last, to: { exists: false } }
{ timeoutSeconds: 600, trusted: false, status: 200 }

# each field that is not as expected is reported
{ action: wake, message: See it, deliver: false } ⇒ expect.action: "wake", not "agent" ⇒ expect.message: "See it", not "See crash" ⇒ expect.deliver: false, not true

# several tests of a value must all hold, and each that fails is reported
{ message: { prefix: See, contains: [crash, burn], suffix: '!', pattern: ^See c, exists: true } } ⇒ expect.message.contains[1]: text that contains "burn", not "See crash" ⇒ expect.message.suffix: text that ends with "!", not "See crash"

# \`not\` negates a value or a test, and several tests must not all hold
{ message: { not: See it }, to: { not: C1 } } ¦ { message: { not: { contains: [burn, crash] } } } ¦ { message: { not: { prefix: x } } }
{ message: { not: See crash } } ⇒ expect.message.not: anything but "See crash", not "See crash"
{ message: { not: { contains: crash, prefix: See } } } ⇒ expect.message.not: text that does not contain "crash", or text that does not begin with "See", not "See crash"

# the targets of a reply are expected one by one, each by its fields
{ deliverTo: [{ channel: slack, to: { prefix: C } }, { channel: terminal, to: { exists: false } }] } @ targets
{ deliverTo: [{ channel: slack, to: { prefix: D } }, { channel: slack }] } @ targets ⇒ expect.deliverTo[0].to.prefix: text that begins with "D", not "C1" ⇒ expect.deliverTo[1].channel: "slack", not "terminal"
{ deliverTo: [{ channel: slack }] } @ targets ⇒ expect.deliverTo: [{"channel":"slack"}], not [{"channel":"slack","to":"C1"},{"channel":"terminal"}]

# a pattern that cannot be read is reported
{ message: { pattern: ( } } ⇒ expect.message.pattern: a pattern that can be read, not none

# mode and wakeMode stand for each other, as in mappings
{ wakeMode: next-heartbeat } @ wake { title: crash } ¦ { mode: now }

# busy and keys are expected like fields, and what is not written is queue and no key
{ busy: reject, coalesce: { suffix: main } } @ busy { ref: refs/main }
{ busy: reject, coalesce: { suffix: main } } @ busy { ref: dev } ⇒ expect.coalesce.suffix: text that ends with "main", not "dev"
{ busy: queue, coalesce: { exists: false } } ¦ { dedupe: e1 } @ dedupe { id: e1 }
{ dedupe: { prefix: f } } @ dedupe { id: e1 } ⇒ expect.dedupe.prefix: text that begins with "f", not "e1"
{ dedupe: { exists: false } } @ dedupe {} ¦ { dedupe: e1 } @ dedupeWake { id: e1 }
{ dedupe: { prefix: f } } @ dedupeWake { id: e1 } ⇒ expect.dedupe.prefix: text that begins with "f", not "e1"
{ dedupe: { exists: false } } @ dedupeWake {}

# expecting fields of an action, a mapping, or nothing in particular expects it to be accepted
{ message: x } @ absent {} ⇒ expect: accepted, not refused, by "first"
{ mapping: first } @ absent {} ⇒ expect: accepted, not refused, by "first"
{} @ absent {} ⇒ expect: accepted, not refused, by "first"

# another outcome than expected is the only mismatch, because all else follows from it
{ outcome: ignored, status: 200, reason: x } ⇒ expect.outcome: ignored, not accepted, by "first"

# a refusal is expected by its outcome, status, code, reason or mapping, and a skipped request by its outcome
{ outcome: refused, status: 400, code: BLANK_TEXT, mapping: first } @ absent {} ¦ { status: 400 } @ absent {} ¦ { code: BLANK_TEXT } @ absent {} ¦ { reason: { contains: message } } @ absent {}
{ outcome: skipped, mapping: each } @ each { items: [] }

# an endpoint that nothing covers is refused, as the gateway would, and a built-in one is tested like any other
{ outcome: refused, code: NOT_FOUND } @ elsewhere {} ¦ { action: wake, text: hi } @ builtIn { text: hi, mode: now }

# several actions are expected one by one, in their order, and each element by its position
{ actions: [{ mapping: one, action: wake, text: Seen crash }, { mapping: each, index: 0, message: Item a }, { mapping: each, index: 1, message: Item c }] } @ items ⇒ expect.actions[2].message: "Item c", not "Item b"
{ actions: [{ mapping: one }, { mapping: each }] } @ items ⇒ expect.actions: 2 actions, not 3 actions
{ message: Item a } @ items ⇒ expect: one action, not 3 actions
`

testBlocks(cases, async (row) => {
  const [sent = '', ...mismatches] = row.split(' ⇒ ')
  const [, expect = '', name = '', body] = /^(.*?)(?: @ (\w+) ?(\{.*\})?)?$/.exec(sent) ?? []
  const situation = { ...situations[name], ...(body !== undefined && { body: parse(body) }) }
  const result = await resultOf(parse(expect) as Expected, situation)
  assert.deepEqual(mismatchesOf(result), mismatches, row)
  assert.equal(result.passed, mismatches.length === 0)
  // The place of each shows its path in the test.
  for (const [index, { place }] of result.mismatches.entries())
    assert.ok(mismatches[index]?.startsWith(place.text), row)
})

test('a string too long for a pattern is reported and does not throw', () => {
  const [long] = checkValue({ pattern: 'x' }, 'x'.repeat(300_000), [])
  assert.equal(long?.expected, 'a text that can be searched')
})

test('a hint says how a value should have been written', async () => {
  const quoted = { mappings: [{ message: 'x', channel: 'slack', to: '42' }] }
  for (const [expect, situation, hint] of [
    [{ to: 42 }, quoted, 'It is text: put the expected value in quotes.'],
    [{ timeoutSeconds: '600' }, quoted, 'It is no text: take the quotes off the expected value.'],
    [{ message: 'See crash\n' }, {}, '`|-` instead of `|`'],
    [{ text: 'See crash' }, {}, '`text` is a field of the action `wake`, and this is `agent`.'],
    [
      { coalesce: 'main' },
      { mappings: [wake] },
      '`coalesce` is a field of the action `agent`, and this is `wake`.',
    ],
    [{ message: 'Item a' }, items, 'Write `actions:` with what is expected of each of the 3.'],
  ] as const) {
    const { mismatches } = await resultOf(expect, situation)
    assert.ok(mismatches[0]?.hint?.includes(hint), mismatches[0]?.hint)
  }
})

test('a body is passed on as it would be received, and its time is the first of 2026 unless the test says another', async () => {
  const snapshot = await snapshotOf([{ message: '{{now}} {{query.a}} {{headers.b}} {{id}}' }])
  const bodyText = '{"id":9007199254740993}'
  const request = { endpoint: 'test', query: { a: 'Q' }, headers: { b: 'H' }, bodyText }
  const tests = [
    testOf({ message: '2026-01-01T00:00:00.000Z Q H 9007199254740993' }, { request }),
    testOf({ message: { prefix: '2025-05-05T05:05:05.000Z' } }, { request, now: '2025-05-05T05:05:05Z' }),
    testOf({ code: 'INVALID_JSON' }, { request: { endpoint: 'test', bodyText: '{' } }),
  ]
  const results = await runTests({ tests, snapshot, surface: plainSurface })
  assert.deepEqual(results.map(mismatchesOf), [[], [], []])
})

test('many tests do not block the event loop, whether they pass or fail', async () => {
  const snapshot = await snapshotOf([{ message: 'x' }])
  const tests = Array.from({ length: 2000 }, (_, index) => testOf({ message: index % 2 === 0 ? 'x' : 'y' }))
  const { result, iterations } = await watchEventLoop(() =>
    runTests({ tests, snapshot, surface: plainSurface }),
  )
  assert.equal(result.filter(({ passed }) => passed).length, 1000)
  assert.ok(iterations > 3, `${iterations} iterations`)
})

test('tests are not run after the run was given up', async () => {
  const tests = Array.from({ length: 3 }, () => testOf({ message: 'x' }))
  let asked = 0
  const isGivenUp = () => ++asked > 2
  const snapshot = await snapshotOf([{ message: 'x' }])
  assert.equal((await runTests({ tests, snapshot, surface: plainSurface, isGivenUp })).length, 2)
})
