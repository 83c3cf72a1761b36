/** The contract of replay jobs: each item gets one replay, which it keeps over restarts, and is settled once. */

import assert from 'node:assert/strict'
import type { CommandResult, Id, PageOptions, ReplayJobItem } from '../port.ts'
import { type ContractBench, contractPart } from './bench/bench.ts'
import { allOf, idsIn, idsOf } from './bench/samples.ts'

export const replayJobsContract = contractPart('replay jobs', (test) => {
  test('a job hands out its items in order, counts how they end, and is done with the last', async (bench) => {
    const { id, items, begin, next, settle } = newJob(bench, 5)
    const given = async (limit: number) => (await next(limit)).items?.map(({ request }) => request)
    assert.deepEqual(await begin(items.slice(0, 3), { more: true }), { ok: true, done: 3 })
    assert.equal((await next(2)).why, 'state', 'nothing is handed out before all items are there')
    assert.deepEqual(await begin([...items.slice(2), ...items.slice(0, 1)]), { ok: true, done: 2 })
    assert.deepEqual(await begin(items), { ok: true, done: 0 }, 'the last call is made again')
    assert.equal((await begin(items, { more: true })).why, 'state')
    const job = { id, filter: { outcome: 'failed' }, options: { deliverAgain: true } }
    const counts = { total: 5, done: 0, failed: 0, skipped: 0, createdAt: bench.clock.now() }
    assert.deepEqual(await bench.store.read.job(id), { ...job, ...counts, state: 'running' })

    assert.deepEqual(await given(2), items.slice(0, 2))
    await settle([items[0], 'done'], [items[1], 'failed', 'its mapping is gone'], [items[4], 'done'])
    const later = { ...job, ...counts, done: 1, failed: 1, state: 'running' }
    assert.deepEqual(await bench.store.read.job(id), later, 'one was not handed out')
    await settle([items[1], 'done'])
    assert.equal((await bench.store.read.job(id))?.failed, 1, 'what has ended stays so')
    assert.deepEqual(await given(10), items.slice(2))
    bench.clock.advance(5_000)
    await settle([items[2], 'skipped', 'its body is not kept'], [items[3], 'done'], [items[4], 'done'])
    const ended = { done: 3, failed: 1, skipped: 1, state: 'done', endedAt: bench.clock.now() } as const
    assert.deepEqual(await bench.store.read.job(id), { ...job, ...counts, ...ended })
    assert.deepEqual(await next(10), { ok: false, why: 'state', reason: 'it is done' })
  })

  test('after a restart what was handed out and not settled comes first, under the same ids', async (bench) => {
    const { begin, items, next, settle } = newJob(bench, 4)
    await begin(items)
    const given = (await next(2)).items ?? []
    await settle([items[0], 'done'])
    assert.equal(bench.store.leftOpen.replayJobs, false)
    assert.equal((await bench.open()).leftOpen.replayJobs, true)
    const again = (await next(2)).items ?? []
    assert.deepEqual(again[0], given[1])
    assert.deepEqual(again[1]?.request, items[2])
    assert.deepEqual((await next(2)).items, again, 'and for as long as they are not settled')
    const all = (await next(10)).items ?? []
    assert.equal(new Set(all.map(({ replay }) => replay)).size, 3, 'each has an id of its own')
  })

  test('of several orders with one key at one moment one begins a job, and the others get its id', async (bench) => {
    const order = (key: string) => {
      const job = { id: bench.mintId(), filter: {}, options: { key }, createdAt: bench.clock.now() }
      return bench.store.command({ type: 'job-begin', job, items: [bench.mintId()] })
    }
    const begun = await Promise.all([order('a'), order('a'), order('b'), order('a')])
    const { items } = await bench.store.read.jobs()
    assert.equal(items.length, 2)
    const { id = '' } = items.find(({ options }) => (options as { key: string }).key === 'a') ?? {}
    assert.deepEqual(
      begun.flatMap(({ job }) => job ?? []),
      [id, id],
    )
    await cancel(bench, id)
    assert.equal((await order('a')).job, undefined, 'a cancelled job makes room')
  })

  test('a replay that is stored again under its id changes nothing, however it ended', async (bench, sample) => {
    const entry = sample.entry(sample.runAction())
    const ignored = sample.request({ outcome: 'ignored', replayOf: entry.request.id })
    const other = sample.request({ outcome: 'failed' })
    assert.deepEqual(await bench.store.accept(entry), await bench.store.accept(entry))
    const withoutActions = { request: ignored, actions: [] }
    await bench.store.accept(withoutActions)
    const changed = { ...withoutActions, request: { ...ignored, status: 500 } }
    assert.deepEqual(await bench.store.accept(changed), { actions: [] })
    bench.store.note({ ...ignored, status: 500 })
    bench.store.note(other)
    await bench.settled()
    const { items } = await bench.store.read.requests()
    assert.deepEqual(items, [other, ignored, entry.request])
    assert.equal(bench.store.health().backlog, 1)
  })

  test('no more is handed out than there are new ids', async (bench) => {
    const { id, begin, items } = newJob(bench, 3)
    await begin(items)
    const mint = [bench.mintId()]
    const { items: given } = await bench.store.command({ type: 'job-next', job: id, limit: 3, mint })
    assert.deepEqual(given, [{ request: items[0], replay: mint[0] }])
  })

  test('a job is listed with its items, those that failed too, in pages', async (bench) => {
    const jobs = [newJob(bench, 5), newJob(bench, 0), newJob(bench, 1)] as const
    const [first] = jobs
    for (const { begin, items } of jobs) await begin(items)
    const { read } = bench.store
    const ids = idsOf(jobs)
    assert.deepEqual(idsOf(await allOf(read.jobs, 2)), ids.toReversed())
    assert.deepEqual(await idsIn(read.jobs({ state: 'done' })), [ids[1]], 'without items it is done at once')
    assert.deepEqual(await idsIn(read.jobs({ state: 'running' })), [ids[2], ids[0]])

    const given = (await first.next(4)).items ?? []
    const [one, two, three] = first.items
    await first.settle([one, 'failed', 'one'], [two, 'done'], [three, 'failed'])
    const expected: ReplayJobItem[] = first.items.map((request, index) => ({
      request,
      ...(given[index] && { replay: given[index].replay }),
      state: (['failed', 'done', 'failed', 'open', 'open'] as const)[index] ?? 'open',
      ...(index === 0 && { reason: 'one' }),
    }))
    const list = (options: object) => (page: PageOptions) => read.jobItems(first.id, { ...page, ...options })
    assert.deepEqual(await allOf(list({}), 2), expected)
    const failed = await allOf(list({ state: 'failed', newestFirst: true }), 1)
    assert.deepEqual(failed, [expected[2], expected[0]])
    assert.deepEqual(await read.jobItems(bench.mintId()), { items: [] })
    assert.deepEqual(await read.jobItems('no id'), { items: [] })
    assert.equal(await read.job('no id'), undefined)
  })

  test('a cancelled job hands nothing out, and counts what was under way', async (bench) => {
    const { id, begin, items, next, settle } = newJob(bench, 3)
    await begin(items)
    await next(1)
    assert.deepEqual(await cancel(bench, id), { ok: true })
    assert.equal((await cancel(bench, id)).why, 'state')
    assert.deepEqual(await next(1), { ok: false, why: 'state', reason: 'it is cancelled' })
    assert.equal((await begin(items)).why, 'state')
    await settle([items[0], 'done'])
    const job = await bench.store.read.job(id)
    assert.deepEqual([job?.state, job?.done, job?.endedAt], ['cancelled', 1, bench.clock.now()])
  })

  test('a job whose items were not all added when the process ended is cancelled', async (bench) => {
    const { id, begin, items } = newJob(bench, 2)
    await begin(items, { more: true })
    await bench.open()
    assert.equal((await bench.store.read.job(id))?.state, 'cancelled')
  })

  test('a job that does not exist is unknown, and too many items at once are refused', async (bench) => {
    const { begin, next, settle, id, items } = newJob(bench, 1_001)
    for (const result of [await next(1), await settle()]) assert.equal(result.why, 'unknown')
    for (const job of ['x', '', "'", '\u0000', id])
      assert.equal((await cancel(bench, job)).why, 'unknown', job)
    await assert.rejects(begin(items), { code: 'BAD_ENTRY' })
    assert.equal(await bench.store.read.job(id), undefined)
  })

  test('an ended job is deleted with other history, and a running one is not', {
    keepMs: 60_000,
  }, async (bench) => {
    const [ended, running] = [newJob(bench, 100), newJob(bench, 1)]
    await ended.begin(ended.items)
    await running.begin(running.items)
    await cancel(bench, ended.id)
    const { read } = bench.store
    await bench.untilGone(() => read.job(ended.id))
    assert.deepEqual(await idsIn(read.jobs()), [running.id])
    assert.deepEqual((await read.jobItems(ended.id)).items, [])
    assert.equal((await read.jobItems(running.id)).items.length, 1)
  })
})

type Settled = readonly [request: Id | undefined, state: 'done' | 'failed' | 'skipped', reason?: string]

function newJob(bench: ContractBench, count: number) {
  const id = bench.mintId()
  const asked = { filter: { outcome: 'failed' }, options: { deliverAgain: true } }
  const job = { id, ...asked, createdAt: bench.clock.now() }
  return {
    id,
    items: Array.from({ length: count }, bench.mintId),
    begin: (items: readonly Id[], { more }: { more?: true } = {}): Promise<CommandResult> =>
      bench.store.command({ type: 'job-begin', job, items, ...(more && { more }) }),
    next: (limit: number) =>
      bench.store.command({
        type: 'job-next',
        job: id,
        limit,
        mint: Array.from({ length: limit }, bench.mintId),
      }),
    settle: (...ended: Settled[]) =>
      bench.store.command({
        type: 'job-settle',
        job: id,
        at: bench.clock.now(),
        items: ended.map(([request = '', state, reason]) => ({ request, state, ...(reason && { reason }) })),
      }),
  }
}

const cancel = ({ store, clock }: ContractBench, job: Id) =>
  store.command({ type: 'job-cancel', job, at: clock.now() })
