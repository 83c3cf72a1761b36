import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { createSampler, idOf } from '../../contract/bench/samples.ts'
import { createIdMinter } from '../../id.ts'
import { databaseFile } from '../database/folder.ts'
import { openSqliteStore } from '../store.ts'

test('what was forgotten is in no byte of the database and its log', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'reveille-forget-'))
  const start = Date.UTC(2026, 0, 1)
  const store = await openSqliteStore({
    location: folder,
    now: () => start,
    keepMs: 86_400_000,
    backlog: 1_000,
    historyMessages: 20,
  })
  t.after(async () => {
    await store.close()
    rmSync(folder, { recursive: true })
  })
  const sample = createSampler({ mintId: createIdMinter(() => start), clock: { now: () => start } })
  const secret = 'a secret that stands nowhere else'
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
      await store.command({ type: 'cancel', run: idOf(entry.actions[0] ?? assert.fail()), at: start })
      return request.id
    }),
  )
  const file = databaseFile(folder)
  const bytes = () =>
    [file, `${file}-wal`].filter((each) => existsSync(each)).map((each) => readFileSync(each, 'latin1'))
  assert.ok(bytes().some((each) => each.includes(secret)))
  assert.deepEqual(await store.command({ type: 'forget', requests, at: start }), { ok: true, done: 2 })
  assert.deepEqual(
    bytes().map((each) => each.includes(secret)),
    [false, false],
    'at once',
  )
  await store.close()
  assert.ok(bytes().every((each) => !each.includes(secret)))
})
