import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdir, readdir, readFile, rename, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { promisify } from 'node:util'
import { createFolder, storeOptions } from '../../../test/store-folder.ts'
import { createSampler } from '../contract/bench/samples.ts'
import { createIdMinter } from '../id.ts'
import { databaseFile } from './folder.ts'
import { backupSqliteStore, openSqliteStore } from './index.ts'

const sample = createSampler({ mintId: createIdMinter(Date.now), clock: { now: Date.now } })

const open = (location: string) => openSqliteStore({ ...storeOptions, location })

async function createPlaces(t: TestContext) {
  const { parent, location } = await createFolder(t)
  return { parent, location, file: join(parent, 'copy.db') }
}

/** Makes a backup from a child process, as `reveille store backup` does. */
async function backupFromElsewhere(location: string, file: string): Promise<void> {
  const module = JSON.stringify(new URL('./index.ts', import.meta.url).href)
  const script = `const { backupSqliteStore } = await import(${module})
    await backupSqliteStore({ location: process.argv[1], file: process.argv[2] })`
  await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script, location, file])
}

test('a backup made by another process while the store works is whole, and opens as a store', async (t) => {
  const { parent, location, file } = await createPlaces(t)
  const store = await open(location)
  const before = sample.entry(sample.runAction({ sessionKey: 'pr:1' }))
  await store.accept(before)
  let copying = true
  const flood = (async () => {
    while (copying) await store.accept(sample.entry(sample.eventAction()))
  })()
  await backupFromElsewhere(location, file)
  copying = false
  await flood
  await store.close()

  assert.equal(((await stat(file)).mode & 0o777).toString(8), '600')
  const db = new DatabaseSync(file, { readOnly: true })
  assert.equal(db.prepare('PRAGMA integrity_check').get()?.['integrity_check'], 'ok')
  db.close()
  const restored = join(parent, 'restored')
  await mkdir(restored)
  await rename(file, databaseFile(restored))
  const copy = await open(restored)
  assert.deepEqual(await copy.read.request(before.request.id), before.request)
  assert.equal(copy.health().backlog, 1)
  await copy.close()
})

test('a store that no process has open is backed up as well', async (t) => {
  const { location, file } = await createPlaces(t)
  const store = await open(location)
  await store.accept(sample.entry(sample.runAction()))
  await store.close()
  await backupSqliteStore({ location, file })
  const db = new DatabaseSync(file, { readOnly: true })
  assert.equal(db.prepare('SELECT count(*) AS count FROM runs').get()?.['count'], 1)
  db.close()
})

test('a file that exists is not overwritten', async (t) => {
  const { location, file } = await createPlaces(t)
  const store = await open(location)
  await writeFile(file, 'precious')
  await assert.rejects(backupSqliteStore({ location, file }), /exists already/)
  assert.equal(await readFile(file, 'utf8'), 'precious')
  await store.close()
})

test('a backup that fails leaves nothing behind', async (t) => {
  const { parent, location } = await createPlaces(t)
  const store = await open(location)
  await store.close()
  await writeFile(databaseFile(location), 'this is no database, only a long enough text '.repeat(100))
  await assert.rejects(backupSqliteStore({ location, file: join(parent, 'copy.db') }), /not a database/)
  assert.deepEqual(await readdir(parent), ['data'])
})

test('without a store there is nothing to back up', async (t) => {
  const { parent, file } = await createPlaces(t)
  await assert.rejects(backupSqliteStore({ location: parent, file }), /no store in/)
})
