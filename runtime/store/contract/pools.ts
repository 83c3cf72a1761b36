/** The contract of pools: no more tasks of a pool are performed at a time than its limit, and no other task waits for them. */

import assert from 'node:assert/strict'
import { describe, test as single } from 'node:test'
import type { Entry, NewAction } from '../port.ts'
import { type ContractContext, type ContractSubject, openBench } from './bench/bench.ts'
import { testsOf } from './bench/contract-test.ts'
import { startManualWorker } from './bench/manual-worker.ts'
import { createSampler, idOf } from './bench/samples.ts'

export function poolsContract(subject: ContractSubject): void {
  describe(`${subject.name}: pools`, { concurrency: 4, timeout: 30_000 }, () => {
    const test = testsOf(subject)

    test('no more tasks of a pool are performed at one time than its limit, and others pass it', async (bench) => {
      const worker = startManualWorker(bench.store, ['run'], 8, { github: 2 })
      const github = Array.from({ length: 5 }, () => pooled(bench, 'github'))
      const other = [pooled(bench, 'billing'), pooled(bench, 'billing'), createSampler(bench).runAction()]
      await bench.store.accept(entryOf(bench, ...github, ...other))
      const claims = [1, 2, 3, 4, 5].map(() => worker.next())
      const [first, second, ...rest] = await Promise.all(claims)
      await bench.settled()
      assert.equal(worker.waiting.length, 0)
      assert.deepEqual(
        [first, second, ...rest].map((claim) => claim?.task.subject),
        [...github.slice(0, 2), ...other].map(idOf),
      )
      assert.deepEqual([first?.task.pool, rest.at(-1)?.task.pool], ['github', undefined])
      for (const [index, done] of [first, second].entries()) {
        done?.done()
        assert.equal((await worker.next()).task.subject, github.map(idOf)[2 + index])
        await bench.settled()
        assert.equal(worker.waiting.length, 0)
      }
    })

    test('over all pools what is due first goes first, then what was accepted first', async (bench) => {
      const start = bench.clock.now()
      const actions = [
        pooled(bench, 'b', start + 3),
        pooled(bench, 'a', start + 2),
        pooled(bench, undefined, start + 1),
        pooled(bench, 'c', start + 1),
        pooled(bench, 'a', start),
      ]
      await bench.store.accept(entryOf(bench, ...actions))
      bench.clock.advance(10)
      const worker = startManualWorker(bench.store, ['run'], 1, { a: 1, b: 1 })
      for (const index of [4, 2, 3, 1, 0]) {
        const claim = await worker.next()
        assert.equal(claim.task.subject, actions.map(idOf)[index])
        claim.done()
      }
    })

    test('changed limits hold at once, in both directions, and a pool without a limit is not limited', async (bench) => {
      const worker = startManualWorker(bench.store, ['run'], 8, { constructor: 1 })
      const actions = Array.from({ length: 9 }, () => pooled(bench, 'constructor'))
      await bench.store.accept(entryOf(bench, ...actions))
      const claims = [await worker.next()]
      await worker.resize(8, { constructor: 3 })
      claims.push(await worker.next(), await worker.next())
      await worker.resize(8)
      await bench.settled()
      assert.equal(worker.waiting.length, 0, 'without pools the limits stay')
      await worker.resize(8, { constructor: 1 })
      for (const claim of claims.slice(0, 2)) {
        claim.done()
        await bench.settled()
        assert.equal(worker.waiting.length, 0)
      }
      await worker.resize(4, {})
      for (let more = 0; more < 3; more++) await worker.next()
      await bench.settled()
      assert.equal(worker.waiting.length, 0)
    })

    test('a limit of zero stops a pool, and none of its tasks is lost', async (bench) => {
      const worker = startManualWorker(bench.store, ['run'], 8, { github: 0 })
      await bench.store.accept(entryOf(bench, pooled(bench, 'github')))
      await bench.settled()
      assert.equal(worker.waiting.length, 0)
      await worker.resize(8, { github: 1 })
      await worker.next()
    })

    single('a full pool sets no timer, and its next task is claimed when one settles', async (t) => {
      let timers = 0
      const bench = await openBench(t, subject)
      const { setTimer } = bench.clock
      const counting: typeof setTimer = (run, ms) => {
        timers += 1
        return setTimer(run, ms)
      }
      const store = await bench.open({ setTimer: counting })
      const worker = startManualWorker(store, ['run'], 8, { github: 1 })
      const start = bench.clock.now()
      await store.accept(
        entryOf(bench, pooled(bench, 'github'), pooled(bench, 'github'), pooled(bench, 'github', start + 50)),
      )
      const claim = await worker.next()
      await bench.settled()
      const [commits, before] = [store.health().commits, timers]
      for (let ms = 0; ms < 100; ms++) {
        bench.clock.advance(1)
        // This is a round trip that writes nothing.
        await worker.resize(8)
      }
      // A node among others looks with each renewal of its leases, too.
      const set = subject.isShared ? 0 : timers - before
      assert.deepEqual([store.health().commits - commits, set], [0, 0])
      claim.again(bench.clock.now() + 500)
      const next = await worker.next()
      next.done()
      const last = await worker.next()
      bench.clock.advance(500)
      await bench.settled()
      assert.equal(worker.waiting.length, 0, 'the one that waited for its next try waits for room too')
      last.done()
      assert.equal((await worker.next()).task.key, claim.task.key)
    })

    test("the pool of a lane's head decides for the lane", async (bench) => {
      const { sample } = bench
      const run = (sessionKey: string, pool?: string) => {
        const action = sample.runAction({ sessionKey })
        const tasks = action.tasks.map((task) => ({ ...task, ...(pool !== undefined && { pool }) }))
        return { ...action, tasks }
      }
      const [blocking, head, free] = [run('pr:1', 'github'), run('pr:2'), run('pr:2', 'github')]
      await bench.store.accept(entryOf(bench, blocking, head, free))
      const worker = startManualWorker(bench.store, ['run'], 8, { github: 1 })
      const [first, second] = [await worker.next(), await worker.next()]
      assert.deepEqual([first.task.subject, second.task.subject], [idOf(blocking), idOf(head)])
      second.done()
      await bench.settled()
      assert.equal(worker.waiting.length, 0)
      first.done()
      assert.equal((await worker.next()).task.subject, idOf(free))
    })

    test('a claim that was taken back and one whose commit failed release their place in the pool', async (bench) => {
      const first = startManualWorker(bench.store, ['run'], 8, { github: 1 })
      await bench.settled()
      await bench.fault('commit-fails')
      const action = pooled(bench, 'github')
      await assert.rejects(bench.store.accept(entryOf(bench, action)), { code: 'STORE_UNAVAILABLE' })
      await bench.store.accept(entryOf(bench, action))
      const claim = await first.next()
      await bench.fault('commit-fails')
      await assert.rejects(bench.store.accept(entryOf(bench, pooled(bench, 'github'))))
      claim.done()
      await bench.store.accept(entryOf(bench, pooled(bench, 'github')))
      await first.next()
    })

    test('the pool of a task survives the process', async (bench) => {
      await bench.store.accept(entryOf(bench, pooled(bench, 'github'), pooled(bench, 'github')))
      await startManualWorker(bench.store, ['run'], 1).next()
      const store = await bench.open()
      const worker = startManualWorker(store, ['run'], 8, { github: 1 })
      const claim = await worker.next()
      await bench.settled()
      assert.deepEqual([claim.task.pool, worker.waiting.length], ['github', 0])
    })
  })
}

/** A run without a lane. */
function pooled(bench: ContractContext, pool: string | undefined, dueAt = bench.clock.now()): NewAction {
  const action = createSampler(bench).runAction()
  return {
    ...action,
    tasks: action.tasks.map((task) => ({ ...task, dueAt, ...(pool !== undefined && { pool }) })),
  }
}

function entryOf(bench: ContractContext, ...actions: NewAction[]): Entry {
  return createSampler(bench).entry(...actions)
}
