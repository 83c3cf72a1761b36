/** The contract of commands that are given twice at one moment, at two nodes where the store has several: each promise holds for both. */

import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import type { CommandResult, DeliveryRecord, Effects, Id, Store } from '../port.ts'
import { heartbeatTask } from '../task-keys.ts'
import { type Bench, type ContractSubject, openBench } from './bench/bench.ts'
import { startManualWorker } from './bench/manual-worker.ts'
import { createSampler, idOf, type Sampler } from './bench/samples.ts'

export interface Scene extends Sampler {
  readonly bench: Bench
  readonly stores: readonly [Store, Store]
  readonly now: number
  /** Does the same at both stores, at one moment. */
  both<Result>(work: (store: Store) => Promise<Result>): Promise<readonly [Result, Result]>
  /** Accepts runs that have ended with these fields. */
  ended(count: number, fields: NonNullable<Effects['run']> | object): Promise<readonly Id[]>
  /** How often each task is claimed at both nodes together, once there were as many claims and none is open. Each is settled. */
  claims(expected: number): Promise<ReadonlyMap<string, number>>
}

/** What is given twice, for each of `pairs` things. */
interface Case {
  readonly name: string
  race(scene: Scene, pairs: number): Promise<void>
}

const error = { code: 'X', message: 'x', retryable: true }
const slack = { channel: 'slack', to: 'C1' }

/** What the two answers are, in whatever order they come. */
export function answers(results: readonly CommandResult[]): readonly string[] {
  return results.map(({ ok, why, done }) => (ok ? `ok${done ?? ''}` : (why ?? 'refused'))).toSorted()
}

async function outcomes(
  { both, entry }: Scene,
  action: () => Parameters<Sampler['entry']>[0],
): Promise<readonly string[]> {
  const accepted = await both((store) => store.accept(entry(action())))
  return accepted.map(({ actions }) => actions[0]?.outcome ?? '').toSorted()
}

/** Races all pairs at one time, a chunk after the other. */
export async function inChunks<Thing>(
  things: readonly Thing[],
  chunk = 25,
  race: (thing: Thing, index: number) => Promise<void>,
): Promise<void> {
  for (let at = 0; at < things.length; at += chunk)
    await Promise.all(things.slice(at, at + chunk).map((thing, index) => race(thing, at + index)))
}
const inPairs = <Thing>(
  things: readonly Thing[],
  race: (thing: Thing, index: number) => Promise<void>,
): Promise<void> => inChunks(things, undefined, race)
const maxIgnored = 20

export const numbers = (count: number) => Array.from({ length: count }, (_, number) => number)

/** The orders about single runs: one of two is carried out, and the other is refused, because the state has changed. */
function order(type: 'resume' | 'retry', state: 'parked' | 'failed'): Case {
  return {
    name: `of two that ${type} a ${state} run one does, and it is performed once`,
    async race(scene, pairs) {
      const ids = await scene.ended(pairs, { state, error })
      await inPairs(ids, async (run) => {
        assert.deepEqual(answers(await scene.both((store) => store.command({ type, run, at: scene.now }))), [
          'ok',
          'state',
        ])
      })
      const claims = await scene.claims(ids.length)
      for (const id of ids) assert.equal(claims.get(id), 1, 'claimed once more')
    },
  }
}

