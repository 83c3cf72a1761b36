/** Tests what every driver of a database must do. */

import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import type { ColumnType, Dialect, Driver, SqlValue, Table, Transaction } from '../driver.ts'
import { until } from './deadline.ts'

export interface DriverSetup {
  /** Opens the driver, as another process of the same database if it is shared. The suite closes it. */
  open(): Promise<Driver>
}

export interface DriverConformance extends DriverSetup {
  /** The name of the suite in the report. */
  readonly name: string
}

export function driverConformance({ name, ...setup }: DriverConformance): void {
  describe(name, () => {
    for (const [promise, ask] of Object.entries({ ...driverTests, ...sharedDriverTests }))
      test(promise, async (t) => {
        const open = async () => {
          const driver = await setup.open()
          t.after(() => driver.close())
          return driver
        }
        const driver = await open()
        if (!(promise in sharedDriverTests)) return ask(driver, driver)
        if (!driver.isShared) return t.skip('its data belongs to one process')
        await ask(driver, await open())
      })
  })
}

const types: Readonly<Record<string, ColumnType>> = {
  id: 'id',
  text: 'text',
  whole: 'integer',
  fraction: 'number',
  bytes: 'bytes',
}

/** Creates a table with a column of each type, which may be null but for its key. */
async function createTable(driver: Driver, key = 'id'): Promise<Table> {
  const columns = Object.fromEntries(
    Object.entries(types).map(([column, type]) => [column, { type, isNullable: column !== key }]),
  )
  return create(driver, { name: freshName(), columns, primaryKey: [key] })
}

/** Creates a table whose rows the database numbers. */
async function createSequence(driver: Driver): Promise<Table> {
  const columns = {
    number: { type: 'sequence', isNullable: false },
    text: { type: 'text', isNullable: false },
  } as const
  return create(driver, { name: freshName(), columns, primaryKey: ['number'] })
}

function freshName(): string {
  return `conformance_${randomBytes(6).toString('hex')}`
}

async function create({ transaction, dialect, createNamespace }: Driver, table: Table): Promise<Table> {
  await transaction(async (tx) => {
    await tx.lock(['namespace'])
    await createNamespace?.(tx)
    await tx.run(definitionOf(table, dialect))
  })
  return table
}

function definitionOf({ name, columns, primaryKey }: Table, dialect: Dialect): string {
  const lines = Object.entries(columns).map(
    ([column, { type, isNullable }]) => `${column} ${dialect.types[type]}${isNullable ? '' : ' NOT NULL'}`,
  )
  const isNumbered = Object.values(columns).some(({ type }) => type === 'sequence')
  if (!isNumbered) lines.push(`PRIMARY KEY (${primaryKey})`)
  return `CREATE TABLE ${name} (${lines.join(', ')}) ${dialect.tableOptions}`
}

/** A row of `createTable` with an id and a text. */
function rowOf(text: string, id: string = randomUUID()): readonly SqlValue[] {
  return [id, text, 1, 0.5, new Uint8Array([0])]
}

async function textsOf(driver: Driver, { name }: Table): Promise<string[]> {
  return (await select(driver, `SELECT text FROM ${name} ORDER BY text`)).map(([text]) => String(text))
}

/** Returns the values of each row in the order of its columns. */
async function select({ read }: Driver, sql: string, values: readonly SqlValue[] = []): Promise<unknown[][]> {
  return (await read(({ all }) => all<Record<string, unknown>>(sql, values))).map(Object.values)
}

const eventually = (what: string, isSo: () => boolean) => until(isSo, () => what)

function insertInto({ transaction }: Driver, table: Table, rows: readonly (readonly SqlValue[])[]) {
  return transaction(({ insert }) => insert(table, rows))
}

const abc = ['a', 'b', 'c'].map((text) => rowOf(text))

const oddTexts = [
  '',
  ' ',
  'NULL',
  '{"a":[1,"\\"",null]}',
  '{a,b}',
  String.raw`a\b\\c\n`,
  `it's "quoted", $1 and ?1`,
  'line\nbreak\ttab\u0001',
  'ä漢字😀',
]

