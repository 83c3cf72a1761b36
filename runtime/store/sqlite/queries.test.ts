import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import type { Driver, Statements } from '@reveille/kit'
import { createQueries } from '../queries.ts'
import type { Queries } from '../reading.ts'
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
  return async (ask: (queries: Queries) => unknown): Promise<string> => {
    const plans: string[] = []
    const explained: Statements = {
      ...statements,
      async all(sql, values) {
        const steps = await statements.all<{ detail: string }>(`EXPLAIN QUERY PLAN ${sql}`, values)
        plans.push(...steps.map(({ detail }) => detail))
        return []
      },
    }
    await ask(createQueries(explained, dialect.among))
    return plans.join('; ')
  }
}

const list =
  (table: 'requests' | 'runs' | 'events' | 'deliveries', filters: Record<string, string> = {}) =>
  (queries: Queries) =>
    queries.list({ table, filters, limit: 50 })

test('what is rare is found by an index, in order, past everything that came since', async (t) => {
  const planOf = await openPlans(t)
  for (const [ask, index] of [
    [list('requests', { outcome: 'failed' }), 'requests_by_outcome'],
    [list('requests', { endpoint: 'github' }), 'sqlite_autoindex_lookups_1'],
    [list('requests', { mapping: 'rare' }), 'sqlite_autoindex_lookups_1'],
    [list('requests', { delivery: 'd-1' }), 'sqlite_autoindex_lookups_1'],
    [list('requests', { code: 'NO_MATCH' }), 'sqlite_autoindex_lookups_1'],
    [list('requests', { replay_of: id }), 'requests_by_original'],
    [list('requests', { replay_of: id, outcome: 'failed' }), 'requests_by_original'],
    [list('requests', { replay_of: id, endpoint: 'github' }), 'requests_by_original'],
    [list('runs', { state: 'running' }), 'runs_by_state'],
    [list('runs', { state: 'parked' }), 'runs_by_state'],
    [list('runs', { session: 'pr:1' }), 'runs_by_session'],
    [list('runs', { endpoint: 'github' }), 'runs_by_endpoint'],
    [list('deliveries', { state: 'parked', channel: 'slack' }), 'deliveries_by_state'],
    [(queries: Queries) => queries.bodies(50), 'requests_kept'],
    [(queries: Queries) => queries.replaysOf([id]), 'requests_by_original'],
    [(queries: Queries) => queries.sessions(50), 'sessions_by_time'],
  ] as const) {
    const plan = await planOf(ask)
    assert.match(plan, new RegExp(`USING (COVERING )?INDEX ${index}`))
    assert.doesNotMatch(plan, /TEMP B-TREE/)
  }
})

test('deliveries of a state are found by an index, whatever was delivered before', async (t) => {
  const planOf = await openPlans(t)
  for (const [ask, index] of [
    [list('deliveries', { state: 'parked' }), 'deliveries_by_state'],
    [(queries: Queries) => queries.openDeliveries(), 'deliveries_by_state'],
    [(queries: Queries) => queries.openRuns(), 'runs_by_state'],
    [(queries: Queries) => queries.turns('pr:1'), 'sqlite_autoindex_turns_1'],
  ] as const)
    assert.match(await planOf(ask), new RegExp(`SEARCH .* USING (COVERING )?INDEX ${index}`))
})

test('a list without a filter walks the key and sorts nothing', async (t) => {
  const planOf = await openPlans(t)
  for (const table of ['requests', 'runs', 'events', 'deliveries'] as const) {
    const plan = await planOf(list(table))
    assert.match(plan, new RegExp(`SCAN ${table} USING INDEX sqlite_autoindex_${table}_1`))
    assert.doesNotMatch(plan, /TEMP B-TREE/)
  }
})
