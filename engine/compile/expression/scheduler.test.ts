import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createScheduler, type Turns } from './scheduler.ts'

/** A clock that only the work of evaluations moves, and an event loop that turns when it is told to. */
function createWorld() {
  let now = 0
  const after: (() => void)[] = []
  const schedule = createScheduler({
    now: () => now,
    used: () => now,
    afterOthers: (turn) => after.push(turn),
  })
  /** Steps of a millisecond, with a look at the clock before each. */
  const work = async (turns: Turns, steps: number, did?: (step: number) => void): Promise<number> => {
    for (let step = 0; step < steps; step++) {
      const wait = turns.turn()
      if (wait !== undefined) await wait
      now += 1
      did?.(step)
    }
    return steps
  }
  const turn = async (): Promise<void> => {
    // Everything that can go on without another turn does.
    await new Promise(setImmediate)
    for (const next of after.splice(0)) next()
    await new Promise(setImmediate)
  }
  return { schedule, work, turn, now: () => now }
}

function watch(promise: Promise<unknown>): { state: string } {
  const watched = { state: 'waiting' }
  promise.then(
    () => {
      watched.state = 'done'
    },
    (error: { code?: string }) => {
      watched.state = error.code ?? 'failed'
    },
  )
  return watched
}

test('an evaluation that is short ends in the turn in which it began', async () => {
  const { schedule, work } = createWorld()
  assert.equal(await schedule((turns) => work(turns, 5)), 5)
})

test('no turn of the event loop is held for more than 10 ms, whatever there is to evaluate', async () => {
  const { schedule, work, turn, now } = createWorld()
  const evaluations = Array.from({ length: 6 }, () => watch(schedule((turns) => work(turns, 25))))
  for (let count = 0; evaluations.some(({ state }) => state === 'waiting'); count++) {
    assert.ok(count < 100)
    const before = now()
    await turn()
    assert.ok(now() - before <= 11, `${now() - before} ms`)
  }
  assert.deepEqual(
    evaluations.map(({ state }) => state),
    Array(6).fill('done'),
  )
})

test('a short one does not wait for the end of a long one', async () => {
  const { schedule, work, turn } = createWorld()
  const long = watch(schedule((turns) => work(turns, 400)))
  await turn()
  const short = watch(schedule((turns) => work(turns, 2)))
  await turn()
  assert.deepEqual([long.state, short.state], ['waiting', 'done'])
})

test('long ones are evaluated one after the other, and begin anew, so that one holds memory at a time', async () => {
  const { schedule, work, turn } = createWorld()
  const steps: string[] = []
  const long = (name: string) =>
    watch(schedule((turns) => work(turns, 30, (step) => steps.push(`${name}${step}`))))
  const [first, second] = [long('a'), long('b')]
  for (let count = 0; second.state === 'waiting' && count < 50; count++) await turn()
  assert.deepEqual([first.state, second.state], ['done', 'done'])
  // Of the second there is what it did in its first turn, thrown away, and then all of it after the end of the first.
  const end = steps.indexOf('a29')
  assert.deepEqual(
    steps.slice(end + 1),
    Array.from({ length: 30 }, (_, step) => `b${step}`),
  )
})

test('one that takes more than its own time ends, and those beside it do not', async () => {
  const { schedule, work, turn } = createWorld()
  const endless = watch(schedule((turns) => work(turns, 10_000)))
  const hogs = Array.from({ length: 3 }, () => watch(schedule((turns) => work(turns, 10_000))))
  const innocent = watch(schedule((turns) => work(turns, 40)))
  const all = [endless, ...hogs, innocent]
  for (let count = 0; all.some(({ state }) => state === 'waiting'); count++) {
    assert.ok(count < 1_000)
    await turn()
  }
  assert.deepEqual(
    all.map(({ state }) => state),
    ['D1012', 'D1012', 'D1012', 'D1012', 'done'],
  )
})

test('no more than 32 long ones wait for one another', async () => {
  const { schedule, work, turn } = createWorld()
  const all = Array.from({ length: 40 }, () => watch(schedule((turns) => work(turns, 60))))
  for (let count = 0; all.some(({ state }) => state === 'waiting'); count++) {
    assert.ok(count < 2_000)
    await turn()
  }
  const done = all.filter(({ state }) => state === 'done').length
  assert.ok(done >= 33 && done < 40, `${done} done`)
  assert.ok(all.every(({ state }) => state === 'done' || state === 'D1012'))
})

test('branches of one evaluation share its turns, and all come to their end', async () => {
  const { schedule, work, turn } = createWorld()
  const branches = watch(schedule((turns) => Promise.all(Array.from({ length: 50 }, () => work(turns, 3)))))
  for (let count = 0; branches.state === 'waiting'; count++) {
    assert.ok(count < 200)
    await turn()
  }
  assert.equal(branches.state, 'done')
})

test('one that fails makes room for the next, and its branches go no further', async () => {
  const { schedule, work, turn } = createWorld()
  let after = 0
  const fails = watch(
    schedule(async (turns) => {
      const branch = work(turns, 50, () => {
        after += 1
      })
      await Promise.all([branch, Promise.reject({ code: 'own' })])
    }),
  )
  await turn()
  const done = after
  const next = watch(schedule((turns) => work(turns, 30)))
  for (let count = 0; next.state === 'waiting' && count < 20; count++) await turn()
  assert.deepEqual([fails.state, next.state], ['own', 'done'])
  assert.equal(after, done)
})
