/** Defines for the store's contract how to open the store on PostgreSQL, and where its data is. */

import assert from 'node:assert/strict'
import pg from 'pg'
import type { ContractSubject } from '../contract.ts'
import { createDatabase, type Faults } from './connection.ts'
import { tables } from './migrations.ts'
import type { NodeTimes } from './nodes.ts'
import { migrate } from './schema.ts'
import { openStore } from './store.ts'
import { testPostgres } from './test-server.ts'

/** A node that was killed is found soon, and no test takes as long as a lease. */
const leases: NodeTimes = { renewMs: 500, expireMs: 2_000, holdMs: 1_500 }

/** A database with the schema, from which those of the tests are copied. */
export const migrated = {
  name: 'store',
  async fill(url: string): Promise<void> {
    const database = await createDatabase({ location: url })
    await migrate(database.link('migrates'))
    await database.close()
  },
}

/**
 * Databases that a test has used, and that are empty again: to make one takes longer than most tests, and a connection as long as many. The
 * last ones go with the server.
 */
const free: Used[] = []

interface Used {
  readonly url: string
  readonly client: IdleClient
}

/** Types leave out that a connection need not keep its process alive. */
type IdleClient = pg.Client & { ref(): void; unref(): void }

export const postgresSubject: ContractSubject = {
  name: 'postgres',
  mintsOnOneNode: false,
  async createPlace() {
    const database = free.pop() ?? (await createUsed())
    const { client, url } = database
    return {
      location: url,
      check: () => use(client, checkDatabase),
      async remove() {
        await use(client, emptyDatabase)
        free.push(database)
      },
    }
  },
  async open(options) {
    const faults: Faults = {}
    const store = await openStore({ leases, ...options }, faults)
    return {
      store,
      async fault(fault) {
        // What was handed in before is written as it was then.
        await store.command({ type: 'expedite', task: 'none', dueAt: 0 }).catch(() => undefined)
        if (fault === 'disk-full') faults.isFull = true
        else if (fault === 'disk-freed') faults.isFull = false
        else faults.next = fault
      },
    }
  },
  opener: { module: new URL('./index.ts', import.meta.url).href, name: 'openPostgresStore' },
}

async function createUsed(): Promise<Used> {
  const { url } = await testPostgres(migrated)
  const client = new pg.Client({ connectionString: url }) as IdleClient
  client.on('error', () => {})
  await client.connect()
  client.unref()
  return { url, client }
}

async function use(client: IdleClient, work: (client: pg.Client) => Promise<void>): Promise<void> {
  client.ref()
  try {
    await work(client)
  } finally {
    client.unref()
  }
}

async function emptyDatabase(client: pg.Client): Promise<void> {
  const names = tables.map((name) => `reveille.${name}`)
  // Deleting is quicker than truncating where there is little. What a large test leaves is truncated.
  const { rows } = await client.query<{ name: string }>(
    'SELECT name FROM unnest($1::text[]) AS name WHERE pg_relation_size(name::regclass) > 2000000',
    [names],
  )
  const large = rows.map(({ name }) => name)
  const small = names.filter((name) => !large.includes(name)).map((name) => `DELETE FROM ${name};`)
  await client.query(`${small.join(' ')} ${large.length > 0 ? `TRUNCATE ${large.join(', ')}` : ''}`)
}

/** Every alarm has its task and every occupied lane its row, and what is open is claimed by a node or has an alarm. */
async function checkDatabase(client: pg.Client): Promise<void> {
  const { rows } = await client.query(`
      SELECT 'an alarm without a task' AS wrong FROM reveille.alarms AS a
        WHERE NOT EXISTS (SELECT 1 FROM reveille.tasks AS t WHERE t.key = a.key AND t.seq = a.seq AND t.due_at = a.due_at AND t.node IS NULL)
      UNION ALL SELECT 'a task that is never claimed' FROM reveille.tasks AS t
        WHERE t.node IS NULL AND NOT EXISTS (SELECT 1 FROM reveille.alarms AS a WHERE a.key = t.key)
        AND NOT EXISTS (SELECT 1 FROM reveille.tasks AS head WHERE head.lane = t.lane AND head.seq < t.seq)
      UNION ALL SELECT 'a lane without a task' FROM reveille.lanes AS l
        WHERE NOT EXISTS (SELECT 1 FROM reveille.tasks AS t WHERE t.lane = l.lane)
      UNION ALL SELECT 'a task without its lane' FROM reveille.tasks AS t
        WHERE t.lane IS NOT NULL AND NOT EXISTS (SELECT 1 FROM reveille.lanes AS l WHERE l.lane = t.lane)
      UNION ALL SELECT 'wrong sizes' WHERE (SELECT coalesce(sum(bytes), 0) FROM reveille.kept)
        <> (SELECT coalesce(sum(bytes), 0) FROM reveille.kept_sizes)`)
  assert.deepEqual(
    rows.map(({ wrong }) => wrong),
    [],
  )
}
