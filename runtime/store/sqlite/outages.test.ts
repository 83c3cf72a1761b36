import assert from 'node:assert/strict'
import { mkdir, rename, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { atEnd } from '../../../test/at-end.ts'
import { createFolder, storeOptions } from '../../../test/store-folder.ts'
import { openFaultyStore } from '../contract/bench/faulty-disk.ts'
import { createManualClock } from '../contract/bench/manual-clock.ts'
import { startManualWorker } from '../contract/bench/manual-worker.ts'
import { createSampler, idOf } from '../contract/bench/samples.ts'
import { createIdMinter } from '../id.ts'
import type { Health } from '../port.ts'

const seconds = 1_000

/** A store in a folder of its own, whose watch timer is a manual clock. */
async function openStore(t: TestContext) {
  const { parent, location } = await createFolder(t)
  const clock = createManualClock()
  const watchClock = createManualClock()
  const reported: Health[] = []
  const open = () =>
    openFaultyStore({
      ...storeOptions,
      ...clock,
      location,
      setWatchTimer: watchClock.setTimer,
      onHealth: (health) => reported.push(health),
    })
  const opened = await open()
  const mintId = createIdMinter(clock.now)
  const sample = createSampler({ mintId, clock })
  atEnd(t, () => opened.store.close())
  /** Moves the watch timer by these seconds, and no other clock. */
  const watch = (count: number) => watchClock.advance(count * seconds)
  const settled = () => opened.store.command({ type: 'offer-route', route: undefined }).catch(() => {})
  return { ...opened, clock, location, open, parent, sample, settled, reported, watch }
}

const refused = { code: 'STORE_UNAVAILABLE', message: /is gone while the gateway runs.*Put the data folder/ }

test('nothing is accepted into a data folder that was deleted', async (t) => {
  const { location, sample, store } = await openStore(t)
  await store.accept(sample.entry(sample.runAction()))
  await rm(location, { recursive: true })
  await assert.rejects(store.accept(sample.entry(sample.runAction())), refused)
  assert.equal(store.health().writable, false)
  assert.equal(store.health().brief, 'its data folder is gone or was replaced')
  assert.doesNotMatch(store.health().brief ?? '', /\//, 'the brief reason names no path')
})

test('an idle store notices within a second that its data folder was moved, and that it is back', async (t) => {
  const { clock, location, parent, sample, settled, store, reported, watch } = await openStore(t)
  const kept = sample.entry(sample.runAction())
  await store.accept(kept)
  await rename(location, join(parent, 'elsewhere'))
  watch(1)
  await settled()
  assert.deepEqual([store.health().writable, reported.map(({ writable }) => writable)], [false, [false]])
  await rename(join(parent, 'elsewhere'), location)
  clock.advance(1 * seconds)
  await settled()
  assert.deepEqual([store.health().writable, reported.map(({ writable }) => writable)], [true, [false, true]])
  await store.accept(sample.entry(sample.runAction()))
  assert.ok(await store.read.request(kept.request.id))
})

test('a database that replaces the open one is not opened, and nothing is accepted', async (t) => {
  const { location, open, parent, sample, store } = await openStore(t)
  await store.accept(sample.entry(sample.runAction()))
  await rename(location, join(parent, 'elsewhere'))
  const other = await open()
  await assert.rejects(store.accept(sample.entry(sample.runAction())), {
    code: 'STORE_UNAVAILABLE',
    message: /was replaced by another file/,
  })
  assert.equal(other.store.health().backlog, 0)
  await other.store.close()
})

test('a log that was deleted beside its database is noticed, and a restart loses nothing', async (t) => {
  const { location, open, sample, store } = await openStore(t)
  const kept = sample.entry(sample.runAction())
  await store.accept(kept)
  await rm(join(location, 'reveille.db-wal'))
  await assert.rejects(store.accept(sample.entry(sample.runAction())), {
    code: 'STORE_UNAVAILABLE',
    message: /reveille\.db-wal is gone or was replaced/,
  })
  await store.close()
  const again = await open()
  assert.ok(await again.store.read.request(kept.request.id))
  await again.store.close()
})

for (const [what, lose] of [
  ['missing', (file: string) => rm(file)],
  ['empty', (file: string) => truncate(file)],
] as const) {
  test(`a database that is ${what} beside generations is not begun as an empty one`, async (t) => {
    const { location, open, store } = await openStore(t)
    await store.close()
    await mkdir(join(location, 'generations', '1'), { recursive: true })
    await lose(join(location, 'reveille.db'))
    await assert.rejects(open(), {
      code: 'STORE_MISSING',
      message: new RegExp(
        `${location}/reveille.db is ${what}, but generations beside it tells .*store backup`,
      ),
    })
    await rename(join(location, 'generations'), join(location, 'generations.old'))
    await (await open()).store.close()
  })
}

test('a log without its database is kept, and no empty database is begun beside it', async (t) => {
  const { location, open, store } = await openStore(t)
  await store.close()
  await rm(join(location, 'reveille.db'))
  await writeFile(join(location, 'reveille.db-wal'), 'what was committed last')
  await assert.rejects(open(), { code: 'STORE_MISSING', message: /move reveille\.db-wal out of/ })
  assert.equal((await stat(join(location, 'reveille.db-wal'))).size, 23)
})

/** Returns what a commit waits for, and what ends that. It ends with the test, too. */
function createHanging(t: TestContext) {
  const memory = new Int32Array(new SharedArrayBuffer(4))
  const end = () => {
    Atomics.store(memory, 0, 1)
    Atomics.notify(memory, 0)
  }
  t.after(end)
  return { hang: { commitHangs: memory }, end }
}

/** What was handed in is on its way to the writer's thread. */
async function posted(): Promise<void> {
  for (let turn = 0; turn < 2; turn += 1) await new Promise(setImmediate)
}

test('a commit that hangs is answered as unavailable after five seconds, and what comes meanwhile at once', async (t) => {
  const { fault, sample, settled, store, reported, watch } = await openStore(t)
  const { hang, end } = createHanging(t)
  await fault(hang)
  const first = sample.entry(sample.runAction({}, { dedupe: { scope: 's', key: 'k', until: 9e15 } }))
  const accepting = store.accept(first)
  accepting.catch(() => {})
  await posted()
  watch(5)
  assert.equal(store.health().writable, true)
  watch(1)
  await assert.rejects(accepting, {
    code: 'STORE_UNAVAILABLE',
    message: /longer than 5 s\. It may still be kept/,
  })
  assert.deepEqual(
    [store.health().writable, store.health().brief, store.isStuck(), reported.length],
    [false, 'a commit takes longer than 5 s', true, 1],
  )
  await assert.rejects(store.accept(sample.entry(sample.runAction())), { code: 'STORE_UNAVAILABLE' })

  store.note({ ...first.request, outcome: 'refused', status: 503, code: 'STORE_UNAVAILABLE', actions: [] })
  assert.equal((await store.read.request(first.request.id))?.outcome, 'refused')
  end()
  await settled()
  assert.deepEqual([store.health().writable, store.isStuck(), reported.length], [true, false, 2])
  const record = await store.read.request(first.request.id)
  assert.deepEqual(
    [record?.outcome, record?.status, record?.code, record?.actions.length],
    ['accepted', 503, 'STORE_UNAVAILABLE', 1],
  )
  assert.match(record?.reason ?? '', /its sender was answered 503/)
  assert.equal((await store.read.requests()).items.length, 1, 'it is listed once')
  const again = await store.accept(
    sample.entry(sample.runAction({}, { dedupe: { scope: 's', key: 'k', until: 9e15 } })),
  )
  assert.deepEqual(
    again.actions.map(({ outcome }) => outcome),
    ['duplicate'],
  )
})

test('a settlement waits for a commit that hangs, and is written once', async (t) => {
  const { fault, sample, settled, store, watch } = await openStore(t)
  const { hang, end } = createHanging(t)
  const action = sample.runAction()
  await store.accept(sample.entry(action))
  const claim = await startManualWorker(store, ['run']).next()
  await fault(hang)
  claim.done({ run: { id: idOf(action), state: 'succeeded', reply: 'done' } })
  await posted()
  watch(6)
  assert.equal(store.health().writable, false)
  end()
  await settled()
  assert.deepEqual([(await store.read.run(idOf(action)))?.reply, store.health().backlog], ['done', 0])
})

test('a drain and a close do not wait for a commit that hangs', async (t) => {
  const { fault, location, open, sample, store, watch } = await openStore(t)
  const { hang } = createHanging(t)
  const action = sample.runAction()
  await store.accept(sample.entry(action))
  const worker = startManualWorker(store, ['run'])
  const claim = await worker.next()
  await fault(hang)
  claim.done({ run: { id: idOf(action), state: 'succeeded', reply: 'done' } })
  const drained = worker.drain(30 * seconds).then(() => store.close())
  await posted()
  watch(6)
  await drained
  assert.equal(store.isStuck(), true)
  await assert.rejects(open(), { code: 'LOCKED' }, `${location} is still in use`)
})
