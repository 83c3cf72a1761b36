import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setImmediate, setTimeout as wait } from 'node:timers/promises'
import type { Driver } from '@reveille/kit'
import pg from 'pg'
import { openPostgresDriver } from '../../plugins/postgres/driver.ts'
import { testPostgres } from '../../plugins/postgres/testing/index.ts'
import { type HeldClaim, startManualWorker } from './contract/bench/manual-worker.ts'
import { createSampler, idOf } from './contract/bench/samples.ts'
import { migrated } from './contract/server-subject.ts'
import { createIdMinter } from './id.ts'
import type { Claim, Leadership, Store, Takeover, WorkOptions } from './port.ts'
import type { LeaseTimes } from './queue/claiming.ts'
import { openServerStore } from './server.ts'

/** The values of production. */
const nodeTimes: LeaseTimes = { renewMs: 5_000, expireMs: 15_000, freshMs: 10_000 }
const quick: LeaseTimes = { renewMs: 50, expireMs: 1_000, freshMs: 800 }
/** As if the process were stopped: it never renews its leases by itself. */
const paused: LeaseTimes = { renewMs: 1e9, expireMs: 400, freshMs: 100 }
const sample = createSampler({ mintId: createIdMinter(Date.now), clock: { now: Date.now } })

/** Opens nodes on one new database, which are closed at the end. */
async function openNodes(t: TestContext, ...times: LeaseTimes[]) {
  const { url, drop } = await testPostgres(migrated)
  const operator = new pg.Client({ connectionString: url })
  await operator.connect()
  const query = async (text: string) => (await operator.query(text)).rows
  const options = { location: url, now: Date.now, keepMs: 86_400_000, backlog: 10_000, historyMessages: 10 }
  const nodes: Store[] = []
  const takeovers: Takeover[] = []
  const onTakeover = (takeover: Takeover) => void takeovers.push(takeover)
  const join = async (each: LeaseTimes, change: (driver: Driver) => Partial<Driver> = () => ({})) => {
    const name = `node ${nodes.length + 1}`
    const driver = await openPostgresDriver({ location: url })
    const node = await openServerStore(Object.assign(driver, change({ ...driver })), {
      ...options,
      leases: each,
      onTakeover,
      node: { name, version: '1.0.0', role: 'all' },
    })
    nodes.push(node)
    return node
  }
  for (const each of times) await join(each)
  t.after(async () => {
    await Promise.all(nodes.map((node) => node.close()))
    await operator.end()
    await drop()
  })
  // From here on each node knows the others. On a slow machine, one that does not renew its leases may expire before that.
  for (const node of nodes)
    while ((await node.cluster.nodes()).length < nodes.length) {
      for (const each of nodes) each.cluster.report({ generation: 1, digest: '', sharedDigest: '' })
      await wait(5)
    }
  return { nodes, query, join, takeovers }
}

type Query = Awaited<ReturnType<typeof openNodes>>['query']

/** Has the only node renew its leases. */
async function renewed({ cluster }: Store, query: Query): Promise<void> {
  const renewedAt = async () => (await query('SELECT renewed_at FROM reveille.nodes'))[0].renewed_at
  for (const before = await renewedAt(); (await renewedAt()) === before; await wait(5))
    cluster.report({ generation: 1, digest: '', sharedDigest: '' })
}

/** Resolves once all nodes together have performed so many tasks. */
function performed(
  nodes: readonly Store[],
  count: number,
  work: Pick<WorkOptions, 'kinds' | 'concurrency' | 'pools' | 'owned'>,
  perform: (claim: Claim, node: number) => Promise<unknown>,
): Promise<void> {
  const done = Promise.withResolvers<void>()
  let ended = 0
  for (const [index, node] of nodes.entries())
    node.work({
      ...work,
      async perform(claim) {
        await perform(claim, index)
        ended += 1
        if (ended === count) done.resolve()
        const { kind, subject: id = '' } = claim.task
        const run = { id, state: 'succeeded', stage: 'delivered' } as const
        return { done: true, effects: kind === 'run' ? { run } : {} }
      },
      onFault: done.reject,
    })
  return done.promise
}

