/** The contract of pools: no more tasks of a pool are performed at a time than its limit, and no other task waits for them. */

import assert from 'node:assert/strict'
import { contractPart } from './bench/bench.ts'
import { idOf } from './bench/samples.ts'

export const poolsContract = contractPart('pools', (test) => {
  test('no more tasks of a pool are performed at one time than its limit, and others pass it', async (bench, sample) => {
    const worker = bench.work(['run'], 8, { github: 2 })
    const github = Array.from({ length: 5 }, () => sample.runAction({ pool: 'github' }))
    const other = [{ pool: 'billing' }, { pool: 'billing' }, {}].map((fields) => sample.runAction(fields))
    await bench.accept(...github, ...other)
    const [first, second, ...rest] = await Promise.all([1, 2, 3, 4, 5].map(() => worker.next()))
    await worker.idle()
    assert.deepEqual(
      [first, second, ...rest].map((claim) => claim?.task.subject),
      [...github.slice(0, 2), ...other].map(idOf),
    )
    assert.deepEqual([first?.task.pool, rest.at(-1)?.task.pool], ['github', undefined])
    for (const [index, done] of [first, second].entries()) {
      done?.done()
      assert.equal((await worker.next()).task.subject, github.map(idOf)[2 + index])
      await worker.idle()
    }
  })

  test('over all pools what is due first goes first, then what was accepted first', async (bench, sample) => {
    const start = bench.clock.now()
    const actions = [
      sample.runAction({ pool: 'b' }, { dueAt: start + 3 }),
      sample.runAction({ pool: 'a' }, { dueAt: start + 2 }),
      sample.runAction({}, { dueAt: start + 1 }),
      sample.runAction({ pool: 'c' }, { dueAt: start + 1 }),
      sample.runAction({ pool: 'a' }, { dueAt: start }),
    ]
    await bench.accept(...actions)
    bench.clock.advance(10)
    const worker = bench.work(['run'], 1, { a: 1, b: 1 })
    for (const index of [4, 2, 3, 1, 0]) {
      const claim = await worker.next()
      assert.equal(claim.task.subject, actions.map(idOf)[index])
      claim.done()
    }
  })

  test('changed limits hold at once, in both directions, and a pool without a limit is not limited', async (bench, sample) => {
    const worker = bench.work(['run'], 8, { constructor: 1 })
    const actions = Array.from({ length: 9 }, () => sample.runAction({ pool: 'constructor' }))
    await bench.accept(...actions)
    const claims = [await worker.next()]
    await worker.resize(8, { constructor: 3 })
    claims.push(await worker.next(), await worker.next())
    await worker.resize(8)
    await worker.idle('without pools the limits stay')
    await worker.resize(8, { constructor: 1 })
    for (const claim of claims.slice(0, 2)) {
      claim.done()
      await worker.idle()
    }
    await worker.resize(4, {})
    for (let more = 0; more < 3; more++) await worker.next()
    await worker.idle()
  })

  test('a limit of zero stops a pool, and none of its tasks is lost', async (bench, sample) => {
    const worker = bench.work(['run'], 8, { github: 0 })
    await bench.accept(sample.runAction({ pool: 'github' }))
    await worker.idle()
    await worker.resize(8, { github: 1 })
    await worker.next()
  })

  test('a full pool sets no timer, and its next task is claimed when one settles', async (bench, sample) => {
    let timers = 0
    const store = await bench.open({
      setTimer(run, ms) {
        timers += 1
        return bench.clock.setTimer(run, ms)
      },
    })
    const worker = bench.work(['run'], 8, { github: 1 })
    const start = bench.clock.now()
    const dueAt = [start, start, start + 50]
    await bench.accept(...dueAt.map((at) => sample.runAction({ pool: 'github' }, { dueAt: at })))
    const claim = await worker.next()
    await bench.settled()
    const [commits, before] = [store.health().commits, timers]
    for (let ms = 0; ms < 100; ms++) {
      bench.clock.advance(1)
      // This is a round trip that writes nothing.
      await worker.resize(8)
    }
    // A node among others looks with each renewal of its leases, too.
    const set = bench.subject.isShared ? 0 : timers - before
    assert.deepEqual([store.health().commits - commits, set], [0, 0])
    claim.again(bench.clock.now() + 500)
    ;(await worker.next()).done()
    const last = await worker.next()
    bench.clock.advance(500)
    await worker.idle('the one that waited for its next try waits for room too')
    last.done()
    assert.equal((await worker.next()).task.key, claim.task.key)
  })

  test("the pool of a lane's head decides for the lane", async (bench, sample) => {
    const blocking = sample.runAction({ sessionKey: 'pr:1', pool: 'github' })
    const head = sample.runAction({ sessionKey: 'pr:2' })
    const free = sample.runAction({ sessionKey: 'pr:2', pool: 'github' })
    await bench.accept(blocking, head, free)
    const worker = bench.work(['run'], 8, { github: 1 })
    const [first, second] = [await worker.next(), await worker.next()]
    assert.deepEqual([first.task.subject, second.task.subject], [idOf(blocking), idOf(head)])
    second.done()
    await worker.idle()
    first.done()
    assert.equal((await worker.next()).task.subject, idOf(free))
  })

  test('a claim that was taken back and one whose commit failed release their place in the pool', async (bench, sample) => {
    const first = bench.work(['run'], 8, { github: 1 })
    await bench.settled()
    await bench.fault('commit-fails')
    const action = sample.runAction({ pool: 'github' })
    await assert.rejects(bench.accept(action), { code: 'STORE_UNAVAILABLE' })
    await bench.accept(action)
    const claim = await first.next()
    await bench.fault('commit-fails')
    await assert.rejects(bench.accept(sample.runAction({ pool: 'github' })))
    claim.done()
    await bench.accept(sample.runAction({ pool: 'github' }))
    await first.next()
  })

  test('the pool of a task survives the process', async (bench, sample) => {
    await bench.accept(sample.runAction({ pool: 'github' }), sample.runAction({ pool: 'github' }))
    await bench.work(['run'], 1).next()
    await bench.open()
    const worker = bench.work(['run'], 8, { github: 1 })
    const claim = await worker.next()
    await bench.settled()
    assert.deepEqual([claim.task.pool, worker.waiting.length], ['github', 0])
  })
})
