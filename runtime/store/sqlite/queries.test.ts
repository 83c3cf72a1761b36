import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import type { Driver, Statements } from '@reveille/kit'
import type { Reader } from '../port.ts'
import { answer, createReader } from '../reading.ts'
import { createRefusedRequests } from '../refused-requests.ts'
import { migrate } from '../schema.ts'
import { createStatements, dialect } from './statements.ts'

const id = '01946c1a-5a00-7000-8000-000000000000'

/** A database in memory with the tables, and what SQLite plans for the statements of a query. */
async function openPlans(t: TestContext) {
  const db = new DatabaseSync(':memory:')
  t.after(() => db.close())
  const statements = createStatements(db)
  await migrate({
    dialect,
    isShared: false,
    transaction: (work: Parameters<Driver['transaction']>[0]) => work(statements),
  } as unknown as Driver)
  return async (ask: (read: Reader) => unknown): Promise<string> => {
    const plans: string[] = []
    const explained: Statements = {
      ...statements,
      async all(sql, values) {
        const steps = await statements.all<{ detail: string }>(`EXPLAIN QUERY PLAN ${sql}`, values)
        plans.push(...steps.map(({ detail }) => detail))
        return []
      },
    }
    const refused = createRefusedRequests()
    await ask(
      createReader(
        (question) => answer(explained, dialect.among, question),
        refused,
        Date.now,
        () => undefined,
      ),
    )
    return plans.join('; ')
  }
}

test('rare records are found by an index, in order, past all later ones', async (t) => {
  const planOf = await openPlans(t)
  for (const [ask, index] of [
    [(read: Reader) => read.requests({ outcome: 'failed' }), 'requests_by_outcome'],
    [(read: Reader) => read.requests({ endpoint: 'github' }), 'sqlite_autoindex_lookups_1'],
    [(read: Reader) => read.requests({ mapping: 'rare' }), 'sqlite_autoindex_lookups_1'],
    [(read: Reader) => read.requests({ deliveryId: 'd-1' }), 'sqlite_autoindex_lookups_1'],
    [(read: Reader) => read.requests({ code: 'NO_MATCH' }), 'sqlite_autoindex_lookups_1'],
    [(read: Reader) => read.requests({ replayOf: id }), 'requests_by_original'],
    [(read: Reader) => read.requests({ replayOf: id, outcome: 'failed' }), 'requests_by_original'],
    [(read: Reader) => read.requests({ replayOf: id, endpoint: 'github' }), 'requests_by_original'],
    [(read: Reader) => read.events({ state: 'pending' }), 'events_pending'],
    [(read: Reader) => read.runs({ state: 'running' }), 'runs_by_state'],
    [(read: Reader) => read.runs({ state: 'parked' }), 'runs_by_state'],
    [(read: Reader) => read.runs({ sessionKey: 'pr:1' }), 'runs_by_session'],
    [(read: Reader) => read.runs({ endpoint: 'github' }), 'runs_by_endpoint'],
    [(read: Reader) => read.deliveries({ state: 'parked', channel: 'slack' }), 'deliveries_by_state'],
    [(read: Reader) => read.recentBodies(), 'requests_kept'],
    [(read: Reader) => read.replaysOf([id]), 'requests_by_original'],
    [(read: Reader) => read.sessions(), 'sessions_by_time'],
  ] as const) {
    const plan = await planOf(ask)
    assert.match(plan, new RegExp(`USING (COVERING )?INDEX ${index}`))
    assert.doesNotMatch(plan, /TEMP B-TREE/)
  }
})

test('deliveries of a state are found by an index, whatever was delivered before', async (t) => {
  const planOf = await openPlans(t)
  for (const [ask, index] of [
    [(read: Reader) => read.deliveries({ state: 'parked' }), 'deliveries_by_state'],
    [(read: Reader) => read.openDeliveries(), 'deliveries_by_state'],
    [(read: Reader) => read.openRuns(), 'runs_by_state'],
    [(read: Reader) => read.session('pr:1'), 'sqlite_autoindex_turns_1'],
  ] as const)
    assert.match(await planOf(ask), new RegExp(`SEARCH .* USING (COVERING )?INDEX ${index}`))
})

test('a list without a filter walks the key and sorts nothing', async (t) => {
  const planOf = await openPlans(t)
  for (const table of ['requests', 'runs', 'events', 'deliveries'] as const) {
    const plan = await planOf((read) => read[table]())
    assert.match(plan, new RegExp(`SCAN ${table} USING INDEX sqlite_autoindex_${table}_1`))
    assert.doesNotMatch(plan, /TEMP B-TREE/)
  }
})
