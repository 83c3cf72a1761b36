import assert from 'node:assert/strict'
import { readdir, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { createFolder, storeOptions } from '../../../test/store-folder.ts'
import { databaseFile } from './folder.ts'
import { openSqliteStore, storeProblem } from './index.ts'

test('a store that can be opened has no problem, and one of a newer version or with a broken file has', async (t) => {
  const { location } = await createFolder(t)
  assert.equal(await storeProblem(join(location, 'elsewhere')), undefined, 'the first start creates it')
  const store = await openSqliteStore({ ...storeOptions, location })
  assert.equal(await storeProblem(location), undefined, 'it is in use')
  await store.close()
  const facts = async () => {
    const names = (await readdir(location)).sort()
    return Promise.all(names.map(async (name) => [name, (await stat(join(location, name))).mtimeMs]))
  }
  const before = await facts()
  assert.equal(await storeProblem(location), undefined)
  assert.deepEqual(await facts(), before, 'it leaves nothing in the folder')

  const db = new DatabaseSync(databaseFile(location))
  db.exec('UPDATE meta SET version = 9999')
  db.close()
  assert.equal((await storeProblem(location))?.code, 'SCHEMA_NEWER')
  await writeFile(databaseFile(location), 'no database at all, but some text')
  assert.match((await storeProblem(location))?.message ?? '', /cannot be read: .*not a database/)
})