const cases: readonly Case[] = [
  {
    name: 'of two entries with one key one is accepted, and the other is a duplicate of it',
    race: (scene, pairs) =>
      inPairs(numbers(pairs), async (number) => {
        const dedupe = { scope: 's', key: `${number}`, until: scene.now + 60_000 }
        assert.deepEqual(await outcomes(scene, () => scene.runAction({}, { dedupe })), [
          'accepted',
          'duplicate',
        ])
      }),
  },
  {
    name: 'of two entries that may join each other one joins',
    async race(scene, pairs) {
      await inPairs(numbers(pairs), async (number) => {
        const sessionKey = `joined:${number}`
        const found = await scene.both((store) =>
          store.accept(scene.entry(scene.coalescedAction({ key: 'k', keep: 'all' }, { sessionKey }))),
        )
        const joined = found.flatMap(({ actions }) => actions)
        assert.deepEqual(joined.map(({ outcome }) => outcome).toSorted(), ['accepted', 'joined'])
        const [id, other] = joined.map((each) => ('id' in each ? each.id : undefined))
        assert.equal(id, other)
        assert.equal((await scene.stores[0].read.run(id ?? ''))?.coalesce?.count, 2)
      })
    },
  },
  {
    name: 'of two entries that are refused while their session is busy one is accepted',
    race: (scene, pairs) =>
      inPairs(numbers(pairs), async (number) => {
        const action = () => scene.runAction({ sessionKey: `busy:${number}` }, { busy: 'reject' })
        assert.deepEqual(await outcomes(scene, action), ['accepted', 'busy'])
      }),
  },
  {
    name: 'an entry that comes twice, such as a replay under its id, is answered alike and stored once',
    async race(scene, pairs) {
      const before = (await scene.stores[0].read.openRuns()).queued
      await inPairs(numbers(pairs), async () => {
        const entry = scene.entry(scene.runAction(), scene.eventAction({ mode: 'next-heartbeat' }))
        const [first, second] = await scene.both((store) => store.accept(entry))
        assert.deepEqual(first, second)
        assert.deepEqual(
          first.actions.map(({ outcome }) => outcome),
          ['accepted', 'accepted'],
        )
      })
      assert.equal((await scene.stores[0].read.openRuns()).queued, before + pairs)
    },
  },
  {
    name: 'of two that cancel a run that waits one does',
    async race(scene, pairs) {
      const actions = numbers(pairs).map(() => scene.runAction())
      for (const action of actions) await scene.stores[0].accept(scene.entry(action))
      await inPairs(actions.map(idOf), async (run) => {
        const cancelled = await scene.both((store) => store.command({ type: 'cancel', run, at: scene.now }))
        assert.deepEqual(answers(cancelled), ['ok', 'state'])
      })
      assert.equal((await scene.claims(0)).size, 0)
    },
  },
  order('resume', 'parked'),
  order('retry', 'failed'),
  {
    name: 'of a cancel and a resume of one parked run the cancel holds',
    async race(scene, pairs) {
      const ids = await scene.ended(pairs, { state: 'parked', error })
      await inPairs(ids, async (run) => {
        const [first, second] = scene.stores
        const [, cancelled] = await Promise.all([
          first.command({ type: 'resume', run, at: scene.now }),
          second.command({ type: 'cancel', run, at: scene.now }),
        ])
        assert.equal(cancelled.ok, true)
        assert.equal((await first.read.run(run))?.state, 'cancelled')
      })
      assert.equal((await scene.claims(0)).size, 0)
    },
  },
  {
    name: 'a delivery that is sent twice is performed once',
    async race(scene, pairs) {
      const deliveries = numbers(pairs).map(() => sentByOperator(scene))
      await inPairs(deliveries, async (delivery) => {
        const task = scene.deliveryTask(delivery)
        const sent = await scene.both((store) => store.command({ type: 'send', delivery, task }))
        assert.deepEqual(answers(sent), ['ok', 'ok'])
      })
      const claims = await scene.claims(pairs)
      for (const { id } of deliveries) assert.equal(claims.get(id), 1)
    },
  },
  {
    name: 'of two that replay a parked delivery one does, and it is performed once more',
    async race(scene, pairs) {
      const deliveries = numbers(pairs).map(() => sentByOperator(scene))
      for (const delivery of deliveries)
        await scene.stores[0].command({ type: 'send', delivery, task: scene.deliveryTask(delivery) })
      const worker = startManualWorker(scene.stores[0], ['delivery'], pairs)
      for (const _ of deliveries) {
        const claim = await worker.next()
        const delivery = { id: claim.task.subject ?? '', state: 'parked', endedAt: scene.now } as const
        claim.settle({ done: true, effects: { delivery } })
      }
      await worker.drain(10_000)
      await inPairs(deliveries, async (delivery) => {
        const task = scene.deliveryTask(delivery)
        const replayed = await scene.both((store) =>
          store.command({ type: 'replay-delivery', delivery: delivery.id, at: scene.now, to: slack, task }),
        )
        assert.deepEqual(answers(replayed), ['ok', 'state'])
      })
      const claims = await scene.claims(pairs)
      for (const { id } of deliveries) assert.equal(claims.get(id), 1)
    },
  },
  {
    name: 'a route that an operator sets holds against one that is offered',
    race: (scene, pairs) =>
      inPairs(numbers(Math.min(pairs, 5)), async () => {
        const [first, second] = scene.stores
        await Promise.all([
          first.command({ type: 'set-route', route: slack, by: 'an operator' }),
          second.command({ type: 'offer-route', route: { channel: 'terminal' } }),
        ])
        assert.deepEqual(await second.read.route(), { ...slack, by: 'an operator' })
      }),
  },
  {
    name: 'a task that is scheduled and brought forward twice is performed once',
    async race(scene) {
      const task = heartbeatTask(scene.now + 60_000)
      await scene.both((store) => store.command({ type: 'schedule', task }))
      await scene.both((store) => store.command({ type: 'schedule', task: { ...task, dueAt: scene.now } }))
      await scene.both((store) => store.command({ type: 'expedite', task: task.key, dueAt: scene.now }))
      assert.deepEqual([...(await scene.claims(1))], [[task.key, 1]])
    },
  },
  {
    name: 'a request that is forgotten twice is forgotten',
    async race(scene, pairs) {
      const entries = numbers(pairs).map(() => scene.entry(scene.eventAction({ mode: 'next-heartbeat' })))
      for (const entry of entries) await scene.stores[0].accept(entry)
      await inPairs(entries, async ({ request: { id }, actions }) => {
        const forgotten = await scene.both((store) =>
          store.command({ type: 'forget', requests: [id], at: scene.now }),
        )
        assert.deepEqual(answers(forgotten), ['ok1', 'ok1'])
        assert.equal((await scene.stores[1].read.event(actions[0]?.record.id ?? ''))?.text, '')
      })
    },
  },
  {
    name: 'a heartbeat that fails while what it showed is forgotten shows it no more',
    async race(scene, pairs) {
      const [first, second] = scene.stores
      const worker = startManualWorker(first, ['heartbeat'])
      for (const _ of numbers(Math.min(pairs, 10))) {
        const text = `a secret of ${scene.bench.mintId()}`
        const action = scene.eventAction({ text, prompt: text, mode: 'next-heartbeat' })
        const entry = scene.entry(action)
        await first.accept(entry)
        await first.command({ type: 'schedule', task: heartbeatTask(scene.bench.clock.now()) })
        const claim = await worker.next()
        const asked = { prompt: text, message: text, sessionKey: 'main', eventIds: [idOf(action)] }
        const run = { ...scene.run(asked), kind: 'heartbeat' as const, state: 'failed' as const }
        claim.settle({ effects: { run }, again: scene.bench.clock.now() + 1_000, counts: true })
        const requests = [entry.request.id]
        const { done } = await second.command({ type: 'forget', requests, at: scene.now })
        const kept = await until(
          () => second.read.run(run.id),
          (found) => found !== undefined,
        )
        if (done === 1) assert.deepEqual([kept?.prompt, kept?.message], ['', ''])
        while (worker.waiting.length === 0) {
          scene.bench.clock.advance(1_000)
          await scene.bench.settled()
        }
        ;(await worker.next()).done()
      }
    },
  },
  {
    name: 'requests without effect over their bound go once, whoever accepts them',
    async race(scene, pairs) {
      await inPairs(numbers(pairs), async () => {
        await scene.both((store) =>
          store.accept({
            request: scene.request({ outcome: 'ignored', body: new Uint8Array(6) }),
            actions: [],
          }),
        )
      })
      // What one node has added is known to the other after a while, and the next request makes room.
      const left = await until(
        async () => {
          await scene.stores[0].accept({ request: scene.request({ outcome: 'ignored' }), actions: [] })
          return (await scene.stores[1].read.requests({ outcome: 'ignored', limit: 500 })).items.length
        },
        (count) => count <= maxIgnored,
      )
      assert.equal(left, maxIgnored)
    },
  },
  {
    name: 'of two jobs with one key one begins; each item gets one replay and is counted once, and one of two cancels it',
    async race(scene, pairs) {
      await inPairs(numbers(Math.min(pairs, 10)), async (number) => {
        const { both, bench, now } = scene
        const items = numbers(4).map(() => bench.mintId())
        const ids: Id[] = []
        const begun = await both((store) => {
          const id = bench.mintId()
          ids.push(id)
          const job = { id, filter: {}, options: { key: `key ${number}` }, createdAt: now }
          return store.command({ type: 'job-begin', job, items })
        })
        assert.deepEqual(answers(begun), ['ok0', 'ok4'])
        const winner = begun.find(({ job }) => job !== undefined)?.job ?? ''
        assert.ok(ids.includes(winner))
        const handed = await both((store) =>
          store.command({ type: 'job-next', job: winner, limit: 3, mint: items.map(() => bench.mintId()) }),
        )
        const replays = new Map<Id, Set<Id>>()
        for (const { request, replay } of handed.flatMap((each) => each.items ?? []))
          replays.set(request, (replays.get(request) ?? new Set()).add(replay))
        assert.deepEqual(
          [...replays.values()].map(({ size }) => size),
          [1, 1, 1],
        )
        const settled = { request: items[0] ?? '', state: 'done' } as const
        await both((store) => store.command({ type: 'job-settle', job: winner, at: now, items: [settled] }))
        assert.equal((await scene.stores[0].read.job(winner))?.done, 1)
        const cancelled = await both((store) => store.command({ type: 'job-cancel', job: winner, at: now }))
        assert.deepEqual(answers(cancelled), ['ok', 'state'])
      })
    },
  },
  {
    name: 'an issue that shows twice is one issue, counted twice',
    race: (scene, pairs) =>
      inPairs(numbers(pairs), async (number) => {
        const key = `CODE:${number}`
        const shown = {
          key,
          code: 'CODE',
          severity: 'failing',
          subject: key,
          cause: 'c',
          next: 'n',
          count: 1,
        }
        await scene.both((store) =>
          store.command({ type: 'issues', at: scene.now, changes: [shown as never] }),
        )
        assert.equal((await scene.stores[1].read.issue(key))?.count, 2)
      }),
  },
  {
    name: 'of a cancel and a settlement one is first, and the run ends as that one says',
    async race(scene, pairs) {
      const [first, second] = scene.stores
      const actions = numbers(pairs).map(() => scene.runAction())
      for (const action of actions) await first.accept(scene.entry(action))
      const worker = startManualWorker(first, ['run'], pairs)
      const claims = await Promise.all(actions.map(() => worker.next()))
      await inPairs(claims, async (claim) => {
        const run = claim.task.subject ?? ''
        claim.settle({ done: true, effects: { run: { id: run, state: 'succeeded', stage: 'delivered' } } })
        const cancelled = await second.command({ type: 'cancel', run, at: scene.now })
        const record = await until(
          () => second.read.run(run),
          (found) => found?.state !== 'queued',
        )
        assert.equal(record?.state, 'succeeded')
        assert.equal(record?.cancelRequestedAt, cancelled.ok ? scene.now : undefined)
      })
      await worker.drain(10_000)
      assert.deepEqual(worker.faults, [])
      assert.equal((await scene.claims(0)).size, 0)
    },
  },
]

