import assert from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import { test } from 'node:test'
import { createFolder, storeOptions } from '../../../test/store-folder.ts'
import { openFaultyStore } from '../contract/bench/faulty-disk.ts'
import { createSampler } from '../contract/bench/samples.ts'
import { createIdMinter } from '../id.ts'
import type { StoreError } from '../port.ts'

const sample = createSampler({ mintId: createIdMinter(Date.now), clock: Date })

test("when the writer's thread dies, the store says so once, refuses, and can still be closed and opened", async (t) => {
  const { location } = await createFolder(t)
  const stopped = Promise.withResolvers<StoreError>()
  const options = { ...storeOptions, location }
  const reports: StoreError[] = []
  const onStopped = (error: StoreError) => {
    reports.push(error)
    stopped.resolve(error)
  }
  const { store, fault } = await openFaultyStore({ ...options, onStopped })
  const kept = sample.entry(sample.eventAction())
  await store.accept(kept)
  // The thread may be gone before its answer is read.
  await fault('thread-dies').catch(() => {})
  const error = await stopped.promise
  assert.equal(error.code, 'STORE_UNAVAILABLE')
  assert.match(String((error.cause as Error).message), /as a test asked for/)
  await assert.rejects(store.accept(sample.entry(sample.eventAction())), { code: 'STORE_UNAVAILABLE' })
  assert.deepEqual([store.health().writable, store.health().reason], [false, 'the writer stopped'])
  await store.close()
  assert.equal(reports.length, 1)

  const next = await openFaultyStore(options)
  assert.ok(await next.store.read.request(kept.request.id))
  await next.store.close()
})

test('a store that is closed right after it was read leaves no log beside its database', async (t) => {
  const { location } = await createFolder(t)
  const { store } = await openFaultyStore({ ...storeOptions, location })
  const kept = sample.entry(sample.eventAction())
  await store.accept(kept)
  assert.ok(await store.read.request(kept.request.id))
  await store.close()
  assert.deepEqual((await readdir(location)).sort(), ['lock.db', 'reveille.db'])
})
