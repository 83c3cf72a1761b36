/** The contract of `cancel`, `resume` and `retry`: a waiting run ends at once, and the claim of a running one is notified of the cancel. */

import assert from 'node:assert/strict'
import type { Id, NewAction, RunRecord } from '../port.ts'
import { heartbeatTask } from '../task-keys.ts'
import { type ContractBench, contractPart } from './bench/bench.ts'
import { idOf, type Sampler } from './bench/samples.ts'

const parkedFor = { code: 'BUDGET', message: 'the budget is spent', retryable: true }

export const cancellingContract = contractPart('cancelling', (test) => {
  test('a queued run ends at once as cancelled, neither run nor delivered, and its lane goes on without it', async (bench, sample) => {
    const [first, second, third] = await acceptInLane(bench, sample, 3)
    assert.deepEqual(await cancel(bench, idOf(second), 7), { ok: true })
    assert.deepEqual(await cancel(bench, idOf(first), 8), { ok: true })
    assert.equal(bench.store.health().backlog, 1)
    assert.deepEqual(await bench.store.read.run(idOf(first)), {
      ...first.record,
      state: 'cancelled',
      stage: 'cancelled',
      error: { code: 'CANCELLED', message: 'it was cancelled while it waited', retryable: false },
      cancelledAt: 8,
    })
    const worker = bench.work(['run'])
    const claim = await worker.next()
    assert.equal(claim.task.subject, idOf(third))
    claim.done()
    await worker.idle()
  })

  test('a run without a lane, and one that is due later, end at once too', async (bench, sample) => {
    const actions = [0, 5_000].map((ms) => sample.runAction({}, { dueAt: bench.clock.now() + ms }))
    await bench.accept(...actions)
    for (const action of actions) assert.ok((await cancel(bench, idOf(action))).ok)
    const worker = bench.work(['run'])
    bench.clock.advance(5_000)
    await worker.idle()
    assert.equal(bench.store.health().backlog, 0)
  })

  test('the claim of a running run is notified of the cancel, and still settles', async (bench, sample) => {
    const [action, other] = [sample.runAction(), sample.runAction()]
    const id = idOf(action)
    await bench.accept(action, other)
    const worker = bench.work(['run'])
    const [claim, beside] = [await worker.next(), await worker.next()]
    await claim.checkpoint({ run: { id, state: 'running', stage: 'running' } })
    assert.deepEqual(await cancel(bench, id, 7), { ok: true })
    assert.deepEqual([claim.cancel.aborted, claim.lease.aborted, beside.cancel.aborted], [true, false, false])
    assert.deepEqual(await cancel(bench, id, 9), { ok: true }, 'asking twice does no harm')
    const running = await bench.store.read.run(id)
    assert.deepEqual([running?.state, running?.cancelRequestedAt], ['running', 7])
    claim.done({ run: { id, state: 'cancelled', stage: 'delivered' } })
    await bench.settled()
    const ended = await bench.store.read.run(id)
    assert.deepEqual([ended?.state, ended?.cancelRequestedAt], ['cancelled', 7])
    assert.equal(bench.store.health().backlog, 1)
  })

  test('a run that is parked while it is being cancelled ends, and its lane goes on', async (bench, sample) => {
    const [action, next] = await acceptInLane(bench, sample)
    const id = idOf(action)
    const worker = bench.work(['run'])
    const claim = await worker.next()
    await cancel(bench, id, 7)
    const parked = { id, state: 'parked', stage: 'accepted', error: parkedFor } as const
    claim.done({ run: parked })
    assert.equal((await worker.next()).task.subject, idOf(next))
    const run = await bench.store.read.run(id)
    assert.deepEqual(
      [run?.state, run?.stage, run?.error?.code, run?.cancelRequestedAt],
      ['cancelled', 'cancelled', 'CANCELLED', 7],
    )
    assert.equal(bench.store.health().backlog, 1)
  })

  test('the claim of a running heartbeat is notified of the cancel, and its task goes on', async (bench, sample) => {
    const running = { kind: 'heartbeat', sessionKey: 'main', state: 'running', stage: 'running' } as const
    const [heartbeat, left] = [sample.run(running), sample.run(running)]
    await bench.scheduleHeartbeat()
    const worker = bench.work(['heartbeat'])
    const claim = await worker.next()
    await claim.checkpoint({ run: heartbeat })
    assert.ok((await cancel(bench, heartbeat.id)).ok)
    assert.equal(claim.cancel.aborted, true)
    await claim.checkpoint({ run: left })
    claim.done({ tasks: [heartbeatTask(bench.clock.now() + 1_000)] })
    await bench.settled()
    assert.ok((await cancel(bench, left.id)).ok)
    assert.equal((await bench.store.read.run(left.id))?.state, 'cancelled')
    bench.clock.advance(1_000)
    assert.equal((await worker.next()).task.key, 'heartbeat:main')
  })

  test('a run that waits for its next try ends at once, and its lane goes on', async (bench, sample) => {
    const [first, second] = await acceptInLane(bench, sample)
    const worker = bench.work(['run'])
    const claim = await worker.next()
    const attempts = [{ number: 1, startedAt: 1, endedAt: 2, outcome: 'failed' as const }]
    await claim.checkpoint({ run: { id: idOf(first), stage: 'running', attempts } })
    claim.again(bench.clock.now() + 60_000)
    await bench.settled()
    assert.ok((await cancel(bench, idOf(first))).ok)
    const next = await worker.next()
    assert.equal(next.task.subject, idOf(second))
    const ended = await bench.store.read.run(idOf(first))
    assert.deepEqual([ended?.state, ended?.attempts], ['cancelled', attempts])
  })

  test('a run that was cancelled while it was performed waits for no next try', async (bench, sample) => {
    const [one, two] = [sample.runAction(), sample.runAction()]
    await bench.accept(one, two)
    const worker = bench.work(['run'])
    const claims = [await worker.next(), await worker.next()]
    await cancel(bench, idOf(one))
    const asked = cancel(bench, idOf(two))
    for (const claim of claims) claim.again(bench.clock.now() + 60_000)
    assert.ok((await asked).ok)
    const again = await Promise.all([(await worker.next()).load(), (await worker.next()).load()])
    for (const { run } of again) assert.equal(run?.cancelRequestedAt, bench.clock.now())
    assert.notEqual(again[0]?.run?.id, again[1]?.run?.id)
  })

  test('a run whose turn is over, or that ended, cannot be cancelled, nor one that does not exist', async (bench, sample) => {
    const action = sample.runAction()
    await bench.accept(action)
    const claim = await bench.claim('run')
    for (const stage of ['ran', 'summarised', 'delivered'] as const) {
      await claim.checkpoint({ run: { id: idOf(action), state: 'succeeded', stage } })
      const { ok, why, reason = '' } = await cancel(bench, idOf(action))
      assert.deepEqual([ok, why, reason.includes('succeeded')], [false, 'state', true])
    }
    assert.equal(claim.cancel.aborted, false)
    for (const id of [bench.mintId(), 'no id at all'])
      for (const command of [cancel, resume, retry]) assert.equal((await command(bench, id)).why, 'unknown')
  })

  test('a cancel that races the claims is never lost', async (bench, sample) => {
    const worker = bench.work(['run'], 100)
    const actions = Array.from({ length: 30 }, () => sample.runAction())
    for (const [round, action] of actions.entries()) {
      const accepted = bench.accept(action)
      if (round % 3 !== 0) await accepted
      if (round % 3 === 2) await bench.settled()
      const result = await cancel(bench, idOf(action))
      assert.ok(result.ok, result.reason)
      await bench.settled()
    }
    for (const id of actions.map(idOf)) {
      const run = await bench.store.read.run(id)
      const claim = worker.waiting.find(({ task }) => task.subject === id)
      if (claim === undefined) assert.equal(run?.state, 'cancelled')
      else assert.deepEqual([claim.cancel.aborted, run?.cancelRequestedAt], [true, bench.clock.now()])
    }
    assert.ok(worker.waiting.length > 0)
  })

  test('a cancel whose commit failed has changed nothing, on disk or in memory', async (bench, sample) => {
    const [running, queued] = await acceptInLane(bench, sample)
    const worker = bench.work(['run'])
    const claim = await worker.next()
    for (const action of [running, queued]) {
      await bench.fault('commit-fails')
      await assert.rejects(cancel(bench, idOf(action)), { code: 'STORE_UNAVAILABLE' })
      assert.deepEqual(await bench.store.read.run(idOf(action)), action.record)
    }
    assert.equal(claim.cancel.aborted, false)
    assert.equal(bench.store.health().backlog, 2)
    claim.done()
    const next = await worker.next()
    assert.equal(next.task.subject, idOf(queued))
    assert.equal(next.cancel.aborted, false)
    await bench.fault('answer-lost')
    assert.ok((await cancel(bench, idOf(queued))).ok)
    assert.equal(next.cancel.aborted, true)
  })

  test('a cancel beside a faulty order in one batch is carried out all the same', async (bench, sample) => {
    const [running, queued] = await acceptInLane(bench, sample)
    const claim = await bench.claim('run')
    const results = await Promise.allSettled([
      cancel(bench, idOf(queued)),
      cancel(bench, idOf(running)),
      claim.checkpoint({ run: { id: bench.mintId(), stage: 'ran' } }),
    ])
    assert.deepEqual(
      results.map(({ status }) => status),
      ['fulfilled', 'fulfilled', 'rejected'],
    )
    assert.equal(claim.cancel.aborted, true)
    assert.equal(bench.store.health().backlog, 1)
    assert.equal((await bench.store.read.run(idOf(queued)))?.state, 'cancelled')
  })

  test('a burst that was cancelled keeps what joined it readable, the newest 100 of it', async (bench, sample) => {
    const entries = Array.from({ length: 103 }, (_, index) =>
      sample.entry(sample.coalescedAction({ keep: 'all' }, { message: `m${index}` })),
    )
    for (const entry of entries) await bench.store.accept(entry)
    const at = bench.clock.now()
    const run = idOf(entries[0]?.actions[0] ?? assert.fail())
    assert.equal((await bench.store.read.run(run))?.joined, undefined, 'the run itself will read it')
    await cancel(bench, run, at)
    const expected = entries
      .map(({ request }, index) => ({ requestId: request.id, at, message: `m${index}` }))
      .slice(3)
    const record = await (await bench.open()).read.run(run)
    assert.deepEqual([record?.joined, record?.message, record?.coalesce?.count], [expected, 'm0', 103])
    const { items } = await bench.store.read.runs()
    assert.equal(items[0]?.joined, undefined, 'it is in no list')
  })

  test('a parked run ends at once', async (bench, sample) => {
    const run = await park(bench, sample.runAction())
    assert.ok((await cancel(bench, run.id)).ok)
    const ended = await bench.store.read.run(run.id)
    assert.deepEqual([ended?.state, ended?.error?.code], ['cancelled', 'CANCELLED'])
    assert.equal(bench.store.health().backlog, 0)
  })

  test('a parked run that is resumed is queued again, behind what waits in its lane', async (bench, sample) => {
    const parked = await park(bench, sample.runAction({ sessionKey: 'pr:1', pool: 'github' }))
    const waiting = sample.runAction({ sessionKey: 'pr:1' })
    await bench.accept(waiting)
    assert.deepEqual(await resume(bench, parked.id), { ok: true })
    const run = await bench.store.read.run(parked.id)
    assert.deepEqual([run?.state, run?.error], ['queued', undefined])
    assert.equal((await resume(bench, parked.id)).why, 'state', 'it is parked no more')
    assert.equal(bench.store.health().backlog, 2)
    const worker = bench.work(['run'])
    const first = await worker.next()
    assert.equal(first.task.subject, idOf(waiting))
    await worker.idle()
    first.done()
    const { task } = await worker.next()
    assert.deepEqual([task.subject, task.pool, task.attempt], [parked.id, 'github', 1])
  })

  test('a resumed first run of a session does not wait, and later runs of the session wait for it', async (bench, sample) => {
    const parked = await park(bench, sample.runAction())
    await resume(bench, parked.id)
    const follower = sample.runAction({ sessionKey: parked.sessionKey })
    await bench.accept(follower)
    const worker = bench.work(['run'])
    const claim = await worker.next()
    assert.equal(claim.task.subject, parked.id)
    await worker.idle()
    claim.done()
    assert.equal((await worker.next()).task.subject, idOf(follower))
  })

  test('a run that failed or timed out is queued again once, behind what waits in its lane, and its record keeps how it had ended', async (bench, sample) => {
    const error = { code: 'exit', message: 'no', retryable: false }
    for (const state of ['failed', 'timed-out'] as const) {
      const summaryEventId = bench.mintId()
      const attempts = [{ number: 1, startedAt: 1, endedAt: 2, outcome: state }] as const
      const ended = await settleAs(bench, sample.runAction({ sessionKey: `pr:${state}`, pool: 'github' }), {
        ...{ state, stage: 'summarised', error, attempts, summaryEventId },
        ...{ startedAt: 1, ranAt: 2, summarisedAt: 2 },
      })
      const waiting = sample.runAction({ sessionKey: `pr:${state}` })
      await bench.accept(waiting)
      assert.deepEqual(await retry(bench, ended.id, 7), { ok: true })
      const run = await bench.store.read.run(ended.id)
      assert.deepEqual(
        [run?.state, run?.stage, run?.error, run?.startedAt, run?.ranAt, run?.summaryEventId, run?.attempts],
        ['queued', 'accepted', undefined, undefined, undefined, undefined, attempts],
      )
      assert.deepEqual(run?.retries, [{ at: 7, state, error, attempts: 1, summaryEventId }])
      const worker = bench.work(['run'])
      const first = await worker.next()
      assert.equal(first.task.subject, idOf(waiting))
      first.done()
      const claim = await worker.next()
      assert.deepEqual([claim.task.subject, claim.task.pool, claim.task.attempt], [ended.id, 'github', 1])
      claim.done()
      await worker.drain(1_000)
    }
  })

  test('a run in another state, a heartbeat and a forgotten run are not retried', async (bench, sample) => {
    for (const fields of [
      { state: 'succeeded', stage: 'delivered' },
      { state: 'parked', error: parkedFor },
      { state: 'failed', forgottenAt: 5 },
    ] as const) {
      const run = await settleAs(bench, sample.runAction(), fields)
      assert.equal((await retry(bench, run.id)).why, 'state')
    }
    assert.equal(bench.store.health().backlog, 0)
  })

  test('a retry whose commit failed has changed nothing, and one whose answer was lost is done once', async (bench, sample) => {
    const run = await settleAs(bench, sample.runAction(), { state: 'failed', stage: 'summarised' })
    await bench.fault('commit-fails')
    await assert.rejects(retry(bench, run.id), { code: 'STORE_UNAVAILABLE' })
    assert.equal((await bench.store.read.run(run.id))?.state, 'failed')
    await bench.fault('answer-lost')
    await retry(bench, run.id)
    assert.equal((await retry(bench, run.id)).why, 'state')
    assert.equal((await bench.store.read.run(run.id))?.retries?.length, 1)
    assert.equal(bench.store.health().backlog, 1)
  })

  test('a cancel and a resume survive the process', async (bench, sample) => {
    const [running, queued] = await acceptInLane(bench, sample)
    await bench.claim('run')
    for (const action of [running, queued]) await cancel(bench, idOf(action), 7)
    await bench.open()
    const worker = bench.work(['run'])
    const claim = await worker.next()
    assert.equal((await claim.load()).run?.cancelRequestedAt, 7)
    claim.done()
    await worker.idle()
  })
})

function park(bench: ContractBench, action: NewAction): Promise<RunRecord> {
  return settleAs(bench, action, { state: 'parked', error: parkedFor })
}

async function settleAs(bench: ContractBench, action: NewAction, fields: Partial<RunRecord>) {
  await bench.accept(action)
  const worker = bench.work(['run'])
  const run = { ...fields, id: idOf(action) }
  ;(await worker.next()).done({ run })
  await worker.drain(1_000)
  return { ...action.record, ...run } as RunRecord
}

/** Accepts runs of one session. */
async function acceptInLane(bench: ContractBench, sample: Sampler, count = 2) {
  const actions = Array.from({ length: count }, () => sample.runAction({ sessionKey: 'pr:1' }))
  await bench.accept(...actions)
  return actions as [NewAction, NewAction, NewAction]
}

const order =
  (type: 'cancel' | 'resume' | 'retry') =>
  ({ store }: ContractBench, run: Id, at = Date.UTC(2026, 0, 1)) =>
    store.command({ type, run, at })
const [cancel, resume, retry] = [order('cancel'), order('resume'), order('retry')]
