/** Tests the driver on a network that fails, and on a server that fails. */

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, type TestContext, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { type Driver, isDriverError, type Table } from '@reveille/kit'
import pg from 'pg'
import { openPostgresDriver, type PostgresDriverOptions } from './driver.ts'
import { type EmbeddedServer, startEmbeddedServer } from './testing/embedded-server.ts'
import { testPostgres } from './testing/index.ts'
import { createNetwork } from './testing/network.ts'

const things: Table = {
  name: 'things',
  columns: { id: { type: 'id', isNullable: false }, lane: { type: 'text', isNullable: true } },
  primaryKey: ['id'],
}

const times = { connectMs: 500, statementMs: 600, lockMs: 500, idleMs: 400, silenceMs: 100 }

async function open(
  t: TestContext,
  location: string,
  more: Partial<PostgresDriverOptions> = {},
): Promise<Driver> {
  const driver = await openPostgresDriver({ location, times, ...more })
  t.after(() => driver.close())
  return driver
}

async function createThings(url: string): Promise<void> {
  const driver = await openPostgresDriver({ location: url })
  await driver.transaction(async (tx) => {
    await driver.createNamespace?.(tx)
    await tx.run('CREATE TABLE things (id uuid PRIMARY KEY, lane text)')
  })
  await driver.close()
}

async function openThroughNetwork(t: TestContext) {
  const { url, drop } = await testPostgres()
  const network = await createNetwork(url)
  t.after(async () => {
    await network.close()
    await drop()
  })
  await createThings(url)
  return { network, url, driver: await open(t, network.url) }
}

async function add({ transaction }: Driver, id: string): Promise<void> {
  await transaction(({ insert }) => insert(things, [[id, null]]))
}

const adds = (driver: Driver, id: string) =>
  add(driver, id).then(
    () => true,
    () => false,
  )

async function idsIn({ read }: Driver): Promise<string[]> {
  return (await read(({ all }) => all<{ id: string }>('SELECT id FROM things'))).map(({ id }) => id)
}

for (const what of ['question', 'answer'] as const)
  test(`a connection that is cut at the ${what} of COMMIT loses nothing, and nothing happens twice`, async (t) => {
    const { network, driver } = await openThroughNetwork(t)
    for (const withRow of [true, false]) {
      const id = randomUUID()
      const value = `${withRow}`
      await add(driver, id)
      network.catchCommit(what, (pass) => {
        // Data that the client sent before it was cut may or may not arrive.
        if (what === 'answer') pass()
        network.cut()
      })
      await driver.transaction(async (tx) => {
        if (withRow) await tx.insert(things, [[randomUUID(), value]])
        else await tx.run('UPDATE things SET lane = coalesce(lane, $$$$) || ?1 WHERE id = ?2', [value, id])
      })
      const rows = await driver.read(({ all }) => all('SELECT id FROM things WHERE lane = ?1', [value]))
      assert.equal(rows.length, 1, value)
    }
  })

for (const how of ['restore', 'forget'] as const)
  test(`a network that is silent, and then ${how === 'forget' ? 'forever on connections that were open' : 'works again'}, is noticed, and writing goes on by itself`, async (t) => {
    const { network, driver } = await openThroughNetwork(t)
    const [known, during, later] = [randomUUID(), randomUUID(), randomUUID()]
    await add(driver, known)
    network.silence()
    await assert.rejects(add(driver, during), { code: 'UNAVAILABLE' })
    await assert.rejects(driver.clock(), { code: 'UNAVAILABLE' })
    network[how]()
    while (!(await adds(driver, later))) await wait(10)
    assert.deepEqual((await idsIn(driver)).sort(), [known, later].sort())
  })

test('a process that is paused in a transaction holds its locks for a short time, and runs it again', async (t) => {
  const { driver, url } = await openThroughNetwork(t)
  const other = await open(t, url)
  const order: string[] = []
  let runs = 0
  const paused = driver.transaction(async (tx) => {
    await tx.lock(['key'])
    runs += 1
    if (runs === 1) {
      const waiting = other.transaction(async (its) => {
        await its.lock(['key'])
        order.push('other')
      })
      await waiting
    }
    await tx.insert(things, [[randomUUID(), null]])
    order.push('paused')
  })
  await paused
  assert.deepEqual([order, runs], [['other', 'paused'], 2])
})

