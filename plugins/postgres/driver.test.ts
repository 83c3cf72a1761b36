import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Driver, Transaction } from '@reveille/kit'
import { driverConformance, driverTests, sharedDriverTests } from '@reveille/kit/conformance'
import { migrate, schemaOf } from '../../runtime/store/schema.ts'
import { openPostgresDriver } from './driver.ts'
import { type TestDatabase, testPostgres } from './testing/index.ts'
import { createNetwork, type Network } from './testing/network.ts'

let database: Promise<TestDatabase> | undefined
after(async () => (await database)?.drop())

async function open(): Promise<Driver> {
  database ??= testPostgres()
  return openPostgresDriver({ location: (await database).url })
}

driverConformance({ name: 'postgres', open })

let pooler: Promise<Network> | undefined
after(async () => (await pooler)?.close())

driverConformance({
  name: 'postgres behind a pooler',
  async open() {
    database ??= testPostgres()
    pooler ??= createNetwork((await database).url, { isPooler: true })
    return openPostgresDriver({ location: (await pooler).url })
  },
})

test('behind a pooler nothing is prepared', async (t) => {
  database ??= testPostgres()
  pooler ??= createNetwork((await database).url, { isPooler: true })
  for (const [location, isPrepared] of [
    [(await database).url, true],
    [(await pooler).url, false],
  ] as const) {
    const driver = await openPostgresDriver({ location })
    t.after(() => driver.close())
    const rows = await driver.transaction(({ all }) => all('SELECT name FROM pg_prepared_statements'))
    assert.equal(rows.length > 0, isPrepared)
  }
})

/** Changes what the work of a transaction is given. */
const withTransaction =
  (change: (tx: Transaction) => Partial<Transaction>) =>
  (driver: Driver): Driver => ({
    ...driver,
    transaction: (work, options) => driver.transaction((tx) => work({ ...tx, ...change(tx) }), options),
  })

const withNestedIgnored = withTransaction(() => ({ nested: (work) => work() }))

/** For each test of the conformance suite a driver that breaks its promise. */
const broken: Readonly<Record<string, (driver: Driver) => Driver>> = {
  'keeps what a transaction wrote, and nothing of one whose work failed': (driver) => ({
    ...driver,
    async transaction(work) {
      const outcome = await driver.transaction(async (tx) => {
        try {
          return { result: await work(tx) }
        } catch (error) {
          return { error }
        }
      })
      if (!('result' in outcome)) throw outcome.error
      return outcome.result as never
    },
  }),
  'undoes what nested work did that failed, and nothing else': withNestedIgnored,
  'continues after a statement of nested work that was refused': withNestedIgnored,
  'reads each value as it was written': withTransaction((tx) => ({
    insert: (table, rows) =>
      tx.insert(
        table,
        rows.map((row) => row.map((value) => (typeof value === 'string' ? value.trim() : value))),
      ),
  })),
  'takes a parameter that is repeated, in any order, and says how many rows changed': withTransaction(
    (tx) => ({ run: async (sql, values) => Math.min(1, await tx.run(sql, values)) }),
  ),
  'numbers rows in the order in which they are inserted': withTransaction((tx) => ({
    insert: (table, rows, onConflict) => tx.insert(table, rows.toReversed(), onConflict),
  })),
  'does what was asked for with a row whose key is taken, and refuses it elsewhere': withTransaction(
    (tx) => ({ insert: (table, rows) => tx.insert(table, rows, 'ON CONFLICT DO NOTHING') }),
  ),
  'changes each row as it was given, and no other': withTransaction((tx) => ({
    update: (table, columns, rows) => tx.update(table, columns, rows.slice(0, 1)),
  })),
  'finds the rows of a list': (driver) => ({
    ...driver,
    dialect: {
      ...driver.dialect,
      among: (parameter, type) => `ANY ((${parameter}::${driver.dialect.types[type].split(' ')[0]}[])[1:1])`,
    },
  }),
  'compares texts by their bytes': (driver) => ({
    ...driver,
    dialect: { ...driver.dialect, types: { ...driver.dialect.types, text: 'text COLLATE "unicode"' } },
  }),
  'shows no value of a statement in an error': (driver) => ({
    ...driver,
    transaction: (work) =>
      driver
        .transaction(work)
        .catch(({ cause }) => Promise.reject(new Error(`${cause.message} ${cause.detail}`))),
  }),
  'tells the time': (driver) => ({ ...driver, clock: async () => performance.now() }),
  'does nothing any more once it is closed': (driver) => ({ ...driver, close: async () => undefined }),
  'runs transactions at one time, and keeps a locked key from all others': withTransaction(() => ({
    lock: async () => undefined,
  })),
  'runs transactions again that wait for each other': (driver) => ({
    ...driver,
    transaction(work) {
      let runs = 0
      return driver.transaction(async (tx) => {
        runs += 1
        if (runs > 1) throw new Error('it collided')
        return work(tx)
      })
    },
  }),
  'finds locked rows, and passes them over where that was asked for': (driver) => ({
    ...driver,
    dialect: { ...driver.dialect, skipLocked: '' },
  }),
  'hears what others send, once it has said that something may have been missed': (driver) => ({
    ...driver,
    listen: (onText, ...others) => driver.listen((text) => onText(text.trim()), ...others),
  }),
  'says that it hears, with the first text at the latest': (driver) => ({
    ...driver,
    listen: (onText, onGap) => driver.listen(onText, onGap, () => undefined),
  }),
  'describes its server': (driver) => ({ ...driver, describe: async () => undefined }),
}

for (const [name, breakIt] of Object.entries(broken))
  test(`the conformance suite notices: ${name}`, async (t) => {
    const drivers = [await open(), await open()] as const
    t.after(() => Promise.all(drivers.map((driver) => driver.close())))
    const [driver, other] = drivers.map(breakIt) as [Driver, Driver]
    const ask = driverTests[name] ?? sharedDriverTests[name]
    await assert.rejects(
      async () => ask?.(driver, other),
      (error) => !(error instanceof ReferenceError),
    )
  })

test('each test of the conformance suite has a driver that breaks its promise', () => {
  const tests = [...Object.keys(driverTests), ...Object.keys(sharedDriverTests)]
  assert.deepEqual(Object.keys(broken).sort(), tests.sort())
})

test('an error of the work is passed on as it is, and undoes its transaction', async (t) => {
  const driver = await open()
  t.after(() => driver.close())
  const error = new RangeError('of the work')
  const fails = () => Promise.reject(error)
  await assert.rejects(driver.transaction(fails), (thrown) => thrown === error)
  await assert.rejects(driver.read(fails), (thrown) => thrown === error)
})

test('nodes that start at one time create the schema once', async (t) => {
  const { url, drop } = await testPostgres()
  t.after(drop)
  const drivers = await Promise.all([1, 2, 3].map(() => openPostgresDriver({ location: url })))
  await Promise.all(drivers.map((driver) => migrate(driver)))
  for (const driver of drivers) assert.equal(await driver.read(schemaOf), 1)
  await Promise.all(drivers.map((driver) => driver.close()))
})
