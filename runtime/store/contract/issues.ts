/** The contract of issues: each problem is there once, however often it shows, until it is resolved. */

import assert from 'node:assert/strict'
import type { IssueChange, IssueRecord, Severity } from '../port.ts'
import { heartbeatTask } from '../task-keys.ts'
import { type ContractBench, contractPart } from './bench/bench.ts'
import { allOf, idsOf } from './bench/samples.ts'

const hour = 3_600_000

export const issuesContract = contractPart('issues', (test) => {
  test('a problem that shows again is counted, and keeps when it showed first', async (bench) => {
    const first = bench.clock.now()
    assert.deepEqual(await change(bench, problem('a', 2)), { ok: true, done: 1 })
    bench.clock.advance(1_000)
    await change(bench, { ...problem('a', 3), cause: 'another cause' })
    const { key, code, severity, subject: about, next } = problem('a', 0)
    const expected = { key, code, severity, subject: about, next, cause: 'another cause' }
    const issue = { ...expected, count: 5, first, last: first + 1_000, state: 'open' }
    assert.deepEqual(await bench.store.read.issue('a'), issue)
    await bench.open()
    assert.deepEqual((await bench.store.read.issues()).items, [issue])
    assert.equal(await bench.store.read.issue('b'), undefined)
  })

  test('a resolved issue opens again when it shows, and a muted one stays muted for its time', async (bench) => {
    const state = async (key: string) => (await bench.store.read.issue(key))?.state
    await change(bench, problem('a'), problem('b'), problem('c'))
    const until = bench.clock.now() + 10_000
    await change(bench, { key: 'a', resolve: true }, { key: 'b', mute: until }, { key: 'c', mute: null })
    assert.equal((await bench.store.read.issue('a'))?.resolvedAt, bench.clock.now())
    assert.equal((await bench.store.read.issue('b'))?.mutedUntil, until)
    await change(bench, problem('a'), problem('b'), problem('c'))
    assert.deepEqual(await Promise.all(['a', 'b', 'c'].map(state)), ['open', 'muted', 'muted'])
    assert.equal((await bench.store.read.issue('a'))?.resolvedAt, undefined)
    bench.clock.advance(10_000)
    assert.deepEqual([await state('b'), await state('c')], ['open', 'muted'])
    await change(bench, { key: 'c', reopen: true })
    assert.deepEqual([await state('c'), (await bench.store.read.issue('c'))?.count], ['open', 2])
  })

  test('a store that is opened again says whether issues were left that are not resolved', async (bench) => {
    assert.equal(bench.store.leftOpen.issues, false)
    await change(bench, problem('a'), problem('b'))
    await change(bench, { key: 'a', resolve: true }, { key: 'b', mute: null })
    assert.equal((await bench.open()).leftOpen.issues, true)
    await change(bench, { key: 'b', resolve: true })
    assert.equal((await bench.open()).leftOpen.issues, false)
  })

  test('an unknown issue is refused, and the other changes are made', async (bench) => {
    const result = await change(bench, { key: 'x', resolve: true }, problem('a'), { key: 'y', mute: null })
    assert.equal(result.done, 1)
    assert.deepEqual(idsOf(result.refused ?? []), ['x', 'y'])
    assert.equal((await bench.store.read.issues()).items.length, 1)
  })

  test('open issues are listed first, then muted and resolved ones, and of each those that showed last', async (bench) => {
    for (const key of ['a', 'b', 'c', 'd', 'e', 'f']) {
      await change(bench, problem(key))
      bench.clock.advance(1_000)
    }
    await change(bench, problem('g'), problem('h'))
    await change(bench, { key: 'b', resolve: true }, { key: 'f', resolve: true }, { key: 'd', mute: null })
    await change(bench, { key: 'e', mute: bench.clock.now() - 1 })
    const { read } = bench.store
    assert.deepEqual(keysOf(await allOf(read.issues, 3)), ['g', 'h', 'e', 'c', 'a', 'd', 'f', 'b'])
    const withState = async (state: string) => keysOf((await read.issues({ state })).items)
    assert.deepEqual(await withState('open'), ['g', 'h', 'e', 'c', 'a'])
    assert.deepEqual(await withState('muted'), ['d'])
    assert.deepEqual(await withState('resolved'), ['f', 'b'])
    assert.deepEqual(await withState('none'), [])
  })

  test('of open and of muted issues the worst are listed first, page by page', async (bench) => {
    const rated = (key: string, severity: Severity) => ({ ...problem(key), severity })
    await change(bench, rated('a', 'suspicious'), rated('b', 'losing-events'), rated('c', 'degraded'))
    bench.clock.advance(1_000)
    await change(bench, rated('d', 'degraded'), rated('e', 'failing'), rated('f', 'losing-events'))
    await change(bench, rated('g', 'suspicious'), rated('h', 'losing-events'))
    await change(bench, { key: 'g', mute: null }, { key: 'h', mute: null }, { key: 'f', resolve: true })
    const { issues } = bench.store.read
    assert.deepEqual(keysOf(await allOf(issues, 2)), ['b', 'e', 'd', 'c', 'a', 'h', 'g', 'f'])
    await change(bench, rated('a', 'failing'))
    assert.deepEqual(keysOf((await issues({ state: 'open' })).items), ['b', 'a', 'e', 'd', 'c'])
    assert.equal((await bench.store.read.issue('a'))?.severity, 'failing')
  })

  test('the ways by which people were alerted stay with an issue, whatever its state', async (bench) => {
    await change(bench, problem('a'))
    assert.equal((await bench.store.read.issue('a'))?.alerted, undefined)
    await change(bench, { key: 'a', alerted: ['channel', 'webhook'] }, { key: 'a', resolve: true })
    await bench.open()
    await change(bench, problem('a'))
    assert.deepEqual((await bench.store.read.issue('a'))?.alerted, ['channel', 'webhook'])
    await change(bench, { key: 'a', alerted: [] })
    assert.equal((await bench.store.read.issue('a'))?.alerted, undefined)
    assert.equal((await change(bench, { key: 'x', alerted: [] })).refused?.length, 1)
  })

  test('the main session gets one event about an issue and day, and none while it is muted', async (bench, sample) => {
    const worker = bench.work(['heartbeat'])
    const report = (key: string, day: string): IssueChange => {
      const event = sample.event({ origin: {}, text: `${key} on ${day}` })
      return { ...problem(key), report: { event, task: heartbeatTask(bench.clock.now()), day } }
    }
    const texts = async () => (await bench.store.read.events()).items.map(({ text }) => text).toReversed()
    await change(bench, report('a', '2026-01-01'), report('a', '2026-01-01'))
    await worker.next()
    await change(bench, report('a', '2026-01-01'), report('b', '2026-01-01'))
    assert.equal((await bench.store.read.issue('a'))?.reportedOn, '2026-01-01')
    await change(bench, { key: 'a', mute: null })
    await change(bench, report('a', '2026-01-02'), report('b', '2026-01-02'))
    await change(bench, { key: 'b', resolve: true })
    await change(bench, report('b', '2026-01-02'))
    const expected = ['a on 2026-01-01', 'b on 2026-01-01', 'b on 2026-01-02']
    assert.deepEqual(await texts(), expected)
    assert.equal(bench.store.health().events, 3)
  })

  test('changes are made together, or none of them', async (bench) => {
    await bench.fault('commit-fails')
    await assert.rejects(change(bench, problem('a'), problem('b')))
    assert.deepEqual((await bench.store.read.issues()).items, [])
    await change(bench, problem('a'), problem('b'))
    assert.equal((await bench.store.read.issues()).items.length, 2)
  })

  test('resolved issues are deleted with other history, and others stay', { keepMs: hour }, async (bench) => {
    await change(bench, problem('a'), problem('b'), problem('c'))
    await change(bench, { key: 'a', resolve: true }, { key: 'b', mute: null })
    bench.clock.advance(hour)
    const { read } = bench.store
    await bench.untilGone(() => read.issue('a'))
    assert.deepEqual(keysOf((await read.issues()).items), ['c', 'b'])
  })
})

function change({ store, clock }: ContractBench, ...changes: IssueChange[]) {
  return store.command({ type: 'issues', at: clock.now(), changes })
}

function problem(key: string, count = 1) {
  return {
    key,
    code: 'TRANSFORM_FAILING',
    severity: 'failing',
    subject: 'orders',
    cause: 'the transform throws',
    next: { label: 'Open it', command: 'reveille requests 1', action: { method: 'POST', path: '/x' } },
    count,
  } as const
}

const keysOf = (issues: readonly IssueRecord[]) => issues.map(({ key }) => key)
