import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, describe, type TestContext, test } from 'node:test'
import { startManualWorker } from '../contract/bench/manual-worker.ts'
import { createSampler, idOf } from '../contract/bench/samples.ts'
import { copyStore, type PlainRow, type StoredValues } from '../copying.ts'
import { createIdMinter } from '../id.ts'
import { createManualClock } from '../manual-clock.ts'
import type { Store } from '../port.ts'
import { openSqliteSource, openSqliteTarget } from '../sqlite/copying.ts'
import { databaseFile } from '../sqlite/database/folder.ts'
import { openSqliteStore } from '../sqlite/index.ts'
import { heartbeatTask } from '../tasks.ts'
import { openPostgresSource, openPostgresTarget } from './copying.ts'
import { type TestDatabase, testPostgres } from './test-server.ts'

const clock = createManualClock()
const options = { ...clock, keepMs: 86_400_000, backlog: 1_000, historyMessages: 20 }
/** What neither UTF-8 nor PostgreSQL's texts can hold, and a text that begins like an encoded one. */
const odd = 'a\0b\ud800c'

describe('copying a store', { timeout: 60_000 }, () => {
  let filled = ''
  let database: TestDatabase
  let kept: readonly PlainRow[] = [{ source: 'gmail', name: 'consent', value: '{"token":"t"}' }]
  const values: StoredValues = {
    read: async () => kept,
    async write(rows) {
      kept = rows
    },
  }
  before(async () => {
    filled = await mkdtemp(join(tmpdir(), 'reveille-copy-'))
    const store = await openSqliteStore({ ...options, location: filled })
    await fill(store)
    await store.close()
    leaveClaim(filled)
    database = await testPostgres()
    await copy(openSqliteSource(filled, values), await openPostgresTarget(database.url))
    kept = []
  })
  after(async () => {
    await database.drop()
    await rm(filled, { recursive: true, force: true })
  })

  test('a store that went to PostgreSQL and back holds the same records, and goes on', async (t) => {
    const back = await folder(t)
    const counts = await copy(await openPostgresSource(database.url), await openSqliteTarget(back, values))
    for (const { kind, count } of counts) assert.ok(count > 0, `some ${kind} were copied`)
    assert.deepEqual(await everything(back), await everything(filled))
    const store = await openSqliteStore({ ...options, location: back })
    t.after(store.close)
    assert.deepEqual(store.health(), { ...store.health(), backlog: 5, events: 2 })
    const worker = startManualWorker(store, ['run'])
    const claims = [await worker.next(), await worker.next()]
    const first = claims.find(({ task }) => task.interrupted)
    assert.equal(first?.task.attempt, 1, 'the claim that was open was interrupted')
    const ordered = claims.find(({ task }) => task.lane === 'session:pr:1')
    const { history, runnerState, run } = (await ordered?.load()) ?? {}
    assert.deepEqual(
      [history?.map(({ text }) => text), runnerState],
      [['hi', odd, 'bye'], { claude: odd.toWellFormed() }],
    )
    assert.equal(run?.message, odd)
    assert.equal(worker.waiting.length, 0, 'the second of the lane waits')
  })

  test('a store that is not empty is left alone', async (t) => {
    await assert.rejects(openPostgresTarget(database.url), { message: /is not empty: it has requests/ })
    await assert.rejects(openSqliteTarget(filled), { message: /is not empty: it has requests/ })
    const empty = await folder(t)
    const store = await openSqliteStore({ ...options, location: empty })
    await assert.rejects(openSqliteTarget(empty), { code: 'LOCKED' })
    assert.throws(() => openSqliteSource(empty), { code: 'LOCKED' })
    await store.close()
    await copy(openSqliteSource(empty), await openSqliteTarget(await folder(t)))
  })

  test('a database that is named twice, in whatever way, is not copied onto itself', async (t) => {
    const { url, drop } = await testPostgres()
    t.after(drop)
    await copy(await openPostgresSource(database.url), await openPostgresTarget(url))
    const source = await openPostgresSource(url)
    t.after(source.close)
    const again = new URL(url)
    again.hostname = 'LOCALHOST'
    for (const location of [
      url,
      again.href,
      `${url}?target_session_attrs=read-write`,
      `${url}?sslmode=disable`,
    ])
      await assert.rejects(openPostgresTarget(location), {
        code: 'LOCKED',
        message: /is being copied already/,
      })
  })

  test('where there is no store nothing is copied, and no tables are made', async (t) => {
    const { url, drop } = await testPostgres()
    t.after(drop)
    const nowhere = await folder(t)
    for (const _ of [1, 2]) await assert.rejects(openPostgresSource(url), { message: /there is no store in/ })
    assert.throws(() => openSqliteSource(nowhere), { message: /there is no store in/ })
  })

  test('a copy that lacks something is not kept', async (t) => {
    const place = await folder(t)
    const source = openSqliteSource(filled)
    const target = await openSqliteTarget(place)
    const forgetful: typeof target = {
      ...target,
      write: (kind, items) => target.write(kind, kind === 'runs' ? items.slice(1) : items),
    }
    await assert.rejects(copyStore(source, forgetful), { message: /the copy differs in its runs/ })
    await target.close()
    await source.close()
    const counts = await copy(openSqliteSource(place), await openSqliteTarget(await folder(t)))
    assert.ok(counts.every(({ count }) => count === 0))
  })
})

