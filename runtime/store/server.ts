/** The store on a database that several processes share: the core runs in this one, over the driver of a package. */

import { randomUUID } from 'node:crypto'
import type { Driver } from '@reveille/kit'
import { createCore } from './core.ts'
import type { Store, StoreOptions } from './port.ts'
import { type Happened, nothingHappened } from './protocol.ts'
import { createDatabaseClock, joinCluster } from './queue/cluster.ts'
import { answer } from './reading.ts'
import { migrate } from './schema.ts'
import { assembleStore } from './store.ts'

/** A post holds locks that others wait for, so it is short. */
const maxActions = 128
const defaultTimes = { renewMs: 5_000, expireMs: 15_000, freshMs: 10_000 }

/** Opens the store on a driver, which is closed with it. @throws StoreError */
export async function openServerStore(driver: Driver, options: StoreOptions): Promise<Store> {
  const { leases: times = defaultTimes, node = { name: '', version: '', role: 'all' } } = options
  const id = randomUUID()
  await migrate(driver)
  const clock = createDatabaseClock(driver, options.now)
  await clock.ask()
  const now = options.sharedNow ?? (() => Math.round(clock.now()))
  return await assembleStore({ ...options, now }, async (handlers) => {
    let cluster: Awaited<ReturnType<typeof joinCluster>> | undefined
    const onHappened = (happened: Happened) => {
      const tasks = happened.lost.length
      handlers.onHappened(happened)
      if (tasks > 0) options.onTakeover?.({ node: node.name, isSelf: true, tasks })
    }
    const core = createCore({
      driver,
      node: id,
      now: now(),
      limits: options,
      historyMessages: options.historyMessages,
      times,
      time: now,
      clock: clock.now,
      onHappened,
      onCommit: (notes) => cluster?.announce(notes),
    })
    let accepted: Promise<unknown> = Promise.resolve()
    const opened = await core.open()
    const happen = (part: Partial<Happened>) =>
      onHappened({ ...nothingHappened, ...part, state: core.state() })
    cluster = await joinCluster({
      driver,
      core,
      id,
      node,
      times,
      clock,
      now,
      onHappened: happen,
      ...(options.onTakeover && { onTakeover: options.onTakeover }),
    })
    const joined = cluster
    return {
      opened: { ...opened, state: core.state() },
      engine: {
        cluster: joined.cluster,
        confirm: joined.confirm,
        maxActions,
        post(post) {
          // Entries are committed in the order in which they came.
          const isAccepting = post.actions.some(
            (action) => action.type === 'accept' && action.entry.actions.length > 0,
          )
          const replied = isAccepting ? accepted.then(() => core.run(post)) : core.run(post)
          if (isAccepting) accepted = replied
          void replied.then(handlers.onReply)
        },
        ask: (question) => driver.read((statements) => answer(statements, driver.dialect.among, question)),
        watch: () => undefined,
        async close() {
          await joined.close()
          await driver.close()
        },
        abandon: () => void driver.close(),
      },
    }
  })
}
