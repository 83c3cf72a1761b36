/** Moves stores at the command line, from the embedded database to PostgreSQL and back. */

import assert from 'node:assert/strict'
import { readFile, stat } from 'node:fs/promises'
import path from 'node:path'
import { type TestContext, test } from 'node:test'
import type { Driver, SqlValue, Table } from '@reveille/kit'
import { openPostgresDriver } from '../../../plugins/postgres/driver.ts'
import { testPostgres } from '../../../plugins/postgres/testing/index.ts'
import { createSampler } from '../../store/contract/bench/samples.ts'
import { createIdMinter } from '../../store/id.ts'
import { encodeString } from '../../store/records/rows.ts'
import { migrate, tables } from '../../store/schema.ts'
import { openSqliteStore } from '../../store/sqlite/index.ts'
import { openOffline } from '../../store/sqlite/offline.ts'
import { createCommandLine } from '../io-fixture.ts'
import { useDump } from './store.ts'

const on = (gateway: string) => `gateway: { ${gateway}, auth: { token: a-token-of-the-operator-1 } }\n`

async function createCommands(t: TestContext, overrides: Parameters<typeof createCommandLine>[2] = {}) {
  const { url, drop } = await testPostgres()
  t.after(drop)
  const files = {
    'first.yaml': on('dataDir: ./first'),
    'server.yaml': on('dataDir: ./server, store: "${DATABASE}"'),
    'second.yaml': on('dataDir: ./second'),
  }
  const commands = await createCommandLine(t, files, { ...overrides, env: { DATABASE: url } })
  return {
    ...commands,
    url,
    /** Runs a command on the store of one of the files. */
    on: (name: string, ...words: readonly string[]) =>
      commands.run('store', ...words, '--config', `${name}.yaml`),
    read: (name: string) => readFile(path.join(commands.cwd, name), 'utf8'),
    open: (name: string) =>
      openOffline({ location: path.join(commands.cwd, name), creates: true, now: Date.now }),
  }
}

const odd = ['\0 and \ud800', 'a\u2028line\r\n', '\u0001', '🐚 \\u0000 "', '']

/** Makes three rows for a table, with values of all kinds. */
function rowsFor({ name, columns }: Table): SqlValue[][] {
  const given = Object.entries(columns).filter(([, { type }]) => type !== 'sequence')
  return [0, 1, 2].map((row) =>
    given.map(([column, { type, isNullable }], place) => {
      if (isNullable && (row + place) % 3 === 0) return null
      if (type === 'id') return `0192f0c0-0000-7000-8000-${`${name.length}${place}${row}`.padStart(12, '0')}`
      if (type === 'bytes') return new Uint8Array([0, 255, row, 10])
      if (type === 'integer') return row === 2 ? Number.MAX_SAFE_INTEGER - place : 1_000 * place + row
      return encodeString(`${odd[(row + place) % odd.length]} ${column} ${row}`)
    }),
  )
}

async function fill(driver: Driver): Promise<void> {
  await migrate(driver)
  await driver.transaction(async (tx) => {
    for (const table of Object.values(tables)) await tx.insert(table, rowsFor(table))
    await tx.run(`UPDATE tasks SET kind = 'run' WHERE sequence > 1`)
    await tx.run(`UPDATE requests SET outcome = 'ignored', kept = 13`)
    await tx.run('UPDATE events SET pending = NULL, urgency = 1')
    await tx.run('UPDATE events SET pending = 1, urgency = 0 WHERE id = (SELECT max(id) FROM events)')
  })
  await driver.close()
}

