import assert from 'node:assert/strict'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { atEnd } from '../../../test/at-end.ts'
import { createFolder, storeOptions } from '../../../test/store-folder.ts'
import { createSampler, idsIn } from '../contract/bench/samples.ts'
import { createIdMinter } from '../id.ts'
import { databaseFile } from './folder.ts'
import { openSqliteStore, readStoreSummary } from './index.ts'

const sample = createSampler({ mintId: createIdMinter(Date.now), clock: { now: Date.now } })

async function createStore(t: TestContext) {
  const { location } = await createFolder(t)
  const store = await openSqliteStore({ ...storeOptions, location })
  atEnd(t, () => store.close())
  const entries = [sample.entry(sample.runAction()), sample.entry(sample.eventAction())]
  for (const entry of entries) await store.accept(entry)
  return { location, store, newest: entries.map(({ request }) => request.id).toReversed() }
}

/** Returns the names, times and sizes of the files in the folder. */
async function tracesIn(folder: string): Promise<readonly string[]> {
  const names = (await readdir(folder)).sort()
  const facts = await Promise.all(names.map((name) => stat(join(folder, name))))
  return facts.map(({ mtimeMs, size }, index) => `${names[index]} ${mtimeMs} ${size}`)
}

test('the summary of a closed store shows its content and leaves nothing in its folder', async (t) => {
  const { location, store, newest } = await createStore(t)
  await store.close()
  const before = await tracesIn(location)
  const summary = await readStoreSummary(location)
  assert.deepEqual(await idsIn(summary.read.requests()), newest)
  const open = [await summary.read.openRuns(), await summary.read.openDeliveries()]
  assert.deepEqual([await summary.backlog(), ...open], [1, { queued: 1, running: 0, parked: 0 }, []])
  summary.close()
  assert.deepEqual(await tracesIn(location), before)
})

test('the summary of a store in use shows the newest records, and the store works as before', async (t) => {
  const { location, store, newest } = await createStore(t)
  const summary = await readStoreSummary(location)
  const later = sample.entry(sample.runAction())
  await store.accept(later)
  assert.deepEqual(await idsIn(summary.read.requests()), [later.request.id, ...newest])
  assert.equal(await summary.backlog(), 2)
  summary.close()
  await store.accept(sample.entry(sample.runAction()))
  assert.equal(store.health().backlog, 3)
})

test('a missing store and one of another version are refused with the reason', async (t) => {
  const { location, store } = await createStore(t)
  await assert.rejects(readStoreSummary(join(location, 'elsewhere')), /there is no store in/)
  await store.close()
  const db = new DatabaseSync(databaseFile(location))
  db.exec('UPDATE meta SET version = 9999')
  db.close()
  await assert.rejects(readStoreSummary(location), { code: 'STORE_UNAVAILABLE', message: /another version/ })
})
