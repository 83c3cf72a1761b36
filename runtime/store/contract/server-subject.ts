/** Defines for the store's contract how to open the store on PostgreSQL, and where its data is. */

import assert from 'node:assert/strict'
import { type Driver, DriverError } from '@reveille/kit'
import pg from 'pg'
import { openPostgresDriver } from '../../../plugins/postgres/driver.ts'
import { testPostgres } from '../../../plugins/postgres/testing/index.ts'
import type { OpenStore, StoreOptions } from '../port.ts'
import type { LeaseTimes } from '../queue/claiming.ts'
import { migrate, tables } from '../schema.ts'
import { openServerStore } from '../server.ts'
import type { ContractSubject } from './bench/bench.ts'
import { faultsSql } from './bench/soundness.ts'

/** A node that was killed is found soon, and no test takes as long as a lease. */
const leases: LeaseTimes = { renewMs: 500, expireMs: 4_000, freshMs: 3_000 }

/** A database with the schema, from which those of the tests are copied. */
export const migrated = {
  name: 'store',
  async fill(url: string): Promise<void> {
    const driver = await openPostgresDriver({ location: url })
    await migrate(driver)
    await driver.close()
  },
}

interface TestClock {
  readonly now: () => number
  last: number
  /** By how much it was set back. */
  backMs: number
}

/** The clocks of tests, by place. The database's clock is never set back. */
const clocks = new Map<string, TestClock>()
/** Milliseconds; see `createCore`. */
const tolerated = 1_000

function sharedClock({ location, now }: StoreOptions): () => number {
  const known = clocks.get(location)
  const clock = known?.now === now ? known : { now, last: now(), backMs: 0 }
  clocks.set(location, clock)
  return () => {
    const at = now()
    if (clock.last - at > tolerated) clock.backMs += clock.last - at
    clock.last = at
    return at + clock.backMs
  }
}

/** Databases that a test has used, and that are empty again: to make one takes longer than most tests. */
const free: { readonly url: string; readonly client: IdleClient }[] = []

/** Types leave out that a connection need not keep its process alive. */
type IdleClient = pg.Client & { ref(): void; unref(): void }

export const postgresSubject: ContractSubject = {
  name: 'postgres',
  isShared: true,
  async createPlace() {
    const { client, url } = free.pop() ?? (await createDatabase())
    return {
      location: url,
      check: () => use(client, check),
      async remove() {
        await use(client, empty)
        clocks.delete(url)
        free.push({ client, url })
      },
    }
  },
  async open(options) {
    const faults: Faults = {}
    const driver = await openPostgresDriver({ location: options.location })
    const store = await openServerStore(withFaults(driver, faults), {
      leases,
      sharedNow: sharedClock(options),
      ...options,
    })
    return {
      store,
      async fault(fault) {
        // Earlier posts are written without the fault.
        await store.command({ type: 'expedite', task: 'none', dueAt: 0 }).catch(() => undefined)
        if (fault === 'disk-full') faults.isFull = true
        else if (fault === 'disk-freed') faults.isFull = false
        else faults.next = fault
      },
    }
  },
  opener: { module: import.meta.url, name: 'openOnPostgres' },
}

interface Faults {
  next?: 'commit-fails' | 'answer-lost' | undefined
  isFull?: boolean
}

/** Matches the writes that a node makes by itself at any time; they are left alone. */
const ownWrites = /\b(?:nodes|leases|leased_until)\b/

/** Fails commits as a test asks for it. A lost answer is none here: the driver finds out what became of the commit; see `faults.test.ts`. */
function withFaults(driver: Driver, faults: Faults): Driver {
  return {
    ...driver,
    transaction: (work, ...options) =>
      driver.transaction(
        async (tx) => {
          let isConcerned = false
          const wrote = (statement: string) => {
            isConcerned ||= /^\s*(?:INSERT|UPDATE|DELETE)/i.test(statement) && !ownWrites.test(statement)
          }
          const result = await work({
            ...tx,
            all(sql, ...values) {
              wrote(sql)
              return tx.all(sql, ...values)
            },
            run(sql, ...values) {
              wrote(sql)
              return tx.run(sql, ...values)
            },
            insert(table, ...rows) {
              wrote(`INSERT ${table.name}`)
              return tx.insert(table, ...rows)
            },
            update(table, ...changes) {
              wrote(`UPDATE ${table.name}`)
              return tx.update(table, ...changes)
            },
          })
          if (isConcerned) fail(faults)
          return result
        },
        ...options,
      ),
  }
}

function fail(faults: Faults): void {
  const isFailing = faults.next === 'commit-fails'
  faults.next = undefined
  if (isFailing) throw new DriverError('UNAVAILABLE', 'the commit failed')
  if (faults.isFull)
    throw new DriverError('FULL', "the database's disk is full", { brief: 'its disk is full' })
}

/** Opens the store on PostgreSQL, as a child process of a test does. */
export const openOnPostgres: OpenStore = async (options) =>
  await openServerStore(await openPostgresDriver({ location: options.location }), {
    leases,
    sharedNow: sharedClock(options),
    ...options,
  })

async function createDatabase() {
  const { url } = await testPostgres(migrated)
  const client = new pg.Client({ connectionString: url }) as IdleClient
  client.on('error', () => undefined)
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

async function empty(client: pg.Client): Promise<void> {
  const names = Object.keys(tables).map((name) => `reveille.${name}`)
  await client.query(names.map((name) => `DELETE FROM ${name};`).join(' '))
}

/** Checks that open tasks are leased or can be claimed, and that the counts are those of the rows. */
async function check(client: pg.Client): Promise<void> {
  const { rows } = await client.query(faultsSql('reveille.'))
  assert.deepEqual(
    rows.map(({ wrong }) => wrong),
    [],
  )
}
