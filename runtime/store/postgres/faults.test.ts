/** Tests the store on a network that fails, and on a server that fails. */

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, type TestContext, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import { startManualWorker } from '../contract/bench/manual-worker.ts'
import { createSampler, idOf } from '../contract/bench/samples.ts'
import { createIdMinter } from '../id.ts'
import { type Claim, type Entry, type Store, StoreError, type StoreOptions, type Takeover } from '../port.ts'
import { createDatabase, type Faults } from './connection.ts'
import { migrated } from './contract-subject.ts'
import { type EmbeddedServer, startEmbeddedServer } from './embedded-server.ts'
import { createNetwork } from './network.ts'
import { openStore } from './store.ts'
import { testPostgres } from './test-server.ts'

const sample = createSampler({ mintId: createIdMinter(Date.now), clock: { now: Date.now } })
const quietMs = 600
/** The clock by which a commit takes too long runs twenty times as fast. */
const setWatchTimer: StoreOptions['setWatchTimer'] = (run, ms) => {
  const timer = setTimeout(run, ms / 20)
  return () => clearTimeout(timer)
}

async function open(
  t: TestContext,
  location: string,
  more: Partial<StoreOptions & Faults> = {},
): Promise<Store> {
  const limits = { keepMs: 86_400_000, backlog: 10_000, historyMessages: 10 }
  const store = await openStore({ location, now: Date.now, ...limits, ...more }, { quietMs, ...more })
  t.after(() => store.close())
  return store
}

async function openThroughNetwork(t: TestContext, more?: Partial<StoreOptions>) {
  const { url, drop } = await testPostgres(migrated)
  const network = await createNetwork(url)
  t.after(async () => {
    await network.close()
    await drop()
  })
  return { network, url, store: await open(t, network.url, more) }
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await wait(5)
}

const accepts = (store: Store, entry: Entry) =>
  store.accept(entry).then(
    () => true,
    () => false,
  )

const runsOf = async (store: Store) => (await store.read.runs({ limit: 9 })).items.map(({ id }) => id)

for (const what of ['question', 'answer'] as const)
  test(`a connection that is cut at the ${what} of COMMIT loses nothing, and nothing happens twice`, async (t) => {
    const { network, store } = await openThroughNetwork(t)
    const cut = (pass: () => void) => {
      // What the client sent before it was cut still arrives, or does not.
      if (what === 'answer') pass()
      network.cut()
    }
    const action = sample.runAction()
    network.catchCommit(what, cut)
    const { actions } = await store.accept(sample.entry(action))
    assert.deepEqual(actions, [{ outcome: 'accepted', id: idOf(action) }])
    const claim = await startManualWorker(store, ['run']).next()
    assert.equal(claim.task.claims, 1)
    network.catchCommit(what, cut)
    claim.settle({ done: true, effects: { run: { id: idOf(action), state: 'succeeded', reply: 'once' } } })
    // A command is carried out after what was handed in before it.
    await store.command({ type: 'offer-route', route: undefined })
    assert.equal((await store.read.run(idOf(action)))?.reply, 'once')
    assert.deepEqual(await runsOf(store), [idOf(action)])
  })

for (const [how, end] of [
  ['restore', 'until it works again'],
  ['forget', 'for ever on connections that were open'],
] as const)
  test(`a network that is silent ${end} is reported within five seconds, and writing goes on by itself`, async (t) => {
    const { network, store } = await openThroughNetwork(t, { setWatchTimer })
    const [before, during, after] = [sample.runAction(), sample.runAction(), sample.runAction()]
    await store.accept(sample.entry(before))
    network.silence()
    const entry = sample.entry(during)
    await assert.rejects(store.accept(entry), { code: 'STORE_UNAVAILABLE' })
    assert.equal(store.health().writable, false)
    await assert.rejects(store.accept(sample.entry(after)), { code: 'STORE_UNAVAILABLE' })
    network[how]()
    await until(() => store.health().writable)
    // Its sender comes again.
    await store.accept(entry)
    assert.deepEqual(await runsOf(store), [during, before].map(idOf))
  })

