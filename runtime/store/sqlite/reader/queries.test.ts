import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { createSampler } from '../../contract/bench/samples.ts'
import { createIdMinter } from '../../id.ts'
import { blobOfId } from '../database/ids.ts'
import { migrate, migrations } from '../database/migrations.ts'
import { createQueries } from './queries.ts'

/** Returns SQLite's plan for the one statement that the query prepares. */
function planOf(query: (queries: ReturnType<typeof createQueries>) => unknown): string {
  const db = new DatabaseSync(':memory:')
  migrate(db)
  const statements: string[] = []
  const spied = new Proxy(db, {
    get(target, name) {
      if (name !== 'prepare') return Reflect.get(target, name)
      return (sql: string) => {
        statements.push(sql)
        return target.prepare(sql)
      }
    },
  })
  query(createQueries(spied))
  const steps = db.prepare(`EXPLAIN QUERY PLAN ${statements.at(-1)}`).all()
  return steps.map((step) => step['detail']).join('; ')
}

test('rare outcomes and states are found by an index, in order', () => {
  const plans = [
    planOf(({ list }) => list({ table: 'requests', filters: { outcome: 'failed' }, limit: 50 })),
    planOf(({ list }) => list({ table: 'runs', filters: { state: 'running' }, limit: 50 })),
    planOf(({ list }) => list({ table: 'deliveries', filters: { state: 'parked' }, limit: 50 })),
    planOf(({ list }) =>
      list({ table: 'deliveries', filters: { state: 'parked', channel: 'slack' }, limit: 50 }),
    ),
  ]
  const indexes = ['requests_by_outcome', 'runs_by_state', 'deliveries_by_state', 'deliveries_by_channel']
  for (const [index, plan] of plans.entries()) {
    assert.match(plan, new RegExp(`USING INDEX ${indexes[index]}`))
    assert.doesNotMatch(plan, /TEMP B-TREE/)
  }
})

test('replays of a request are found by an index, past all requests that came since', () => {
  for (const filters of [{}, { outcome: 'failed' }, { endpoint: 'github' }]) {
    const of = { ...filters, replay_of: createIdMinter(() => 1_000)() }
    const plan = planOf(({ list }) => list({ table: 'requests', filters: of, limit: 50 }))
    assert.match(plan, /SEARCH requests USING INDEX requests_by_original \(replay_of=\?\)/)
    assert.doesNotMatch(plan, /TEMP B-TREE/)
  }
})

test('bodies that an older version stored are found too', () => {
  const db = new DatabaseSync(':memory:')
  migrate(db, migrations.slice(0, 1))
  const insert = db.prepare('INSERT INTO requests VALUES (?, ?, ?, ?, ?)')
  const sample = createSampler({ mintId: createIdMinter(() => 1_000), clock: { now: () => 1_000 } })
  const [failed, accepted] = [sample.request({ outcome: 'failed' }), sample.request()]
  insert.run(blobOfId(failed.id), 'failed', 'github', JSON.stringify(failed), Buffer.from('{}'))
  insert.run(blobOfId(accepted.id), 'accepted', 'github', JSON.stringify(accepted), null)
  migrate(db)
  const found = createQueries(db).bodies(50)
  assert.deepEqual(
    found.map(({ record, body }) => [JSON.parse(record), body]),
    [[failed, new Uint8Array(Buffer.from('{}'))]],
  )
})

test('open deliveries are counted in an index alone, whatever was delivered before', () => {
  const plan = planOf(({ openDeliveries }) => openDeliveries())
  assert.match(plan, /SEARCH deliveries USING COVERING INDEX deliveries_by_channel/)
  assert.doesNotMatch(plan, /TEMP B-TREE/)
})

test('requests with stored bodies are found by an index, past all others', () => {
  const plan = planOf(({ bodies }) => bodies(50))
  assert.match(plan, /USING INDEX requests_with_body/)
  assert.doesNotMatch(plan, /TEMP B-TREE/)
})

test('a list without a filter walks the key and sorts nothing', () => {
  for (const table of ['requests', 'runs', 'events', 'deliveries'] as const) {
    const plan = planOf(({ list }) => list({ table, filters: {}, limit: 50 }))
    assert.doesNotMatch(plan, /TEMP B-TREE/)
  }
})
