import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { atEnd } from '../../../test/at-end.ts'
import { createFolder, storeOptions } from '../../../test/store-folder.ts'
import { createSampler, idOf } from '../contract/bench/samples.ts'
import { createIdMinter } from '../id.ts'
import { databaseFile } from './folder.ts'
import { openSqliteStore } from './store.ts'

const start = Date.UTC(2026, 0, 1)
const secret = 'a secret that is nowhere else'
const sample = createSampler({ mintId: createIdMinter(() => start), clock: { now: () => start } })

async function openStore(t: TestContext) {
  const { location } = await createFolder(t)
  const store = await openSqliteStore({ ...storeOptions, location, now: () => start })
  atEnd(t, () => store.close())
  const file = databaseFile(location)
  /** Returns which of the database and its log hold the text. */
  const holders = (text: string) => {
    const isIn = (each: string) => existsSync(each) && readFileSync(each, 'latin1').includes(text)
    return { database: isIn(file), log: isIn(`${file}-wal`) }
  }
  return { store, file, holders }
}

test('forgotten data is in no byte of the database and its log', async (t) => {
  const { store, holders } = await openStore(t)
  // Short ones share a page with others, and long ones have pages of their own.
  const texts = [secret, secret.repeat(1_000)]
  const requests = await Promise.all(
    texts.map(async (text) => {
      const entry = sample.entry(
        sample.runAction({ message: text, prompt: `Do ${text}` }),
        sample.eventAction({ text, prompt: text, mode: 'next-heartbeat' }),
      )
      const kept = { body: new Uint8Array(Buffer.from(text)), head: { headers: { a: text }, query: {} } }
      const request = { ...entry.request, ...kept, trace: { candidates: [{ actual: secret }], more: 0 } }
      await store.accept({ ...entry, request })
      // The run is written again, so that pages with an older copy become free.
      await store.command({ type: 'cancel', run: idOf(entry.actions[0] ?? assert.fail()), at: start })
      return request.id
    }),
  )
  assert.ok(holders(secret).log)
  assert.deepEqual(await store.command({ type: 'forget', requests, at: start }), { ok: true, done: 2 })
  assert.deepEqual(holders(secret), { database: false, log: false }, 'at once')
  await store.close()
  assert.deepEqual(holders(secret), { database: false, log: false })
})

test('a log that cannot be emptied because something reads is emptied with a later commit', async (t) => {
  const { store, file, holders } = await openStore(t)
  const request = sample.request({ outcome: 'failed', body: new Uint8Array(Buffer.from(secret)) })
  store.note(request)
  await store.command({ type: 'set-route', route: { channel: 'terminal' } })
  const reading = new DatabaseSync(file, { readOnly: true })
  t.after(() => reading.close())
  reading.exec('BEGIN; SELECT count(*) FROM requests')
  assert.equal((await store.command({ type: 'forget', requests: [request.id], at: start })).done, 1)
  assert.ok(holders(secret).log)
  reading.exec('COMMIT')
  await store.command({ type: 'set-route', route: { channel: 'slack' } })
  assert.deepEqual(holders(secret), { database: false, log: false })
})
