import assert from 'node:assert/strict'
import { test } from 'node:test'
import { snapshotOf } from '../compile/fixture.ts'
import { watchEventLoop } from '../resolve/watch-event-loop.ts'
import { mismatchesOf, plainSurface, resultOf, testOf } from './fixture.ts'
import { runTests } from './run-tests.ts'
import { checkValue } from './value-check.ts'

const wake = { action: 'wake', text: 'Seen {{title}}', mode: 'next-heartbeat' } as const

test('a test passes when everything that it names is as expected', async () => {
  const result = await resultOf({
    mapping: 'first',
    action: 'agent',
    message: 'See crash',
    prompt: { contains: 'See [title]' },
    sessionKey: { prefix: 'hook:' },
    deliver: true,
    channel: 'last',
    to: { exists: false },
    timeoutSeconds: 600,
    trusted: false,
    status: 200,
  })
  assert.deepEqual(mismatchesOf(result), [])
  assert.equal(result.passed, true)
})

test('each field that is not as expected is reported with its place in the test', async () => {
  const result = await resultOf({ action: 'wake', message: 'See it', deliver: false })
  assert.deepEqual(mismatchesOf(result), [
    'expect.action: "wake", not "agent"',
    'expect.message: "See it", not "See crash"',
    'expect.deliver: false, not true',
  ])
  assert.deepEqual(
    result.mismatches.map(({ place }) => place.text),
    ['expect.action', 'expect.message', 'expect.deliver'],
  )
})

test('several tests of a value must all hold, and each that fails is reported', async () => {
  const message = { prefix: 'See', contains: ['crash', 'burn'], suffix: '!', pattern: '^See c', exists: true }
  assert.deepEqual(mismatchesOf(await resultOf({ message })), [
    'expect.message.contains[1]: text that contains "burn", not "See crash"',
    'expect.message.suffix: text that ends with "!", not "See crash"',
  ])
})

test('`not` negates a value or a test, and several tests must not all hold', async () => {
  const passing = [{ not: 'See it' }, { not: { contains: ['burn', 'crash'] } }, { not: { prefix: 'x' } }]
  for (const message of passing) assert.deepEqual(mismatchesOf(await resultOf({ message })), [])
  assert.equal((await resultOf({ to: { not: 'C1' } })).passed, true)
  assert.deepEqual(mismatchesOf(await resultOf({ message: { not: 'See crash' } })), [
    'expect.message.not: anything but "See crash", not "See crash"',
  ])
  assert.deepEqual(mismatchesOf(await resultOf({ message: { not: { contains: 'crash', prefix: 'See' } } })), [
    'expect.message.not: text that does not contain "crash", or text that does not begin with "See", not "See crash"',
  ])
})

test('a pattern that cannot be read, and a text too long for one, are reported and do not throw', async () => {
  const unread = await resultOf({ message: { pattern: '(' } })
  assert.deepEqual(mismatchesOf(unread), ['expect.message.pattern: a pattern that can be read, not none'])
  const [long] = checkValue({ pattern: 'x' }, 'x'.repeat(300_000), [])
  assert.equal(long?.expected, 'a text that can be searched')
})

test('a number where the action has text is reported with what to do about it', async () => {
  const mappings = [{ message: 'x', channel: 'slack', to: '42' }]
  const { mismatches } = await resultOf({ to: 42, timeoutSeconds: '600' }, { mappings })
  assert.deepEqual(
    mismatches.map(({ hint }) => hint),
    [
      'It is text: put the expected value in quotes.',
      'It is no text: take the quotes off the expected value.',
    ],
  )
})

test('for a text that differs only in its last line break, the hint says how YAML leaves it out', async () => {
  const { mismatches } = await resultOf({ message: 'See crash\n' })
  assert.match(mismatches[0]?.hint ?? '', /`\|-` instead of `\|`/)
})

test('a field of the other action is reported as one', async () => {
  const { mismatches } = await resultOf({ text: 'See crash' })
  assert.equal(mismatches[0]?.hint, '`text` is a field of the action `wake`, and this is `agent`.')
})

