import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, readdir, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { atEnd } from '../../../test/at-end.ts'
import { createFolder, storeOptions } from '../../../test/store-folder.ts'
import { databaseFile } from './folder.ts'
import { openSqliteStore } from './index.ts'

const open = (location: string) => openSqliteStore({ ...storeOptions, location })

const modeOf = async (path: string) => ((await stat(path)).mode & 0o777).toString(8)

test('the data folder and its files are for their owner alone', async (t) => {
  const { location: folder } = await createFolder(t)
  const store = await open(folder)
  await store.command({ type: 'offer-route', route: undefined })
  assert.equal(await modeOf(folder), '700')
  const files = await readdir(folder)
  assert.ok(files.includes('reveille.db') && files.includes('reveille.db-wal') && files.includes('lock.db'))
  for (const file of files) assert.equal(await modeOf(join(folder, file)), '600', file)
  await store.close()
})

test('a folder that is in use is locked, and free again once its store is closed', async (t) => {
  const { location: folder } = await createFolder(t)
  const first = await open(folder)
  await assert.rejects(open(folder), { code: 'LOCKED', message: new RegExp(`data folder ${folder}`) })
  await assert.rejects(open(folder), { code: 'LOCKED' }, 'a refused process takes no lock away')
  await first.close()
  const second = await open(folder)
  await second.close()
})

test('a folder in use by another process is locked until that process is killed', async (t) => {
  const { location: folder } = await createFolder(t)
  const victim = fileURLToPath(new URL('../contract/bench/victim.ts', import.meta.url))
  const opener = new URL('./index.ts', import.meta.url).href
  const child = spawn(process.execPath, [victim, opener, 'openSqliteStore', folder, 'perform'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  atEnd(t, () => child.kill('SIGKILL'))
  await once(child.stdout, 'data')
  await assert.rejects(open(folder), { code: 'LOCKED' })
  const exited = once(child, 'exit')
  child.kill('SIGKILL')
  await exited
  const store = await open(folder)
  await store.close()
})

test('a store of a newer version is left as it is', async (t) => {
  const { location: folder } = await createFolder(t)
  const store = await open(folder)
  await store.close()
  const db = new DatabaseSync(databaseFile(folder))
  db.exec('UPDATE meta SET version = 99')
  db.close()
  await assert.rejects(open(folder), { code: 'SCHEMA_NEWER', message: /99/ })
})

test('a file that is no database is named with its folder', async (t) => {
  const { location: folder } = await createFolder(t)
  const store = await open(folder)
  await store.close()
  await writeFile(databaseFile(folder), 'this is no database, only a long enough text '.repeat(100))
  await assert.rejects(open(folder), {
    code: 'STORE_UNAVAILABLE',
    message: new RegExp(`${folder} cannot be used: .*not a database`),
  })
})

test('a path that cannot be a folder is named', async (t) => {
  const { location: folder } = await createFolder(t)
  await writeFile(folder, '')
  await chmod(folder, 0o600)
  await assert.rejects(open(folder), { code: 'STORE_UNAVAILABLE', message: new RegExp(folder) })
})
