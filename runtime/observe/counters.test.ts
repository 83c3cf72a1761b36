import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type CountedRequest, createCounters } from './counters.ts'

const start = Date.UTC(2026, 0, 1)

function open() {
  let time = start
  let waiting = 0
  const counters = createCounters({ now: () => time, backlog: () => waiting })
  const snapshot = {
    endpoints: { github: {}, 'teams/:team': {} },
    mappings: [{ path: 'stripe' }, { path: 'a/:b' }, {}],
  } as never as CountedRequest['snapshot']
  return {
    counters,
    note: (facts: Partial<CountedRequest> = {}) =>
      counters.noteRequest({
        snapshot,
        endpoint: 'github',
        outcome: 'accepted',
        status: 202,
        mapping: undefined,
        ms: 4,
        resolveMs: 1,
        at: time,
        ...facts,
      }),
    advance(ms: number) {
      time += ms
    },
    wait(count: number) {
      waiting = count
    },
  }
}

test('requests are counted by endpoint, outcome and status; a name that a sender made up is `other`', () => {
  const { counters, note } = open()
  note()
  note()
  note({ outcome: 'failed', status: 500 })
  for (const endpoint of ['stripe', 'wake', 'agent', 'made-up', 'a/1', 'teams/x', undefined])
    note({ endpoint, outcome: 'ignored', status: 200 })
  const rows = counters
    .read()
    .requests.map(({ labels, count }) => [labels.endpoint, labels.outcome, labels.status, count])
  assert.deepEqual(rows, [
    ['github', 'accepted', '202', 2],
    ['github', 'failed', '500', 1],
    ['stripe', 'ignored', '200', 1],
    ['wake', 'ignored', '200', 1],
    ['agent', 'ignored', '200', 1],
    ['other', 'ignored', '200', 4],
  ])
})

test('the durations of accepted requests are counted, and of that the time after the decision', () => {
  const { counters, note } = open()
  note({ ms: 4, resolveMs: 1 })
  note({ ms: 40_000, resolveMs: 39_999 })
  note({ outcome: 'ignored', ms: 7 })
  const { acceptMs, commitMs } = counters.read()
  assert.deepEqual([acceptMs.count, acceptMs.sumMs], [2, 40_004])
  assert.equal(acceptMs.counts.at(-1), 1)
  assert.deepEqual([commitMs.count, commitMs.sumMs], [2, 4])
})

test('each mapping has its hits, and each endpoint its requests by outcome', () => {
  const { counters, note } = open()
  note({ mapping: 'review' })
  note({ mapping: 'review', outcome: 'skipped' })
  assert.deepEqual([counters.hitsOf('review'), counters.hitsOf('other')], [2, 0])
  const { accepted, skipped, failed } = counters.countsByEndpoint().get('github') ?? {}
  assert.deepEqual([accepted, skipped, failed], [1, 1, 0])
})

test('ends of runs and deliveries, reloads and old tokens are counted', () => {
  const { counters } = open()
  counters.noteRunEnded({ kind: 'run', model: 'openai/gpt-5' }, 'succeeded', {
    inputTokens: 9,
    outputTokens: 1,
    usd: 0.5,
  })
  counters.noteRunEnded({ kind: 'run' }, 'parked')
  counters.noteDeliveryEnded('slack', 'delivered')
  counters.noteOldToken('hooks.token')
  counters.noteReload('applied')
  counters.noteReload('refused')
  const read = counters.read()
  assert.deepEqual(
    read.runs.map(({ labels, count }) => [labels.state, count]),
    [
      ['succeeded', 1],
      ['parked', 1],
    ],
  )
  assert.deepEqual(read.costs, [{ labels: { model: 'openai/gpt-5' }, count: 0.5 }])
  assert.deepEqual(read.deliveries, [{ labels: { channel: 'slack', state: 'delivered' }, count: 1 }])
  assert.deepEqual(read.oldTokens, [{ labels: { list: 'hooks.token' }, count: 1 }])
  assert.equal(read.areFilesRefused, true)
  counters.noteReload('unchanged')
  assert.equal(counters.read().areFilesRefused, false)
  counters.noteReload('refused', false)
  assert.equal(counters.read().areFilesRefused, false, 'a refused rollback says nothing about the files')
})

test('the series has a value for each minute and the one that has not ended, and the backlog', () => {
  const { counters, note, advance, wait } = open()
  note({ ms: 4 })
  note({ outcome: 'refused', status: 401 })
  wait(3)
  assert.deepEqual(counters.series(60).outcomes.accepted, [1])
  assert.deepEqual(counters.series(60).backlog, [3])
  advance(60_000)
  counters.noteRunEnded({ kind: 'run' }, 'succeeded', { inputTokens: 9, outputTokens: 1, usd: 0.25 })
  advance(60_000)
  const series = counters.series(60)
  assert.deepEqual([series.stepMs, series.from], [60_000, start])
  assert.deepEqual(series.outcomes.accepted, [1, 0, 0])
  assert.deepEqual(series.outcomes.refused, [1, 0, 0])
  assert.deepEqual(series.backlog, [3, 3, 3])
  assert.deepEqual(series.tokens, [0, 10, 0])
  assert.deepEqual(series.usd, [0, 0.25, 0])
  assert.equal(series.acceptMs.p50[1], null)
  const [p50 = 0] = series.acceptMs.p50
  assert.ok(Number(p50) > 3 && Number(p50) <= 4)
})

test('the series holds six hours, and shows as many minutes as are asked for', () => {
  const { counters, note, advance } = open()
  for (let step = 0; step < 400; step++) {
    advance(60_000)
    note({ outcome: 'ignored' })
  }
  const all = counters.series(360)
  assert.equal(all.outcomes.ignored.length, 360)
  assert.ok(all.outcomes.ignored.every((count) => count === 1))
  assert.equal(all.from, start + (400 - 359) * 60_000)
  assert.equal(counters.series(1).outcomes.ignored.length, 1)
  advance(86_400_000)
  assert.deepEqual(new Set(counters.series(360).outcomes.ignored), new Set([0]))
})

test('a clock that is set back adds to the newest step', () => {
  const { counters, note, advance } = open()
  advance(60_000)
  note()
  advance(-40_000)
  note()
  advance(50_000)
  const { outcomes } = counters.series(60)
  assert.equal(outcomes.accepted.at(-1), 2)
})
