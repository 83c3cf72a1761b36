/**
 * Owns the random walk: whatever may happen to runs happens in any order, beside an oracle, and after each step nothing
 * is lost, nothing doubled, every count is exact, and whatever can be performed is being performed.
 */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Id, NewAction, RunRecord, Spent } from '../port.ts'
import { laneOf } from '../tasks.ts'
import { type Bench, type ContractSubject, openBench } from './bench.ts'
import { type Hands, type HeldClaim, hireHands } from './hands.ts'
import { type Asked, createOracle, type Known } from './oracle.ts'
import { createSampler, idOf } from './samples.ts'

const concurrency = 4
const pools = { narrow: 1, wide: 3 }
const dayMs = 86_400_000
/** Nothing is forgotten meanwhile. */
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

function createWalk(bench: Bench, seed: number) {
  const random = createRandom(seed)
  const upTo = (most: number) => Math.floor(random() * most)
  const pick = <Item>(items: readonly Item[]): Item | undefined => items[upTo(items.length)]
  const sample = createSampler(bench)
  const oracle = createOracle()
  const seen = new Map<Id, { readonly original: Id; readonly until: number }>()
  const spent = new Map<string, Spent>()
  const requests = new Map<Id, Id>()
  let held: Held[] = []
  /** What was forgotten before the clock was set back may be as if it had never been. */
  let era = 0
  let hands: Hands = hire()

  function hire(): Hands {
    return hireHands(bench.store, ['run'], concurrency, pools)
  }

  const now = () => bench.clock.now()
  const runs = () => [...oracle.runs.values()]
  const ofPool = (pool: string | undefined) => held.filter(({ run }) => run.pool === pool).length
  const hasRoom = ({ pool }: Known) =>
    held.length < concurrency && (pool === undefined || ofPool(pool) < pools[pool as keyof typeof pools])

  /** Takes what was handed out, and holds it against the oracle. */
  async function take(): Promise<void> {
    await bench.settled()
    while (hands.waiting.length > 0) {
      const claim = await hands.next()
      const run = oracle.runs.get(claim.task.subject ?? '')
      assert.ok(run, 'a claim of a run that is there')
      assert.ok(hasRoom(run), 'a claim that there is room for')
      assert.ok(oracle.mayClaim(run, now()), 'a claim of a run that is due, and first in its lane')
      oracle.claim(run)
      held.push({ claim, run })
      const work = await claim.load()
      assert.equal(work.run?.id, run.id)
      if (run.key !== undefined) assert.equal((work.joinedCount ?? 0) + 1, run.count, 'all that were joined')
      const nothing = { runs: 0, tokens: 0, told: false }
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
    const coalesce = { key, keep, deadline, mostPerHour: 1000 }
    const action = {
      type: 'run',
      record: coalesces ? { ...record, coalesce } : record,
      tasks: [task],
      ...extra,
      ...(coalesces && { join: { key, dueAt, keep } }),
    } as const
    return { asked, action }
  }

  /** Sessions that somebody goes on with. */
  function someMadeUp(): string[] {
    return runs()
      .filter(({ standing }) => standing !== 'none')
      .slice(-2)
      .map(({ id }) => `hook:${id}`)
  }

  async function accept(): Promise<void> {
    const given = Array.from({ length: 1 + upTo(3) }, newRun)
    const until = now() + 5000
    const withDedupe = given.map(({ action }) =>
      random() < 0.3 ? { ...action, dedupe: { scope: 's', key: `${era} ${upTo(3)}`, until } } : action,
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
    requests.set(entry.request.id, expected[0]?.id ?? '')
    if (random() < 0.2) assert.deepEqual((await bench.store.accept(entry)).actions.length, actions.length)
  }

  async function refusedByDisk(): Promise<void> {
    await bench.fault('disk-full')
    // More than what earlier steps have left free.
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
    const entry = sample.entry(newRun().action)
    const isNext = await bench.fault('commit-fails').then(
      () => true,
      () => false,
    )
    // Where something else was due with the order itself, that is what failed.
    if (!isNext) return
    await assert.rejects(bench.store.accept(entry))
    assert.equal(await bench.store.read.request(entry.request.id), undefined)
  }

  /** A settlement that is on disk; the run's reply tells. */
  async function settle({ whileFull = false } = {}): Promise<void> {
    const one = pick(held)
    if (one === undefined) {
      if (whileFull) await bench.fault('disk-freed')
      return
    }
    const { claim, run } = one
    const { id } = run
    const reply = `${bench.mintId()}${whileFull ? 'x'.repeat(100_000) : ''}`
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
    else claim.settle({ done: true, effects: { spend, run: how === 'done' ? over : parked } })
    if (whileFull) {
      await bench.settled().catch(() => undefined)
      await bench.fault('disk-freed')
    }
    for (let tries = 0; (await read(id)).reply !== reply; tries += 1) {
      assert.ok(tries < 50, 'a settlement is written')
      bench.clock.advance(whileFull ? 1000 : 0)
      await bench.settled()
    }
    held = held.filter((other) => other !== one)
    const before = spent.get(day) ?? { runs: 0, tokens: 0, told: false }
    spent.set(day, { ...before, runs: before.runs + 1, tokens: before.tokens + tokens })
    if (how === 'again') oracle.again(run, run.cancelled ? Math.min(at, now()) : at)
    else oracle.finish(run)
    run.parked = how === 'parked' && !run.cancelled
  }

  async function read(id: Id): Promise<RunRecord> {
    const run = await bench.store.read.run(id)
    assert.ok(run, `the run ${id} is there`)
    return run
  }

  async function cancel(): Promise<void> {
    const run = pick(runs().filter(({ standing, parked }) => standing !== 'none' || parked))
    if (run === undefined) return
    const waits = oracle.cancel(run)
    assert.deepEqual(await bench.store.command({ type: 'cancel', run: run.id, at: now() }), { ok: true })
    const { state } = await read(run.id)
    assert.equal(state === 'cancelled', waits)
  }

  async function resume(): Promise<void> {
    const run = pick(runs().filter(({ parked }) => parked))
    if (run === undefined) return
    oracle.resume(run, now())
    assert.deepEqual(await bench.store.command({ type: 'resume', run: run.id, at: now() }), { ok: true })
  }

  async function reopen(): Promise<void> {
    await bench.close()
    await bench.open({ keepMs })
    held = []
    oracle.reopen()
    hands = hire()
  }

  async function setBack(): Promise<void> {
    const ms = 2000 + upTo(60_000)
    era += 1
    oracle.setBack(ms)
    bench.clock.advance(-ms)
  }

  const steps: readonly (readonly [weight: number, name: string, run: () => Promise<void>])[] = [
    [8, 'accept', accept],
    [8, 'settle', settle],
    [8, 'advance', async () => bench.clock.advance(upTo(1200))],
    [2, 'cancel', cancel],
    [2, 'resume', resume],
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
    const idle = runs().filter((run) => oracle.mayClaim(run, now()) && hasRoom(run))
    assert.deepEqual(idle, [], 'whatever can be performed is being performed')
    assert.equal(bench.store.health().backlog, oracle.backlog())
    const one = pick(runs())
    if (one === undefined) return
    const { coalesce } = await read(one.id)
    if (one.key !== undefined) assert.equal(coalesce?.count, one.count)
  }

  /** Everything ends, and is on record as what became of it. */
  async function finish(): Promise<void> {
    for (let rounds = 0; oracle.backlog() > 0 || runs().some(({ parked }) => parked); rounds += 1) {
      assert.ok(rounds < 10_000, 'everything comes to its end')
      if (held.length > 0) await settle()
      else bench.clock.advance(5000)
      await resume()
      await take()
      await check()
    }
    for (const { id } of runs()) {
      const { state } = await read(id)
      assert.ok(state === 'succeeded' || state === 'cancelled', state)
    }
    for (const [request, first] of requests) {
      assert.equal((await bench.store.read.request(request))?.actions[0]?.id, first)
    }
    const lanes = new Set(runs().flatMap(({ lane }) => lane ?? []))
    for (const lane of lanes) {
      const sessionKey = lane.slice(laneOf('').length)
      const action = sample.runAction({ sessionKey }, { busy: 'reject' })
      const { actions } = await bench.store.accept(sample.entry(action))
      assert.deepEqual(actions, [{ outcome: 'accepted', id: idOf(action) }], 'every lane is open')
      const claim = await hands.next()
      claim.done()
      await bench.settled()
    }
  }

  return { step, check, finish }
}

function dayOf(time: number): string {
  return new Date(time).toISOString().slice(0, 10)
}

/** Mulberry32: between 0 and 1, the same for the same seed. */
function createRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
