/** The contract of coalescing: one run for many requests, due after the last of them, with nothing counted twice or lost. */

import assert from 'node:assert/strict'
import type { Entry } from '../port.ts'
import { contractPart } from './bench/bench.ts'
import { createSampler, idOf, outcomesOf } from './bench/samples.ts'

const hour = 3_600_000

export const coalescingContract = contractPart('coalescing', (test) => {
  test('requests with one key become one run that knows of all of them', async (bench, sample) => {
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
    const worker = bench.work(['run'])
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
    await worker.idle()
  })

  test('the run is due when no request came for a while, and at its deadline at the latest', async (bench, sample) => {
    const worker = bench.work(['run'])
    const start = bench.clock.now()
    for (let time = 0; time < 6; time++) {
      await bench.accept(sample.coalescedAction({ maxWaitMs: 3_000 }))
      bench.clock.advance(600)
      await bench.settled()
    }
    const claim = await worker.next()
    assert.equal(claim.task.dueAt, start + 3_000)
    assert.equal((await claim.load()).joinedCount, 4, 'the sixth came after the deadline')
    claim.done()
    await bench.accept(sample.coalescedAction({}, { sessionKey: 'pr:2' }))
    bench.clock.advance(1_000)
    const rest = [await worker.next(), await worker.next()]
    for (const each of rest)
      assert.equal((await each.load()).joinedCount, 0, 'another session is another key')
  })

  test('a run that is due and waits for its lane or for a free worker can still be joined and stays due', async (bench, sample) => {
    const worker = bench.work(['run'], 1)
    await bench.accept(sample.runAction({ sessionKey: 'pr:1' }))
    const blocking = await worker.next()
    const first = sample.coalescedAction({ maxWaitMs: 1_500 })
    await bench.accept(first)
    for (const ms of [1_200, hour]) {
      bench.clock.advance(ms)
      assert.deepEqual(outcomesOf(await bench.accept(sample.coalescedAction())), ['joined'])
    }
    await worker.idle()
    blocking.done()
    const claim = await worker.next()
    assert.deepEqual([claim.task.subject, (await claim.load()).joinedCount], [idOf(first), 2])
  })

  test('a request that comes after the run was claimed is a run of its own, also between two tries', async (bench, sample) => {
    const worker = bench.work(['run'])
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

  test('no request joins a parked run that was resumed', async (bench, sample) => {
    const first = sample.coalescedAction()
    const run = idOf(first)
    for (const action of [first, sample.coalescedAction()]) await bench.accept(action)
    bench.clock.advance(1_000)
    const worker = bench.work(['run'])
    ;(await worker.next()).done({ run: { id: run, state: 'parked' } })
    await worker.drain(1_000)
    await bench.store.command({ type: 'resume', run, at: bench.clock.now() })
    assert.deepEqual(outcomesOf(await bench.accept(sample.coalescedAction())), ['accepted'])
    const again = await bench.claim('run')
    assert.deepEqual([again.task.subject, (await again.load()).joinedCount], [run, 1])
  })

  test('of `latest` only the newest content is kept, of `all` as many as fit', async (bench, sample) => {
    const worker = bench.work(['run'])
    for (const [keep, texts, lengths] of [
      ['latest', 'abcdefgh', [0, 0, 0, 0, 0, 0, 100_000]],
      ['all', 'abcdefgh', [0, 0, 100_000, 100_000, 100_000, 100_000, 100_000]],
      // The newest one is kept whatever its size.
      ['all', 'abc', [0, 2_000_000]],
    ] as const) {
      for (const text of texts) {
        const message = text.repeat(texts === 'abc' && text === 'c' ? 2_000_000 : 100_000)
        const fields = { sessionKey: `${keep} ${texts}`, message, prompt: message }
        await bench.accept(sample.coalescedAction({ keep }, fields))
      }
      bench.clock.advance(1_000)
      const { joined = [] } = await (await worker.next()).load()
      const kept = joined.map(({ content }) => content?.prompt.length ?? 0)
      assert.deepEqual(kept, lengths)
      assert.equal(joined.at(-1)?.content?.prompt[0], texts.at(-1))
    }
  })

  test('the newest of very many requests are known by their ids, and all are counted', async (bench, sample) => {
    const entries = Array.from({ length: 1_010 }, (_, index) =>
      sample.entry(sample.coalescedAction({ keep: 'all' }, { message: String(index) })),
    )
    await Promise.all(entries.map((entry) => bench.store.accept(entry)))
    const [first = assert.fail(), old = assert.fail()] = entries
    const run = runOf(first)
    const { coalesce } = (await bench.store.read.run(run)) ?? {}
    const newest = entries.slice(-1_000)
    assert.equal(coalesce?.count, 1_010)
    assert.deepEqual(coalesce?.requestIds, newest.map(requestOf))
    bench.clock.advance(1_000)
    const work = await (await bench.claim('run')).load()
    assert.equal(work.joinedCount, 1_009)
    assert.deepEqual(
      work.joined?.map(({ requestId, content }) => [requestId, content?.message]),
      newest.map(({ request }, index) => [request.id, String(10 + index)]),
    )
    const { actions } = await bench.store.accept(old)
    assert.deepEqual(actions, [{ outcome: 'joined', id: run }], 'sent again, it is answered all the same')
  })

  test('several entries of one batch, and several actions of one request, join each other', async (bench, sample) => {
    const entries = [1, 2, 3].map(() =>
      sample.entry(...['a', 'b', 'a'].map((key) => sample.coalescedAction({ key }))),
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

  test('an entry that is sent again is answered alike and counted once', async (bench, sample) => {
    const [first, second] = [sample.entry(sample.coalescedAction()), sample.entry(sample.coalescedAction())]
    const [, one, two] = await Promise.all([first, second, second].map((entry) => bench.store.accept(entry)))
    const expected = { actions: [{ outcome: 'joined', id: runOf(first) }] }
    assert.deepEqual([one, two], [expected, expected])
    await bench.fault('answer-lost')
    const third = sample.entry(sample.coalescedAction())
    await bench.store.accept(third)
    assert.deepEqual(await bench.store.accept(third), expected)
    assert.deepEqual(outcomesOf(await bench.store.accept(first)), ['accepted'])
    bench.clock.advance(1_000)
    const claim = await bench.claim('run')
    assert.deepEqual(await bench.store.accept(second), expected, 'also once the run was claimed')
    assert.equal((await claim.load()).joinedCount, 2)
  })

  test('a duplicate of a request that was joined is answered with the run that it was joined to', async (bench, sample) => {
    const accept = async (key: string) => {
      const dedupe = { scope: 's', key, bodyDigest: key, until: bench.clock.now() + hour }
      const entry = sample.entry(sample.coalescedAction({}, {}, { dedupe }))
      return [entry, (await bench.store.accept(entry)).actions[0]] as const
    }
    const [first] = await accept('one')
    const [second, joined] = await accept('two')
    assert.deepEqual(joined, { outcome: 'joined', id: runOf(first) })
    const [third, duplicate] = await accept('two')
    const expected = { outcome: 'duplicate', original: runOf(first), request: second.request.id }
    assert.deepEqual(duplicate, expected)
    assert.deepEqual((await bench.store.accept(second)).actions[0], joined)
    assert.deepEqual((await bench.store.accept(third)).actions[0], duplicate)
    assert.equal((await bench.store.read.run(runOf(first)))?.coalesce?.count, 2)
  })

  test('runs of one key are counted for an hour', async (bench, sample) => {
    const worker = bench.work(['run'])
    const counts: unknown[] = []
    const perform = async (key: string, ms: number) => {
      await bench.accept(sample.coalescedAction({ key }))
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
    await bench.accept(sample.runAction())
    assert.equal((await (await worker.next()).load()).ofKey, undefined)
  })

  test('runs that were accepted while the clock was ahead do not count for the hour once it is right', async (bench, sample) => {
    const now = () => bench.clock.now() + 24 * hour
    const later = createSampler({ mintId: bench.mintId, clock: { now } })
    const store = await bench.open({ now })
    for (const action of [1, 2, 3].map(() => later.coalescedAction())) {
      await store.accept(later.entry(action))
      await store.command({ type: 'cancel', run: idOf(action), at: now() })
    }
    await bench.open()
    await bench.accept(sample.coalescedAction())
    bench.clock.advance(1_000)
    assert.equal((await (await bench.claim('run')).load()).ofKey, 1)
  })

  test('a batch that failed has joined nothing, on disk or in memory', async (bench, sample) => {
    const first = sample.entry(sample.coalescedAction())
    await bench.store.accept(first)
    bench.clock.advance(900)
    const second = sample.entry(sample.coalescedAction())
    await bench.fault('commit-fails')
    await assert.rejects(bench.store.accept(second), { code: 'STORE_UNAVAILABLE' })
    await assert.rejects(bench.accept(sample.coalescedAction(), sample.runAction({ id: runOf(first) })))
    assert.equal((await bench.store.read.run(runOf(first)))?.coalesce?.count, 1)
    bench.clock.advance(100)
    assert.equal((await (await bench.claim('run')).load()).joinedCount, 0)
    assert.deepEqual(outcomesOf(await bench.store.accept(second)), ['accepted'])
  })

  test('joined requests survive the process, and their run can still be joined', async (bench, sample) => {
    const accept = async () => outcomesOf(await bench.accept(sample.coalescedAction({ maxWaitMs: 1_800 })))
    await accept()
    bench.clock.advance(900)
    assert.deepEqual(await accept(), ['joined'])
    await bench.open()
    bench.clock.advance(200)
    assert.deepEqual(await accept(), ['joined'])
    const worker = bench.work(['run'])
    bench.clock.advance(699)
    await worker.idle()
    bench.clock.advance(1)
    assert.equal((await (await worker.next()).load()).joinedCount, 2)
  })

  test('when the clock is set back, the deadline and the hour that counts move with it', async (bench) => {
    let ahead = 2 * hour
    const store = await bench.open({ now: () => bench.clock.now() + ahead })
    const sample = createSampler({ mintId: bench.mintId, clock: store })
    const accept = async (key: string) =>
      store.accept(sample.entry(sample.coalescedAction({ key, maxWaitMs: 1_500 })))
    await accept('a')
    const worker = bench.work(['run'])
    bench.clock.advance(1_000)
    ;(await worker.next()).done()
    await accept('a')
    ahead = 0
    await bench.settled()
    bench.clock.advance(900)
    await accept('a')
    bench.clock.advance(599)
    await worker.idle()
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