async function send(node: Store | undefined, to: string): Promise<void> {
  const { runId: _runId, ...delivery } = sample.delivery({ channel: 'slack', to })
  await node?.command({ type: 'send', delivery, task: sample.deliveryTask(delivery) })
}

const settled = (store: Store) => store.command({ type: 'offer-route', route: undefined })

test('a node that hears nothing of others knows by its own notification that they arrive', async (t) => {
  const { nodes } = await openNodes(t, nodeTimes)
  const wakeUp = async () => (await nodes[0]?.cluster.nodes())?.[0]?.wakeUp
  while ((await wakeUp()) !== 'notify') await wait(5)
})

test('the late writes of a node are refused after another one has taken over its claims', async (t) => {
  const { nodes, join } = await openNodes(t, paused)
  const [first] = nodes as [Store]
  const [run, next] = [1, 2].map(() => sample.runAction({ sessionKey: 'pr:1' }))
  assert.ok(run && next)
  await first.accept(sample.entry(run, next))
  const worker = startManualWorker(first, ['run'])
  const lost = await worker.next()
  await lost.checkpoint({ run: { id: idOf(run), stage: 'running' } })
  const second = await join(quick)
  const claim = await startManualWorker(second, ['run']).next()
  assert.deepEqual([claim.task.subject, claim.task.attempt, claim.task.interrupted], [idOf(run), 1, true])
  await assert.rejects(lost.checkpoint({ run: { id: idOf(run), reply: 'too late' } }), { code: 'LEASE_LOST' })
  assert.equal(lost.lease.aborted, true)
  await assert.rejects(lost.confirm(), { code: 'LEASE_LOST' })
  lost.done({ run: { id: idOf(run), reply: 'too late' } })
  await settled(first)
  assert.equal((await second.read.run(idOf(run)))?.reply, undefined)
  claim.done({ run: { id: idOf(run), reply: 'in time' } })
  await settled(second)
  assert.equal((await first.read.run(idOf(run)))?.reply, 'in time')
})

test('after a failover to a standby that lacked a claim, late writes of the claim do not end the task that reuses its number', async (t) => {
  const { nodes, query } = await openNodes(t, nodeTimes)
  const [store] = nodes as [Store]
  const [lost, next] = [sample.runAction(), sample.runAction()]
  await store.accept(sample.entry(lost))
  const worker = startManualWorker(store, ['run'])
  const old = await worker.next()
  const [{ sequence }] = (await query('DELETE FROM reveille.tasks RETURNING sequence')) as [
    { sequence: string },
  ]
  await query(`ALTER TABLE reveille.tasks ALTER COLUMN sequence RESTART WITH ${sequence}`)
  await store.accept(sample.entry(next))
  const claim = await worker.next()
  assert.equal(claim.task.subject, idOf(next))
  await assert.rejects(old.checkpoint({}), { code: 'LEASE_LOST' })
  old.done()
  await settled(store)
  claim.done({ run: { id: idOf(next), state: 'succeeded', stage: 'delivered' } })
  await settled(store)
  assert.equal((await store.read.run(idOf(next)))?.state, 'succeeded')
})

test('a task that its own node claims again, as after a failover to a standby that lacked the claim, is performed only by the later claim', async (t) => {
  const { nodes, query } = await openNodes(t, nodeTimes)
  const [store] = nodes as [Store]
  await store.accept(sample.entry(sample.runAction()))
  const worker = startManualWorker(store, ['run'])
  const old = await worker.next()
  await query(`UPDATE reveille.tasks SET leased_by = NULL, leased_until = NULL, state = 'ready', claims = 0`)
  await store.accept(sample.entry(sample.eventAction()))
  const claim = await worker.next()
  assert.equal(claim.task.subject, old.task.subject)
  assert.equal(old.lease.aborted, true)
  old.done()
  await settled(store)
  await claim.checkpoint({})
})

