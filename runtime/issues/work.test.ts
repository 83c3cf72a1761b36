import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ReloadEvent } from '@reveille/engine'
import type { IssueCode } from './codes.ts'
import { keyOf, partsOf } from './codes.ts'
import type { Ledger, Problem } from './ledger.ts'
import { createWorkWatch } from './work.ts'

const start = Date.UTC(2026, 0, 31, 12)

/** A watch whose ledger keeps which issues are open. The main session runs on `ai`. */
function createFixture() {
  const open = new Map<string, Problem | undefined>()
  const state = {
    now: start,
    parked: [] as object[],
    failed: [] as object[],
    heartbeats: [] as object[],
    openDeliveries: [] as object[],
  }
  const ledger = {
    note: (problem: Problem) => void open.set(keyOf(problem.code, problem.subject), problem),
    resolve: (code: IssueCode, subject: string) => void open.delete(keyOf(code, subject)),
    open: () => [...open.keys()].flatMap((key) => partsOf(key) ?? []),
  } as unknown as Ledger
  const snapshot = {
    settings: {
      file: '/etc/reveille/reveille.yaml',
      agents: { defaults: { runner: 'ai' }, budget: { runs: 5 } },
      channels: { slack: {} },
      sources: {},
    },
    endpoints: { github: {} },
    mappings: [{ id: 'review' }],
    covers: (name: string) => name === 'github' || name === 'agent',
  }
  const watch = createWorkWatch({
    ledger,
    current: () => ({ generation: 4, snapshot }) as never,
    read: {
      runs: async ({ state: asked, kind }: { state?: string; kind?: string } = {}) => ({
        items: (asked === 'parked'
          ? state.parked
          : kind === 'heartbeat'
            ? state.heartbeats
            : state.failed) as never,
      }),
      openDeliveries: async () => state.openDeliveries as never,
    },
    now: () => state.now,
  })
  const { observer } = watch
  const ended = (run: object, result: object) => observer.runEnded?.(run as never, result as never)
  const parked = (run: object, error: object, budget?: string) =>
    observer.runParked?.(run as never, error as never, budget)
  return { watch, observer, state, open, ended, parked, keys: () => [...open.keys()] }
}

const run = { id: 'r1', runner: 'codex', mapping: 'review', endpoint: 'github', timeoutSeconds: 60 }
const answered = { state: 'succeeded' }
const timedOut = { state: 'timed-out', error: { code: 'TIMEOUT' } }
const failed = (code = 'bad-credential') => ({
  state: 'failed',
  error: { code },
  reason: 'The key is wrong.',
})

test('runs that time out are an issue until one succeeds, and failed ones until each was retried', async () => {
  const { watch, state, ended, open, keys } = createFixture()
  ended(run, timedOut)
  ended({ ...run, mapping: undefined, endpoint: 'agent' }, timedOut)
  ended(run, failed())
  ended(run, failed('INTERRUPTED'))
  ended(run, { state: 'cancelled', error: { code: 'CANCELLED' } })
  assert.deepEqual(keys(), ['TIMEOUTS:review', 'TIMEOUTS:agent', 'RUNNER_FAILS:codex'])
  assert.equal(
    open.get('RUNNER_FAILS:codex')?.describe().cause,
    'Runs of the runner "codex" fail with bad-credential: The key is wrong.',
  )
  ended(run, answered)
  state.failed = [{ runner: 'codex', createdAt: state.now }]
  await watch.sweep()
  assert.deepEqual(keys(), ['TIMEOUTS:agent', 'RUNNER_FAILS:codex'], 'a success performs no other run')
  assert.equal(open.get('RUNNER_FAILS:codex')?.describe().command, 'reveille retry --runner codex --since 7d')
  state.failed = [{ runner: 'codex', createdAt: state.now - 8 * 86_400_000 }]
  await watch.sweep()
  assert.deepEqual(keys(), ['TIMEOUTS:agent'])
})

