import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createSampler } from '../contract/bench/samples.ts'
import { createIdMinter } from '../id.ts'
import type { RequestRecord } from '../port.ts'
import { type Ask, createReader, type Queries } from '../reading.ts'
import { createRefusedRequests } from '../refused-requests.ts'
import { createDatabase, type Database, type Link, storeErrorOf } from './connection.ts'
import type { Query } from './parts.ts'
import { createQueries } from './reader.ts'
import { firstIdOf, requestColumns, rowOfRequest } from './rows.ts'
import { migrate } from './schema.ts'
import { type TestDatabase, testPostgres } from './test-server.ts'

let time = Date.UTC(2026, 0, 1)
const clock = { now: () => time }
const sample = createSampler({ mintId: createIdMinter(clock.now), clock })

describe('the reader of the store on PostgreSQL', { timeout: 60_000 }, () => {
  let place: TestDatabase
  let database: Database
  let link: Link
  const requests: RequestRecord[] = []

  before(async () => {
    place = await testPostgres()
    database = await createDatabase({ location: place.url })
    link = database.link('test')
    await migrate(link)
    for (let number = 0; number < 95; number += 1) {
      time += 1_000
      const mapping = number % 40 === 0 ? 'rare' : 'usual'
      requests.unshift(sample.request({ mapping, outcome: number === 50 ? 'failed' : 'accepted' }))
    }
    await insert(link.query, requests)
  })
  after(async () => {
    await database.close()
    await place.drop()
  })

  const idsOf = (all: readonly RequestRecord[]) => all.map(({ id }) => id)

  test('what no index leads to is found in windows, and a long search says where it goes on', async () => {
    const rare = idsOf(requests.filter(({ mapping }) => mapping === 'rare'))
    for (const mostSearchMs of [-1, 60_000]) {
      const queries = createQueries(link.query, { mostInWindow: 10, mostSearchMs })
      const read = createReader(asking(queries), createRefusedRequests(), clock.now, () => undefined)
      const pages: (readonly string[])[] = []
      for (let cursor: string | undefined; ; ) {
        const { items, next } = await read.requests({ mapping: 'rare', limit: 2, ...(cursor && { cursor }) })
        pages.push(idsOf(items))
        cursor = next
        if (next === undefined) break
      }
      assert.deepEqual(pages.flat(), rare)
      // With no time to search each page is one window; with enough of it each is full.
      assert.equal(pages.length, mostSearchMs < 0 ? 10 : 2)
    }
  })

  test('a search ends where its times end, and looks at no window before', async () => {
    const asked: string[] = []
    const spied: Query = (sql, values) => {
      asked.push(sql)
      return link.query(sql, values)
    }
    const queries = createQueries(spied, { mostInWindow: 10 })
    const since = requests[4]?.receivedAt ?? 0
    const filters = { mapping: 'usual' }
    const { records, isCut } = await queries.list({ table: 'requests', filters, since, limit: 50 })
    assert.deepEqual(idsOf(records as RequestRecord[]), idsOf(requests.slice(0, 5)))
    assert.deepEqual([isCut, asked.length], [false, 2])
  })

  test('rare outcomes and states are found by an index, in order, and lists without a filter by the key', async () => {
    const planOf = async (ask: (queries: Queries) => unknown): Promise<string> => {
      const plans: Promise<string>[] = []
      await link.transact(async (tx) => {
        // A table of a few rows is walked otherwise.
        await tx.query("SELECT set_config('enable_seqscan', 'off', true)")
        const explained: Query = async (sql, values) => {
          const steps = await tx.query<{ 'QUERY PLAN': string }>(`EXPLAIN ${sql}`, values)
          plans.push(Promise.resolve(steps.map((step) => step['QUERY PLAN']).join('\n')))
          return []
        }
        await ask(createQueries(explained))
      })
      return (await Promise.all(plans)).join('\n')
    }
    const listed = (table: 'requests' | 'runs' | 'events' | 'deliveries', filters = {}) =>
      planOf(({ list }) => list({ table, filters, limit: 50 }))
    const [failed, running, parked, bodies] = await Promise.all([
      listed('requests', { outcome: 'failed' }),
      listed('runs', { state: 'running' }),
      listed('deliveries', { state: 'parked', channel: 'slack' }),
      planOf((queries) => queries.bodies(50)),
    ])
    assert.match(failed, /Index Scan Backward using requests_by_outcome/)
    assert.match(running, /Index Scan Backward using runs_by_state/)
    assert.match(parked, /Index Scan Backward using deliveries_by_state/)
    assert.match(bodies, /using kept_bodies/)
    for (const plan of [failed, running, parked, bodies]) assert.deepEqual(sortsOf(plan), [])
    for (const table of ['requests', 'runs', 'events', 'deliveries'] as const) {
      const plan = await listed(table)
      assert.match(plan, new RegExp(`Index Scan Backward using ${table}_pkey`))
      assert.deepEqual(sortsOf(plan), [])
    }
  })

  test('a question that takes the server too long is ended, and the next one is answered', async () => {
    const hurried = database.link('hurried', { statementMs: 50 })
    const ask = () =>
      hurried.query('SELECT pg_sleep(5)').catch((error) => Promise.reject(storeErrorOf(error)))
    await assert.rejects(ask, {
      code: 'STORE_UNAVAILABLE',
      message: 'the database took too long for a statement',
    })
    assert.deepEqual(await hurried.query('SELECT 1 AS one'), [{ one: 1 }])
  })

  test('the first id of a time divides the ids that were minted before it from those after', () => {
    const [newest, oldest] = [requests[0], requests.at(-1)]
    assert.ok(newest && oldest)
    assert.ok(firstIdOf(newest.receivedAt) < newest.id && firstIdOf(newest.receivedAt + 1) > newest.id)
    assert.ok(firstIdOf(0) < oldest.id)
  })
})

/** Returns what a plan sorts, but for the rows of the finished page. */
function sortsOf(plan: string): string[] {
  return [...plan.matchAll(/Sort Key: (.*)/g)]
    .map(([, key = '']) => key)
    .filter((key) => !/number$|^r.id/.test(key))
}

function asking(queries: Queries): Ask {
  return (name, ...args) => (queries[name] as (...given: unknown[]) => Promise<never>)(...args)
}

async function insert(query: Query, requests: readonly RequestRecord[]): Promise<void> {
  for (const request of requests) {
    const row = rowOfRequest(request)
    await query(
      `INSERT INTO requests (${requestColumns.join(', ')}) VALUES (${requestColumns.map((_, at) => `$${at + 1}`).join(', ')})`,
      requestColumns.map((column) => row[column]),
    )
  }
}
