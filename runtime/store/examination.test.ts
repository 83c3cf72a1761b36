import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import pg from 'pg'
import { testPostgres } from '../../plugins/postgres/testing/index.ts'
import { openDriver } from './driver-package.ts'
import { examineDatabase } from './examination.ts'
import { migrate } from './schema.ts'

const role = 'reveille_examined_guest'
const configFile = join(import.meta.dirname, 'reveille.yaml')
const examine = (location: string, now: () => number = Date.now) =>
  examineDatabase({ location, configFile }, now)

test('a database is examined: its version, the clock and the oldest transaction', async (t) => {
  const { url: location, drop } = await testPostgres()
  assert.equal((await examine(location)).hasStore, false)
  const empty = new pg.Client({ connectionString: location })
  await empty.connect()
  const made = await empty.query("SELECT nspname FROM pg_namespace WHERE nspname = 'reveille'")
  await empty.end()
  assert.deepEqual(made.rows, [], 'an examination makes nothing')
  const driver = await openDriver({ location, configFile })
  await migrate(driver)
  await driver.close()
  const client = new pg.Client({ connectionString: location, application_name: 'a forgotten report' })
  await client.connect()
  t.after(async () => {
    await client.end()
    await drop()
  })
  // A transaction has a place in the log once it has written.
  await client.query('BEGIN; CREATE TEMPORARY TABLE written (one int)')
  const { state, skewMs, hasStore } = await examine(location, () => Date.now() + 60_000)
  assert.equal(hasStore, true)
  assert.match(state.version, /^\d+(\.\d+)?$/)
  assert.match(state.oldestTransaction?.by ?? '', /^a forgotten report \(process \d+, idle in transaction\)$/)
  assert.ok(Math.abs(skewMs - 60_000) < 5000, `${skewMs}`)
  await client.query('ROLLBACK; UPDATE reveille.meta SET version = version + 2')
  await assert.rejects(examine(location), { code: 'SCHEMA_NEWER' })
})

test('of a database without a store it is said that this role may not make one', async (t) => {
  const { url: location, drop } = await testPostgres()
  const client = new pg.Client({ connectionString: location })
  await client.connect()
  t.after(async () => {
    await client.query(`DROP ROLE ${role}`)
    await client.end()
    await drop()
  })
  await client.query(`CREATE ROLE ${role} LOGIN`)
  const of = new URL(location)
  of.username = role
  await assert.rejects(examine(of.href), {
    message: 'the database has no store yet, and this role may not make one',
  })
})

test('a database that does not answer is said so, without its password', async () => {
  await assert.rejects(examine('postgres://ada:hunter2hunter2@127.0.0.1:1/none'), (error: Error) => {
    assert.equal(error.message, 'the server at 127.0.0.1:1 cannot be used: connect ECONNREFUSED 127.0.0.1:1')
    return true
  })
})
