/** What is measured at claims: Reveille's store, pg-boss and graphile-worker, each of which keeps the order of a key. */

import { openPostgresDriver } from '../../../plugins/postgres/driver.ts'
import { createSampler } from '../../../runtime/store/contract/bench/samples.ts'
import { dayOf } from '../../../runtime/store/day.ts'
import { createIdMinter } from '../../../runtime/store/id.ts'
import { openServerStore } from '../../../runtime/store/server.ts'
import { installLibraries } from './libraries.ts'
import { createPlaces, type Performed } from './places.ts'

/** Tasks that wait in a database, and what performs them. */
export interface Queue {
  add(count: number): Promise<void>
  /** Performs `count` tasks, or as many as end within `seconds`. */
  perform(count: number, seconds: number): Promise<Performed>
  close(): Promise<void>
}

export interface Engine {
  readonly name: string
  /** Makes the tables where they are missing. */
  open(url: string): Promise<Queue>
}

/** Tasks that are performed at one time. pg-boss performs four times as many, in batches of this size. */
const concurrency = 32
/** Tasks of one key that come one after the other. */
const perKey = 10
const perInsert = 500

export const reveilleStore: Engine = {
  name: 'Reveille',
  async open(location) {
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
      add: (count) =>
        inChunks(count, async (keys) => {
          const actions = keys.map((sessionKey) => sample.runAction({ sessionKey }))
          await store.accept(sample.entry(...actions))
        }),
      perform(count, seconds) {
        workers ??= store.work({
          kinds: ['run'],
          concurrency,
          async perform({ task: { subject: id = '' } }) {
            await places.enter()
            const spend = { day: dayOf(Date.now()), runs: 1, tokens: 1200, of: { mapping: 'bench' } }
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
  },
}

interface Boss {
  on(event: 'error', listener: (error: Error) => void): void
  start(): Promise<unknown>
  stop(options: { graceful: boolean }): Promise<void>
  getQueue(name: string): Promise<unknown>
  createQueue(name: string, options: { policy: string }): Promise<void>
  insert(name: string, jobs: readonly { singletonKey: string; data: object }[]): Promise<unknown>
  fetch(name: string, options: { batchSize: number }): Promise<readonly { id: string }[]>
  complete(name: string, ids: readonly string[]): Promise<unknown>
}

const fetchers = 4

export const pgBoss: Engine = {
  name: 'pg-boss',
  async open(connectionString) {
    const { PgBoss } = (await installLibraries())['pg-boss'] as unknown as {
      PgBoss: new (options: object) => Boss
    }
    const queue = 'runs'
    const boss = new PgBoss({ connectionString, max: fetchers, supervise: false, schedule: false })
    boss.on('error', (error) => process.stderr.write(`pg-boss: ${error.message}\n`))
    await boss.start()
    if (!(await boss.getQueue(queue))) await boss.createQueue(queue, { policy: 'key_strict_fifo' })
    return {
      add: (count) =>
        inChunks(count, async (keys) => {
          await boss.insert(
            queue,
            keys.map((singletonKey) => ({ singletonKey, data: { message: 'hello' } })),
          )
        }),
      async perform(count, seconds) {
        const begun = performance.now()
        const waits: number[] = []
        let ended = 0
        const fetchAll = async () => {
          while (ended < count && performance.now() - begun < seconds * 1000) {
            const asked = performance.now()
            const jobs = await boss.fetch(queue, { batchSize: concurrency })
            if (jobs.length === 0) continue
            await boss.complete(
              queue,
              jobs.map(({ id }) => id),
            )
            ended += jobs.length
            waits.push(performance.now() - asked)
          }
        }
        await Promise.all(Array.from({ length: fetchers }, fetchAll))
        return { ended, ms: performance.now() - begun, waits }
      },
      close: () => boss.stop({ graceful: false }),
    }
  },
}

interface Graphile {
  Logger: new (make: () => () => void) => object
  run(options: object): Promise<{ stop(): Promise<void> }>
  makeWorkerUtils(options: object): Promise<GraphileUtils>
}

interface GraphileUtils {
  migrate(): Promise<void>
  withPgClient(
    use: (client: { query(text: string, values: unknown[]): Promise<unknown> }) => Promise<void>,
  ): Promise<void>
  release(): Promise<void>
}

const addToGraphile = `SELECT count(*) FROM graphile_worker.add_jobs((
  SELECT array_agg(('run', '{"message":"hello"}'::json, key, NULL, NULL, NULL, NULL, NULL)::graphile_worker.job_spec)
  FROM unnest($1::text[]) AS key
))`

export const graphileWorker: Engine = {
  name: 'graphile-worker',
  async open(connectionString) {
    const graphile = (await installLibraries())['graphile-worker'] as unknown as Graphile
    const { run, makeWorkerUtils, Logger } = graphile
    const options = { connectionString, logger: new Logger(() => () => {}) }
    const utils = await makeWorkerUtils(options)
    await utils.migrate()
    const places = createPlaces()
    let runner: Awaited<ReturnType<Graphile['run']>> | undefined
    return {
      add: (count) =>
        inChunks(count, (keys) =>
          utils.withPgClient(async (client) => void (await client.query(addToGraphile, [keys]))),
        ),
      async perform(count, seconds) {
        runner ??= await run({
          ...options,
          concurrency,
          noHandleSignals: true,
          parsedCronItems: [],
          taskList: { run: () => places.enter() },
        })
        return places.measure(count, seconds)
      },
      async close() {
        places.close()
        await runner?.stop()
        await utils.release()
      },
    }
  },
}

let added = 0

/** Keys are new ones each time, with `perKey` tasks in each. */
async function inChunks(count: number, add: (keys: readonly string[]) => Promise<void>): Promise<void> {
  for (let at = 0; at < count; at += perInsert) {
    const size = Math.min(perInsert, count - at)
    await add(Array.from({ length: size }, () => `session:${process.pid}:${Math.floor(added++ / perKey)}`))
  }
}
