import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { createSampler } from '../../contract/bench/samples.ts'
import { createIdMinter } from '../../id.ts'
import type { EventRecord, Migration, RequestRecord, RunRecord, SessionMessage, Store } from '../../port.ts'
import { readCounters } from '../records/counters.ts'
import { requestColumns, valuesOfRequest } from '../records/requests.ts'
import { openSqliteStore } from '../store.ts'
import { databaseFile } from './folder.ts'
import { blobOfId, placeOfBlob } from './ids.ts'
import { migrateStore } from './migrate-store.ts'
import { migrate as migrateTo, migrations, schemaOf } from './migrations.ts'

const start = Date.UTC(2026, 0, 1)
const each = 700
const child = fileURLToPath(new URL('./killed-migration.ts', import.meta.url))

interface Records {
  readonly requests: readonly RequestRecord[]
  readonly runs: readonly RunRecord[]
  readonly events: readonly EventRecord[]
  /** The messages of a session that was summarised while it had newer turns. */
  readonly messages: readonly SessionMessage[]
}

/** Makes a data folder as schema 5 kept it, and returns what is in it. */
function createOldFolder(t: TestContext): { folder: string; records: Records } {
  const folder = mkdtempSync(join(tmpdir(), 'reveille-migrate-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const db = new DatabaseSync(databaseFile(folder))
  db.exec('PRAGMA journal_mode = WAL')
  migrateTo(db, migrations.slice(0, 5))
  const records = sampleRecords()
  const request = db.prepare('INSERT INTO requests VALUES (?, ?, ?, ?, ?, ?)')
  const run = db.prepare('INSERT INTO runs VALUES (?, ?, ?, ?, ?)')
  const event = db.prepare('INSERT INTO events VALUES (?, ?, ?)')
  const inbox = db.prepare('INSERT INTO inbox VALUES (?, ?)')
  db.exec('BEGIN')
  for (const { body, head, ...record } of records.requests) {
    const { id, outcome, endpoint } = record
    const headText = head === undefined ? null : JSON.stringify(head)
    request.run(blobOfId(id), outcome, endpoint, JSON.stringify(record), body ?? null, headText)
  }
  for (const record of records.runs) {
    run.run(blobOfId(record.id), record.kind, record.state, record.sessionKey, JSON.stringify(record))
  }
  for (const record of records.events) {
    event.run(blobOfId(record.id), record.state, JSON.stringify(record))
    if (record.state === 'pending') inbox.run(record.mode === 'now' ? 0 : 1, blobOfId(record.id))
  }
  const { messages } = records
  const turn = db.prepare('INSERT INTO turns VALUES (?, ?, ?, ?, ?)')
  for (const [index, message] of messages.entries()) {
    turn.run('pr:1', index + 3, blobOfId(message.turn), message.at, JSON.stringify([message]))
  }
  turn.run('pr:2', 1, blobOfId(messages[1]?.turn ?? ''), start + 2, '[]')
  db.prepare('INSERT INTO sessions VALUES (?, ?, ?, 0)').run('pr:1', messages.length, start + 3)
  db.prepare('INSERT INTO sessions VALUES (?, 1, ?, 0)').run('pr:2', start + 2)
  db.prepare('INSERT INTO runner_states VALUES (?, ?, ?, ?)').run('pr:1', 'claude', start, 'kept')
  db.exec('COMMIT')
  db.close()
  return { folder, records }
}

function sampleRecords(): Records {
  let now = start
  const clock = { now: () => now }
  const sample = createSampler({ mintId: createIdMinter(clock.now), clock })
  const [requests, runs, events]: [RequestRecord[], RunRecord[], EventRecord[]] = [[], [], []]
  for (let i = 0; i < each; i++) {
    now += i % 3
    const run = sample.run({ message: `m ${i}`, prompt: `before m ${i} after` })
    runs.push(i % 2 === 0 ? run : { ...run, state: 'succeeded', stage: 'ran', reply: 'r', ranAt: now })
    events.push(sample.event(i % 5 === 0 ? { mode: 'next-heartbeat' } : { trusted: true }))
    const failed = { outcome: 'failed', status: 500, code: 'TRANSFORM_FAILED', reason: 'it threw' } as const
    const kept = { body: new Uint8Array([i % 256]), head: { headers: { a: 'b' }, query: {} } }
    const actions = [{ kind: 'agent' as const, id: run.id }]
    requests.push(sample.request(i % 7 === 0 ? { ...failed, ...kept } : { actions, timings: { read: 0.25 } }))
  }
  // Texts that UTF-8 cannot express, and ids that two clocks gave the same place.
  runs.push(sample.run({ message: 'half \ud83d', prompt: 'of half \ud83d', sessionKey: 'a\0b' }))
  const last = sample.event({ state: 'consumed', consumedAt: now, consumedBy: runs[0]?.id ?? '' })
  events.push(last, { ...last, id: `${last.id.slice(0, -4)}${last.id.endsWith('ffff') ? '0000' : 'ffff'}` })
  // The summary is younger than the turns behind it, of which two have the same time.
  const mintId = createIdMinter(clock.now)
  const said = (role: 'summary' | 'user', ms: number): SessionMessage => {
    return { role, text: `${role} ${ms}`, at: start + ms, turn: mintId() }
  }
  const messages = [said('summary', 4), said('user', 2), said('user', 2), said('user', 3)]
  return { requests, runs, events, messages }
}

async function openIn(folder: string, onMigration?: (migration: Migration) => void): Promise<Store> {
  return await openSqliteStore({
    location: folder,
    now: () => start + 1_000,
    keepMs: 86_400_000,
    backlog: 1_000_000,
    historyMessages: 20,
    ...(onMigration && { onMigration }),
  })
}

async function all<Item>(page: (cursor?: string) => Promise<{ items: readonly Item[]; next?: string }>) {
  const items: Item[] = []
  for (let cursor: string | undefined; ; ) {
    const { items: more, next } = await page(cursor)
    items.push(...more)
    if (next === undefined) return items
    cursor = next
  }
}

/** Fails unless the store holds the records, in lists and one by one. */
async function assertHolds(store: Store, { requests, runs, events, messages }: Records): Promise<void> {
  const inOrder = <Item extends { id: string }>(items: readonly Item[]) =>
    items.toSorted((a, b) => (a.id < b.id ? 1 : -1))
  const listed = requests.map(({ body, head: _head, ...request }) => ({
    ...request,
    ...(body !== undefined && { bodyKept: true }),
  }))
  const page = (cursor?: string) => ({ limit: 500, ...(cursor !== undefined && { cursor }) })
  assert.deepEqual(inOrder(await all((cursor) => store.read.requests(page(cursor)))), inOrder(listed))
  assert.deepEqual(inOrder(await all((cursor) => store.read.runs(page(cursor)))), inOrder(runs))
  assert.deepEqual(inOrder(await all((cursor) => store.read.events(page(cursor)))), inOrder(events))
  for (const request of requests.slice(0, 10)) assert.deepEqual(await store.read.request(request.id), request)
  for (const run of runs.slice(-10)) assert.deepEqual(await store.read.run(run.id), run)
  for (const event of events.slice(-10)) assert.deepEqual(await store.read.event(event.id), event)
  assert.deepEqual((await store.read.session('pr:1'))?.messages, messages)
  assert.deepEqual((await store.read.sessions()).items, [
    { key: 'pr:1', turns: 4, lastAt: start + 3 },
    { key: 'pr:2', turns: 1, lastAt: start + 2 },
  ])
  const pending = events.filter(({ state }) => state === 'pending').length
  assert.equal(store.health().events, pending)
}

test('a store of schema 5 is backed up, migrated and read as before', async (t) => {
  const { folder, records } = createOldFolder(t)
  const seen: Migration[] = []
  const store = await openIn(folder, (migration) => seen.push(migration))
  await assertHolds(store, records)
  await store.close()
  const total = 3 * each + 3
  const backup = `${databaseFile(folder)}.schema-5`
  const step = { from: 5, to: migrations.length, backup }
  assert.deepEqual(seen, [
    { ...step, done: 0, total: 0 },
    { ...step, done: 1000, total },
    { ...step, done: 2000, total },
    { ...step, done: total, total },
  ])

  // The backup is the old store: a version before this one reads it, and this one migrates it again.
  const old = new DatabaseSync(backup, { readOnly: true })
  assert.equal(schemaOf(old), 5)
  assert.equal(old.prepare('SELECT count(*) AS count FROM requests').get()?.['count'], each)
  old.close()
})

test('a store that was migrated is not migrated again, and a new one never', async (t) => {
  const { folder } = createOldFolder(t)
  await (await openIn(folder)).close()
  const fail = () => assert.fail('it was migrated')
  await (await openIn(folder, fail)).close()
  const empty = mkdtempSync(join(tmpdir(), 'reveille-migrate-'))
  t.after(() => rmSync(empty, { recursive: true }))
  await (await openIn(empty, fail)).close()
  assert.ok(!existsSync(`${databaseFile(empty)}.schema-5`))
})

test('without room for it a store is not migrated, and nothing is changed', (t) => {
  const { folder } = createOldFolder(t)
  const db = new DatabaseSync(databaseFile(folder))
  t.after(() => db.close())
  assert.throws(() => migrateStore(db, folder, { freeBytes: () => 1024 ** 2 }), {
    code: 'STORE_FULL',
    message: /needs \d+ MiB in .*, and 1 MiB are free\. Free some space/,
  })
  assert.equal(schemaOf(db), 5)
  assert.ok(!existsSync(`${databaseFile(folder)}.schema-5`))
})

test('a process that is killed at any step of a migration leaves a store that the next one migrates', async (t) => {
  const { folder, records } = createOldFolder(t)
  const steps: string[] = []
  for (let killedAt = 1; ; killedAt++) {
    const { signal, stdout } = spawnSync(process.execPath, [child, folder, `${killedAt}`], {
      encoding: 'utf8',
    })
    if (signal === null) break
    steps.push(stdout)
    assert.equal(signal, 'SIGKILL')
    const db = new DatabaseSync(databaseFile(folder))
    assert.equal(schemaOf(db), 5, stdout)
    db.close()
  }
  assert.deepEqual(steps, ['backup', '1000 rows', '2000 rows', `${3 * each + 3} rows`])
  const store = await openIn(folder, () => assert.fail('the last process has migrated it'))
  await assertHolds(store, records)
  await store.close()
})

/** Makes a data folder as schema 7 kept it, with one ignored request and one body of an accepted one. */
function createFolderOfSchema7(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'reveille-migrate-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const db = new DatabaseSync(databaseFile(folder))
  db.exec('PRAGMA journal_mode = WAL')
  migrateTo(db, migrations.slice(0, 7))
  const sample = createSampler({ mintId: createIdMinter(() => start), clock: { now: () => start } })
  const kept = { body: new Uint8Array(100), head: { headers: { a: 'ü' }, query: {} } }
  const columns = requestColumns.join(', ')
  const insert = db.prepare(
    `INSERT INTO requests (place, id, ${columns}) VALUES (?, ?${', ?'.repeat(requestColumns.length)})`,
  )
  for (const request of [sample.request({ outcome: 'ignored' }), sample.request(kept)]) {
    const id = blobOfId(request.id)
    insert.run(placeOfBlob(id), id, ...(valuesOfRequest(request) as SQLInputValue[]))
  }
  db.close()
  return folder
}

test('a migration that only adds tables and columns writes no backup, needs no room, and reports nothing', async (t) => {
  const folder = createFolderOfSchema7(t)
  const db = new DatabaseSync(databaseFile(folder))
  migrateStore(db, folder, { onMigration: () => assert.fail('it was reported'), freeBytes: () => 0 })
  assert.equal(schemaOf(db), migrations.length)
  const headBytes = Buffer.byteLength(JSON.stringify({ headers: { a: 'ü' }, query: {} }))
  assert.equal(readCounters(db).bodyBytes, 100 + headBytes, 'bodies of all outcomes count from now on')
  db.close()
  assert.ok(!existsSync(`${databaseFile(folder)}.schema-7`))
  const store = await openIn(folder)
  const { items } = await store.read.requests()
  assert.deepEqual(
    items.map(({ outcome }) => outcome),
    ['accepted', 'ignored'],
  )
  await store.close()
})

test('a process that is killed after any step of such a migration leaves a store that the next one migrates', async (t) => {
  const folder = createFolderOfSchema7(t)
  for (let schema = 8; schema <= migrations.length; schema++) {
    const { signal, stdout } = spawnSync(process.execPath, [child, folder, `schema ${schema}`], {
      encoding: 'utf8',
    })
    assert.deepEqual([signal, stdout], ['SIGKILL', `schema ${schema}`])
    const db = new DatabaseSync(databaseFile(folder))
    assert.equal(schemaOf(db), 7)
    db.close()
  }
  const store = await openIn(folder)
  assert.equal((await store.read.requests()).items.length, 2)
  await store.close()
})

test('what a killed process left of its backup is replaced', async (t) => {
  const { folder, records } = createOldFolder(t)
  const backup = `${databaseFile(folder)}.schema-5`
  for (const left of [backup, `${backup}.part`]) writeFileSync(left, 'half a backup')
  const store = await openIn(folder)
  await assertHolds(store, records)
  await store.close()
  const old = new DatabaseSync(backup, { readOnly: true })
  assert.equal(schemaOf(old), 5)
  old.close()
  assert.ok(!existsSync(`${backup}.part`))
})
