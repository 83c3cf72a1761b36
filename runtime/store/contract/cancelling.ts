/**
 * The contract of `cancel` and `resume`: a waiting run ends at once, and the claim of a running one is notified of the
 * cancel.
 */

import assert from 'node:assert/strict'
import { describe } from 'node:test'
import type { Id, RunRecord, Store } from '../port.ts'
import { heartbeatTask } from '../task-keys.ts'
import type { ContractContext, ContractSubject } from './bench/bench.ts'
import { testsOf } from './bench/contract-test.ts'
import { type HeldClaim, startManualWorker } from './bench/manual-worker.ts'
import { createSampler, idOf } from './bench/samples.ts'

const parkedFor = { code: 'BUDGET', message: 'the budget is spent', retryable: true }

export function cancellingContract(subject: ContractSubject): void {
  describe(`${subject.name}: cancelling`, { concurrency: 4, timeout: 30_000 }, () => {
    const test = testsOf(subject)

    test('a queued run ends at once as cancelled, neither run nor delivered, and its lane goes on without it', async (bench) => {
      const { sample } = bench
      const [first, second, third] = [1, 2, 3].map(() => sample.runAction({ sessionKey: 'pr:1' }))
      assert.ok(first && second && third)
      await bench.store.accept(sample.entry(first, second, third))
      assert.deepEqual(await cancel(bench.store, idOf(second), 7), { ok: true })
      assert.deepEqual(await cancel(bench.store, idOf(first), 8), { ok: true })
      assert.equal(bench.store.health().backlog, 1)
      assert.deepEqual(await bench.store.read.run(idOf(first)), {
        ...first.record,
        state: 'cancelled',
        stage: 'cancelled',
        error: { code: 'CANCELLED', message: 'it was cancelled while it waited', retryable: false },
        cancelledAt: 8,
      })
      const worker = startManualWorker(bench.store, ['run'])
      const claim = await worker.next()
      assert.equal(claim.task.subject, idOf(third))
      claim.done()
      await bench.settled()
      assert.equal(worker.waiting.length, 0)
      assert.equal(bench.store.health().backlog, 0)
    })

    test('a run without a lane, and one that is due later, end at once too', async (bench) => {
      const { sample } = bench
      const [now, later] = [sample.runAction(), sample.runAction()]
      const tasks = later.tasks.map((task) => ({ ...task, dueAt: bench.clock.now() + 5_000 }))
      await bench.store.accept(sample.entry(now, { ...later, tasks }))
      for (const action of [now, later]) assert.ok((await cancel(bench.store, idOf(action))).ok)
      const worker = startManualWorker(bench.store, ['run'])
      bench.clock.advance(5_000)
      await bench.settled()
      assert.equal(worker.waiting.length, 0)
      assert.equal(bench.store.health().backlog, 0)
    })

    test('the claim of a running run is notified of the cancel, and still settles', async (bench) => {
      const { sample } = bench
      const [action, other] = [sample.runAction(), sample.runAction()]
      const id = idOf(action)
      await bench.store.accept(sample.entry(action, other))
      const worker = startManualWorker(bench.store, ['run'])
      const [claim, beside] = [await worker.next(), await worker.next()]
      await claim.checkpoint({ run: { id, state: 'running', stage: 'running' } })
      assert.deepEqual(await cancel(bench.store, id, 7), { ok: true })
      assert.deepEqual(
        [claim.cancel.aborted, claim.lease.aborted, beside.cancel.aborted],
        [true, false, false],
      )
      assert.deepEqual(await cancel(bench.store, id, 9), { ok: true }, 'asking twice does no harm')
      const running = await bench.store.read.run(id)
      assert.deepEqual([running?.state, running?.cancelRequestedAt], ['running', 7])
      claim.settle({ done: true, effects: { run: { id, state: 'cancelled', stage: 'delivered' } } })
      await bench.settled()
      const ended = await bench.store.read.run(id)
      assert.deepEqual([ended?.state, ended?.cancelRequestedAt], ['cancelled', 7])
      assert.equal(bench.store.health().backlog, 1)
    })

    test('a run that is parked while it is being cancelled ends, and its lane goes on', async (bench) => {
      const { sample } = bench
      const [action, next] = [1, 2].map(() => sample.runAction({ sessionKey: 'pr:1' }))
      assert.ok(action && next)
      const id = idOf(action)
      await bench.store.accept(sample.entry(action, next))
      const worker = startManualWorker(bench.store, ['run'])
      const claim = await worker.next()
      await cancel(bench.store, id, 7)
      const parked = { id, state: 'parked', stage: 'accepted', error: parkedFor } as const
      claim.settle({ done: true, effects: { run: parked } })
      assert.equal((await worker.next()).task.subject, idOf(next))
      const run = await bench.store.read.run(id)
      assert.deepEqual(
        [run?.state, run?.stage, run?.error?.code, run?.cancelRequestedAt],
        ['cancelled', 'cancelled', 'CANCELLED', 7],
      )
      assert.equal(bench.store.health().backlog, 1)
    })

    test('the claim of a running heartbeat is notified of the cancel, and its task goes on', async (bench) => {
      const { sample } = bench
      const heartbeat = sample.run({
        kind: 'heartbeat',
        sessionKey: 'main',
        state: 'running',
        stage: 'running',
      })
      const left = sample.run({ kind: 'heartbeat', sessionKey: 'main', state: 'running', stage: 'running' })
      await bench.store.command({ type: 'schedule', task: heartbeatTask(bench.clock.now()) })
      const worker = startManualWorker(bench.store, ['heartbeat'])
      const claim = await worker.next()
      await claim.checkpoint({ run: heartbeat })
      assert.ok((await cancel(bench.store, heartbeat.id)).ok)
      assert.equal(claim.cancel.aborted, true)
      await claim.checkpoint({ run: left })
      claim.settle({ done: true, effects: { tasks: [heartbeatTask(bench.clock.now() + 1_000)] } })
      await bench.settled()
      assert.ok((await cancel(bench.store, left.id)).ok)
      assert.equal((await bench.store.read.run(left.id))?.state, 'cancelled')
      bench.clock.advance(1_000)
      assert.equal((await worker.next()).task.key, 'heartbeat:main')
    })

    test('a run that waits for its next try ends at once, and its lane goes on', async (bench) => {
      const { sample } = bench
      const [first, second] = [1, 2].map(() => sample.runAction({ sessionKey: 'pr:1' }))
      assert.ok(first && second)
      await bench.store.accept(sample.entry(first, second))
      const worker = startManualWorker(bench.store, ['run'])
      const claim = await worker.next()
      const attempts = [{ number: 1, startedAt: 1, endedAt: 2, outcome: 'failed' as const }]
      await claim.checkpoint({ run: { id: idOf(first), stage: 'running', attempts } })
      claim.again(bench.clock.now() + 60_000)
      await bench.settled()
      assert.ok((await cancel(bench.store, idOf(first))).ok)
      const next = await worker.next()
      assert.equal(next.task.subject, idOf(second))
      const ended = await bench.store.read.run(idOf(first))
      assert.deepEqual([ended?.state, ended?.attempts], ['cancelled', attempts])
    })

    test('a run that was cancelled while it was performed waits for no next try', async (bench) => {
      const { sample } = bench
      const [one, two] = [sample.runAction(), sample.runAction()]
      await bench.store.accept(sample.entry(one, two))
      const worker = startManualWorker(bench.store, ['run'])
      const claims = [await worker.next(), await worker.next()]
      await cancel(bench.store, idOf(one))
      const asked = cancel(bench.store, idOf(two))
      for (const claim of claims) claim.again(bench.clock.now() + 60_000)
      assert.ok((await asked).ok)
      const again = new Map<Id | undefined, HeldClaim>()
      for (const claim of [await worker.next(), await worker.next()]) again.set(claim.task.subject, claim)
      for (const action of [one, two]) {
        const { run } = (await again.get(idOf(action))?.load()) ?? {}
        assert.equal(run?.cancelRequestedAt, bench.clock.now())
      }
    })

    test('a run whose turn is over, or that ended, cannot be cancelled, nor one that does not exist', async (bench) => {
      const { sample } = bench
      const action = sample.runAction()
      await bench.store.accept(sample.entry(action))
      const claim = await startManualWorker(bench.store, ['run']).next()
      for (const stage of ['ran', 'summarised', 'delivered'] as const) {
        await claim.checkpoint({ run: { id: idOf(action), state: 'succeeded', stage } })
        const result = await cancel(bench.store, idOf(action))
        assert.deepEqual([result.ok, result.why], [false, 'state'])
        assert.match(result.reason ?? '', /succeeded/)
      }
      assert.equal(claim.cancel.aborted, false)
      for (const id of [bench.mintId(), 'no id at all']) {
        const result = await cancel(bench.store, id)
        assert.deepEqual([result.ok, result.why], [false, 'unknown'])
        assert.equal((await resume(bench.store, id)).why, 'unknown')
      }
    })

    test('a cancel that races the claims is never lost', async (bench) => {
      const { sample } = bench
      const worker = startManualWorker(bench.store, ['run'], 100)
      const claims = new Map<Id | undefined, HeldClaim>()
      const actions: Id[] = []
      for (let round = 0; round < 30; round++) {
        const action = sample.runAction()
        actions.push(idOf(action))
        const accepted = bench.store.accept(sample.entry(action))
        if (round % 3 !== 0) await accepted
        if (round % 3 === 2) await bench.settled()
        const result = await cancel(bench.store, idOf(action))
        assert.ok(result.ok, result.reason)
        await bench.settled()
        for (const claim of worker.waiting) claims.set(claim.task.subject, claim)
      }
      for (const id of actions) {
        const run = await bench.store.read.run(id)
        const claim = claims.get(id)
        if (claim === undefined) assert.equal(run?.state, 'cancelled')
        else assert.deepEqual([claim.cancel.aborted, run?.cancelRequestedAt], [true, bench.clock.now()])
      }
      assert.ok(claims.size > 0)
    })

    test('a cancel whose commit failed has changed nothing, on disk or in memory', async (bench) => {
      const { sample } = bench
      const [running, queued] = [1, 2].map(() => sample.runAction({ sessionKey: 'pr:1' }))
      assert.ok(running && queued)
      await bench.store.accept(sample.entry(running, queued))
      const worker = startManualWorker(bench.store, ['run'])
      const claim = await worker.next()
      for (const action of [running, queued]) {
        await bench.fault('commit-fails')
        await assert.rejects(cancel(bench.store, idOf(action)), { code: 'STORE_UNAVAILABLE' })
        assert.deepEqual(await bench.store.read.run(idOf(action)), action.record)
      }
      assert.equal(claim.cancel.aborted, false)
      assert.equal(bench.store.health().backlog, 2)
      claim.done()
      const next = await worker.next()
      assert.equal(next.task.subject, idOf(queued))
      assert.equal(next.cancel.aborted, false)
      await bench.fault('answer-lost')
      assert.ok((await cancel(bench.store, idOf(queued))).ok)
      assert.equal(next.cancel.aborted, true)
    })

    test('a cancel beside a faulty order in one batch is carried out all the same', async (bench) => {
      const { sample } = bench
      const [running, queued] = [1, 2].map(() => sample.runAction({ sessionKey: 'pr:1' }))
      assert.ok(running && queued)
      await bench.store.accept(sample.entry(running, queued))
      const claim = await startManualWorker(bench.store, ['run']).next()
      const results = await Promise.allSettled([
        cancel(bench.store, idOf(queued)),
        cancel(bench.store, idOf(running)),
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

    test('a burst that was cancelled keeps what joined it readable, the newest 100 of it', async (bench) => {
      const { sample } = bench
      const entries = Array.from({ length: 103 }, (_, index) =>
        sample.entry(
          sample.coalescedAction({ keep: 'all' }, { message: `m${index}`, prompt: `<m${index}>` }),
        ),
      )
      for (const entry of entries) await bench.store.accept(entry)
      const at = bench.clock.now()
      const run = idOf(entries[0]?.actions[0] ?? assert.fail())
      assert.equal(
        (await bench.store.read.run(run))?.joined,
        undefined,
        'it is still to be read by the run itself',
      )
      await bench.store.command({ type: 'cancel', run, at })
      const expected = entries
        .map(({ request }, index) => ({ requestId: request.id, at, message: `m${index}` }))
        .slice(3)
      for (const open of [async () => bench.store, () => bench.open()]) {
        const record = await (await open()).read.run(run)
        assert.deepEqual(record?.joined, expected)
        assert.deepEqual([record?.message, record?.coalesce?.count], ['m0', 103])
      }
      const { items } = await bench.store.read.runs()
      assert.equal(items[0]?.joined, undefined, 'it is in no list')
    })

    test('a parked run ends at once', async (bench) => {
      const { sample } = bench
      const run = await park(bench, sample.runAction())
      assert.ok((await cancel(bench.store, run.id)).ok)
      const ended = await bench.store.read.run(run.id)
      assert.deepEqual([ended?.state, ended?.error?.code], ['cancelled', 'CANCELLED'])
      assert.equal(bench.store.health().backlog, 0)
    })

    test('a parked run that is resumed is queued again, behind what waits in its lane', async (bench) => {
      const { sample } = bench
      const parked = await park(bench, sample.runAction({ sessionKey: 'pr:1', pool: 'github' }))
      const waiting = sample.runAction({ sessionKey: 'pr:1' })
      await bench.store.accept(sample.entry(waiting))
      assert.deepEqual(await resume(bench.store, parked.id), { ok: true })
      const run = await bench.store.read.run(parked.id)
      assert.deepEqual([run?.state, run?.error], ['queued', undefined])
      assert.equal((await resume(bench.store, parked.id)).why, 'state', 'it is parked no more')
      assert.equal(bench.store.health().backlog, 2)
      const worker = startManualWorker(bench.store, ['run'])
      const first = await worker.next()
      assert.equal(first.task.subject, idOf(waiting))
      await bench.settled()
      assert.equal(worker.waiting.length, 0)
      first.done()
      const { task } = await worker.next()
      assert.deepEqual([task.subject, task.pool, task.attempt], [parked.id, 'github', 1])
    })

    test('a resumed first run of a session does not wait, and later runs of the session wait for it', async (bench) => {
      const { sample } = bench
      const parked = await park(bench, sample.runAction())
      await resume(bench.store, parked.id)
      const follower = sample.runAction({ sessionKey: parked.sessionKey })
      await bench.store.accept(sample.entry(follower))
      const worker = startManualWorker(bench.store, ['run'])
      const claim = await worker.next()
      assert.equal(claim.task.subject, parked.id)
      await bench.settled()
      assert.equal(worker.waiting.length, 0)
      claim.done()
      assert.equal((await worker.next()).task.subject, idOf(follower))
    })

    test('a run that failed or timed out is queued again once, behind what waits in its lane, and its record keeps how it had ended', async (bench) => {
      const { sample } = bench
      const error = { code: 'exit', message: 'no', retryable: false }
      for (const state of ['failed', 'timed-out'] as const) {
        const summaryEventId = bench.mintId()
        const attempts = [{ number: 1, startedAt: 1, endedAt: 2, outcome: state }] as const
        const ended = await settleAs(bench, sample.runAction({ sessionKey: `pr:${state}`, pool: 'github' }), {
          ...{ state, stage: 'summarised', error, attempts, summaryEventId },
          ...{ startedAt: 1, ranAt: 2, summarisedAt: 2 },
        })
        const waiting = sample.runAction({ sessionKey: `pr:${state}` })
        await bench.store.accept(sample.entry(waiting))
        const answers = await Promise.all([retry(bench.store, ended.id, 7), retry(bench.store, ended.id, 8)])
        assert.deepEqual(
          answers.map(({ ok, why }) => why ?? ok).toSorted(),
          ['state', true],
          'of two at one moment one is refused',
        )
        const run = await bench.store.read.run(ended.id)
        assert.deepEqual(
          [
            run?.state,
            run?.stage,
            run?.error,
            run?.startedAt,
            run?.ranAt,
            run?.summaryEventId,
            run?.attempts,
          ],
          ['queued', 'accepted', undefined, undefined, undefined, undefined, attempts],
        )
        const [retried] = run?.retries ?? []
        assert.ok(retried?.at === 7 || retried?.at === 8)
        assert.deepEqual(run?.retries, [{ at: retried.at, state, error, attempts: 1, summaryEventId }])
        const worker = startManualWorker(bench.store, ['run'])
        const first = await worker.next()
        assert.equal(first.task.subject, idOf(waiting))
        first.done()
        const claim = await worker.next()
        assert.deepEqual([claim.task.subject, claim.task.pool, claim.task.attempt], [ended.id, 'github', 1])
        claim.done()
        await worker.drain(1_000)
      }
    })

    test('a run in another state, a heartbeat and a forgotten run are not retried', async (bench) => {
      const { sample } = bench
      for (const fields of [
        { state: 'succeeded', stage: 'delivered' },
        { state: 'parked', error: parkedFor },
        { state: 'failed', forgottenAt: 5 },
      ] as const) {
        const run = await settleAs(bench, sample.runAction(), fields)
        const refused = await retry(bench.store, run.id)
        assert.deepEqual([refused.ok, refused.why], [false, 'state'])
      }
      assert.equal((await retry(bench.store, bench.mintId())).why, 'unknown')
      assert.equal(bench.store.health().backlog, 0)
    })

    test('a retry whose commit failed has changed nothing, and one whose answer was lost is done once', async (bench) => {
      const { sample } = bench
      const run = await settleAs(bench, sample.runAction(), { state: 'failed', stage: 'summarised' })
      await bench.fault('commit-fails')
      await assert.rejects(retry(bench.store, run.id), { code: 'STORE_UNAVAILABLE' })
      assert.equal((await bench.store.read.run(run.id))?.state, 'failed')
      await bench.fault('answer-lost')
      await retry(bench.store, run.id)
      assert.equal((await retry(bench.store, run.id)).why, 'state')
      assert.equal((await bench.store.read.run(run.id))?.retries?.length, 1)
      assert.equal(bench.store.health().backlog, 1)
    })

    test('a cancel and a resume survive the process', async (bench) => {
      const { sample } = bench
      const [running, queued] = [1, 2].map(() => sample.runAction({ sessionKey: 'pr:1' }))
      assert.ok(running && queued)
      await bench.store.accept(sample.entry(running, queued))
      await startManualWorker(bench.store, ['run']).next()
      for (const action of [running, queued]) await cancel(bench.store, idOf(action), 7)
      const store = await bench.open()
      const worker = startManualWorker(store, ['run'])
      const claim = await worker.next()
      assert.equal((await claim.load()).run?.cancelRequestedAt, 7)
      claim.done()
      await bench.settled()
      assert.equal(worker.waiting.length, 0)
    })

    function park(bench: ContractContext, action: Action): Promise<RunRecord> {
      return settleAs(bench, action, { state: 'parked', error: parkedFor })
    }

    async function settleAs(
      bench: ContractContext,
      action: Action,
      fields: Partial<RunRecord>,
    ): Promise<RunRecord> {
      const sample = createSampler(bench)
      await bench.store.accept(sample.entry(action))
      const worker = startManualWorker(bench.store, ['run'])
      const claim = await worker.next()
      const run: Partial<RunRecord> & { id: Id } = { ...fields, id: idOf(action) }
      claim.settle({ done: true, effects: { run } })
      await worker.drain(1_000)
      return { ...action.record, ...run } as RunRecord
    }
  })
}

type Action = ReturnType<ReturnType<typeof createSampler>['runAction']>

function cancel(store: Store, run: Id, at = Date.UTC(2026, 0, 1)) {
  return store.command({ type: 'cancel', run, at })
}

function retry(store: Store, run: Id, at = Date.UTC(2026, 0, 1)) {
  return store.command({ type: 'retry', run, at })
}

function resume(store: Store, run: Id, at = Date.UTC(2026, 0, 1)) {
  return store.command({ type: 'resume', run, at })
}
