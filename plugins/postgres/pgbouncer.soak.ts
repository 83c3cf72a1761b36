/** The driver behind pgbouncer, which is a program of its own and not on every machine. */

import { after, describe, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { driverTests, sharedDriverTests } from '@reveille/kit/conformance'
import { openPostgresDriver } from './driver.ts'
import { testPostgres } from './testing/index.ts'
import { poolModes, startPgbouncer, withPgbouncer } from './testing/pgbouncer.ts'

/** Tests that transaction mode cannot pass: the connection that listens is another one with each transaction. */
const hearing = [
  'hears what others send, once it has said that something may have been missed',
  'says that it hears, with the first text at the latest',
]

for (const mode of poolModes)
  describe(`postgres behind pgbouncer in ${mode} mode`, withPgbouncer, () => {
    let opening: ReturnType<typeof start> | undefined
    async function start() {
      const database = await testPostgres()
      return { database, pooler: await startPgbouncer(database.url, mode) }
    }
    async function open() {
      opening ??= start()
      return openPostgresDriver({ location: (await opening).pooler.url })
    }
    after(async () => {
      const opened = await opening
      await opened?.pooler.stop()
      await opened?.database.drop()
    })

    for (const [name, ask] of Object.entries({ ...driverTests, ...sharedDriverTests })) {
      if (mode === 'transaction' && hearing.includes(name)) continue
      test(name, async (t) => {
        const drivers = [await open(), await open()] as const
        t.after(() => Promise.all(drivers.map((driver) => driver.close())))
        await ask(...drivers)
      })
    }

    if (mode === 'transaction')
      test('says again and again that something may have been missed', { timeout: 10_000 }, async (t) => {
        const driver = await open()
        t.after(() => driver.close())
        let gaps = 0
        driver.listen(
          () => undefined,
          () => (gaps += 1),
          () => undefined,
        )
        while (gaps < 5) await wait(50)
      })
  })