test('a node whose lease expired loses its claims before it starts new work, and continues', async (t) => {
  const { nodes, join, takeovers } = await openNodes(t, paused)
  const [first] = nodes as [Store]
  const [run, other] = [sample.runAction(), sample.runAction()]
  await first.accept(sample.entry(run))
  const worker = startManualWorker(first, ['run'])
  const lost = await worker.next()
  const second = await join(quick)
  // Asking whether the claim holds would renew it.
  while (takeovers.length === 0) await setImmediate()
  // It would take over the new node as well, which does not renew its row either.
  await second.close()
  await assert.rejects(lost.confirm(), { code: 'LEASE_LOST' })
  assert.deepEqual(takeovers, [
    { node: 'node 1', isSelf: false, tasks: 1 },
    { node: 'node 1', isSelf: true, tasks: 1 },
  ])
  await first.accept(sample.entry(other))
  const ids = [await worker.next(), await worker.next()].map(({ task }) => task.subject)
  assert.deepEqual(new Set(ids), new Set([idOf(run), idOf(other)]))
})

test('a node that gets a slow answer about the time keeps the earlier, quick one', async (t) => {
  const { nodes, query, join } = await openNodes(t)
  let lateMs = 0
  const store = await join(nodeTimes, ({ clock }) => ({
    async clock() {
      const at = await clock()
      await wait(lateMs)
      return at
    },
  }))
  lateMs = 1_000
  await renewed(store, query)
  const skewMs = (await nodes[0]?.cluster.nodes())?.[0]?.skewMs ?? 0
  assert.ok(Math.abs(skewMs) < lateMs / 4, `${skewMs} ms`)
})

test('a claim that is lost while its work is loaded is not performed', async (t) => {
  const { nodes, join, takeovers } = await openNodes(t)
  let loading: Promise<void> | undefined
  const first = await join({ ...paused, freshMs: 1e9 }, ({ read }) => ({
    async read(work) {
      await loading
      return await read(work)
    },
  }))
  const gate = Promise.withResolvers<void>()
  loading = gate.promise
  const worker = startManualWorker(first, ['run'], 1)
  await first.accept(sample.entry(sample.runAction()))
  const second = await join(quick)
  await startManualWorker(second, ['run']).next()
  first.cluster.report({ generation: 1, digest: '', sharedDigest: '' })
  while (!takeovers.some(({ isSelf }) => isSelf)) await setImmediate()
  gate.resolve()
  await settled(first)
  assert.deepEqual([worker.waiting.length, nodes.length], [0, 2])
})

/** Reports each statement of a transaction or a read. */
function countCalls<Target extends object>(target: Target, note: () => void): Target {
  const entries = Object.entries(target).map(([name, value]) => [
    name,
    name === 'nested'
      ? value
      : (...given: unknown[]) => {
          note()
          return value(...given)
        },
  ])
  return Object.fromEntries(entries)
}

test('claims that settle together share their statements, and so do the loads of the next claims', async (t) => {
  const { join } = await openNodes(t)
  let statements = 0
  const note = () => {
    statements += 1
  }
  const store = await join(nodeTimes, ({ transaction, read }) => ({
    transaction: (work, options) => transaction((tx) => work(countCalls(tx, note)), options),
    read: (work) => read((reading) => work(countCalls(reading, note))),
  }))
  const spend = { day: '2026-01-31', runs: 1, tokens: 10, labels: { mapping: 'github' } }
  const countStatements = async (lanes: number): Promise<number> => {
    const actions = Array.from({ length: 2 * lanes }, (_, index) =>
      sample.runAction({ sessionKey: `${lanes} ${index % lanes}` }),
    )
    await store.accept(sample.entry(...actions))
    const worker = startManualWorker(store, ['run'], lanes)
    const claims: HeldClaim[] = []
    while (claims.length < lanes) claims.push(await worker.next())
    await settled(store)
    statements = 0
    for (const { task, settle } of claims) {
      const run = { id: task.subject ?? '', state: 'succeeded' as const, stage: 'delivered' as const }
      settle({ done: true, effects: { run, spend } })
    }
    for (let next = 0; next < lanes; next += 1) (await worker.next()).done()
    const count = statements
    await worker.drain(1_000)
    return count
  }
  const one = await countStatements(1)
  const many = await countStatements(40)
  assert.ok(many < 3 * one, `${many} for 40, ${one} for one`)
})