test('nodes that an outage has kept from renewing their rows do not take each other for dead', async (t) => {
  const { url, drop } = await testPostgres(migrated)
  const takeovers: Takeover[] = []
  const leases = { renewMs: 100, expireMs: 1_500, holdMs: 1_000 }
  const networks = await Promise.all([createNetwork(url), createNetwork(url)])
  t.after(async () => {
    for (const network of networks) await network.close()
    await drop()
  })
  const onTakeover = (takeover: Takeover) => void takeovers.push(takeover)
  const claims: Claim[] = []
  for (const network of networks) {
    const store = await open(t, network.url, { leases, onTakeover, quietMs: 5_000 })
    await store.accept(sample.entry(sample.runAction()))
    claims.push(await startManualWorker(store, ['run'], 1).next())
  }
  for (const network of networks) network.silence()
  await wait(leases.expireMs + 50)
  for (const [index, network] of networks.entries()) {
    network.restore()
    await claims[index]?.hold()
  }
  assert.deepEqual(takeovers, [])
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
  // What is not committed is not written by itself.
  const settings = { hba_file: access, wal_writer_delay: '10s' }
  server = await startEmbeddedServer({ folder, settings })
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
async function createDatabaseOf(t: TestContext, name: string): Promise<string> {
  await operator.query(`CREATE DATABASE ${name}`)
  t.after(async () => {
    await operator.query(`DROP DATABASE ${name} WITH (FORCE)`)
  })
  const url = new URL(server.url)
  url.pathname = name
  await migrated.fill(url.href)
  return url.href
}

/** Kills a process of the server, as the kernel does where memory is short. The server ends all others, and recovers. */
async function crash(): Promise<void> {
  const victim = (await connectTo(server.url)) as pg.Client & { readonly processID: number }
  const isOver = new Promise((resolve) => operator.once('end', resolve))
  process.kill(victim.processID, 'SIGKILL')
  await isOver
  for (;;) {
    try {
      operator = await connectTo(server.url)
      return
    } catch {
      await wait(10)
    }
  }
}

test('a server that crashes and recovers loses nothing that was answered, and writing goes on by itself', async (t) => {
  const store = await open(t, await createDatabaseOf(t, 'crashes'))
  const [before, after] = [sample.runAction(), sample.runAction()]
  await store.accept(sample.entry(before))
  await crash()
  const entry = sample.entry(after)
  while (!(await accepts(store, entry))) await wait(20)
  assert.equal(store.health().writable, true)
  assert.deepEqual(await runsOf(store), [after, before].map(idOf))
})

test('while the server crashes under load, a commit is answered as recovery has kept it: nothing is lost, nothing is there twice', async (t) => {
  const store = await open(t, await createDatabaseOf(t, 'unclear'))
  const accepted: string[] = []
  let isOver = false
  let refused = 0
  const sender = async () => {
    while (!isOver) {
      const action = sample.runAction()
      const entry = sample.entry(action)
      // A sender that was refused sends the same again.
      while (!(await accepts(store, entry))) {
        refused += 1
        await wait(5)
      }
      accepted.push(idOf(action))
    }
  }
  const senders = Array.from({ length: 4 }, sender)
  for (let times = 0; times < 3; times++) {
    const until = accepted.length + 25
    while (accepted.length < until) await wait(1)
    await crash()
  }
  isOver = true
  await Promise.all(senders)
  const kept: string[] = []
  for (let cursor: string | undefined; ; ) {
    const page = await store.read.runs({ limit: 100, ...(cursor !== undefined && { cursor }) })
    kept.push(...page.items.map(({ id }) => id))
    cursor = page.next
    if (cursor === undefined) break
  }
  t.diagnostic(`accepted ${accepted.length}, refused ${refused}`)
  assert.deepEqual(kept.sort(), accepted.sort())
})

test('a commit that a crash has undone is not answered, although another transaction gets its number', async (t) => {
  const url = await createDatabaseOf(t, 'numbers')
  const network = await createNetwork(url)
  t.after(network.close)
  const store = await open(t, network.url, { quietMs: 60_000, setWatchTimer: () => () => {} })
  const entry = sample.entry(sample.runAction())
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
  // Where the server has written of the transaction before the crash, nothing else gets its number, and it is run again.
  const isAccepted = await accepts(store, entry)
  await undone
  assert.equal((await runsOf(store)).length, isAccepted ? 1 : 0)
  await store.accept(entry)
  assert.equal((await runsOf(store)).length, 1)
})

test('of several hosts the first that can be written to is taken, also when the one in use becomes a standby', async (t) => {
  const { url: other, drop } = await testPostgres(migrated)
  t.after(drop)
  const second = new URL(other)
  const name = second.pathname.slice(1)
  const first = new URL(await createDatabaseOf(t, name))
  if (second.username !== 'postgres') await operator.query(`CREATE ROLE ${second.username} SUPERUSER LOGIN`)
  const hosts = `127.0.0.1:1,${first.host},${second.host}`
  const store = await open(t, `${other.replace(second.host, hosts)}?target_session_attrs=read-write`)
  const [before, after] = [sample.runAction(), sample.runAction()]
  await store.accept(sample.entry(before))
  assert.deepEqual(await runsOf(store), [idOf(before)])
  await operator.query(`ALTER DATABASE ${name} SET default_transaction_read_only = on`)
  await operator.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`)
  const entry = sample.entry(after)
  while (!(await accepts(store, entry))) await wait(20)
  assert.deepEqual(await runsOf(store), [idOf(after)])
})

test('a store that cannot be opened says what is wrong and what to do, without the password', async (t) => {
  const { host } = new URL(await createDatabaseOf(t, 'errors'))
  await operator.query(`CREATE ROLE known LOGIN PASSWORD 'right'; CREATE ROLE serving LOGIN; CREATE ROLE crowded LOGIN CONNECTION LIMIT 0;
    CREATE ROLE reading LOGIN; ALTER ROLE reading SET default_transaction_read_only = on`)
  const limits = { keepMs: 86_400_000, backlog: 10_000, historyMessages: 10 }
  const refusal = async (location: string) => {
    const error = await openStore({ location, now: Date.now, ...limits }).catch((thrown: unknown) => thrown)
    assert.ok(error instanceof StoreError)
    assert.equal(error.code, 'STORE_UNAVAILABLE')
    const said = `${error.message}. ${error.fix}`
    assert.doesNotMatch(said, /hidden/)
    return said
  }
  for (const [address, expected] of [
    [`known:hidden@${host}/errors`, /refuses the password of the role known\. Correct it/],
    [`known@${host}/errors`, /refuses the password of the role known\. Write it/],
    [`known:hid@hidden@${host}/errors`, /cannot be read\. Characters such as @.* %40/],
    [`known:hid/hidden@${host}/errors`, /cannot be read\. Characters such as @.* %40/],
    [`absent@${host}/errors`, /does not let the role absent in\. .*pg_hba/],
    [`serving@${host}/absent`, /has no database absent\. Create it: CREATE DATABASE absent OWNER serving/],
    [
      'serving:hidden@127.0.0.1:1/errors',
      /^nothing takes connections at 127\.0\.0\.1:1\. Start the database/,
    ],
    [`serving@${host}/postgres`, /no store yet, and this role may not make one\. .*GRANT CREATE ON DATABASE/],
    [`serving@${host}/errors`, /lacks a privilege\. As the owner: GRANT USAGE ON SCHEMA/],
    [`reading@${host}/errors`, /can only be read from: .*\. Name the primary/],
    [`crowded@${host}/errors`, /no connection left for the role crowded\. Raise max_connections/],
    [`known:hidden@${host}/errors?sslmode=verify-full`, /does not encrypt connections\. .*sslmode=disable/],
    [`known:hidden@${host}/errors?sslmod=disable`, /unknown parameter sslmod\. Did you mean sslmode\?/],
    [`known:hidden@${host}/errors?sslmode=require`, /has sslmode=require\. It may be verify-full or disable/],
    [`known:hidden@${host}/errors?sslrootcert=/absent`, /sslrootcert cannot be read: ENOENT/],
  ] as const)
    assert.match(await refusal(`postgres://${address}`), expected, address)
  const owner = await connectTo(`postgres://postgres@${host}/errors`)
  await owner.query(
    'GRANT USAGE ON SCHEMA reveille TO serving; GRANT SELECT, UPDATE ON ALL TABLES IN SCHEMA reveille TO serving',
  )
  assert.match(
    await refusal(`postgres://serving@${host}/errors`),
    /lacks (INSERT|DELETE) on reveille\.\w+ and \d+ more/,
  )
  await owner.end()
})

test('a prepared statement has the name of its text on all nodes, so that a pooler can confuse none', async (t) => {
  const database = await createDatabase({ location: server.url })
  t.after(database.close)
  const { query } = database.link('test')
  await query('SELECT 1 AS any')
  const rows = await query("SELECT name FROM pg_prepared_statements WHERE statement = 'SELECT 1 AS any'")
  const name = createHash('sha256').update('SELECT 1 AS any').digest('hex').slice(0, 32)
  assert.deepEqual(rows, [{ name: `reveille_${name}` }])
})