test('the failure of the runner that the main session runs on is silent', async () => {
  const { watch, state, ended, observer, open } = createFixture()
  ended(run, failed())
  assert.equal(open.get('RUNNER_FAILS:codex')?.isSilent, false)
  observer.heartbeatEnded?.({ runner: 'ai' } as never, { code: 'down', reason: 'It is down.' }, [])
  assert.equal(open.get('RUNNER_FAILS:ai')?.isSilent, true)
  assert.equal(
    open.get('RUNNER_FAILS:ai')?.describe().command,
    'reveille retry --runner ai --since 7d',
    'runs of this runner may have failed as well',
  )
  state.heartbeats = [{ runner: 'ai', state: 'failed' }]
  await watch.sweep()
  assert.equal(open.has('RUNNER_FAILS:ai'), true)
  state.heartbeats = [{ runner: 'ai', state: 'succeeded' }]
  await watch.sweep()
  assert.equal(open.has('RUNNER_FAILS:ai'), false)
})

test('an issue about parked work ends when nothing is parked any more', async () => {
  const { watch, observer, state, parked, open, keys } = createFixture()
  const spent = 'the budget of all runs (agents.budget), 5 runs a day, is spent for 2026-01-31 (UTC)'
  parked(run, { code: 'BUDGET', message: spent }, 'agents.budget')
  parked(run, { code: 'LOOP', message: 'more than 60 runs' })
  parked({ ...run, model: 'x/y' }, { code: 'NO_PRICE', message: 'the model x/y has no price' })
  for (const to of ['C1', 'C2'])
    observer.deliveryEnded?.({ id: 'd1', channel: 'slack', to } as never, 'parked', {
      code: 'gone',
      reason: `No channel ${to}.`,
    })
  const all = ['BUDGET_SPENT:agents.budget', 'LOOP:review', 'NO_PRICE:codex', 'DELIVERIES_PARKED:slack']
  assert.deepEqual(keys(), all)
  const actionOf = (key: string) => open.get(key)?.describe().action
  const resume = { method: 'POST', path: '/api/runs/resume' }
  assert.equal(
    actionOf('BUDGET_SPENT:agents.budget'),
    undefined,
    'while the budget is spent it could only fail',
  )
  assert.deepEqual(actionOf('NO_PRICE:codex'), { ...resume, body: { code: 'NO_PRICE' } })
  const { cause = '', ...next } = open.get('DELIVERIES_PARKED:slack')?.describe() ?? { label: '' }
  assert.equal(cause, 'Replies to slack are parked. The newest, to C2: gone: No channel C2.')
  assert.match(next?.label ?? '', /`reveille deliveries --state parked --channel slack`/)
  assert.deepEqual(actionOf('DELIVERIES_PARKED:slack'), {
    method: 'POST',
    path: '/api/deliveries/replay',
    body: { channel: 'slack' },
  })
  state.parked = [
    { ...run, error: { code: 'BUDGET', message: spent } },
    { ...run, error: { code: 'LOOP', message: 'more than 60 runs' } },
    { ...run, model: 'x/y', error: { code: 'NO_PRICE', message: '' } },
  ]
  state.openDeliveries = [{ channel: 'slack', pending: 0, parked: 1 }]
  await watch.sweep()
  assert.deepEqual(keys(), all)
  state.parked.splice(1, 2)
  await watch.sweep()
  assert.deepEqual(keys(), ['BUDGET_SPENT:agents.budget', 'DELIVERIES_PARKED:slack'])
  state.parked = []
  state.openDeliveries = []
  await watch.sweep()
  assert.deepEqual(keys(), [])
})

test('the alarm of a budget lasts for its day, and makes room for the budget that is spent', async () => {
  const { watch, observer, state, parked, open, keys } = createFixture()
  const alarm = {
    key: 'agents.budget',
    percent: 80,
    unit: 'runs',
    day: '2026-01-31',
    spent: '4 of 5 runs',
  } as const
  observer.budgetAlarmed?.(alarm)
  assert.equal(
    open.get('BUDGET_ALARM:agents.budget')?.describe().cause,
    '80 % of agents.budget are spent on 2026-01-31 (UTC): 4 of 5 runs.',
  )
  await watch.sweep()
  assert.deepEqual(keys(), ['BUDGET_ALARM:agents.budget'])
  state.now += 86_400_000
  await watch.sweep()
  assert.deepEqual(keys(), [])
  observer.budgetAlarmed?.({ ...alarm, day: '2026-02-01' })
  parked(run, { code: 'BUDGET', message: 'spent' }, 'agents.budget')
  assert.deepEqual(keys(), ['BUDGET_SPENT:agents.budget'])
})