/** The tests by name. Each is given a driver of its own. */
export const driverTests: Readonly<Record<string, (driver: Driver) => Promise<void>>> = {
  async 'keeps what a transaction wrote, and nothing of one whose work failed'(driver) {
    const table = await createTable(driver)
    assert.equal(await insertInto(driver, table, [rowOf('kept')]), 1, 'the result of its work is handed on')
    const failed = driver.transaction(async ({ insert }) => {
      await insert(table, [rowOf('undone')])
      throw new Error('its work failed')
    })
    await assert.rejects(failed)
    assert.deepEqual(await textsOf(driver, table), ['kept'])
  },

  async 'undoes what nested work did that failed, and nothing else'(driver) {
    const table = await createTable(driver)
    await driver.transaction(async (tx) => {
      await tx.insert(table, [rowOf('before')])
      await tx.nested(() => tx.insert(table, [rowOf('nested')]))
      const failed = tx.nested(async () => {
        await tx.insert(table, [rowOf('undone')])
        await tx.nested(() => tx.insert(table, [rowOf('undone too')]))
        throw new Error('its work failed')
      })
      await assert.rejects(failed, { message: 'its work failed' })
      await tx.insert(table, [rowOf('later')])
    })
    assert.deepEqual(await textsOf(driver, table), ['before', 'later', 'nested'])
  },

  async 'continues after a statement of nested work that was refused'(driver) {
    const table = await createTable(driver)
    await driver.transaction(async (tx) => {
      const row = rowOf('first')
      await tx.insert(table, [row])
      await assert.rejects(tx.nested(() => tx.insert(table, [row])))
      await tx.insert(table, [rowOf('second')])
    })
    assert.deepEqual(await textsOf(driver, table), ['first', 'second'])
  },

  async 'reads each value as it was written'(driver) {
    const table = await createTable(driver)
    const numbers = [0, -1, 2 ** 31, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER]
    const rows = oddTexts.map((text, index) => [
      randomUUID(),
      text,
      numbers[index % numbers.length] as number,
      [0.5, -1e-7, 1e300][index % 3] as number,
      new Uint8Array(randomBytes(index * 100)),
    ])
    rows.push([randomUUID(), null, null, null, null] as never)
    assert.equal(await insertInto(driver, table, rows), rows.length)
    const plain = (value: unknown) => (value instanceof Uint8Array ? [...value] : value)
    for (const [id, ...values] of rows) {
      const sql = `SELECT text, whole, fraction, bytes FROM ${table.name} WHERE id = ?1`
      const [row] = await select(driver, sql, [id as string])
      assert.deepEqual(row?.map(plain), values.map(plain))
    }
    const sums = `SELECT count(*) AS count, sum(whole) AS sum FROM ${table.name} WHERE whole = 0`
    assert.deepEqual(await select(driver, sums), [[2, 0]], 'counts and sums are numbers')
  },

  async 'takes a parameter that is repeated, in any order, and says how many rows changed'(driver) {
    const table = await createTable(driver)
    await insertInto(driver, table, abc)
    await driver.transaction(async (tx) => {
      const sql = `UPDATE ${table.name} SET whole = ?2 WHERE whole <> ?2 AND (text = ?1 OR text = ?3 OR text = ?1)`
      assert.equal(await tx.run(sql, ['a', 7, 'b']), 2)
      assert.equal(await tx.run(sql, ['a', 7, 'b']), 0)
      const rows = await tx.all(`SELECT text FROM ${table.name} WHERE whole = ?1 AND whole >= ?1`, [7])
      assert.equal(rows.length, 2)
    })
  },

  async 'numbers rows in the order in which they are inserted'(driver) {
    const table = await createSequence(driver)
    const texts = Array.from({ length: 500 }, () => randomBytes(4).toString('hex'))
    await driver.transaction(async ({ insert }) => {
      const rows = texts.map((text) => [text])
      await insert(table, rows.slice(0, 300))
      for (const row of rows.slice(300)) await insert(table, [row])
    })
    const rows = await select(driver, `SELECT text, number FROM ${table.name} ORDER BY number`)
    assert.deepEqual(
      rows.map(([text]) => text),
      texts,
    )
    assert.ok(rows.every(([, number]) => Number.isSafeInteger(number)))
  },

  async 'does what was asked for with a row whose key is taken, and refuses it elsewhere'(driver) {
    const table = await createTable(driver)
    const [known, fresh] = [rowOf('known'), rowOf('fresh')]
    const skip = 'ON CONFLICT DO NOTHING'
    await driver.transaction(async ({ insert }) => {
      await insert(table, [known])
      assert.equal(await insert(table, [], skip), 0)
      assert.equal(await insert(table, [known, fresh], skip), 1)
      const add = `ON CONFLICT (id) DO UPDATE SET whole = ${table.name}.whole + excluded.whole`
      assert.equal(await insert(table, [known, fresh], add), 2)
    })
    assert.deepEqual(await select(driver, `SELECT whole FROM ${table.name}`), [[2], [2]])
    await assert.rejects(insertInto(driver, table, [rowOf('other'), known]))
    assert.deepEqual(await textsOf(driver, table), ['fresh', 'known'])
  },

  async 'changes each row as it was given, and no other'(driver) {
    const table = await createTable(driver)
    const rows = ['a', 'b', 'c', 'd'].map((text) => rowOf(text))
    const [a, b, c] = rows.map(([id]) => id as string)
    await driver.transaction(async ({ insert, update }) => {
      await insert(table, rows)
      assert.equal(await update(table, ['text', 'whole'], []), 0)
      const changes = [
        [a, 'A', 7],
        [c, oddTexts.join(), null],
        [randomUUID(), 'of no row', 9],
      ] as const
      assert.equal(await update(table, ['text', 'whole'], changes as never), 2)
      assert.equal(await update(table, ['whole'], [[b as string, 8]]), 1)
    })
    assert.deepEqual(await select(driver, `SELECT text, whole FROM ${table.name} ORDER BY text`), [
      [oddTexts.join(), null],
      ['A', 7],
      ['b', 8],
      ['d', 1],
    ])
  },

  async 'finds the rows of a list'(driver) {
    const table = await createTable(driver)
    const rows = oddTexts.map((text, index) => [randomUUID(), text, index, null, null])
    await insertInto(driver, table, rows)
    const lists = { id: rows.map(([id]) => id), text: oddTexts, whole: rows.map(([, , whole]) => whole) }
    for (const [column, values] of Object.entries(lists)) {
      const among = driver.dialect.among('?1', types[column] as ColumnType)
      const sql = `SELECT whole FROM ${table.name} WHERE ${column} IN ${among} ORDER BY whole`
      assert.deepEqual(await select(driver, sql, [[]]), [])
      for (const count of [1, 3, values.length]) {
        const wanted = rows.slice(0, count).map(([, , whole]) => [whole])
        const list = [...values.slice(0, count), ...values.slice(0, 1)] as string[]
        assert.deepEqual(await select(driver, sql, [list]), wanted, `${count} by ${column}`)
        const listed = `SELECT count(*) AS whole FROM ${driver.dialect.list('?1', types[column] as ColumnType)}
          WHERE EXISTS (SELECT 1 FROM ${table.name} WHERE ${column} = list.value)`
        assert.deepEqual(await select(driver, listed, [list.slice(0, count)]), [[count]])
      }
    }
  },

  async 'compares texts by their bytes'(driver) {
    const table = await createTable(driver)
    const texts = ['', ' b', 'A', 'B', 'Z', '_', 'a', 'a b', 'aB', 'ab', 'z', 'Ä', 'ä', '～', '😀']
    const rows = texts.toReversed().map((text) => rowOf(text))
    await insertInto(driver, table, rows)
    assert.deepEqual(await textsOf(driver, table), texts)
    const sql = `SELECT count(*) AS count FROM ${table.name} WHERE (text, whole) > (?1, ?2)`
    assert.deepEqual(await select(driver, sql, ['Z', 1]), [[texts.length - 1 - texts.indexOf('Z')]])
  },

  async 'shows no value of a statement in an error'(driver) {
    const table = await createTable(driver, 'text')
    const row = rowOf('a value that nobody may see')
    const failed = insertInto(driver, table, [row, row])
    await assert.rejects(failed, (error: Error) => !error.message.includes('nobody may see'))
  },

  async 'tells the time'(driver) {
    const at = await driver.clock()
    assert.ok(Number.isSafeInteger(at), 'in whole milliseconds')
    assert.ok(Math.abs(at - Date.now()) < 60_000, 'since the Unix epoch')
  },

  async 'does nothing any more once it is closed'(driver) {
    const table = await createTable(driver)
    await driver.close()
    await assert.rejects(insertInto(driver, table, [rowOf('late')]))
    await assert.rejects(select(driver, 'SELECT 1 AS one'))
  },
}