test('mode and wakeMode stand for each other, as in mappings', async () => {
  assert.equal((await resultOf({ wakeMode: 'next-heartbeat' }, { mappings: [wake] })).passed, true)
  assert.equal((await resultOf({ mode: 'now' })).passed, true)
})

test('busy and the key of coalesce are expected like fields, and what is not written is queue and no key', async () => {
  const coalesce = { key: 'ref', windowMs: 1, maxWaitMs: 1, keep: 'latest', maxRunsPerHour: 1 } as const
  const mappings = [{ message: 'x', busy: 'reject', coalesce } as const]
  const expected = { busy: 'reject', coalesce: { suffix: 'main' } }
  assert.equal((await resultOf(expected, { mappings, body: { ref: 'refs/main' } })).passed, true)
  assert.deepEqual(mismatchesOf(await resultOf(expected, { mappings, body: { ref: 'dev' } })), [
    'expect.coalesce.suffix: text that ends with "main", not "dev"',
  ])
  assert.equal((await resultOf({ busy: 'queue', coalesce: { exists: false } })).passed, true)
  const { mismatches } = await resultOf({ coalesce: 'main' }, { mappings: [wake] })
  assert.equal(mismatches[0]?.hint, '`coalesce` is a field of the action `agent`, and this is `wake`.')
})

test('the key of dedupe is expected like a field, of a wake too, and is none where every request counts', async () => {
  for (const action of ['agent', 'wake'] as const) {
    const mappings = [{ action, message: 'x', text: 'x', dedupe: { enabled: true, key: 'id' } }]
    const body = { id: 'e1' }
    assert.equal((await resultOf({ dedupe: 'e1' }, { mappings, body })).passed, true)
    assert.deepEqual(mismatchesOf(await resultOf({ dedupe: { prefix: 'f' } }, { mappings, body })), [
      'expect.dedupe.prefix: text that begins with "f", not "e1"',
    ])
    assert.equal((await resultOf({ dedupe: { exists: false } }, { mappings, body: {} })).passed, true)
  }
})

test('expecting fields of an action, a mapping, or nothing in particular expects it to be accepted', async () => {
  const mappings = [{ message: '{{absent}}' }]
  for (const expect of [{ message: 'x' }, { mapping: 'first' }, {}]) {
    assert.deepEqual(mismatchesOf(await resultOf(expect, { mappings })), [
      'expect: accepted, not refused, by "first"',
    ])
  }
})

test('another outcome than expected is the only mismatch, because all else follows from it', async () => {
  const result = await resultOf({ outcome: 'ignored', status: 200, reason: 'x' })
  assert.deepEqual(mismatchesOf(result), ['expect.outcome: ignored, not accepted, by "first"'])
})

test('a refusal is expected by its outcome, status, code, reason or mapping', async () => {
  const mappings = [{ message: '{{absent}}' }]
  const whole = { outcome: 'refused', status: 400, code: 'BLANK_TEXT', mapping: 'first' } as const
  for (const expect of [
    whole,
    { status: 400 },
    { code: 'BLANK_TEXT' },
    { reason: { contains: 'message' } },
  ]) {
    assert.deepEqual(mismatchesOf(await resultOf(expect, { mappings })), [])
  }
})

test('an endpoint that nothing covers is refused, as the gateway would', async () => {
  const mappings = [{ match: { path: 'github' }, message: 'x' }]
  const result = await resultOf({ outcome: 'refused', code: 'NOT_FOUND' }, { mappings, endpoint: 'gitlab' })
  assert.deepEqual(mismatchesOf(result), [])
})

test('the built-in endpoints are tested like any other', async () => {
  const body = { text: 'hi', mode: 'now' }
  assert.deepEqual(
    mismatchesOf(await resultOf({ action: 'wake', text: 'hi' }, { endpoint: 'wake', body })),
    [],
  )
})