test('a channel is an issue while it is held, and a source until it works', () => {
  const { watch, observer, keys } = createFixture()
  const held = { channel: 'slack', state: 'held', code: 'bad-credential', reason: 'No.', since: 1 } as const
  observer.channelChanged?.(held)
  observer.channelChanged?.({ channel: 'slack', state: 'probing' })
  watch.sourceChanged({ source: 'gmail', state: 'failing', detail: 'The consent is gone.', since: 1 })
  watch.sourceChanged({ source: 'gmail', state: 'starting', detail: '', since: 1 })
  // The gateway stops, which fixes nothing.
  watch.sourceChanged({ source: 'gmail', state: 'stopped', detail: '', since: 1 })
  assert.deepEqual(keys(), ['CHANNEL_REFUSES:slack', 'SOURCE_STOPPED:gmail'])
  observer.channelChanged?.({ channel: 'slack', state: 'open' })
  watch.sourceChanged({ source: 'gmail', state: 'working', detail: '', since: 1 })
  assert.deepEqual(keys(), [])
  observer.channelChecked?.({ channel: 'slack', ok: false, detail: 'The token was revoked.' })
  observer.deliveryEnded?.({ id: 'd1', channel: 'slack' } as never, 'delivered')
  assert.deepEqual(keys(), [])
})

test('refused files are an issue with the place, until files go live; a refused rollback is none', () => {
  const { watch, open, keys } = createFixture()
  const place = { file: '/etc/reveille/mappings/a.yaml', line: 3, column: 5, text: '' }
  const error = {
    severity: 'error',
    code: 'UNKNOWN_KEY',
    message: '`mesage` is not a known key',
    place,
  } as const
  const rejected = { type: 'candidate-rejected', diagnostics: [error, error] } as unknown as ReloadEvent
  watch.reloaded({ ...rejected, rollbackTo: 2 } as ReloadEvent)
  assert.deepEqual(keys(), [])
  watch.reloaded(rejected)
  assert.equal(
    open.get('RELOAD_REFUSED:files')?.describe().cause,
    'Your last change was refused; generation 4 is still live: mappings/a.yaml:3:5: `mesage` is not a known key (and 1 more).',
  )
  assert.equal(open.get('RELOAD_REFUSED:files')?.describe().command, 'reveille check')
  const failing = { ...error, code: 'TEST_FAILED', message: 'The test "a" fails' } as const
  watch.reloaded({ ...rejected, diagnostics: [failing] } as ReloadEvent)
  assert.equal(open.get('RELOAD_REFUSED:files')?.describe().command, 'reveille test')
  watch.reloaded({ type: 'content-unchanged' } as ReloadEvent)
  assert.deepEqual(keys(), [])
})

test('an issue ends when its subject leaves the configuration', () => {
  const { watch, observer, ended, open, keys } = createFixture()
  ended(run, timedOut)
  ended({ ...run, mapping: 'removed', endpoint: 'github' }, timedOut)
  observer.channelChecked?.({ channel: 'telegram', ok: false })
  for (const key of [
    'SIGNATURE_REFUSED:github',
    'SIGNATURE_REFUSED:gone',
    'LOOP:/github',
    'BUDGET_SPENT:endpoints.gone.budget',
  ])
    open.set(key, undefined)
  watch.reloaded({ type: 'snapshot-swapped' } as ReloadEvent)
  assert.deepEqual(keys(), ['TIMEOUTS:review', 'SIGNATURE_REFUSED:github', 'LOOP:/github'])
})