test('a statement that takes too long, or waits too long for a lock, fails and leaves the driver as it was', async (t) => {
  const { driver, url } = await openThroughNetwork(t)
  await assert.rejects(
    driver.read(({ all }) => all('SELECT pg_sleep(2)')),
    {
      code: 'UNAVAILABLE',
      message: 'the database took too long for a statement',
    },
  )
  const operator = await connectTo(url)
  await operator.query('BEGIN; LOCK TABLE reveille.things')
  await assert.rejects(add(driver, randomUUID()), {
    code: 'UNAVAILABLE',
    message: /another transaction holds/,
  })
  await operator.end()
  await add(driver, randomUUID())
})

test('listening resumes after the connection was cut, and missed notifications are reported', async (t) => {
  const { network, driver, url } = await openThroughNetwork(t)
  const other = await open(t, url)
  const heard: string[] = []
  let gaps = 0
  driver.listen(
    (text) => heard.push(text),
    () => {
      gaps += 1
    },
    () => undefined,
  )
  const isHeard = async (text: string) => {
    while (!heard.includes(text)) {
      await other.notify(text)
      await wait(20)
    }
  }
  await isHeard('before')
  const before = gaps
  network.cut()
  await isHeard('after')
  assert.ok(gaps > before)
})

/** A server of this file alone, which can be made to fail. The role `known` needs its password. */
let server: EmbeddedServer
let operator: pg.Client
const ending = new AsyncDisposableStack()

before(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'reveille-faults-'))
  ending.defer(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }))
  const access = join(folder, 'access')
  await writeFile(access, 'host all known 127.0.0.1/32 scram-sha-256\nhost all all 127.0.0.1/32 trust\n')
  // Uncommitted data is not written to disk by itself.
  server = await startEmbeddedServer({ folder, settings: { hba_file: access, wal_writer_delay: '10s' } })
  ending.defer(() => server.stop('immediate'))
  operator = await connectTo(server.url)
})
after(() => ending.disposeAsync())

async function connectTo(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => {})
  await client.connect()
  return client
}

/** Makes a database with a store on the server of this file. */
async function createDatabase(t: TestContext, name: string): Promise<string> {
  await operator.query(`CREATE DATABASE ${name}`)
  t.after(async () => {
    await operator.query(`DROP DATABASE ${name} WITH (FORCE)`)
  })
  const url = new URL(server.url)
  url.pathname = name
  await createThings(url.href)
  return url.href
}

/** Kills a process of the server, as the kernel does where memory is short. The server ends all others, and recovers. */
async function crash(): Promise<void> {
  const victim = (await connectTo(server.url)) as pg.Client & { readonly processID: number }
  const isOver = new Promise((resolve) => operator.once('end', resolve))
  process.kill(victim.processID, 'SIGKILL')
  await isOver
  await reconnect()
}

async function reconnect(): Promise<void> {
  for (;;) {
    try {
      operator = await connectTo(server.url)
      return
    } catch {
      await wait(10)
    }
  }
}

test('while the server crashes under load, nothing that was answered is lost, and nothing is there that was refused', async (t) => {
  const driver = await open(t, await createDatabase(t, 'unclear'))
  const accepted: string[] = []
  let isOver = false
  let refused = 0
  const sender = async () => {
    while (!isOver) {
      const id = randomUUID()
      if (await adds(driver, id)) accepted.push(id)
      else {
        refused += 1
        await wait(5)
      }
    }
  }
  const senders = Array.from({ length: 6 }, sender)
  for (let times = 0; times < 4; times += 1) {
    const until = accepted.length + 50
    while (accepted.length < until) await wait(1)
    if (times < 3) await crash()
    else {
      await server.stop('fast')
      await server.start()
      await reconnect()
    }
  }
  isOver = true
  await Promise.all(senders)
  t.diagnostic(`accepted ${accepted.length}, refused ${refused}`)
  assert.deepEqual((await idsIn(driver)).sort(), accepted.sort())
})