test('rows of every table go to PostgreSQL and back, and are the same; a claimed task may be claimed again', async (t) => {
  const { on, open, read, write, url } = await createCommands(t)
  await fill(open('first'))
  // Three of each table but those of processes; the value of a source lies in a file.
  const exported = 3 * (Object.keys(tables).length - 4) + 1
  await write('first/sources/gmail/consent.json', '{"token":"t\\u0000"}')
  assert.deepEqual(await on('first', 'export', 'one.ndjson'), {
    code: 0,
    out: `Exported ${exported} rows to one.ndjson, among them 3 requests and 3 runs.\n`,
    err: '',
  })
  const one = await read('one.ndjson')
  const imported = await on('server', 'import', 'one.ndjson', '--json')
  assert.equal(imported.code, 0, imported.err)
  assert.equal(JSON.parse(imported.out).counts.tasks, 3)
  assert.equal((await on('server', 'export', 'two.ndjson')).code, 0)
  assert.equal((await on('second', 'import', 'two.ndjson')).code, 0)
  assert.equal(await read('second/sources/gmail/consent.json'), '{"token":"t\\u0000"}\n')
  assert.equal((await on('second', 'export', 'three.ndjson')).code, 0)
  assert.equal(await read('two.ndjson'), one)
  assert.equal(await read('three.ndjson'), one)

  const server = await openPostgresDriver({ location: url })
  const second = open('second')
  const count =
    "SELECT name, sum(value) AS value FROM counts WHERE name <> 'commits' GROUP BY name ORDER BY name"
  const tasks = 'SELECT key, leased_by, leased_until FROM tasks ORDER BY sequence'
  for (const driver of [server, second]) {
    assert.deepEqual(
      (await driver.read(({ all }) => all<{ name: string }>(count))).map((row) => ({ ...row })),
      [
        { name: 'backlog', value: 2 },
        { name: 'ignored', value: 3 },
        { name: 'keptBytes', value: 39 },
        { name: 'pending', value: 1 },
        { name: 'pendingNow', value: 1 },
      ],
    )
    const rows = await driver.read(({ all }) =>
      all<{ key: string; leased_by: string | null; leased_until: number | null }>(tasks),
    )
    assert.deepEqual(
      rows.map(({ key }) => key),
      rowsFor(tables.tasks).map(([key]) => key),
    )
    for (const row of rows) assert.deepEqual([row.leased_by], [null])
    await driver.close()
  }
})

test('a store that a gateway has written is the same after its way through PostgreSQL, over standard input and output', async (t) => {
  let input = ''
  const { on, cwd } = await createCommands(t, {
    async *inputChunks() {
      const bytes = Buffer.from(input)
      for (let at = 0; at < bytes.length; at += 1_000) yield bytes.subarray(at, at + 1_000)
    },
  })
  const options = { now: Date.now, keepMs: 1_000_000, backlog: 10, historyMessages: 10 }
  const store = await openSqliteStore({ ...options, location: path.join(cwd, 'first') })
  const sample = createSampler({ mintId: createIdMinter(Date.now), clock: { now: Date.now } })
  const entry = sample.entry(sample.runAction({ message: 'tide\0\ud800' }))
  const body = Buffer.from([0, 1, 2, 254])
  await store.accept({ ...entry, request: { ...entry.request, body, head: {} as never } })
  await store.accept(sample.entry(sample.eventAction()))
  const before = await store.read.requests()
  await store.close()

  for (const [from, to] of [
    ['first', 'server'],
    ['server', 'second'],
  ] as const) {
    const exported = await on(from, 'export', '-')
    assert.equal(exported.code, 0, exported.err)
    input = exported.out
    assert.equal((await on(to, 'import', '-')).code, 0)
  }
  const moved = await openSqliteStore({ ...options, location: path.join(cwd, 'second') })
  t.after(() => moved.close())
  assert.deepEqual(await moved.read.requests(), before)
  const [action] = entry.actions
  assert.deepEqual((await moved.read.run(action?.record.id ?? ''))?.message, 'tide\0\ud800')
  assert.deepEqual(Buffer.from((await moved.read.request(entry.request.id))?.body ?? []), body)
  assert.deepEqual([moved.health().backlog, moved.health().events], [1, 1])
  assert.ok(moved.newestAt > 0)
})

