/** Measures what a claim on PostgreSQL costs while tasks wait, and with an old transaction open. */

import pg from 'pg'
import { openPostgresDriver } from '../../../plugins/postgres/driver.ts'
import { createSampler } from '../../../runtime/store/contract/bench/samples.ts'
import { dayOf } from '../../../runtime/store/day.ts'
import { createIdMinter } from '../../../runtime/store/id.ts'
import { openServerStore } from '../../../runtime/store/server.ts'
import { type Comparison, type Opened, quantile, type Sample } from '../measure.ts'
import type { Databases } from './databases.ts'
import { createSlots } from './slots.ts'

/** Tasks that are performed before as many are added, so that the backlog stays what it is. */
const perSlice = 1000
/** A sample is over after this number of tasks, or after its seconds. */
const perSample = 10_000
/** Tasks that are performed at one time. */
const concurrency = 32
/** Tasks of one key that come one after the other. */
const perKey = 10
const perInsert = 500

/** Each database is filled once, and serves both variants as copies. */
export function claimComparison(
  databases: Databases,
  backlogs: readonly number[],
  seconds: number,
): Comparison {
  const originals = new Map<number, Promise<string>>()

  async function fill(backlog: number): Promise<string> {
    process.stderr.write(`Filling with ${backlog.toLocaleString('en')} tasks …\n`)
    const url = await databases.create()
    const queue = await openQueue(url)
    // A slice begins with more, and ends with the backlog.
    await queue.add(backlog + perSlice)
    await queue.close()
    const client = await connectTo(url)
    await client.query('VACUUM ANALYZE')
    await client.end()
    return url
  }

  async function open(backlog: number, isPinned: boolean): Promise<Opened> {
    const original = originals.get(backlog) ?? fill(backlog)
    originals.set(backlog, original)
    const url = await databases.create(await original)
    const pinning = isPinned ? await pin(url) : undefined
    let missing = 0
    return {
      async take() {
        const taken = await sampleOf(url, missing, databases.settle, seconds)
        missing = taken.missing
        return taken.sample
      },
      close: async () => pinning?.end(),
    }
  }

  return {
    name: 'PostgreSQL: claims while others wait',
    compared: 'claimsPerSecond',
    variants: [false, true].flatMap((isPinned) =>
      backlogs.map((backlog) => ({
        name: `${backlog.toLocaleString('en')} waiting${isPinned ? ', an old transaction open' : ''}`,
        open: () => open(backlog, isPinned),
      })),
    ),
  }
}

async function connectTo(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => {})
  await client.connect()
  return client
}

/** Opens a transaction whose snapshot sees every row that is deleted from now on. */
async function pin(url: string): Promise<pg.Client> {
  const client = await connectTo(url)
  await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ')
  await client.query('SELECT count(*) FROM pg_class')
  return client
}

/** `missing`: the number of tasks to add before, and then before the next sample. */
async function sampleOf(url: string, missing: number, settle: () => Promise<void>, seconds: number) {
  const queue = await openQueue(url)
  let [left, ended, ms] = [missing, 0, 0]
  const waits: number[] = []
  const slice = async (most: number) => {
    await queue.add(left)
    const performed = await queue.perform(perSlice, most)
    left = performed.ended
    return performed
  }
  try {
    await settle()
    // The first slice compiles what is hot, and prepares statements.
    await slice(seconds / 4)
    while (ended < perSample && ms < seconds * 1000) {
      const performed = await slice(seconds - ms / 1000)
      ended += performed.ended
      ms += performed.ms
      for (const wait of performed.waits) waits.push(wait)
    }
  } finally {
    await queue.close()
  }
  const sample: Sample = {
    claimsPerSecond: (ended * 1000) / ms,
    p50Ms: quantile(waits, 0.5),
    p99Ms: quantile(waits, 0.99),
  }
  return { sample, missing: left }
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
  const slots = createSlots()
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
          await slots.enter()
          const spend = { day: dayOf(Date.now()), runs: 1, tokens: 1200, labels: { mapping: 'bench' } }
          return { done: true, effects: { run: { id, state: 'succeeded', stage: 'delivered' }, spend } }
        },
      })
      return slots.measure(count, seconds)
    },
    async close() {
      slots.close()
      await workers?.drain(5000)
      await store.close()
    },
  }
}
