/** Tests jobs on a real store, with replays that a test decides. */

import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { Timers } from '@reveille/engine'
import { until } from '../../test/installation.ts'
import { openInThisThread } from '../store/contract/in-this-thread.ts'
import { createIdMinter } from '../store/id.ts'
import type { Id, ReplayJob, RequestOutcome, RequestRecord, Store } from '../store/port.ts'
import { createReplayJobs, type ReplayJobsOptions } from './jobs.ts'
import type { ReplayAnswer, Replays } from './replays.ts'

const mintId = createIdMinter(Date.now)

interface Bed {
  readonly folder: string
  /** The requests that were performed, with the ids of their replays, in order. */
  readonly performed: [request: Id, replay: Id][]
}

async function createBed(t: TestContext): Promise<Bed> {
  const folder = await mkdtemp(join(tmpdir(), 'reveille-jobs-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  return { folder, performed: [] }
}

type Decide = (request: Id, replay: Id) => Promise<ReplayAnswer> | ReplayAnswer

/** Opens the store and its jobs, as a process does that starts. Pauses last no time. Nodes share a `store` that is given. */
async function open(
  t: TestContext,
  { folder, performed }: Bed,
  decide: Decide,
  { store: shared, ...options }: Partial<Pick<ReplayJobsOptions, 'store' | 'leads' | 'lookMs'>> = {},
) {
  const store =
    shared ??
    (await openInThisThread({
      location: folder,
      now: Date.now,
      keepMs: 86_400_000,
      backlog: 1_000,
      historyMessages: 10,
    }))
  const draining = new AbortController()
  const errors: object[] = []
  const replays: Pick<Replays, 'perform'> = {
    async perform(request, task) {
      const replay = task?.requestId ?? assert.fail('an item has an id')
      performed.push([request, replay])
      return decide(request, replay)
    },
  }
  const timers: Timers = {
    setTimeout: (run, ms) => setTimeout(run, Math.min(ms, 5)),
    clearTimeout: (timer) => clearTimeout(timer as NodeJS.Timeout),
  }
  const log = { info: () => {}, error: (facts: object) => void errors.push(facts) }
  const jobs = createReplayJobs({
    store,
    replays,
    mintId,
    now: Date.now,
    timers,
    log,
    backlog: () => 1_000,
    draining: draining.signal,
    ...options,
  })
  async function close() {
    draining.abort()
    await jobs.close()
    if (shared === undefined) await store.close()
  }
  t.after(close)
  return { store, jobs, errors, close }
}

const done = (job: Pick<ReplayJob, 'id'>, store: Store) =>
  until(async () => {
    const now = await store.read.job(job.id)
    return now?.state === 'running' ? undefined : now
  }, 'the end of the job')

function accepted(request: Id, replay: Id): ReplayAnswer {
  return { ok: true, requestId: replay, replayOf: request, outcome: 'accepted', status: 202, actions: [] }
}

function recordOf(outcome: RequestOutcome, more: Partial<RequestRecord> = {}): RequestRecord {
  const at = Date.now()
  return {
    id: mintId(),
    endpoint: 'orders',
    generation: 1,
    outcome,
    status: 500,
    bodyBytes: 0,
    receivedAt: at,
    timings: {},
    actions: [],
    ...more,
  }
}

async function fill(store: Store, records: readonly RequestRecord[]): Promise<readonly Id[]> {
  await Promise.all(records.map((request) => store.accept({ request, actions: [] })))
  return records.map(({ id }) => id)
}

test('each request of a job is performed once, the oldest first, and the job counts how they ended', async (t) => {
  const bed = await createBed(t)
  const ends: Readonly<Record<number, Partial<ReplayAnswer>>> = {
    3: { outcome: 'failed', code: 'TRANSFORM_FAILED', reason: 'it throws' },
    4: { outcome: 'ignored', reason: 'nothing matched' },
    5: { ok: false, code: 'BODY_NOT_KEPT', sentence: 'Its body is not kept.' } as never,
  }
  const { store, jobs } = await open(t, bed, (request, replay) => {
    const end = ends[ids.indexOf(request)] ?? {}
    return { ...accepted(request, replay), ...end } as ReplayAnswer
  })
  const ids = await fill(
    store,
    Array.from({ length: 40 }, () => recordOf('failed')),
  )
  const filter = { outcome: 'failed', endpoint: 'orders' }
  const chosen = await jobs.choose(filter)
  assert.deepEqual(chosen, ids)
  const id = await jobs.begin(chosen, filter, {})
  const job = await done({ id }, store)
  assert.deepEqual(
    { ...job, createdAt: 0, endedAt: 0 },
    {
      id,
      filter,
      options: {},
      state: 'done',
      total: 40,
      done: 37,
      failed: 1,
      skipped: 2,
      createdAt: 0,
      endedAt: 0,
    },
  )
  assert.deepEqual(
    bed.performed.map(([request]) => request),
    ids,
  )
  assert.equal(new Set(bed.performed.map(([, replay]) => replay)).size, 40)
  const { items } = await store.read.jobItems(id, { state: 'failed' })
  assert.deepEqual(
    items.map(({ request, reason }) => [request, reason]),
    [[ids[3], 'TRANSFORM_FAILED: it throws']],
  )
})

test('items under way when a process ended are looked up by their id, and the others are performed under the same id', async (t) => {
  const bed = await createBed(t)
  const held = Promise.withResolvers<never>()
  const first = await open(t, bed, () => held.promise)
  const ids = await fill(first.store, [recordOf('failed'), recordOf('failed'), recordOf('failed')])
  const job = await first.jobs.begin(ids, { outcome: 'failed' }, {})
  await until(() => (bed.performed.length === 3 ? true : undefined), 'the items that are performed')
  const [one, two, three] = bed.performed.splice(0) as [[Id, Id], [Id, Id], [Id, Id]]
  // The process dies after the commit of the first two.
  await fill(first.store, [
    recordOf('accepted', { id: one[1], replayOf: one[0] }),
    recordOf('failed', { id: two[1], replayOf: two[0], code: 'TRANSFORM_FAILED' }),
  ])
  await first.store.close()
  held.reject(new Error('it is gone'))

  const second = await open(t, bed, accepted)
  second.jobs.start()
  const { state, done: count, failed } = (await done({ id: job }, second.store)) as ReplayJob
  assert.deepEqual([state, count, failed], ['done', 2, 1])
  assert.deepEqual(bed.performed, [three])
})

test('a gateway that can take nothing keeps the items for later', async (t) => {
  const bed = await createBed(t)
  let tries = 0
  const { store, jobs } = await open(t, bed, (request, replay) => {
    tries += 1
    return tries < 4 ? { ok: false, code: 'BACKLOG', sentence: 'Too much waits.' } : accepted(request, replay)
  })
  const ids = await fill(store, [recordOf('failed')])
  const job = await jobs.begin(ids, { outcome: 'failed' }, {})
  assert.equal((await done({ id: job }, store))?.done, 1)
  assert.equal(new Set(bed.performed.map(([, replay]) => replay)).size, 1)
})

test('a replay that throws ends as failed, and the job goes on', async (t) => {
  const bed = await createBed(t)
  const { store, jobs, errors } = await open(t, bed, (request, replay) => {
    if (bed.performed.length === 1) throw new Error('a fault')
    return accepted(request, replay)
  })
  const ids = await fill(store, [recordOf('failed'), recordOf('failed')])
  const job = await done({ id: await jobs.begin(ids, {}, {}) }, store)
  assert.deepEqual([job?.done, job?.failed, errors.length], [1, 1, 1])
})

test('a job that is cancelled hands out nothing more, and the next job is performed', async (t) => {
  const bed = await createBed(t)
  const held = Promise.withResolvers<void>()
  const { store, jobs } = await open(t, bed, async (request, replay) => {
    await held.promise
    return accepted(request, replay)
  })
  const ids = await fill(
    store,
    Array.from({ length: 50 }, () => recordOf('failed')),
  )
  const one = await jobs.begin(ids, {}, {})
  const two = await jobs.begin(ids.slice(0, 1), {}, {})
  await until(() => (bed.performed.length > 0 ? true : undefined), 'the first items')
  assert.ok((await store.command({ type: 'job-cancel', job: one, at: Date.now() })).ok)
  held.resolve()
  assert.equal((await done({ id: two }, store))?.done, 1)
  const cancelled = await store.read.job(one)
  assert.equal(cancelled?.state, 'cancelled')
  assert.ok(bed.performed.length < 50)
})

test('of an original and its replays a job takes one, and nothing that was refused or is a handshake', async (t) => {
  const bed = await createBed(t)
  const { store, jobs } = await open(t, bed, accepted)
  const original = recordOf('failed')
  const old = recordOf('failed', { endpoint: 'other' })
  const replays = [
    recordOf('failed', { replayOf: original.id }),
    recordOf('failed', { replayOf: old.id }),
    recordOf('failed', { replayOf: old.id }),
  ]
  await fill(store, [original, old, ...replays])
  store.note(recordOf('refused'))
  assert.deepEqual(await jobs.choose({ endpoint: 'orders' }), [original.id, replays[2]?.id])
})

test('a job that another node starts is performed by the leader, also after leadership changed', async (t) => {
  const [bed, other] = [await createBed(t), await createBed(t)]
  let leader = 'one'
  const one = await open(t, bed, accepted, { leads: () => leader === 'one', lookMs: 1 })
  const two = await open(t, other, accepted, { store: one.store, leads: () => leader === 'two', lookMs: 1 })
  const [first = '', second = ''] = await fill(one.store, [recordOf('failed'), recordOf('failed')])
  one.jobs.start()
  const ofTwo = await two.jobs.begin([first], {}, {})
  assert.equal((await done({ id: ofTwo }, one.store))?.done, 1)
  leader = 'two'
  two.jobs.start()
  const ofOne = await one.jobs.begin([second], {}, {})
  assert.equal((await done({ id: ofOne }, one.store))?.done, 1)
  const requests = ({ performed }: Bed) => performed.map(([request]) => request)
  assert.deepEqual([requests(bed), requests(other)], [[first], [second]])
})
