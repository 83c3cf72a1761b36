import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import { createDatabase } from './connection.ts'
import { examineDatabase } from './diagnosis.ts'
import { migrate } from './schema.ts'
import { testPostgres } from './test-server.ts'

const role = 'reveille_examined'

async function connectTo(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url, application_name: 'a forgotten report' })
  await client.connect()
  return client
}

test('a database is examined: its version, the clock, the oldest transaction, and what the role may not do', async (t) => {
  const { url, drop } = await testPostgres()
  const empty = await examineDatabase(url, Date.now)
  assert.equal(empty.hasStore, false)
  const database = await createDatabase({ location: url })
  await migrate(database.link('test'))
  await database.close()
  const client = await connectTo(url)
  t.after(async () => {
    await client.query(`ROLLBACK; DROP OWNED BY ${role}; DROP ROLE ${role}`)
    await client.end()
    await drop()
  })
  const of = new URL(url)
  of.username = role
  await client.query(`CREATE ROLE ${role} LOGIN; GRANT USAGE ON SCHEMA reveille TO ${role}`)
  await client.query(`GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA reveille TO ${role}`)
  await client.query(`REVOKE DELETE ON reveille.tasks FROM ${role}`)
  await assert.rejects(examineDatabase(of.href, Date.now), {
    code: 'STORE_UNAVAILABLE',
    message: 'the database role lacks DELETE on reveille.tasks',
    fix: /^As the owner: GRANT/,
  })
  await client.query(`GRANT DELETE ON reveille.tasks, reveille.runs TO ${role}`)
  await examineDatabase(of.href, Date.now)

  // A transaction has a place in the log once it has written.
  await client.query('BEGIN; CREATE TEMPORARY TABLE written (one int)')
  const { state, skewMs, hasStore } = await examineDatabase(url, () => Date.now() + 60_000)
  assert.equal(hasStore, true)
  assert.match(state.version, /^\d+(\.\d+)?$/)
  assert.match(state.oldestTransaction?.by ?? '', /^a forgotten report \(process \d+, idle in transaction\)$/)
  assert.ok(Math.abs(skewMs - 60_000) < 5000, `${skewMs}`)
  await client.query('ROLLBACK; UPDATE reveille.meta SET schema = schema + 2')
  await assert.rejects(examineDatabase(url, Date.now), { code: 'SCHEMA_NEWER' })
})

test('a database that does not answer is said so, without its password', async () => {
  await assert.rejects(
    examineDatabase('postgres://ada:hunter2hunter2@127.0.0.1:1/none', Date.now),
    (error: Error) => {
      assert.match(error.message, /^nothing takes connections at 127\.0\.0\.1:1$/)
      assert.ok(!error.message.includes('hunter2'))
      return true
    },
  )
})