/** The tests of drivers whose data is shared. Each is given those of two processes. */
export const sharedDriverTests: Readonly<Record<string, (driver: Driver, other: Driver) => Promise<void>>> = {
  async 'runs transactions at one time, and keeps a locked key from all others'(driver, other) {
    const table = await createTable(driver)
    await insertInto(driver, table, [rowOf('counter')])
    const increment = async (tx: Transaction) => {
      await tx.lock(['counter', 'another', 'counter'])
      const [row] = await tx.all<{ whole: number }>(`SELECT whole FROM ${table.name}`)
      await tx.run(`UPDATE ${table.name} SET whole = ?1`, [(row?.whole ?? 0) + 1])
    }
    await Promise.all(
      Array.from({ length: 40 }, (_, index) => (index % 2 ? driver : other).transaction(increment)),
    )
    assert.deepEqual(await select(driver, `SELECT whole FROM ${table.name}`), [[41]])
  },

  async 'runs transactions again that wait for each other'(driver, other) {
    const table = await createTable(driver)
    const met = [Promise.withResolvers<void>(), Promise.withResolvers<void>()] as const
    const cross = (node: Driver, own: 0 | 1) =>
      node.transaction(async (tx) => {
        await tx.lock([`key ${own}`])
        met[own].resolve()
        await met[own === 0 ? 1 : 0].promise
        await tx.lock([`key ${1 - own}`])
        await tx.insert(table, [rowOf(`${own}`)])
      })
    await Promise.all([cross(driver, 0), cross(other, 1)])
    assert.deepEqual(await textsOf(driver, table), ['0', '1'])
  },

  async 'finds locked rows, and passes them over where that was asked for'(driver, other) {
    const table = await createTable(driver)
    await insertInto(driver, table, abc)
    const first = ({ dialect }: Driver) =>
      `SELECT text FROM ${table.name} ORDER BY text LIMIT 1 ${dialect.skipLocked}`
    const taken = await driver.transaction(async ({ all }) => {
      const [mine] = await all<{ text: string }>(first(driver))
      const [theirs] = await other.transaction((tx) => tx.all<{ text: string }>(first(other)))
      return [mine?.text, theirs?.text]
    })
    assert.deepEqual(taken, ['a', 'b'])
  },

  async 'hears what others send, once it has said that something may have been missed'(driver, other) {
    const heard = { driver: [] as string[], other: [] as string[] }
    let gaps = 0
    const listen = (node: Driver, into: string[]) =>
      node.listen(
        (text) => into.push(text),
        () => (gaps += 1),
        () => undefined,
      )
    listen(driver, heard.driver)
    listen(other, heard.other)
    await eventually('it listens', () => gaps >= 2)
    const sent = [...oddTexts.filter((text) => text !== ''), 'x'.repeat(7_900)]
    for (const text of sent) await other.notify(text)
    await driver.notify('done')
    await eventually(
      'everything is heard',
      () => heard.driver.length >= sent.length && heard.other.length >= 1,
    )
    assert.deepEqual(heard, { driver: sent, other: ['done'] })
  },

  async 'says that it hears, with the first text at the latest'(driver, other) {
    const said: string[] = []
    driver.listen(
      (text) => said.push(text),
      () => undefined,
      () => said.push('it hears'),
    )
    const sending = setInterval(() => void other.notify('text').catch(() => undefined), 10)
    try {
      await eventually('it hears', () => said.length > 0)
    } finally {
      clearInterval(sending)
    }
    assert.equal(said[0], 'it hears')
  },

  async 'describes its server'(driver) {
    assert.match((await driver.describe())?.version ?? '', /^\d/)
  },
}