async function folder(t: TestContext): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'reveille-copy-'))
  t.after(() => rm(path, { recursive: true, force: true }))
  return path
}

async function copy(...[source, target]: Parameters<typeof copyStore>) {
  try {
    return await copyStore(source, target)
  } finally {
    await target.close()
    await source.close()
  }
}

/** Leaves the first task as a process leaves it that is killed while it performs it. */
function leaveClaim(location: string): void {
  const db = new DatabaseSync(databaseFile(location))
  db.exec(`UPDATE tasks SET claimed = 1, held = 0 WHERE seq = (SELECT min(seq) FROM tasks);
    DELETE FROM alarms WHERE seq = (SELECT min(seq) FROM tasks)`)
  db.close()
}

/** Leaves at least one record of each kind, with texts that are hard to store. */
async function fill(store: Store): Promise<void> {
  const mintId = createIdMinter(clock.now)
  const sample = createSampler({ mintId, clock })
  const kept = { body: new Uint8Array([0, 255, 1]), head: { headers: { a: odd }, query: {} } }
  const trace = { candidates: [{ why: odd }], more: 0 }
  const dedupe = { scope: odd, key: odd, bodyDigest: 'd', until: clock.now() + 1_000 }
  const first = sample.entry(sample.runAction({ budget: 'github' }, { dedupe }))
  await store.accept({ ...first, request: { ...first.request, ...kept } })
  await store.accept(sample.entry(sample.eventAction({ text: odd, prompt: odd }), sample.eventAction()))
  store.note(
    sample.request({ outcome: 'failed', deliveryId: odd, client: odd, trace, replayOf: first.request.id }),
  )
  const ordered = ['pr:1', 'pr:1'].map((sessionKey) =>
    sample.runAction({ sessionKey, message: odd, prompt: odd, pool: 'p' }),
  )
  for (const action of ordered) await store.accept(sample.entry(action))
  for (const _ of [1, 2])
    await store.accept(sample.entry(sample.coalescedAction({ keep: 'all' }, { sessionKey: 'pr:2' })))
  const delivery = sample.delivery({ text: odd, to: odd })
  await store.command({ type: 'send', delivery, task: sample.deliveryTask(delivery) })
  const worker = startManualWorker(store, ['run'], 1)
  const claim = await worker.next()
  const said = (session: string, ...texts: string[]) => {
    const turn = mintId()
    return {
      session,
      turn,
      messages: texts.map((text) => ({ role: 'user' as const, text, at: clock.now(), turn })),
    }
  }
  const [one, two, three] = [said('pr:1', 'old'), said('pr:1', 'older'), said('pr:1', odd, 'bye')]
  await claim.checkpoint({
    run: { id: idOf(first.actions[0] ?? assert.fail()), state: 'running', name: odd },
    append: [one, two, said('pr:3', 'x'), three],
    runnerState: { session: 'pr:1', runner: 'claude', state: odd },
    spend: { day: '2026-01-01', budget: odd, runs: 1, tokens: 5, usd: 0.5, of: { session: 'pr:1' } },
  })
  await claim.checkpoint({ compact: { session: 'pr:1', through: two.turn, summary: said('pr:1', 'hi') } })
  await store.command({ type: 'schedule', task: heartbeatTask(clock.now() + 60_000) })
  await store.command({ type: 'set-route', route: { channel: 'terminal', to: odd } })
  const job = { id: mintId(), filter: { code: odd }, options: {}, createdAt: clock.now() }
  await store.command({ type: 'job-begin', job, items: [first.request.id] })
  await store.command({ type: 'job-next', job: job.id, limit: 1, mint: [mintId()] })
  const shown = { key: odd, code: 'A', severity: 'degraded', subject: odd, cause: odd } as const
  const issue = { ...shown, next: { label: odd }, count: 2 }
  await store.command({ type: 'issues', at: 5, changes: [issue, { key: odd, mute: 9 }] })
}

/** Returns what a reader of the store in a folder sees. */
async function everything(location: string): Promise<unknown> {
  const store = await openSqliteStore({ ...options, location })
  const { read } = store
  const [requests, runs] = [await read.requests(), await read.runs()]
  const seen = [
    await Promise.all(requests.items.map(({ id }) => read.request(id))),
    await Promise.all(runs.items.map(({ id }) => read.run(id))),
    ...(await Promise.all([
      read.events(),
      read.deliveries(),
      read.sessions(),
      read.session('pr:1'),
      read.route(),
      read.spent(),
      read.costs({ by: 'session' }),
      read.jobs(),
      read.issues(),
      read.openRuns(),
    ])),
    store.health(),
  ]
  await store.close()
  return seen.map((each) => ({ ...(each as object), commits: 0 }))
}
