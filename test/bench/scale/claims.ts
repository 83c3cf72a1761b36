/** Measures what a claim on PostgreSQL costs while tasks wait, and with an old transaction open. */

import pg from 'pg'
import { openPostgresDriver } from '../../../plugins/postgres/driver.ts'
import { createSampler } from '../../../runtime/store/contract/bench/samples.ts'
import { dayOf } from '../../../runtime/store/day.ts'
import { createIdMinter } from '../../../runtime/store/id.ts'
import { openServerStore } from '../../../runtime/store/server.ts'
import { type Comparison, quantile, type Sample } from '../measure.ts'
import type { Databases } from './databases.ts'
import { createPlaces } from './places.ts'

/** Tasks that are performed before as many are added, so that the backlog stays what it is. */
const perSlice = 1000
/** A sample is over after so many tasks, or after its seconds. */
const perSample = 10_000
const fillPerSecond = 4000
/** Tasks that are performed at one time. */
const concurrency = 32
/** Tasks of one key that come one after the other. */
const perKey = 10
const perInsert = 500

/** A database in which tasks wait. */
interface Filled {
  readonly url: string
  /** Number of tasks to add before the next sample. */
  missing: number
}

/** Each database is filled once, and serves both variants as copies. */
export function claimComparison(
  databases: () => Promise<Databases>,
  backlogs: readonly number[],
  seconds: number,
): Comparison {
  const originals = new Map<number, Promise<string>>()
  const copies = new Map<string, Promise<Filled>>()
  const variants = new Map(
    [false, true].flatMap((isPinned) =>
      backlogs.map((backlog) => {
        const name = `${backlog.toLocaleString('en')} waiting${isPinned ? ', an old transaction open' : ''}`
        return [name, { backlog, isPinned }] as const
      }),
    ),
  )

  async function fill(backlog: number): Promise<string> {
    process.stderr.write(`Filling with ${backlog.toLocaleString('en')} tasks …\n`)
    const url = await (await databases()).create()
    const queue = await openQueue(url)
    // A slice begins with more, and ends with the backlog.
    await queue.add(backlog + perSlice)
    await queue.close()
    await askAt(url, 'VACUUM ANALYZE')
    return url
  }

  async function copy(variant: string): Promise<Filled> {
    const { backlog = 0, isPinned = false } = variants.get(variant) ?? {}
    const original = originals.get(backlog) ?? fill(backlog)
    originals.set(backlog, original)
    const url = await (await databases()).create(await original)
    if (isPinned) await pin(url)
    return { url, missing: 0 }
  }

  return {
    name: 'PostgreSQL: claims while others wait',
    compared: 'claimsPerSecond',
    variants: [...variants.keys()],
    openSeconds: backlogs.reduce((sum, backlog) => sum + 10 + backlog / fillPerSecond, 0),
    sampleSeconds: seconds + 2,
    open: async () => ({
      async take(variant) {
        const copied = copies.get(variant) ?? copy(variant)
        copies.set(variant, copied)
        return sampleOf(await copied, (await databases()).settle, seconds)
      },
      close: async () => {},
    }),
  }
}

/** Opens a transaction whose snapshot sees every row that is deleted from now on. It ends with this process. */
async function pin(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => {})
  await client.connect()
  await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ')
  await client.query('SELECT count(*) FROM pg_class')
}

async function askAt(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query(statement)
  await client.end()
}

async function sampleOf(filled: Filled, settle: () => Promise<void>, seconds: number): Promise<Sample> {
  const queue = await openQueue(filled.url)
  const total = { ended: 0, ms: 0, waits: [] as number[] }
  const slice = async (most: number) => {
    await queue.add(filled.missing)
    filled.missing = 0
    const performed = await queue.perform(perSlice, most)
    filled.missing = performed.ended
    return performed
  }
  try {
    await settle()
    // The first slice compiles what is hot, and prepares statements.
    await slice(seconds / 4)
    while (total.ended < perSample && total.ms < seconds * 1000) {
      const { ended, ms, waits } = await slice(seconds - total.ms / 1000)
      total.ended += ended
      total.ms += ms
      for (const wait of waits) total.waits.push(wait)
    }
  } finally {
    await queue.close()
  }
  return {
    claimsPerSecond: (total.ended * 1000) / total.ms,
    p50Ms: quantile(total.waits, 0.5),
    p99Ms: quantile(total.waits, 0.99),
  }
}

let added = 0

/** The store on a database: adds runs, with new session keys each time, and performs them. */
async function openQueue(location: string) {
  const store = await openServerStore(await openPostgresDriver({ location }), {
    location,
    now: Date.now,
    keepMs: 9e9,
    backlog: 1e7,
    historyMessages: 20,
  })
  const sample = createSampler({ mintId: createIdMinter(Date.now), clock: { now: Date.now } })
  const places = createPlaces()
  let workers: ReturnType<typeof store.work> | undefined
  return {
    async add(count: number) {
      for (let at = 0; at < count; at += perInsert) {
        const actions = Array.from({ length: Math.min(perInsert, count - at) }, () =>
          sample.runAction({ sessionKey: `session:${process.pid}:${Math.floor(added++ / perKey)}` }),
        )
        await store.accept(sample.entry(...actions))
      }
    },
    /** Performs `count` tasks, or as many as end within `seconds`. */
    perform(count: number, seconds: number) {
      workers ??= store.work({
        kinds: ['run'],
        concurrency,
        async perform({ task: { subject: id = '' } }) {
          await places.enter()
          const spend = { day: dayOf(Date.now()), runs: 1, tokens: 1200, labels: { mapping: 'bench' } }
          return { done: true, effects: { run: { id, state: 'succeeded', stage: 'delivered' }, spend } }
        },
      })
      return places.measure(count, seconds)
    },
    async close() {
      places.close()
      await workers?.drain(5000)
      await store.close()
    },
  }
}