export interface TogetherOptions {
  /** How many pairs each case races. */
  readonly pairs: number
}

export function togetherContract(subject: ContractSubject, { pairs }: TogetherOptions = { pairs: 50 }): void {
  describe(`${subject.name}: two at once`, { concurrency: 1, timeout: 2_000 * pairs + 60_000 }, () => {
    for (const { name, race } of cases)
      test(name, async (t) => {
        await race(await openScene(t, subject), pairs)
      })
  })
}

export async function openScene(t: TestContext, subject: ContractSubject): Promise<Scene> {
  const bench = await openBench(t, subject, { backlog: 100_000, maxWithoutEffect: maxIgnored })
  const sample = createSampler(bench)
  const stores = [bench.store, await bench.join()] as const
  const [first, second] = stores
  return {
    ...sample,
    bench,
    stores,
    now: bench.clock.now(),
    both: async (work) => await Promise.all([work(first), work(second)]),
    async ended(count, fields) {
      const actions = numbers(count).map(() => sample.runAction())
      for (const action of actions) await first.accept(sample.entry(action))
      const worker = startManualWorker(first, ['run'], count)
      for (const _ of actions) {
        const claim = await worker.next()
        const id = claim.task.subject ?? ''
        claim.settle({ done: true, effects: { run: { id, ...fields } } })
      }
      await worker.drain(10_000)
      return actions.map(idOf)
    },
    async claims(expected) {
      const counts = new Map<string, number>()
      let claimed = 0
      for (const store of stores)
        store.work({
          kinds: ['run', 'heartbeat', 'delivery'],
          concurrency: 50,
          async perform({ task: { subject, key } }) {
            counts.set(subject ?? key, (counts.get(subject ?? key) ?? 0) + 1)
            claimed += 1
            return { done: true, effects: {} }
          },
        })
      const look = () =>
        Promise.all(stores.map((store) => store.command({ type: 'offer-route', route: undefined })))
      await until(
        async () => {
          await look()
          return claimed >= expected && stores.every((store) => store.health().backlog === 0)
        },
        (isOver) => isOver,
      )
      await look()
      return counts
    },
  }
}

function sentByOperator(sample: Sampler): DeliveryRecord {
  const { runId: _runId, ...delivery } = sample.delivery(slack)
  return delivery
}

export async function until<Value>(
  read: () => Promise<Value>,
  isReached: (value: Value) => boolean,
): Promise<Value> {
  for (const deadline = performance.now() + 30_000; ; ) {
    const value = await read()
    if (isReached(value)) return value
    if (performance.now() > deadline) assert.fail('it never came')
  }
}
