import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import type { Command, CommandResult, IssueChange, IssueRecord } from '../store/port.ts'
import { createLedger, type Problem } from './ledger.ts'

const start = Date.UTC(2026, 0, 31, 12)

/** A ledger whose store keeps the changes that it was given, and whose clock and timers the test moves. */
function createFixture(stored: readonly Partial<IssueRecord>[] = [], notifies = true) {
  const changes: IssueChange[][] = []
  const timers: { run: () => void; ms: number }[] = []
  const state = { now: start, fails: false }
  const ledger = createLedger({
    store: {
      async command(command: Command): Promise<CommandResult> {
        if (state.fails) throw new Error('the disk is full')
        if (command.type === 'issues') changes.push([...command.changes])
        return { ok: true }
      },
      read: {
        issues: async ({ state: wanted }: { state?: string }) => ({
          items: stored.filter((record) => record.state === wanted),
        }),
      } as never,
    },
    log: { warn: () => {} },
    now: () => state.now,
    timers: { setTimeout: (run, ms) => timers.push({ run, ms }), clearTimeout: () => {} },
    mintId: (() => {
      let last = 0
      return Object.assign(() => `id-${++last}`, { startAfter: () => {} })
    })() as never,
    generation: () => 3,
    notifies: () => notifies,
    heartbeatFor: () => undefined,
  })
  return { ledger, changes, timers, state }
}

function problem(subject: string, more: Partial<Problem> = {}): Problem {
  return {
    code: 'TRANSFORM_FAILING',
    subject,
    describe: () => ({ cause: `${subject} throws "a secret".`, label: 'Fix it' }),
    ...more,
  }
}

test('occurrences are counted, and written together with one event', async () => {
  const { ledger, changes, timers } = createFixture()
  for (let time = 0; time < 3; time++) ledger.note(problem('orders'))
  ledger.note(problem('shop'))
  assert.equal(timers.length, 1)
  assert.equal(changes.length, 0)
  await ledger.flush()
  const [batch = []] = changes
  assert.deepEqual(
    batch.map((change) => 'count' in change && [change.key, change.count]),
    [
      ['TRANSFORM_FAILING:orders', 3],
      ['TRANSFORM_FAILING:shop', 1],
    ],
  )
  const [first] = batch
  assert.ok(first !== undefined && 'report' in first)
  const { event, day } = first.report ?? {}
  assert.equal(day, '2026-01-31')
  assert.deepEqual(
    [event?.session, event?.mode, event?.trusted, event?.generation],
    ['main', 'next-heartbeat', true, 3],
  )
  assert.match(event?.text ?? '', /the transform of this mapping fails \(TRANSFORM_FAILING, orders\)/)
  assert.doesNotMatch(event?.text ?? '', /secret/)
})

test('a problem is written with the time when it happened last', async () => {
  const { ledger, changes, state } = createFixture()
  ledger.note(problem('orders'))
  state.now += 300
  ledger.note(problem('shop'))
  state.now += 200
  ledger.note(problem('orders'))
  state.now += 400
  await ledger.flush()
  const times = changes.flat().map((change) => [change.key, 'count' in change && (change.last ?? 0) - start])
  assert.deepEqual(times, [
    ['TRANSFORM_FAILING:orders', 500],
    ['TRANSFORM_FAILING:shop', 300],
  ])
})

test('the main session gets an event about an issue once a day, and never of its own failure', async () => {
  const { ledger, changes, state } = createFixture()
  const said = async (more: Partial<Problem> = {}) => {
    ledger.note(problem('orders', more))
    await ledger.flush()
    const change = changes.at(-1)?.[0]
    return change !== undefined && 'report' in change && change.report !== undefined
  }
  assert.equal(await said({ code: 'RUNNER_FAILS', isSilent: true }), false)
  assert.equal(await said({ code: 'BUDGET_SPENT' }), false)
  assert.equal(await said(), true)
  assert.equal(await said(), false)
  state.now += 86_400_000
  assert.equal(await said(), true)
})

test('with notify: false the main session gets no event', async () => {
  const { ledger, changes } = createFixture([], false)
  ledger.note(problem('orders'))
  await ledger.flush()
  assert.ok(!('report' in (changes[0]?.[0] ?? {})))
})

