/**
 * The random walk: everything that can happen to runs and deliveries happens in any order, beside an oracle, and after each step nothing
 * is lost, nothing doubled, every count is exact, and every task that can be performed is being performed.
 */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { DeliveryRecord, Id, NewAction, OpenDeliveries, RunRecord, Spent } from '../../port.ts'
import { laneOf } from '../../task-keys.ts'
import { type ContractBench, type ContractSubject, openBench } from '../bench/bench.ts'
import { type HeldClaim, type ManualWorker, startManualWorker } from '../bench/manual-worker.ts'
import { createSampler, idOf } from '../bench/samples.ts'
import { type Asked, createOracle, type Known } from './oracle.ts'

const concurrency = 4
/** The pools of runs, and those of deliveries to the channels `slow` and `quick`. */
const pools = { narrow: 1, wide: 3, slow: 1, quick: 2 }
const dayMs = 86_400_000
/** Nothing is deleted for its age during a walk. */
const keepMs = 1000 * dayMs

export function randomContract(
  subject: ContractSubject,
  { seeds, steps }: { seeds: readonly number[]; steps: number },
): void {
  describe(`${subject.name}: any order of events`, { concurrency: 2 }, () => {
    for (const seed of seeds) {
      test(`random walk ${seed}`, async (t) => {
        const walk = createWalk(await openBench(t, subject, { keepMs }), seed)
        for (let step = 0; step < steps; step += 1) {
          const taken = await walk.step()
          try {
            await walk.check()
          } catch (error) {
            throw new Error(`after step ${step} of walk ${seed} (${taken})`, { cause: error })
          }
        }
        await walk.finish()
      })
    }
  })
}

interface Held {
  readonly claim: HeldClaim
  readonly run: Known
}

interface WalkedJob {
  readonly id: Id
  readonly total: number
  readonly given: Map<Id, Id>
  /** The items that have not ended, in order. */
  open: Id[]
}

/** Where a delivery goes, and how much of it has arrived there. */
interface Journey {
  to: { readonly channel: string; readonly to: string }
  arrived: number
}