test('a message that cannot be moved as a whole is refused, and no part of it is kept', async (t) => {
  const { on, open, read, write, cwd } = await createCommands(t)
  const none = await on('first', 'export', 'one.ndjson')
  assert.match(none.err, /^There is no store in .*first\.\n$/)
  await fill(open('first'))
  assert.equal((await on('first', 'export', 'one.ndjson')).code, 0)
  assert.equal((await stat(path.join(cwd, 'one.ndjson'))).mode & 0o777, 0o600)
  assert.match((await on('first', 'export', 'one.ndjson')).err, /one\.ndjson exists already/)
  assert.match((await on('second', 'import', 'nowhere')).err, /nowhere cannot be read/)

  const text = await read('one.ndjson')
  const [header = '', ...lines] = text.split('\n')
  const broken: readonly (readonly [string, RegExp])[] = [
    ['', /cannot be imported: it is empty/],
    ['{}\n', /its first line is not that of an export/],
    [text.replace(/"schema":\d+/, '"schema":99'), /This is schema 99, and this version has schema/],
    [`${text.slice(0, -30)}\n`, /line \d+ is not a JSON object/],
    [[header, ...lines.slice(0, -4)].join('\n'), /it has \d rows of \w+, and should have 3: it is cut/],
    [text.replace('"table":"runs"', '"table":"spies"'), /line \d+ is not a row of a table/],
    [text.replace('"table":"nodes"', '').replace(/,"row":\["/, ',"row":[7,"'), /line 2 is not a row/],
  ]
  for (const to of ['second', 'server'])
    for (const [content, says] of broken) {
      await write('broken.ndjson', content)
      const { code, err } = await on(to, 'import', 'broken.ndjson')
      assert.equal(code, 1)
      assert.match(err, says, to)
    }
  for (const to of ['second', 'server']) {
    const whole = await on(to, 'import', 'one.ndjson')
    assert.equal(whole.code, 0, whole.err)
    const again = await on(to, 'import', 'one.ndjson')
    assert.match(again.err, /^The store is not empty: it has requests\. An export is imported before/)
  }
})

test('standard input is read as far as it is imported: it may be larger than the memory', async (t) => {
  let chunks = 0
  const { on } = await createCommands(t, {
    async *inputChunks() {
      for (; ; chunks += 1) yield Buffer.from('no export\n')
    },
  })
  for (const to of ['second', 'server']) {
    const { code, err } = await on(to, 'import', '-')
    assert.equal(code, 1)
    assert.match(err, /cannot be imported: line 1 is not a JSON object/)
  }
  assert.ok(chunks < 10, `${chunks} chunks were read`)
})

test('a store that a gateway uses is neither exported nor imported into', async (t) => {
  const { on, open, url } = await createCommands(t)
  const driver = open('first')
  await migrate(driver)
  for (const word of ['export', 'import']) {
    const { code, err } = await on('first', word, word === 'export' ? 'one.ndjson' : 'first.yaml')
    assert.equal(code, 1)
    assert.match(err, /^Another process uses the data folder .*first: stop it first\.\n$/)
  }
  await driver.close()
  const server = await openPostgresDriver({ location: url })
  await migrate(server)
  const at = Math.round(await server.clock())
  const node = ['0192f0c0-0000-7000-8000-000000000001', 'ada', '1', 'all', null, at, at, at, 0, 'poll']
  await server.transaction((tx) => tx.insert(tables.nodes, [node]))
  await server.close()
  for (const word of ['export', 'import']) {
    const { code, err } = await on('server', word, word === 'export' ? 'one.ndjson' : 'first.yaml')
    assert.deepEqual(
      [code, err],
      [1, 'Nodes work on the database: ada. Stop them first. One that was killed counts for 15 seconds.\n'],
    )
  }
})

test('of a store in PostgreSQL a backup names the program that makes it, without the password', () => {
  const store =
    'postgres://reveille:a-s@cret@db1.example.com:5432,db2.example.com/reveille?sslmode=verify-full'
  assert.match(
    useDump(store, 'nightly copy'),
    /\npg_dump --format custom --schema reveille --file 'nightly copy' 'postgres:\/\/reveille@db1\.example\.com:5432,db2\.example\.com\/reveille\?sslmode=verify-full'$/,
  )
})
