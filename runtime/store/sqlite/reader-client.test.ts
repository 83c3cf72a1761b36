import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { createSampler } from '../contract/bench/samples.ts'
import { createIdMinter } from '../id.ts'
import { createManualClock } from '../manual-clock.ts'
import { openSqliteStore } from './index.ts'

/** Counts worker threads by their message ports on the main thread. */
function threads(): number {
  return process.getActiveResourcesInfo().filter((kind) => kind === 'MessagePort').length
}

test("the reader's thread ends when no question came for a while, and the next question starts another", async (t) => {
  const location = await mkdtemp(join(tmpdir(), 'reveille-reader-'))
  t.after(() => rm(location, { recursive: true, force: true }))
  const clock = createManualClock()
  const sample = createSampler({ mintId: createIdMinter(clock.now), clock })
  const store = await openSqliteStore({ ...clock, location, keepMs: 1000, backlog: 10, historyMessages: 10 })
  const kept = sample.entry(sample.eventAction())
  await store.accept(kept)
  const alone = threads()

  assert.ok(await store.read.request(kept.request.id))
  assert.equal(threads(), alone + 1)
  clock.advance(9_999)
  assert.ok(await store.read.request(kept.request.id), 'a question keeps it')
  clock.advance(9_999)
  assert.equal(threads(), alone + 1)
  clock.advance(1)
  while (threads() > alone) await new Promise((resolve) => setImmediate(resolve))

  assert.ok(await store.read.request(kept.request.id))
  assert.equal(threads(), alone + 1)
  await store.close()
})