test('only an open issue is resolved, once', async () => {
  const { ledger, changes } = createFixture()
  ledger.resolve('TRANSFORM_FAILING', 'orders')
  await ledger.flush()
  assert.equal(changes.length, 0)
  ledger.note(problem('orders'))
  await ledger.flush()
  assert.equal(ledger.open().length, 1)
  for (let time = 0; time < 2; time++) ledger.resolve('TRANSFORM_FAILING', 'orders')
  await ledger.flush()
  assert.deepEqual(changes.at(-1), [{ key: 'TRANSFORM_FAILING:orders', resolve: true }])
  assert.deepEqual(ledger.open(), [])
})

test('an issue that ended before it was written is stored as resolved, and not reported', async () => {
  const { ledger, changes } = createFixture()
  ledger.note(problem('orders'))
  ledger.resolve('TRANSFORM_FAILING', 'orders')
  await ledger.flush()
  const [[counted, over] = []] = changes
  assert.ok(counted !== undefined && 'count' in counted && !('report' in counted))
  assert.deepEqual(over, { key: 'TRANSFORM_FAILING:orders', resolve: true })
})

test('a failed write is repeated later, together with later changes', async () => {
  const { ledger, changes, timers, state } = createFixture()
  state.fails = true
  ledger.note(problem('orders'))
  timers.at(-1)?.run()
  await setImmediate()
  ledger.note(problem('orders'))
  ledger.note(problem('shop'))
  state.fails = false
  assert.equal(timers.at(-1)?.ms, 5000)
  await ledger.flush()
  assert.deepEqual(
    changes.flat().map((change) => 'count' in change && [change.key, change.count]),
    [
      ['TRANSFORM_FAILING:orders', 2],
      ['TRANSFORM_FAILING:shop', 1],
    ],
  )
})

test('open issues of earlier processes are loaded, and end after seven quiet days unless they persist', async () => {
  const record = (code: string, days: number, state: IssueRecord['state'] = 'open') => ({
    key: `${code}:x`,
    code,
    subject: 'x',
    state,
    last: start - days * 86_400_000,
  })
  const stored = [
    record('TIMEOUTS', 2),
    record('DUPLICATES', 8),
    record('SILENCE', 8),
    record('DRIFT', 8, 'muted'),
    record('OF_A_LATER_VERSION', 8),
  ]
  const { ledger, changes } = createFixture(stored)
  await ledger.load()
  await ledger.flush()
  assert.deepEqual(changes.flat(), [{ key: 'DUPLICATES:x', resolve: true }])
  assert.deepEqual(
    ledger.open().map(({ code }) => code),
    ['TIMEOUTS', 'SILENCE'],
  )
})

test('an issue that another process ended is closed here once the store is read again', async () => {
  const stored = [{ key: 'TIMEOUTS:x', code: 'TIMEOUTS', subject: 'x', state: 'open', last: start }] as const
  const records: Partial<IssueRecord>[] = [...stored]
  const { ledger, changes } = createFixture(records)
  await ledger.load()
  assert.ok(ledger.isOpen('TIMEOUTS', 'x'))
  records.length = 0
  ledger.note(problem('orders'))
  await ledger.load()
  assert.deepEqual([ledger.isOpen('TIMEOUTS', 'x'), changes.length], [false, 1])
  ledger.resolve('TIMEOUTS', 'x')
  await ledger.flush()
  assert.equal(changes.length, 1, 'nothing is written about it')
})

test('a muted issue goes on counting without being said or ended, until the time is over', async () => {
  const { ledger, changes, state } = createFixture()
  ledger.note(problem('orders'))
  assert.deepEqual(await ledger.mute('TRANSFORM_FAILING:orders', start + 1000), { ok: true })
  state.now += 86_400_000 - 43_200_000
  const later = async () => {
    ledger.note(problem('orders'))
    ledger.resolve('TRANSFORM_FAILING', 'orders')
    await ledger.flush()
    return changes.at(-1)?.length
  }
  state.now = start
  assert.equal(await later(), 1)
  state.now = start + 2000
  assert.equal(await later(), 2)
})

test('a flood of different problems is bounded', async () => {
  const { ledger, changes } = createFixture()
  for (let n = 0; n < 2000; n++) ledger.note(problem(`orders-${n}`))
  await ledger.flush()
  assert.equal(changes.flat().length, 500)
  assert.equal(changes.flat().filter((change) => 'report' in change).length, 20)
})