function createWalk(bench: ContractBench, seed: number) {
  const random = createRandom(seed)
  const upTo = (most: number) => Math.floor(random() * most)
  const pick = <Item>(items: readonly Item[]): Item | undefined => items[upTo(items.length)]
  const sample = createSampler({ mintId: bench.mintId, clock: { now: () => bench.store.now() } })
  const oracle = createOracle()
  const seen = new Map<Id, { readonly original: Id; readonly until: number }>()
  const spent = new Map<string, Spent>()
  const requests = new Map<Id, readonly { readonly outcome: string; readonly id: Id }[]>()
  const jobs: WalkedJob[] = []
  const journeys = new Map<Id, Journey>()
  let held: Held[] = []
  /** Dedupe keys carry this number: keys from before a step of the clock may be unknown afterwards. */
  let clockSteps = 0
  let worker: ManualWorker = startWorker()

  function startWorker(): ManualWorker {
    return startManualWorker(bench.store, ['run', 'delivery'], concurrency, pools)
  }

  const now = () => bench.store.now()
  const all = () => [...oracle.runs.values()]
  const runs = () => all().filter(({ kind }) => kind === 'run')
  const deliveries = () => all().filter(({ kind }) => kind === 'delivery')
  const ofPool = (pool: string | undefined) => held.filter(({ run }) => run.pool === pool).length
  const hasRoom = ({ pool }: Known) =>
    held.length < concurrency && (pool === undefined || ofPool(pool) < pools[pool as keyof typeof pools])

  /** Takes the new claims, and compares them with the oracle. */
  async function take(): Promise<void> {
    await bench.settled()
    while (worker.waiting.length > 0) {
      const claim = await worker.next()
      const run = oracle.runs.get(claim.task.subject ?? '')
      assert.ok(run, 'a claim of what is there')
      assert.ok(hasRoom(run), 'a claim that there is room for')
      assert.ok(oracle.mayClaim(run, now()), 'a claim of what is due, and first in its lane')
      oracle.claim(run)
      held.push({ claim, run })
      const work = await claim.load()
      if (run.kind === 'delivery') {
        const { delivery } = work
        assert.deepEqual([delivery?.id, work.run], [run.id, undefined])
        assert.equal(delivery?.receipts.length, journeyOf(run.id).arrived, 'what has arrived is known')
        continue
      }
      assert.equal(work.run?.id, run.id)
      if (run.key !== undefined) assert.equal((work.joinedCount ?? 0) + 1, run.count, 'all that were joined')
      const nothing = { runs: 0, tokens: 0, usd: 0, reported: false }
      assert.deepEqual(work.spent?.all, spent.get(dayOf(now())) ?? nothing)
    }
  }

  function newRun(): { readonly asked: Asked; readonly action: NewAction } {
    const sessionKey = random() < 0.6 ? pick(['pr:1', 'pr:2', ...someMadeUp()]) : undefined
    const pool = pick([undefined, 'narrow', 'wide'])
    const isBusy = random() < 0.2
    const fields = { ...(sessionKey && { sessionKey }), ...(pool && { pool }) }
    const extra = isBusy ? { busy: 'reject' as const } : {}
    const coalesces = random() < 0.5
    const maxWaitMs = 500 + upTo(5000)
    const [windowMs, name] = [200 + upTo(1500), pick(['a', 'b']) ?? 'a']
    const keep = pick(['all', 'latest'] as const) ?? 'all'
    const record = sample.run(fields)
    const dueAt = now() + (coalesces ? Math.min(windowMs, maxWaitMs) : 0)
    const [plain] = sample.runAction({ ...fields, id: record.id }, extra).tasks
    assert.ok(plain)
    const task = { ...plain, dueAt, ...(pool && { pool }) }
    const deadline = now() + maxWaitMs
    const key = JSON.stringify([sessionKey ?? '', name])
    const asked = { id: record.id, ...fields, dueAt, deadline, busy: isBusy, ...(coalesces && { key }) }
    const coalesce = { key, keep, deadline, maxPerHour: 1000 }
    const action = {
      type: 'run',
      record: coalesces ? { ...record, coalesce } : record,
      tasks: [task],
      ...extra,
      ...(coalesces && { join: { key, dueAt, keep } }),
    } as const
    return { asked, action }
  }

  /** Sessions that get further runs. */
  function someMadeUp(): string[] {
    return runs()
      .filter(({ taskState }) => taskState !== 'none')
      .slice(-2)
      .map(({ id }) => `hook:${id}`)
  }

  async function accept(): Promise<void> {
    const given = Array.from({ length: 1 + upTo(3) }, newRun)
    const until = now() + 5000
    const withDedupe = given.map(({ action }) =>
      random() < 0.3 ? { ...action, dedupe: { scope: 's', key: `${clockSteps} ${upTo(3)}`, until } } : action,
    )
    const entry = sample.entry(...withDedupe)
    const expected = given.map(({ asked }, index) => {
      const key = withDedupe[index]?.dedupe?.key
      const known = key === undefined ? undefined : seen.get(key)
      if (known !== undefined && known.until > now()) return { outcome: 'duplicate', id: known.original }
      const placed = oracle.accept(asked, now())
      if (key !== undefined) seen.set(key, { original: placed.id, until })
      return placed
    })
    const { actions } = await bench.store.accept(entry)
    const got = actions.map((action) =>
      'original' in action
        ? { outcome: action.outcome, id: action.original }
        : { outcome: action.outcome, id: action.id },
    )
    assert.deepEqual(got, expected)
    requests.set(entry.request.id, expected)
    if (random() < 0.2) assert.deepEqual((await bench.store.accept(entry)).actions.length, actions.length)
  }

  async function refusedByDisk(): Promise<void> {
    await bench.fault('disk-full')
    // This needs more than the free pages that earlier steps have left.
    const large = 'x'.repeat(1_000_000)
    const entry = sample.entry(sample.runAction({ message: large, sessionKey: 'pr:1' }))
    await assert.rejects(bench.store.accept(entry))
    if (random() < 0.5) await settle({ whileFull: true })
    else await bench.fault('disk-freed')
    bench.clock.advance(1000)
    await bench.settled()
    assert.equal(await bench.store.read.request(entry.request.id), undefined)
  }

  async function refusedAtCommit(): Promise<void> {
    const { asked, action } = newRun()
    const entry = sample.entry(action)
    const isNext = await bench.fault('commit-fails').then(
      () => true,
      () => false,
    )
    // If another commit was due with the order itself, that one failed.
    if (!isNext) return
    const accepted = await bench.store.accept(entry).catch(() => undefined)
    if (accepted === undefined) {
      assert.equal(await bench.store.read.request(entry.request.id), undefined)
      return
    }
    // On a server a node also commits apart from what it is given: such a commit has failed in its place.
    assert.ok(bench.store.cluster.isShared, 'the commit fails')
    const placed = oracle.accept(asked, now())
    assert.deepEqual(accepted.actions, [placed])
    requests.set(entry.request.id, [placed])
  }

  /** Settles a claim and waits until that is on disk, which the reply of the run or the reason of the delivery shows. */
  async function settle({ whileFull = false } = {}): Promise<void> {
    const one = pick(held)
    if (one === undefined) {
      if (whileFull) await bench.fault('disk-freed')
      return
    }
    const mark = `${bench.mintId()}${whileFull ? 'x'.repeat(100_000) : ''}`
    const isRun = one.run.kind === 'run'
    const settled = isRun ? settleRun(one, mark) : settleDelivery(one, mark)
    const markOf = async (id: Id) => (isRun ? (await read(id)).reply : (await readDelivery(id)).reason)
    if (whileFull) {
      await bench.settled().catch(() => undefined)
      await bench.fault('disk-freed')
    }
    for (let tries = 0; (await markOf(one.run.id)) !== mark; tries += 1) {
      assert.ok(tries < 50, `a settlement is written, but for ${worker.faults.map(String)}`)
      bench.clock.advance(whileFull ? 1000 : 0)
      await bench.settled()
    }
    held = held.filter((other) => other !== one)
    settled()
  }

  /** Settles the claim of a run. Returns what the oracle does once that is on disk. */
  function settleRun({ claim, run }: Held, reply: string): () => void {
    const { id } = run
    const tokens = upTo(1000)
    const day = dayOf(now())
    const how = pick(['done', 'done', 'again', 'parked'] as const)
    const at = now() + upTo(2000)
    const spend = { day, runs: 1, tokens }
    const fields = { id, reply, stage: 'running', state: 'queued' } as const
    const over = { ...fields, state: 'succeeded', stage: 'delivered' } as const
    const error = { code: 'BUDGET', message: 'spent', retryable: true }
    const parked = { ...fields, state: 'parked', stage: 'accepted', error } as const
    if (how === 'again') claim.settle({ again: at, counts: true, effects: { spend, run: fields } })
    else claim.done({ spend, run: how === 'done' ? over : parked })
    return () => {
      const before = spent.get(day) ?? { runs: 0, tokens: 0, usd: 0, reported: false }
      spent.set(day, { ...before, runs: before.runs + 1, tokens: before.tokens + tokens })
      if (how === 'again') oracle.again(run, run.cancelled ? Math.min(at, now()) : at)
      else oracle.finish(run)
      run.parked = how === 'parked' && !run.cancelled
    }
  }

  function settleDelivery({ claim, run }: Held, reason: string): () => void {
    const { id } = run
    const journey = journeyOf(id)
    const how = pick(['delivered', 'delivered', 'pending', 'parked'] as const) ?? 'delivered'
    const arrived = journey.arrived + (how === 'delivered' ? 1 : upTo(2))
    const at = now() + upTo(2000)
    const receipts = Array.from({ length: arrived }, (_, index) => ({ id: `m${index}` }))
    const effects = { delivery: { id, state: how, receipts, reason } }
    claim.settle(how === 'pending' ? { again: at, counts: true, effects } : { done: true, effects })
    return () => {
      journey.arrived = arrived
      if (how === 'pending') oracle.again(run, at)
      else oracle.finish(run)
      run.parked = how === 'parked'
    }
  }

  function journeyOf(id: Id): Journey {
    const journey = journeys.get(id)
    assert.ok(journey, `the delivery ${id} was sent`)
    return journey
  }

  async function readDelivery(id: Id): Promise<DeliveryRecord> {
    const delivery = await bench.store.read.delivery(id)
    assert.ok(delivery, `the delivery ${id} is there`)
    return delivery
  }

  /** The names of channels are pools. */
  function somewhere(): Journey['to'] {
    return { channel: pick(['slow', 'quick']) ?? 'slow', to: pick(['C1', 'C2']) ?? 'C1' }
  }

  async function send(): Promise<void> {
    const to = somewhere()
    const { runId: _runId, ...delivery } = sample.delivery(to)
    const task = sample.deliveryTask(delivery)
    const order = { type: 'send', delivery, task } as const
    oracle.send({ id: delivery.id, lane: task.lane ?? '', pool: to.channel, dueAt: task.dueAt })
    journeys.set(delivery.id, { to, arrived: 0 })
    const times = random() < 0.2 ? 2 : 1
    for (let time = 0; time < times; time += 1)
      assert.deepEqual(await bench.store.command(order), { ok: true })
  }

  /** Replays some deliveries to another place, which is refused if a part has arrived. */
  async function replay(): Promise<void> {
    const one = pick(deliveries().filter(({ taskState }) => taskState === 'none'))
    if (one === undefined) return
    const journey = journeyOf(one.id)
    const to = random() < 0.5 ? journey.to : somewhere()
    const isElsewhere = to.channel !== journey.to.channel || to.to !== journey.to.to
    const task = sample.deliveryTask({ ...(await readDelivery(one.id)), ...to })
    const order = { type: 'replay-delivery', delivery: one.id, at: now(), to, task } as const
    const isFree = one.parked && !(isElsewhere && journey.arrived > 0)
    assert.equal((await bench.store.command(order)).ok, isFree)
    if (!isFree) return
    journey.to = to
    oracle.replay(one, { lane: task.lane ?? '', pool: to.channel }, now())
  }

  /** Returns the open deliveries by channel. */
  function openByChannel(): Map<string, OpenDeliveries> {
    const open = new Map<string, OpenDeliveries>()
    for (const { id, taskState, parked } of deliveries()) {
      const { channel } = journeyOf(id).to
      const counts = open.get(channel) ?? { channel, pending: 0, parked: 0 }
      const pending = counts.pending + (taskState === 'none' ? 0 : 1)
      const sum = { channel, pending, parked: counts.parked + (parked ? 1 : 0) }
      if (sum.pending + sum.parked > 0) open.set(channel, sum)
    }
    return open
  }

  async function read(id: Id): Promise<RunRecord> {
    const run = await bench.store.read.run(id)
    assert.ok(run, `the run ${id} is there`)
    return run
  }

  async function cancel(): Promise<void> {
    const run = pick(runs().filter(({ taskState, parked }) => taskState !== 'none' || parked))
    if (run === undefined) return
    const waits = oracle.cancel(run)
    assert.deepEqual(await bench.store.command({ type: 'cancel', run: run.id, at: now() }), { ok: true })
    const { state } = await read(run.id)
    assert.equal(state === 'cancelled', waits)
  }

  async function resume(): Promise<void> {
    const run = pick(runs().filter(({ parked }) => parked))
    if (run === undefined) return
    const isQueued = oracle.resume(run, now())
    assert.equal((await bench.store.command({ type: 'resume', run: run.id, at: now() })).ok, isQueued)
    if (isQueued) return
    oracle.cancel(run)
    assert.deepEqual(await bench.store.command({ type: 'cancel', run: run.id, at: now() }), { ok: true })
  }

  /** Forgets a request with its runs, unless one of them is open. */
  async function forget(): Promise<void> {
    const [id, actions] = pick([...requests]) ?? []
    if (id === undefined || actions === undefined) return
    const ids = actions.flatMap((each) => (each.outcome === 'duplicate' ? [] : each.id))
    const isForgotten = oracle.forget(ids)
    const { done } = await bench.store.command({ type: 'forget', requests: [id], at: now() })
    assert.equal(done, isForgotten ? 1 : 0)
    if (!isForgotten) return
    for (const each of ids) assert.equal((await read(each)).message, '')
  }

  /** Begins a replay job, or goes on with one: what it hands out is in order, and no item ever gets another id. */
  async function replayMany(): Promise<void> {
    if (jobs.length === 0 || random() < 0.2) {
      const items = [...new Set(Array.from({ length: upTo(6) }, () => pick([...requests.keys()]) ?? ''))]
      const job = { id: bench.mintId(), filter: {}, options: {}, createdAt: now() }
      const known = items.filter((id) => id !== '')
      await bench.store.command({ type: 'job-begin', job, items: known })
      jobs.push({ id: job.id, open: known, given: new Map(), total: known.length })
      return
    }
    const job = pick(jobs) as WalkedJob
    const limit = 1 + upTo(3)
    const mint = Array.from({ length: limit }, bench.mintId)
    const { ok, items = [] } = await bench.store.command({ type: 'job-next', job: job.id, limit, mint })
    assert.equal(ok, job.open.length > 0)
    assert.deepEqual(
      items.map(({ request }) => request),
      job.open.slice(0, limit),
    )
    for (const { request, replay } of items) {
      assert.equal(replay, job.given.get(request) ?? replay)
      job.given.set(request, replay)
    }
    assert.equal(new Set(job.given.values()).size, job.given.size)
    const ended = items
      .filter(() => random() < 0.6)
      .map(({ request }) => ({ request, state: 'done' as const }))
    await bench.store.command({ type: 'job-settle', job: job.id, items: ended, at: now() })
    job.open = job.open.filter((id) => !ended.some(({ request }) => request === id))
    const record = await bench.store.read.job(job.id)
    assert.deepEqual([record?.total, record?.done], [job.total, job.total - job.open.length])
    assert.equal(record?.state, job.open.length > 0 ? 'running' : 'done')
  }

  async function reopen(): Promise<void> {
    await bench.close()
    await bench.open({ keepMs })
    held = []
    oracle.reopen()
    worker = startWorker()
  }

  async function setBack(): Promise<void> {
    const ms = 2000 + upTo(60_000)
    clockSteps += 1
    const before = now()
    bench.clock.advance(-ms)
    // The clock that nodes share is not set back.
    oracle.setBack(before - now())
  }

  const steps: readonly (readonly [weight: number, name: string, run: () => Promise<void>])[] = [
    [8, 'accept', accept],
    [8, 'settle', settle],
    [8, 'advance', async () => bench.clock.advance(upTo(1200))],
    [2, 'cancel', cancel],
    [2, 'resume', resume],
    [3, 'send', send],
    [2, 'replay', replay],
    [1, 'forget', forget],
    [1, 'replay many', replayMany],
    [1, 'reopen', reopen],
    [1, 'set back', setBack],
    [1, 'disk full', refusedByDisk],
    [1, 'commit fails', refusedAtCommit],
    [1, 'answer lost', () => bench.fault('answer-lost')],
    [0.3, 'a day', async () => bench.clock.advance(dayMs)],
  ]
  const weights = steps.reduce((sum, [weight]) => sum + weight, 0)

  async function step(): Promise<string> {
    let left = random() * weights
    for (const [weight, name, run] of steps) {
      left -= weight
      if (left >= 0) continue
      await run()
      await take()
      return name
    }
    return 'nothing'
  }

  async function check(): Promise<void> {
    const idle = all().filter((run) => oracle.mayClaim(run, now()) && hasRoom(run))
    assert.deepEqual(idle, [], 'whatever can be performed is being performed')
    assert.equal(bench.store.health().backlog, oracle.backlog())
    const open = await bench.store.read.openDeliveries()
    assert.deepEqual(new Map(open.map((each) => [each.channel, each])), openByChannel())
    const one = pick(runs())
    if (one === undefined) return
    const { coalesce } = await read(one.id)
    if (one.key !== undefined) assert.equal(coalesce?.count, one.count)
  }

  /** Ends everything, and checks the records. */
  async function finish(): Promise<void> {
    for (let rounds = 0; oracle.backlog() > 0 || all().some(({ parked }) => parked); rounds += 1) {
      assert.ok(rounds < 10_000, 'everything comes to its end')
      if (held.length > 0) await settle()
      else bench.clock.advance(5000)
      await resume()
      await replay()
      await take()
      await check()
    }
    for (const { id } of deliveries()) assert.equal((await readDelivery(id)).state, 'delivered')
    for (const { id } of runs()) {
      const { state } = await read(id)
      assert.ok(state === 'succeeded' || state === 'cancelled', state)
    }
    for (const [request, [first]] of requests) {
      assert.equal((await bench.store.read.request(request))?.actions[0]?.id, first?.id)
    }
    const lanes = new Set(runs().flatMap(({ lane }) => lane ?? []))
    for (const lane of lanes) {
      const sessionKey = lane.slice(laneOf('').length)
      const action = sample.runAction({ sessionKey }, { busy: 'reject' })
      const { actions } = await bench.store.accept(sample.entry(action))
      assert.deepEqual(actions, [{ outcome: 'accepted', id: idOf(action) }], 'every lane is open')
      const claim = await worker.next()
      claim.done()
      await bench.settled()
    }
  }

  return { step, check, finish }
}

function dayOf(time: number): string {
  return new Date(time).toISOString().slice(0, 10)
}

/** Mulberry32: makes numbers between 0 and 1, the same ones for the same seed. */
function createRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
