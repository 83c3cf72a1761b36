import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { atEnd } from '../../test/at-end.ts'
import { createFolder } from '../../test/store-folder.ts'
import { migrate, migrations, schemaOf, schemaVersion } from './schema.ts'
import { createEmbeddedDriver } from './sqlite/driver.ts'
import { prepareFolder } from './sqlite/folder.ts'

async function openDriver(t: TestContext) {
  const { location } = await createFolder(t)
  prepareFolder(location)
  const driver = createEmbeddedDriver(location, { now: Date.now, onFailure: () => undefined })
  atEnd(t, () => driver.close())
  return driver
}

const next = () => ['CREATE TABLE of_next_version (id TEXT PRIMARY KEY)']
const wrong = () => ['CREATE TABLE half_done (id TEXT PRIMARY KEY)', 'CREATE NONSENSE']

test('a new database gets every migration, an older one only those that it lacks', async (t) => {
  const driver = await openDriver(t)
  await migrate(driver)
  assert.equal(await driver.read(schemaOf), schemaVersion)
  await migrate(driver)
  await migrate(driver, [...migrations, next])
  assert.equal(await driver.read(schemaOf), schemaVersion + 1)
  assert.deepEqual(await driver.read(({ all }) => all('SELECT id FROM of_next_version')), [])
})

test('a migration that fails undoes the ones before it', async (t) => {
  const driver = await openDriver(t)
  await migrate(driver)
  await assert.rejects(migrate(driver, [...migrations, next, wrong]))
  assert.equal(await driver.read(schemaOf), schemaVersion)
  for (const table of ['of_next_version', 'half_done'])
    await assert.rejects(
      driver.read(({ all }) => all(`SELECT id FROM ${table}`)),
      /no such table/,
    )
})

test('a newer schema is refused, naming both versions', async (t) => {
  const driver = await openDriver(t)
  await migrate(driver, [...migrations, next])
  await assert.rejects(migrate(driver), {
    code: 'SCHEMA_NEWER',
    message: new RegExp(`schema ${schemaVersion + 1}, this version knows schemas up to ${schemaVersion}`),
  })
})
