import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { StoreLimits, StoreOptions } from '../port.ts'
import { createDatabase, type Database, type Link } from './connection.ts'
import type { Changing } from './parts.ts'
import { createRetention } from './retention.ts'
import { migrate } from './schema.ts'
import { type TestDatabase, testPostgres } from './test-server.ts'

const start = Date.UTC(2026, 0, 1)
const hour = 3_600_000

describe('retention on PostgreSQL', { timeout: 60_000 }, () => {
  let place: TestDatabase
  let database: Database
  let link: Link
  before(async () => {
    place = await testPostgres()
    database = await createDatabase({ location: place.url })
    link = database.link('test')
    await migrate(link)
  })
  after(async () => {
    await database.close()
    await place.drop()
  })

  /** Runs passes by hand: `pass` resolves when one is over, and `transactions` counts what each has deleted. */
  function createPasses(limits: StoreLimits & Pick<StoreOptions, 'mostWithoutEffect'>) {
    const lead = new AbortController()
    const transactions: number[] = []
    const timer: { due?: { run: () => void; ms: number } | undefined } = {}
    let onTransaction = () => undefined as unknown
    const retention = createRetention({
      limits,
      now: () => start,
      setTimer(run, ms) {
        timer.due = { run, ms }
        return () => {
          timer.due = undefined
        }
      },
      async transact(run) {
        const before = await count('requests')
        await link.transact(async ({ query, send }) => {
          let bytes = 0
          const counted: Changing['counted'] = (what, by) => {
            if (what === 'bodyBytes') bytes += by
          }
          await run({ query, send, now: start, counted } as unknown as Changing)
          await query('INSERT INTO kept_sizes (bytes) VALUES ($1)', [bytes])
        })
        transactions.push(before - (await count('requests')))
        onTransaction()
      },
    })
    retention.lead(lead.signal)
    const isDueSoon = () => (timer.due?.ms ?? Number.POSITIVE_INFINITY) < 60_000
    return {
      transactions,
      retention,
      lead,
      onTransaction(run: () => void) {
        onTransaction = run
      },
      async pass() {
        do {
          const next = timer.due
          timer.due = undefined
          next?.run()
          while (timer.due === undefined && !lead.signal.aborted)
            await new Promise((resolve) => setImmediate(resolve))
        } while (isDueSoon())
      },
    }
  }

  async function count(table: string): Promise<number> {
    const [row] = await link.query<{ count: number }>(`SELECT count(*) AS count FROM ${table}`)
    return row?.count ?? 0
  }

  /** Stores requests without actions, which came one after the other in the milliseconds from a time on. */
  async function store(count: number, since: number, outcome = 'ignored'): Promise<void> {
    await link.query(
      `INSERT INTO requests (id, outcome, endpoint, status, received_at, generation, more)
       SELECT (lpad(to_hex($2::bigint + n), 12, '0') || '70008000000000000000')::uuid, $3, 'github', 200, $2::bigint + n, 1,
       '{"bodyBytes":0,"timings":{},"actions":[]}' FROM generate_series(1, $1::int) AS n`,
      [count, since, outcome],
    )
  }

  test('a pass deletes what is old in small transactions, and ends when its node no longer leads', async () => {
    await store(450, start - 10 * hour)
    await store(50, start - hour)
    const stopped = createPasses({ keepMs: 5 * hour, backlog: 1 })
    stopped.onTransaction(() => stopped.lead.abort())
    await stopped.pass()
    assert.deepEqual(stopped.transactions, [200])
    await stopped.retention.close()

    const { pass, transactions, retention } = createPasses({ keepMs: 5 * hour, backlog: 1 })
    await pass()
    assert.deepEqual(
      transactions.filter((gone) => gone > 0),
      [200, 50],
    )
    assert.equal(await count('requests'), 50)
    await retention.close()
  })

  test('requests without effect and bytes of bodies over their bounds go, the oldest first', async () => {
    await store(20, start - 2 * hour, 'failed')
    await link.query(
      `INSERT INTO kept (request, bytes, body, brief) SELECT id, 100, 'x', false FROM requests WHERE outcome = 'failed'`,
    )
    await link.query('INSERT INTO kept_sizes (bytes) SELECT 10 FROM generate_series(1, 200)')
    const { pass, retention } = createPasses({
      keepMs: 5 * hour,
      backlog: 1,
      mostWithoutEffect: 15,
      mostBodyBytes: 1_200,
    })
    await pass()
    const rows = await link.query<{ outcome: string; count: number; oldest: number }>(
      'SELECT outcome, count(*) AS count, min(received_at) AS oldest FROM requests GROUP BY outcome ORDER BY outcome',
    )
    assert.deepEqual(rows, [
      { outcome: 'failed', count: 15, oldest: start - 2 * hour + 6 },
      { outcome: 'ignored', count: 15, oldest: start - hour + 36 },
    ])
    // Five bodies went with their requests, and three more for their bytes.
    assert.equal(await count('kept'), 12)
    assert.ok((await count('kept_sizes')) < 5, 'the sums were added up')
    await retention.close()
  })

  test('a shorter time that is configured begins a pass at once, and nothing is deleted where the node does not lead', async () => {
    const { retention, lead, pass, transactions } = createPasses({ keepMs: 0, backlog: 1 })
    retention.begin()
    await pass()
    assert.equal(await count('requests'), 0)
    const before = transactions.length
    lead.abort()
    retention.begin()
    await pass()
    assert.equal(transactions.length, before)
    await retention.close()
  })
})
