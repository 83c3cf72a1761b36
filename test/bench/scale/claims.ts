/** Measures what a claim costs while tasks wait, with an old transaction open, and beside libraries for jobs on PostgreSQL. */

import pg from 'pg'
import { type Comparison, quantile, type Sample } from '../measure.ts'
import type { Databases } from './databases.ts'
import { type Engine, graphileWorker, pgBoss, type Queue, reveilleStore } from './engines.ts'

export const claiming = 'claims while others wait'
export const besideLibraries = 'claims beside libraries'

export const waiting = (backlog: number) => `${backlog.toLocaleString('en')} waiting`
export const besideOld = (backlog: number) => `${waiting(backlog)}, an old transaction open`

/** Tasks that are performed before as many are added, so that the backlog stays what it is. */
const perSlice = 1000
/** A sample is over after so many tasks, or after its seconds. */
const perSample = 10_000
const fillPerSecond = 4000

/** What is filled once is used by all comparisons of a run. */
export function claimComparisons(
  databases: () => Promise<Databases>,
  backlogs: readonly number[],
  seconds: number,
): readonly Comparison[] {
  const filled = createFilled(databases)
  const take = async (place: Place) => sampleOf(await filled(place), (await databases()).settle, seconds)
  const ofReveille = (backlog: number, isPinned: boolean) => ({ engine: reveilleStore, backlog, isPinned })
  const variants = new Map<string, Place>([
    ...backlogs.map((backlog) => [waiting(backlog), ofReveille(backlog, false)] as const),
    ...backlogs.map((backlog) => [besideOld(backlog), ofReveille(backlog, true)] as const),
  ])
  return [
    comparison(claiming, variants, seconds, take),
    ...backlogs.map((backlog) => {
      const engines = [reveilleStore, pgBoss, graphileWorker]
      const places = engines.map((engine) => [engine.name, { engine, backlog, isPinned: false }] as const)
      return comparison(`${besideLibraries}, ${waiting(backlog)}`, new Map(places), seconds, take)
    }),
  ]
}

/** A database of an engine in which tasks wait. `isPinned`: a transaction is open since it was filled. */
interface Place {
  readonly engine: Engine
  readonly backlog: number
  readonly isPinned: boolean
}

interface Filled {
  readonly engine: Engine
  readonly url: string
  /** How many tasks are to be added before the next sample. */
  missing: number
}

function comparison(
  name: string,
  places: ReadonlyMap<string, Place>,
  seconds: number,
  take: (place: Place) => Promise<Sample>,
): Comparison {
  const all = [...places.values()]
  return {
    name,
    compared: 'claimsPerSecond',
    variants: [...places.keys()],
    openSeconds: all.reduce(
      (sum, { backlog, isPinned }) => sum + (isPinned ? 5 : 5 + backlog / fillPerSecond),
      0,
    ),
    sampleSeconds: seconds + 2,
    async open() {
      return { take: (variant) => take(places.get(variant) as Place), close: async () => {} }
    },
  }
}

function createFilled(databases: () => Promise<Databases>): (place: Place) => Promise<Filled> {
  const originals = new Map<string, Promise<string>>()
  const copies = new Map<string, Promise<Filled>>()

  async function fill(engine: Engine, backlog: number): Promise<string> {
    process.stderr.write(`${engine.name}: filling with ${backlog.toLocaleString('en')} tasks …\n`)
    const url = await (await databases()).create()
    const queue = await engine.open(url)
    // A slice begins with more, and ends with the backlog.
    await queue.add(backlog + perSlice)
    await queue.close()
    await askAt(url, 'VACUUM ANALYZE')
    return url
  }

  /** What is performed is a copy, so that each place begins with the same. */
  async function copy({ engine, backlog, isPinned }: Place): Promise<Filled> {
    const name = `${engine.name} ${backlog}`
    const original = originals.get(name) ?? fill(engine, backlog)
    originals.set(name, original)
    const url = await (await databases()).create(await original)
    if (isPinned) await pin(url)
    return { engine, url, missing: 0 }
  }

  return (place) => {
    const name = `${place.engine.name} ${place.backlog} ${place.isPinned}`
    const copied = copies.get(name) ?? copy(place)
    copies.set(name, copied)
    return copied
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
  const queue: Queue = await filled.engine.open(filled.url)
  const total = { ended: 0, ms: 0, waits: [] as number[] }
  const slice = async (most: number) => {
    await queue.add(filled.missing)
    filled.missing = 0
    const { ended, ms, waits } = await queue.perform(perSlice, most)
    filled.missing = ended
    return { ended, ms, waits }
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