for (const by of ['its own node', 'another node'])
  test(`a cancel by ${by} that comes while the work of a claim is loaded is passed on with the claim`, async (t) => {
    const { query, join } = await openNodes(t)
    let loading: Promise<void> | undefined
    const first = await join(nodeTimes, ({ read }) => ({
      async read(work) {
        await loading
        return await read(work)
      },
    }))
    const second = await join(nodeTimes)
    const gate = Promise.withResolvers<void>()
    const action = sample.runAction()
    const heard = new AbortController()
    const listener = by === 'its own node' ? undefined : first.changes(heard)
    await first.accept(sample.entry(action))
    loading = gate.promise
    const worker = startManualWorker(first, ['run'])
    const isLeased = async () =>
      (await query('SELECT FROM reveille.tasks WHERE leased_by IS NOT NULL')).length > 0
    while (!(await isLeased())) await wait(5)
    const canceller = by === 'its own node' ? first : second
    const cancelled = canceller.command({ type: 'cancel', run: idOf(action), at: Date.now() })
    const isCancelled = async () => (await query('SELECT FROM reveille.tasks WHERE cancelled = 1')).length > 0
    while (!(await isCancelled())) await wait(5)
    // The notification of the change arrives with that of the cancel.
    if (listener !== undefined) for await (const { id } of listener) if (id === idOf(action)) heard.abort()
    gate.resolve()
    const claim = await worker.next()
    await cancelled
    const deadline = performance.now() + nodeTimes.renewMs / 5
    while (!claim.cancel.aborted) {
      assert.ok(performance.now() < deadline, 'it was not passed on')
      await wait(5)
    }
    claim.done()
  })

test('a claim keeps its lease however long its checkpoints lock it', async (t) => {
  const { join, takeovers } = await openNodes(t)
  const lockedMs = 50
  const store = await join({ renewMs: 50, expireMs: 800, freshMs: 500 }, ({ transaction }) => ({
    transaction: (work, options) =>
      transaction(async (tx) => {
        let isCheckpoint = false
        const update: typeof tx.update = (...change) => {
          isCheckpoint = true
          return tx.update(...change)
        }
        const made = await work({ ...tx, update })
        if (isCheckpoint) await wait(lockedMs)
        return made
      }, options),
  }))
  await store.accept(sample.entry(sample.runAction()))
  const claim = await startManualWorker(store, ['run']).next()
  const id = claim.task.subject ?? ''
  const written = []
  for (let number = 0; number < 100; number += 1) {
    written.push(claim.checkpoint({ run: { id, startedAt: number } }).catch(({ code }) => code))
    await wait(lockedMs / 5)
  }
  assert.deepEqual(new Set(await Promise.all(written)), new Set([undefined]))
  assert.deepEqual([claim.lease.aborted, takeovers], [false, []])
})