test('a body is passed on as it would be received, and its time is the first of 2026 unless the test says another', async () => {
  const snapshot = snapshotOf([{ message: '{{now}} {{query.a}} {{headers.b}} {{id}}' }])
  const request = {
    endpoint: 'test',
    query: { a: 'Q' },
    headers: { b: 'H' },
    bodyText: '{"id":9007199254740993}',
  }
  const tests = [
    testOf({ message: '2026-01-01T00:00:00.000Z Q H 9007199254740993' }, { request }),
    testOf({ message: { prefix: '2025-05-05T05:05:05.000Z' } }, { request, now: '2025-05-05T05:05:05Z' }),
    testOf({ code: 'INVALID_JSON' }, { request: { endpoint: 'test', bodyText: '{' } }),
  ]
  const results = await runTests({ tests, snapshot, surface: plainSurface })
  assert.deepEqual(results.map(mismatchesOf), [[], [], []])
})

test('a time that cannot be read fails its test and no other', async () => {
  const tests = [testOf({ message: 'x' }, { now: 'soon' }), testOf({ message: 'x' })]
  const results = await runTests({ tests, snapshot: snapshotOf([{ message: 'x' }]), surface: plainSurface })
  assert.deepEqual(results.map(mismatchesOf), [['now: a time such as 2026-01-01T00:00:00Z, not soon'], []])
})

test('many tests do not block the event loop, whether they pass or fail', async () => {
  const snapshot = snapshotOf([{ message: 'x' }])
  const tests = Array.from({ length: 2000 }, (_, index) => testOf({ message: index % 2 === 0 ? 'x' : 'y' }))
  const { result, iterations } = await watchEventLoop(() =>
    runTests({ tests, snapshot, surface: plainSurface }),
  )
  assert.equal(result.filter(({ passed }) => passed).length, 1000)
  assert.ok(iterations > 3, `${iterations} iterations`)
})

test('tests are not run after the run was given up', async () => {
  const tests = [testOf({ message: 'x' }), testOf({ message: 'x' }), testOf({ message: 'x' })]
  let asked = 0
  const isGivenUp = () => ++asked > 2
  const snapshot = snapshotOf([{ message: 'x' }])
  assert.equal((await runTests({ tests, snapshot, surface: plainSurface, isGivenUp })).length, 2)
})

const several = [
  { id: 'one', continue: true, action: 'wake', text: 'Seen {{title}}' },
  { id: 'each', forEach: 'items', message: 'Item {{item}}' },
] as const

test('several actions are expected one by one, in their order, and each element by its position', async () => {
  const situation = { mappings: several, body: { title: 'crash', items: ['a', 'b'] } }
  const actions = [
    { mapping: 'one', action: 'wake', text: 'Seen crash' },
    { mapping: 'each', index: 0, message: 'Item a' },
    { mapping: 'each', index: 1, message: 'Item c' },
  ] as const
  assert.deepEqual(mismatchesOf(await resultOf({ actions }, situation)), [
    'expect.actions[2].message: "Item c", not "Item b"',
  ])
  assert.deepEqual(mismatchesOf(await resultOf({ actions: actions.slice(0, 2) }, situation)), [
    'expect.actions: 2 actions, not 3 actions',
  ])
})

test('fields at the top are for a single action, and a hint says that several belong under `actions`', async () => {
  const situation = { mappings: several, body: { items: ['a', 'b'] } }
  const { mismatches } = await resultOf({ message: 'Item a' }, situation)
  assert.deepEqual(
    mismatches.map(({ expected, actual, hint }) => [expected, actual, hint]),
    [['one action', '3 actions', 'Write `actions:` with what is expected of each of the 3.']],
  )
})

test('a skipped request is expected by its outcome and mapping', async () => {
  const situation = { mappings: several.slice(1), body: { items: [] } }
  assert.deepEqual(mismatchesOf(await resultOf({ outcome: 'skipped', mapping: 'each' }, situation)), [])
})
