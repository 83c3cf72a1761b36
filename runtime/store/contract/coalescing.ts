/** The contract of coalescing: one run for many requests, due after the last of them, with nothing counted twice or lost. */

import assert from 'node:assert/strict'
import { describe, test as single } from 'node:test'
import type { Entry, NewAction } from '../port.ts'
import { type ContractSubject, createBench } from './bench/bench.ts'
import { testsOf } from './bench/contract-test.ts'
import { startManualWorker } from './bench/manual-worker.ts'
import { createSampler, idOf } from './bench/samples.ts'

const hour = 3_600_000

export function coalescingContract(subject: ContractSubject): void {
  describe(`${subject.name}: coalescing`, { concurrency: 4, timeout: 30_000 }, () => {
    const test = testsOf(subject)

    test('requests with one key become one run that knows of all of them', async (bench) => {
      const { sample } = bench
      const [first, ...later] = ['a', 'b', 'c'].map((message) =>
        sample.entry(sample.coalescedAction({ keep: 'all' }, { message, prompt: `<${message}>` })),
      )
      assert.ok(first)
      const run = runOf(first)
      assert.deepEqual((await bench.store.accept(first)).actions, [{ outcome: 'accepted', id: run }])
      for (const entry of later) {
        assert.deepEqual((await bench.store.accept(entry)).actions, [{ outcome: 'joined', id: run }])
        const request = await bench.store.read.request(entry.request.id)
        assert.deepEqual(request, { ...entry.request, actions: [{ kind: 'agent', id: run }] })
        assert.equal(await bench.store.read.run(runOf(entry)), undefined)
      }
      assert.equal(bench.store.health().backlog, 1)
      const { coalesce } = (await bench.store.read.run(run)) ?? {}
      assert.equal(coalesce?.count, 3)
      assert.deepEqual(coalesce?.requestIds, [first, ...later].map(requestOf))
      const worker = startManualWorker(bench.store, ['run'])
      bench.clock.advance(1_000)
      const claim = await worker.next()
      const work = await claim.load()
      const at = bench.clock.now() - 1_000
      assert.deepEqual(work.joined, [
        { requestId: later[0]?.request.id, at, content: { message: 'b', prompt: '<b>' } },
        { requestId: later[1]?.request.id, at, content: { message: 'c', prompt: '<c>' } },
      ])
      assert.deepEqual([work.joinedCount, work.ofKey], [2, 1])
      assert.deepEqual(work.run, first.actions[0]?.record, 'the performer counts the requests that joined')
      await claim.checkpoint({ run: { id: run, coalesce: { ...recordOf(first), count: 7 } } })
      assert.equal((await bench.store.read.run(run))?.coalesce?.count, 7, 'what was written is not counted')
      claim.done()
      await bench.settled()
      assert.equal(worker.waiting.length, 0)
    })

    test('the run is due when no request came for a while, and at its deadline at the latest', async (bench) => {
      const { sample } = bench
      const worker = startManualWorker(bench.store, ['run'])
      const start = bench.clock.now()
      for (let time = 0; time < 6; time++) {
        await bench.store.accept(sample.entry(sample.coalescedAction({ maxWaitMs: 3_000 })))
        bench.clock.advance(600)
        await bench.settled()
      }
      const claim = await worker.next()
      assert.equal(claim.task.dueAt, start + 3_000)
      assert.equal((await claim.load()).joinedCount, 4, 'the sixth came after the deadline')
      claim.done()
      await bench.store.accept(sample.entry(sample.coalescedAction({}, { sessionKey: 'pr:2' })))
      bench.clock.advance(1_000)
      const rest = [await worker.next(), await worker.next()]
      assert.deepEqual(
        await Promise.all(rest.map(async (each) => (await each.load()).joinedCount)),
        [0, 0],
        'another session is another key',
      )
    })

    test('a run that is due and waits for its lane or for a free worker can still be joined and stays due', async (bench) => {
      const { sample } = bench
      const worker = startManualWorker(bench.store, ['run'], 1)
      await bench.store.accept(sample.entry(sample.runAction({ sessionKey: 'pr:1' })))
      const blocking = await worker.next()
      const [first, second] = [1, 2].map(() => sample.entry(sample.coalescedAction({ maxWaitMs: 1_500 })))
      assert.ok(first && second)
      await bench.store.accept(first)
      bench.clock.advance(1_200)
      assert.equal((await bench.store.accept(second)).actions[0]?.outcome, 'joined')
      bench.clock.advance(hour)
      const late = await bench.store.accept(sample.entry(sample.coalescedAction()))
      assert.equal(late.actions[0]?.outcome, 'joined')
      await bench.settled()
      assert.equal(worker.waiting.length, 0)
      blocking.done()
      const claim = await worker.next()
      assert.deepEqual([claim.task.subject, (await claim.load()).joinedCount], [runOf(first), 2])
    })

    test('a request that comes after the run was claimed is a run of its own, also between two tries', async (bench) => {
      const { sample } = bench
      const worker = startManualWorker(bench.store, ['run'])
      const accept = async () => {
        const entry = sample.entry(sample.coalescedAction())
        const { actions } = await bench.store.accept(entry)
        return [runOf(entry), actions[0]] as const
      }
      await accept()
      bench.clock.advance(1_000)
      const claim = await worker.next()
      const [second, outcome] = await accept()
      assert.deepEqual(outcome, { outcome: 'accepted', id: second })
      assert.deepEqual((await accept())[1], { outcome: 'joined', id: second })
      await bench.store.command({ type: 'cancel', run: second, at: bench.clock.now() })
      claim.again(bench.clock.now() + hour)
      await bench.settled()
      const [third, next] = await accept()
      assert.deepEqual(next, { outcome: 'accepted', id: third }, 'neither a held run nor a cancelled one')
    })

    test('no request joins a parked run that was resumed', async (bench) => {
      const { sample } = bench
      const first = sample.entry(sample.coalescedAction())
      await bench.store.accept(first)
      await bench.store.accept(sample.entry(sample.coalescedAction()))
      bench.clock.advance(1_000)
      const worker = startManualWorker(bench.store, ['run'])
      const claim = await worker.next()
      claim.settle({ done: true, effects: { run: { id: runOf(first), state: 'parked' } } })
      await worker.drain(1_000)
      await bench.store.command({ type: 'resume', run: runOf(first), at: bench.clock.now() })
      const later = await bench.store.accept(sample.entry(sample.coalescedAction()))
      assert.equal(later.actions[0]?.outcome, 'accepted')
      const again = await startManualWorker(bench.store, ['run']).next()
      assert.deepEqual([again.task.subject, (await again.load()).joinedCount], [runOf(first), 1])
    })

    test('of `latest` only the newest content is kept, of `all` as many as fit', async (bench) => {
      const { sample } = bench
      const large = (text: string) => ({ message: text.repeat(100_000), prompt: text.repeat(100_000) })
      const texts = [...'abcdefgh']
      for (const key of ['few', 'many']) {
        const keep = key === 'few' ? 'latest' : 'all'
        for (const text of texts) {
          await bench.store.accept(
            sample.entry(sample.coalescedAction({ keep }, { sessionKey: key, ...large(text) })),
          )
        }
      }
      bench.clock.advance(1_000)
      const worker = startManualWorker(bench.store, ['run'])
      const kept = async () =>
        (await (await worker.next()).load()).joined?.map(({ content }) => content?.prompt[0] ?? '')
      assert.deepEqual(await kept(), ['', '', '', '', '', '', 'h'])
      assert.deepEqual(await kept(), ['', '', 'd', 'e', 'f', 'g', 'h'])
    })

    test('the newest content is kept whatever its size', async (bench) => {
      const { sample } = bench
      for (const message of ['a', 'b', 'c'.repeat(2_000_000)]) {
        await bench.store.accept(sample.entry(sample.coalescedAction({ keep: 'all' }, { message })))
      }
      bench.clock.advance(1_000)
      const { joined } = await (await startManualWorker(bench.store, ['run']).next()).load()
      assert.deepEqual(
        joined?.map(({ content }) => content?.message.length),
        [undefined, 2_000_000],
      )
    })

    test('the newest of very many requests are known by their ids, and all are counted', async (bench) => {
      const { sample } = bench
      const entries = Array.from({ length: 1_010 }, (_, index) =>
        sample.entry(sample.coalescedAction({ keep: 'all' }, { message: String(index) })),
      )
      await Promise.all(entries.map((entry) => bench.store.accept(entry)))
      const run = entries[0] && runOf(entries[0])
      const { coalesce } = (await bench.store.read.run(run ?? '')) ?? {}
      const newest = entries.slice(-1_000)
      assert.equal(coalesce?.count, 1_010)
      assert.deepEqual(coalesce?.requestIds, newest.map(requestOf))
      bench.clock.advance(1_000)
      const work = await (await startManualWorker(bench.store, ['run']).next()).load()
      assert.equal(work.joinedCount, 1_009)
      assert.deepEqual(
        work.joined?.map(({ requestId, content }) => [requestId, content?.message]),
        newest.map((entry) => [entry.request.id, entry.actions[0] && messageOf(entry.actions[0])]),
      )
      const [, old] = entries
      assert.ok(old)
      const again = await bench.store.accept(old)
      assert.deepEqual(
        again.actions,
        [{ outcome: 'joined', id: run }],
        'sent again, it is answered all the same',
      )
    })

    test('several entries of one batch, and several actions of one request, join each other', async (bench) => {
      const { sample } = bench
      const entries = [1, 2, 3].map(() =>
        sample.entry(
          sample.coalescedAction({ key: 'a' }),
          sample.coalescedAction({ key: 'b' }),
          sample.coalescedAction({ key: 'a' }),
        ),
      )
      const acceptances = await Promise.all(entries.map((entry) => bench.store.accept(entry)))
      const [a, b] = entries[0]?.actions.map(idOf) ?? []
      const joined = (id: string | undefined) => ({ outcome: 'joined', id })
      assert.deepEqual(
        acceptances.map(({ actions }) => actions),
        [
          [{ outcome: 'accepted', id: a }, { outcome: 'accepted', id: b }, joined(a)],
          [joined(a), joined(b), joined(a)],
          [joined(a), joined(b), joined(a)],
        ],
      )
      assert.equal(bench.store.health().backlog, 2)
      assert.equal((await bench.store.read.run(a ?? ''))?.coalesce?.count, 6)
    })

    test('an entry that is sent again is answered alike and counted once', async (bench) => {
      const { sample } = bench
      const [first, second] = [sample.entry(sample.coalescedAction()), sample.entry(sample.coalescedAction())]
      const [, one, two] = await Promise.all(
        [first, second, second].map((entry) => bench.store.accept(entry)),
      )
      const expected = { actions: [{ outcome: 'joined', id: runOf(first) }] }
      assert.deepEqual([one, two], [expected, expected])
      await bench.fault('answer-lost')
      const third = sample.entry(sample.coalescedAction())
      await bench.store.accept(third)
      assert.deepEqual(await bench.store.accept(third), expected)
      assert.deepEqual((await bench.store.accept(first)).actions[0]?.outcome, 'accepted')
      bench.clock.advance(1_000)
      const claim = await startManualWorker(bench.store, ['run']).next()
      assert.deepEqual(await bench.store.accept(second), expected, 'also once the run was claimed')
      assert.equal((await claim.load()).joinedCount, 2)
    })

    test('a duplicate of a request that was joined is answered with the run that it was joined to', async (bench) => {
      const { sample } = bench
      const accept = async (key: string) => {
        const dedupe = { scope: 's', key, bodyDigest: key, until: bench.clock.now() + hour }
        const entry = sample.entry(sample.coalescedAction({}, {}, { dedupe }))
        return [entry, (await bench.store.accept(entry)).actions[0]] as const
      }
      const [first] = await accept('one')
      const [second, joined] = await accept('two')
      assert.deepEqual(joined, { outcome: 'joined', id: runOf(first) })
      const [third, duplicate] = await accept('two')
      assert.deepEqual(duplicate, {
        outcome: 'duplicate',
        original: runOf(first),
        request: second.request.id,
      })
      assert.deepEqual((await bench.store.accept(second)).actions[0], joined)
      assert.deepEqual((await bench.store.accept(third)).actions[0], duplicate)
      assert.equal((await bench.store.read.run(runOf(first)))?.coalesce?.count, 2)
    })

    test('runs of one key are counted for an hour', async (bench) => {
      const { sample } = bench
      const worker = startManualWorker(bench.store, ['run'])
      const counts: unknown[] = []
      const perform = async (key: string, ms: number) => {
        await bench.store.accept(sample.entry(sample.coalescedAction({ key })))
        bench.clock.advance(1_000)
        const claim = await worker.next()
        counts.push((await claim.load()).ofKey)
        claim.done()
        bench.clock.advance(ms - 1_000)
        await bench.settled()
      }
      for (const ms of [hour / 2, hour / 2 - 1_000, 1_000, hour]) await perform('a', ms)
      await perform('b', 1_000)
      await perform('a', 1_000)
      assert.deepEqual(counts, [1, 2, 3, 3, 1, 1])
      await bench.store.accept(sample.entry(sample.runAction()))
      assert.equal((await (await worker.next()).load()).ofKey, undefined)
    })

    single(
      'runs that were accepted while the clock was ahead do not count for the hour once it is right',
      async (t) => {
        const bench = await createBench(t, subject)
        const sample = createSampler(bench)
        const now = () => bench.clock.now() + 24 * hour
        const later = createSampler({ mintId: bench.mintId, clock: { now } })
        const store = await bench.open({ now })
        for (const _ of [1, 2, 3]) {
          const entry = later.entry(later.coalescedAction())
          await store.accept(entry)
          await store.command({ type: 'cancel', run: runOf(entry), at: now() })
        }
        await bench.close()
        await bench.open()
        const worker = startManualWorker(bench.store, ['run'])
        await bench.store.accept(sample.entry(sample.coalescedAction()))
        bench.clock.advance(1_000)
        assert.equal((await (await worker.next()).load()).ofKey, 1)
      },
    )

    test('a batch that failed has joined nothing, on disk or in memory', async (bench) => {
      const { sample } = bench
      const first = sample.entry(sample.coalescedAction())
      await bench.store.accept(first)
      bench.clock.advance(900)
      const second = sample.entry(sample.coalescedAction())
      await bench.fault('commit-fails')
      await assert.rejects(bench.store.accept(second), { code: 'STORE_UNAVAILABLE' })
      const taken = sample.runAction({ id: runOf(first) })
      const bad = sample.entry(sample.coalescedAction(), taken)
      const refused = await Promise.allSettled([bench.store.accept(bad)])
      assert.equal(refused[0]?.status, 'rejected')
      assert.equal((await bench.store.read.run(runOf(first)))?.coalesce?.count, 1)
      const worker = startManualWorker(bench.store, ['run'])
      bench.clock.advance(100)
      const claim = await worker.next()
      assert.equal((await claim.load()).joinedCount, 0)
      assert.equal((await bench.store.accept(second)).actions[0]?.outcome, 'accepted')
    })

    test('joined requests survive the process, and their run can still be joined', async (bench) => {
      const { sample } = bench
      const accept = async () => {
        const { actions } = await bench.store.accept(
          sample.entry(sample.coalescedAction({ maxWaitMs: 1_800 })),
        )
        return actions[0]?.outcome
      }
      await accept()
      bench.clock.advance(900)
      assert.equal(await accept(), 'joined')
      const store = await bench.open()
      bench.clock.advance(200)
      assert.equal(await accept(), 'joined')
      const worker = startManualWorker(store, ['run'])
      bench.clock.advance(699)
      await bench.settled()
      assert.equal(worker.waiting.length, 0)
      bench.clock.advance(1)
      assert.equal((await (await worker.next()).load()).joinedCount, 2)
    })

    single('when the clock is set back, the deadline and the hour that counts move with it', async (t) => {
      const bench = await createBench(t, subject)
      let ahead = 2 * hour
      const clock = { now: () => bench.clock.now() + ahead }
      const store = await bench.open(clock)
      const sample = createSampler({ mintId: bench.mintId, clock: store })
      const accept = async (key: string) =>
        store.accept(sample.entry(sample.coalescedAction({ key, maxWaitMs: 1_500 })))
      await accept('a')
      const worker = startManualWorker(store, ['run'])
      bench.clock.advance(1_000)
      ;(await worker.next()).done()
      await accept('a')
      ahead = 0
      await bench.settled()
      bench.clock.advance(900)
      await accept('a')
      bench.clock.advance(599)
      await bench.settled()
      assert.equal(worker.waiting.length, 0)
      bench.clock.advance(1)
      const claim = await worker.next()
      const { joinedCount, ofKey } = await claim.load()
      assert.deepEqual([joinedCount, ofKey], [1, 2])
      claim.done()
      bench.clock.advance(hour)
      await accept('a')
      bench.clock.advance(1_000)
      assert.equal((await (await worker.next()).load()).ofKey, 1)
    })
  })
}

function runOf({ actions: [action] }: Entry): string {
  return action === undefined ? '' : idOf(action)
}

function requestOf({ request }: Entry): string {
  return request.id
}

function recordOf({ actions: [action] }: Entry) {
  assert.ok(action?.type === 'run' && action.record.coalesce)
  return action.record.coalesce
}

function messageOf({ type, record }: NewAction): string {
  return type === 'run' ? record.message : record.text
}