for (const [what, write] of [
  ['inserted a row', add],
  [
    'changed rows alone',
    ({ transaction }: Driver, id: string) =>
      transaction(({ run }) => run('INSERT INTO things (id) SELECT ?1::uuid', [id])).then(() => undefined),
  ],
] as const)
  test(`a commit that a crash has undone, and that ${what}, is not answered, although another transaction gets its number`, async (t) => {
    const url = await createDatabase(t, `numbers_${randomUUID().slice(0, 8)}`)
    const network = await createNetwork(url)
    t.after(network.close)
    const driver = await open(t, network.url, { times: {} })
    const id = randomUUID()
    const undone = new Promise<void>((resolve) => {
      network.catchCommit('question', async () => {
        network.forget()
        const number = async () =>
          Number((await operator.query('SELECT pg_current_xact_id()::text AS number')).rows[0].number)
        const last = await number()
        await crash()
        while ((await number()) <= last + 5);
        network.cut()
        resolve()
      })
    })
    const isAdded = await write(driver, id).then(
      () => true,
      () => false,
    )
    await undone
    assert.deepEqual(await idsIn(driver), isAdded ? [id] : [])
  })

test('of several hosts the first that can be written to is taken, also when the one in use becomes a standby', async (t) => {
  const { url: other, drop } = await testPostgres()
  t.after(drop)
  await createThings(other)
  const second = new URL(other)
  const name = second.pathname.slice(1)
  const first = new URL(await createDatabase(t, name))
  if (second.username !== 'postgres') await operator.query(`CREATE ROLE ${second.username} SUPERUSER LOGIN`)
  const hosts = `127.0.0.1:1,${first.host},${second.host}`
  const driver = await open(t, `${other.replace(second.host, hosts)}?target_session_attrs=read-write`)
  const [known, later] = [randomUUID(), randomUUID()]
  await add(driver, known)
  assert.deepEqual(await idsIn(driver), [known])
  await operator.query(`ALTER DATABASE ${name} SET default_transaction_read_only = on`)
  await operator.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`)
  while (!(await adds(driver, later))) await wait(20)
  assert.deepEqual(await idsIn(driver), [later])
})

test('a driver that cannot be opened reports the problem and the fix, without the password', async (t) => {
  const { host } = new URL(await createDatabase(t, 'errors'))
  await operator.query(`CREATE ROLE known LOGIN PASSWORD 'right'; CREATE ROLE serving LOGIN; CREATE ROLE crowded LOGIN CONNECTION LIMIT 0;
    CREATE ROLE reading LOGIN; ALTER ROLE reading SET default_transaction_read_only = on`)
  const makeStore = async (location: string) => {
    const driver = await openPostgresDriver({ location })
    await driver.transaction(async (tx) => await driver.createNamespace?.(tx)).finally(() => driver.close())
  }
  const refusal = async (location: string) => {
    const error = await makeStore(location).catch((thrown: unknown) => thrown)
    assert.ok(isDriverError(error))
    assert.equal(error.code, 'UNAVAILABLE')
    const said = `${error.message}. ${error.fix}`
    assert.doesNotMatch(said, /hidden/)
    return said
  }
  for (const [address, expected] of [
    [`known:hidden@${host}/errors`, /authentication failed for user "known"\. Correct the password/],
    [`known@${host}/errors`, /client password must be a string\. Correct the password/],
    [`known:hid@hidden@${host}/errors`, /cannot be read\. Characters such as @.* %40/],
    [`known:hid/hidden@${host}/errors`, /cannot be read\. Characters such as @.* %40/],
    [`absent@${host}/errors`, /cannot be used: .*"absent".*\. .*pg_hba/],
    [`serving@${host}/absent`, /database "absent" does not exist\. Create it: CREATE DATABASE/],
    [
      'serving:hidden@127.0.0.1:1/errors',
      /^the server at 127\.0\.0\.1:1 cannot be used: connect ECONNREFUSED 127\.0\.0\.1:1\. Start the database/,
    ],
    [`serving@${host}/postgres`, /no store yet, and this role may not make one\. .*GRANT CREATE ON DATABASE/],
    [`serving@${host}/errors`, /lacks a privilege\. As the owner: GRANT USAGE ON SCHEMA/],
    [`reading@${host}/errors`, /can only be read from: .*\. Name the primary/],
    [`crowded@${host}/errors`, /too many connections for role "crowded"\. Raise max_connections/],
    [
      `known:hidden@${host}/errors?sslmode=verify-full`,
      /does not support SSL connections\. .*sslmode=disable/,
    ],
    [`known:hidden@${host}/errors?sslmod=disable`, /unknown parameter sslmod\. It may have sslmode,/],
    [`known:hidden@${host}/errors?sslmode=require`, /has sslmode=require\. It may be verify-full or disable/],
    [`known:hidden@${host}/errors?sslrootcert=/absent`, /sslrootcert cannot be read: ENOENT/],
  ] as const)
    assert.match(await refusal(`postgres://${address}`), expected, address)
})