test('a claim whose commit is answered late is not treated as unknown', async (t) => {
  const { query, join } = await openNodes(t)
  const [committed, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const store = await join(nodeTimes, ({ transaction }) => ({
    async transaction(work, ...options) {
      let isClaim = false
      const made = await transaction(
        async (tx) => {
          const before = await tx.all('SELECT 1 FROM tasks WHERE leased_by IS NOT NULL')
          const result = await work(tx)
          const after = await tx.all('SELECT 1 FROM tasks WHERE leased_by IS NOT NULL')
          isClaim = after.length > before.length
          return result
        },
        ...options,
      )
      if (isClaim) committed.resolve()
      if (isClaim) await gate.promise
      return made
    },
  }))
  const worker = startManualWorker(store, ['run'])
  await store.accept(sample.entry(sample.runAction()))
  await committed.promise
  for (let round = 0; round < 3; round += 1) await renewed(store, query)
  gate.resolve()
  await (await worker.next()).checkpoint({})
})

for (const [what, statement] of [
  ['whose commit took long', undefined],
  ['that a renewal skipped because its row was locked', 'SELECT FROM reveille.tasks FOR UPDATE'],
] as const)
  test(`a claim ${what} is valid once its own lease was renewed`, async (t) => {
    const { query, join } = await openNodes(t)
    const [claimed, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    if (statement !== undefined) gate.resolve()
    const times = { renewMs: 1e9, expireMs: 10_000, freshMs: 400 }
    const store = await join(times, ({ transaction }) => ({
      transaction: (work, ...options) =>
        transaction(
          async (tx) => {
            const made = await work(tx)
            const rows = await tx.all('SELECT 1 FROM tasks WHERE leased_by IS NOT NULL')
            if (rows.length > 0) {
              claimed.resolve()
              await gate.promise
            }
            return made
          },
          ...options,
        ),
    }))
    const worker = startManualWorker(store, ['run'])
    await store.accept(sample.entry(sample.runAction()))
    await claimed.promise
    const given = statement === undefined ? undefined : await worker.next()
    await wait(500)
    if (statement !== undefined) {
      await query('BEGIN')
      await query(statement)
    }
    await renewed(store, query)
    if (statement !== undefined) await query('ROLLBACK')
    gate.resolve()
    const claim = given ?? (await worker.next())
    const at = Date.now()
    await claim.confirm()
    const [task] = await query('SELECT leased_until FROM reveille.tasks')
    assert.ok(
      Number(task.leased_until) >= at + times.expireMs - times.freshMs,
      `until ${task.leased_until}, at ${at}`,
    )
  })

test('a node that performs runs that another one accepted shows no negative counts', async (t) => {
  const { nodes } = await openNodes(t, quick, quick)
  const [accepting, performing] = nodes as [Store, Store]
  const worker = startManualWorker(performing, ['run'])
  for (let number = 0; number < 5; number += 1) {
    await accepting.accept(sample.entry(sample.runAction(), sample.eventAction()))
    const claim = await worker.next()
    claim.done({ run: { id: String(claim.task.subject), state: 'succeeded' } })
    await settled(performing)
    const { backlog, events } = performing.health()
    assert.ok(backlog >= 0 && events >= 0, `backlog ${backlog}, events ${events}`)
  }
})

test('a node that closes does not join again, whatever it still reports', async (t) => {
  const { nodes, join, query, takeovers } = await openNodes(t, quick)
  for (let round = 0; round < 5; round += 1) {
    const leaving = await join(quick)
    let isClosed = false
    const closing = leaving.close().finally(() => {
      isClosed = true
    })
    while (!isClosed) {
      leaving.cluster.report({ generation: 1, digest: String(round), sharedDigest: '' })
      await setImmediate()
    }
    await closing
  }
  assert.deepEqual(takeovers, [])
  assert.equal((await query('SELECT FROM reveille.nodes')).length, nodes.length - 5)
})

test('runs of one session go in order, one at a time, however many nodes accept and perform', async (t) => {
  const { nodes } = await openNodes(t, nodeTimes, nodeTimes)
  const sessions = ['a', 'b', 'c', 'd', 'e']
  const order = new Map<string, string[]>(sessions.map((key) => [key, []]))
  const open = new Set<string>()
  const accepted = new Map<string, string[]>(sessions.map((key) => [key, []]))
  const by = new Set<number>()
  const work = { kinds: ['run'], concurrency: 3 } as const
  const done = performed(nodes, 20 * sessions.length, work, async (claim, node) => {
    const { run } = await claim.load()
    const { id = '', sessionKey: key = '' } = run ?? {}
    assert.equal(open.has(key), false, `two runs of ${key} at a time`)
    open.add(key)
    order.get(key)?.push(id)
    await claim.checkpoint({ run: { id, stage: 'running' } })
    open.delete(key)
    by.add(node)
  })
  await Promise.all(
    sessions.map(async (sessionKey) => {
      for (let number = 0; number < 20; number += 1) {
        const action = sample.runAction({ sessionKey })
        await nodes[number % 2]?.accept(sample.entry(action))
        accepted.get(sessionKey)?.push(idOf(action))
      }
    }),
  )
  await done
  assert.deepEqual(order, accepted)
  assert.equal(by.size, 2, 'both nodes perform')
})

test('no more tasks of a pool are performed at one time than its limit, on all nodes together', async (t) => {
  const { nodes } = await openNodes(t, nodeTimes, nodeTimes)
  let open = 0
  const done = performed(nodes, 20, { kinds: ['run'], concurrency: 5, pools: { github: 2 } }, async () => {
    open += 1
    assert.ok(open <= 2, `${open} at one time`)
    await setImmediate()
    open -= 1
  })
  for (let number = 0; number < 20; number += 1)
    await nodes[number % 2]?.accept(sample.entry(sample.runAction({ pool: 'github' })))
  await done
})

test('a run that one node accepts is performed by another one at once, and its listeners are notified', async (t) => {
  const { nodes } = await openNodes(t, nodeTimes, nodeTimes)
  const [first, second] = nodes as [Store, Store]
  const over = new AbortController()
  const changes = second.changes({ signal: over.signal })
  const worker = startManualWorker(second, ['run'])
  const action = sample.runAction()
  await first.accept(sample.entry(action))
  const claim = await worker.next()
  assert.equal(claim.task.subject, idOf(action))
  for await (const change of changes) if (change.id === idOf(action)) break
  over.abort()
  await claim.checkpoint({ run: { id: idOf(action), state: 'running', stage: 'running' } })
  const cancelled = new Promise((resolve) => claim.cancel.addEventListener('abort', resolve))
  assert.deepEqual(await first.command({ type: 'cancel', run: idOf(action), at: Date.now() }), { ok: true })
  await cancelled
  claim.done()
})

test('another node takes over leadership after the leader closed or its lease expired', async (t) => {
  const { nodes, join } = await openNodes(t, paused, quick)
  const [first, second] = nodes as [Store, Store]
  const leading = Promise.withResolvers<Leadership>()
  first.cluster.whileLeading('sources', leading.resolve)
  const lead = await leading.promise
  const following = Promise.withResolvers<Leadership>()
  second.cluster.whileLeading('sources', following.resolve)
  await (await following.promise).confirm()
  await assert.rejects(lead.confirm(), { code: 'LEASE_LOST' })
  assert.deepEqual((await second.cluster.nodes()).find(({ isSelf }) => isSelf)?.leads, ['sources'])
  const last = Promise.withResolvers<Leadership>()
  const third = await join(quick)
  third.cluster.whileLeading('sources', last.resolve)
  await second.close()
  await (await last.promise).confirm()
})

test('the claims and leadership of a dead node are taken over when its row expires, without waiting for a renewal', async (t) => {
  const { nodes, join } = await openNodes(t, paused)
  const [first] = nodes as [Store]
  await first.accept(sample.entry(sample.runAction()))
  // It has no room to claim the task again.
  await startManualWorker(first, ['run'], 1).next()
  const led = new Promise<Leadership>((resolve) => first.cluster.whileLeading('sources', resolve))
  await led
  const second = await join({ renewMs: 1e9, expireMs: 300, freshMs: 1e9 })
  const lead = new Promise<Leadership>((resolve) => second.cluster.whileLeading('sources', resolve))
  assert.equal((await startManualWorker(second, ['run']).next()).task.interrupted, true)
  await (await lead).confirm()
})

for (const [what, agoMs, takesOver] of [
  ['takes over at once from one whose lease has expired while others lived', 4_000, true],
  ['gives all others the time of a lease to come back when the database was away', 14_000, false],
] as const)
  test(`a node that has just started ${what}`, async (t) => {
    const { nodes, join, query } = await openNodes(t, nodeTimes)
    const [first] = nodes as [Store]
    await first.accept(sample.entry(sample.runAction()))
    await startManualWorker(first, ['run']).next()
    await first.close()
    const dead = '0192f0c0-0000-7000-8000-000000000001'
    const now = Date.now()
    await query(`INSERT INTO reveille.nodes VALUES
      ('${dead}', 'dead', '1.0.0', 'all', NULL, 0, ${now - agoMs}, 0, 0, 'poll')`)
    await query(
      `UPDATE reveille.tasks SET leased_by = '${dead}', leased_until = ${now - 1}, state = 'leased'`,
    )
    const next = await join(nodeTimes)
    const worker = startManualWorker(next, ['run'])
    await settled(next)
    await wait(500)
    await settled(next)
    assert.equal(worker.waiting.length, takesOver ? 1 : 0)
  })

test('the claims and leadership of a closing node move to another one at once', async (t) => {
  const { nodes } = await openNodes(t, nodeTimes, nodeTimes)
  const [first, second] = nodes as [Store, Store]
  await first.accept(sample.entry(sample.runAction()))
  await startManualWorker(first, ['run']).next()
  await new Promise<Leadership>((resolve) => first.cluster.whileLeading('sources', resolve))
  const worker = startManualWorker(second, ['run'])
  const lead = new Promise<Leadership>((resolve) => second.cluster.whileLeading('sources', resolve))
  const closedAt = performance.now()
  await first.close()
  await Promise.all([worker.next(), lead])
  assert.ok(performance.now() - closedAt < nodeTimes.renewMs - 1_000)
})

test('a due task that another transaction locked for a moment, and did not change, is performed as soon as it is free', async (t) => {
  const { nodes, query } = await openNodes(t, nodeTimes)
  const [store] = nodes as [Store]
  await store.accept(sample.entry(sample.runAction()))
  await query('BEGIN')
  await query('SELECT FROM reveille.tasks FOR UPDATE')
  const claim = startManualWorker(store, ['run']).next()
  await wait(100)
  const freedAt = performance.now()
  await query('ROLLBACK')
  await claim
  assert.ok(performance.now() - freedAt < nodeTimes.renewMs - 1_000)
})

test('a drained pool starts nothing, not even a task that was being claimed', async (t) => {
  const { nodes } = await openNodes(t, nodeTimes)
  const [store] = nodes as [Store]
  for (let round = 0; round < 20; round += 1) {
    let isDrained = false
    const pool = store.work({
      kinds: ['run'],
      concurrency: 4,
      async perform({ task: { subject: id = '' } }) {
        assert.equal(isDrained, false, `in round ${round}`)
        return { done: true, effects: { run: { id, state: 'succeeded', stage: 'delivered' } } }
      },
      onFault: (error) => assert.fail(error as Error),
    })
    await store.accept(sample.entry(sample.runAction()))
    await pool.drain(5_000)
    isDrained = true
    await settled(store)
  }
})

test('while a node drains, others perform the tasks of the pools that it owned', async (t) => {
  const { nodes } = await openNodes(t, nodeTimes, nodeTimes)
  const [first, second] = nodes as [Store, Store]
  const sent = [0, 1].map(() => Promise.withResolvers<void>())
  const workers = nodes.map((node, index) =>
    node.work({
      kinds: ['delivery'],
      concurrency: index === 0 ? 1 : 0,
      owned: true,
      async perform() {
        sent[index]?.resolve()
        return { done: true, effects: {} }
      },
    }),
  )
  await send(first, 'C1')
  await sent[0]?.promise
  await workers[1]?.resize(1)
  await workers[0]?.drain(0)
  await send(first, 'C1')
  await sent[1]?.promise
  assert.deepEqual((await second.cluster.nodes()).length, 2)
})

test('tasks whose pace has to hold in the cluster are performed by one node at a time', async (t) => {
  const { nodes } = await openNodes(t, nodeTimes, nodeTimes)
  const by = new Set<number>()
  const work = { kinds: ['delivery'], concurrency: 4, owned: true } as const
  const done = performed(nodes, 20, work, async (_claim, node) => by.add(node))
  for (let number = 0; number < 20; number += 1) await send(nodes[number % 2], `C${number % 3}`)
  await done
  assert.equal(by.size, 1)
})

test('connections of a node may be cut at any time: no acknowledged run is lost or performed twice', async (t) => {
  const { nodes, query } = await openNodes(t, nodeTimes)
  const [store] = nodes as [Store]
  const times = new Map<string, number>()
  const count = async ({ task: { subject = '' } }: Claim) => times.set(subject, (times.get(subject) ?? 0) + 1)
  const done = performed(nodes, 150, { kinds: ['run'], concurrency: 4 }, count)
  const answered: string[] = []
  const accepting = Array.from({ length: 150 }, async (_, number) => {
    await wait(number * 4)
    const action = sample.runAction()
    const entry = sample.entry(action)
    for (let tries = 0; ; tries += 1) {
      try {
        await store.accept(entry)
        answered.push(idOf(action))
        return
      } catch (error) {
        assert.equal((error as { code?: string }).code, 'STORE_UNAVAILABLE')
        assert.ok(tries < 50)
        await wait(20)
      }
    }
  })
  for (let cut = 0; cut < 12; cut += 1) {
    await wait(50)
    await query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`,
    )
  }
  await Promise.all([...accepting, done])
  while (store.health().backlog > 0) await wait(20)
  assert.equal(answered.length, 150)
  for (const id of answered) {
    const run = await store.read.run(id)
    assert.equal(run?.state, 'succeeded', id)
  }
  assert.deepEqual(
    [...times].filter(([, count]) => count !== 1),
    [],
    'no run was performed twice',
  )
})
