/**
 * What a process that shares its database does beside posts: it says that it is alive, renews the leases of its claims, frees those of
 * nodes that are gone, takes leadership, and tells the others what it has committed. Nothing that it knows of other nodes decides
 * anything: leases are rows, by the database's clock.
 */

import type { Driver } from '@reveille/kit'
import { type Context, type Notes, readCounts } from '../context.ts'
import type { Core } from '../core.ts'
import {
  type Cluster,
  type Id,
  type Lead,
  type Leadership,
  type NodeRecord,
  StoreError,
  type StoreOptions,
  type Takeover,
  type TaskKind,
} from '../port.ts'
import type { Happened } from '../protocol.ts'
import { cancelPartialJobs } from '../records/jobs.ts'
import { decodeString, encodeString } from '../records/rows.ts'
import { createSourceValues } from '../records/source-values.ts'
import { tables } from '../schema.ts'
import {
  freeExpired,
  freeTasks,
  giveUpLease,
  type LeaseTimes,
  nextExpiry,
  renewLease,
  renewLeases,
  takeLease,
} from './claiming.ts'
import type { OpenClaim } from './claims.ts'
import { lower, type Places } from './places.ts'
import { type LeaseToken, leaseName } from './tasks.ts'

export interface ClusterOptions {
  readonly driver: Driver
  readonly core: Core
  readonly id: Id
  readonly node: NonNullable<StoreOptions['node']>
  readonly times: LeaseTimes
  readonly clock: DatabaseClock
  readonly now: () => number
  onHappened(happened: Partial<Happened>): void
  /** Called for other nodes. */
  onTakeover?(takeover: Takeover): void
}

/** The database's clock as it was asked for, and what has passed since. */
export type DatabaseClock = ReturnType<typeof createDatabaseClock>

export function createDatabaseClock(driver: Pick<Driver, 'clock'>, own: () => number) {
  let asked = { clock: 0, at: 0, offByMs: Number.POSITIVE_INFINITY }
  const now = () => asked.clock + performance.now() - asked.at
  return {
    async ask(): Promise<void> {
      const start = performance.now()
      const clock = await driver.clock()
      const offByMs = (performance.now() - start) / 2
      // A slow answer is less exact than a quick one before it, unless the clock was set since.
      if (offByMs > asked.offByMs && Math.abs(now() - offByMs - clock) <= offByMs) return
      asked = { clock, at: start + offByMs, offByMs }
    },
    now,
    /** How far the clock of this machine is ahead. */
    skewMs: () => Math.round(own() - now()),
  }
}

interface Follower {
  readonly run: (lead: Lead) => void
  end?: AbortController
}

/** What one node leads. The store itself leads its retention. */
type Led = Leadership | 'retention'

/** Milliseconds within which what was committed is gathered for one notification. */
const gatherMs = 10
/** A notification holds as many changes. What does not fit is left out: a listener that must not miss anything reads. */
const maxChanges = 100
const retryMs = 250

/** What one notification says. The names are short, because the room is. */
interface Payload {
  readonly n: Id
  /** Pools in which a task may be due at some time, or that have room; see `Place`. */
  readonly p?: readonly (readonly [kind: TaskKind, pool: string, dueAt: number | null, isFull: boolean])[]
  /** More has happened than there is room for. */
  readonly u?: true
  /** Changes, four values for each. */
  readonly c?: readonly (string | null)[]
  /** Leases whose runs were cancelled; see `leaseName`. */
  readonly x?: readonly string[]
  /** The node has given up something that it led. */
  readonly f?: true
}

export async function joinCluster(options: ClusterOptions) {
  const { driver, core, id, node, times, clock, now } = options
  const led = new Map<Led, { readonly followers: Set<Follower>; isLeading: boolean }>()
  let live: Parameters<Cluster['report']>[0] | undefined
  let startedAt = 0
  let renewedAt = Number.NEGATIVE_INFINITY
  let renewing: Promise<void> | undefined
  /** Leased rows of this node that no claim here knew at the last renewal, unless they were just being claimed, and when that had ended. */
  let unknown: { readonly sequences: ReadonlySet<number>; readonly at: number } = {
    sequences: new Set(),
    at: 0,
  }
  let wakeUp: 'notify' | 'poll' = 'poll'
  let isClosed = false
  let pending = emptyNews()
  let sending: NodeJS.Timeout | undefined
  let takingOver: NodeJS.Timeout | undefined

  const isFresh = (since = renewedAt) => performance.now() - since < times.holdMs

  async function renew(): Promise<void> {
    // A node that closes does not join again.
    if (isClosed) return
    renewing ??= renewOnce().finally(() => {
      renewing = undefined
    })
    await renewing
  }

  async function renewOnce(): Promise<void> {
    const begun = performance.now()
    await clock.ask()
    const before = core.claims.all()
    const { made } = await core.transact(now(), async (tx) => {
      const steadySince = await sinceWhenSteady(tx)
      await writeNode(tx, steadySince)
      // Where no node could renew for a while, each of them gets the whole time to come back.
      const waitMs = steadySince + times.expireMs - clock.now()
      const leased = await renewLeases(tx, { times, clock: clock.now() })
      const known = new Set(core.claims.all().map(({ token }) => token.sequence))
      const ghosts = [...leased.keys()].filter((sequence) => !known.has(sequence))
      await freeTasks(
        tx,
        core.claimingSince() > unknown.at ? ghosts.filter((each) => unknown.sequences.has(each)) : [],
      )
      const freed = waitMs > 0 ? new Map<Id, number>() : await freeExpired(tx, clock.now())
      const names = await namesOfNodes(tx)
      // One that still holds something is named once that is taken over.
      await tx.run(
        `DELETE FROM nodes WHERE renewed_at < ?1
         AND NOT EXISTS (SELECT 1 FROM tasks WHERE leased_by IS NOT NULL AND leased_by = nodes.id)`,
        [Math.round(clock.now() - times.expireMs)],
      )
      await cancelPartialJobs(tx, 'SELECT id FROM nodes')
      const leads = await contend(tx)
      return {
        leased,
        ghosts,
        waitMs,
        freed,
        names,
        leads,
        counters: await readCounts(tx, id),
        cancelled: await cancelledLeases(tx),
        expiry: await nextExpiry(tx),
      }
    })
    renewAt(Math.max(made.expiry, clock.now() + made.waitMs))
    // What kept a task from being claimed elsewhere may be over.
    core.forgetPools()
    renewedAt = begun
    unknown = { sequences: new Set(made.ghosts), at: performance.now() }
    core.setForeignCounters(made.counters)
    for (const [what, isOurs] of made.leads) isOurs ? begin(what) : end(what)
    const leaseOf = ({ token: held }: OpenClaim) => {
      const lease = made.leased.get(held.sequence)
      return lease?.claims === held.claims && lease.key === held.key ? lease : undefined
    }
    const lost = before.filter((claim) => leaseOf(claim) === undefined)
    for (const claim of before) {
      if (leaseOf(claim)?.isRenewed === true) core.claims.renew(claim.claim, begun)
      else if (leaseOf(claim) !== undefined) void renewAlone(claim).catch(() => undefined)
    }
    // What was settled meanwhile is not lost.
    const stillLost = lost.filter(({ claim }) => core.claims.isOpen(claim))
    core.claims.end(stillLost.map(({ claim }) => claim))
    core.claims.forgetCancelled()
    const cancelled = core.claims.cancel(made.cancelled)
    options.onHappened({ lost: stillLost, cancelled })
    for (const [of, tasks] of made.freed) {
      if (of !== id) options.onTakeover?.({ node: made.names.get(of) ?? of, isSelf: false, tasks })
    }
  }

  /** Renews the lease of a claim whose row is locked, by a checkpoint perhaps, as soon as the row is free. */
  async function renewAlone({ claim, token }: OpenClaim): Promise<void> {
    const begun = performance.now()
    const options = { times, clock: clock.now() }
    const { made } = await core.transact(now(), (tx) => renewLease(tx, token, options))
    if (made) core.claims.renew(claim, begun)
  }

  /** Takes over as soon as a lease of another node has expired. */
  function renewAt(expiry: number): void {
    clearTimeout(takingOver)
    if (isClosed || expiry === Number.POSITIVE_INFINITY) return
    takingOver = setTimeout(
      () => void renew().catch(() => undefined),
      Math.max(retryMs, expiry - clock.now()),
    ).unref()
  }

  async function sinceWhenSteady({ all }: Context): Promise<number> {
    const [row] = await all<{ since: number | null }>(
      'SELECT min(steady_since) AS since FROM nodes WHERE renewed_at > ?1',
      [Math.round(clock.now() - times.holdMs)],
    )
    return row?.since ?? Math.round(clock.now())
  }

  async function writeNode(tx: Context, steadySince: number): Promise<void> {
    const at = Math.round(clock.now())
    startedAt ||= at
    await tx.run('DELETE FROM nodes WHERE id = ?1', [id])
    await tx.insert(tables.nodes, [
      [
        id,
        encodeString(node.name),
        encodeString(node.version),
        node.role,
        live === undefined ? null : JSON.stringify(live),
        startedAt,
        at,
        steadySince,
        clock.skewMs(),
        wakeUp,
      ],
    ])
  }

  async function namesOfNodes({ all }: Context): Promise<ReadonlyMap<Id, string>> {
    const rows = await all<{ id: Id; name: string }>('SELECT id, name FROM nodes')
    return new Map(rows.map(({ id: each, name }) => [each, decodeString(name)]))
  }

  async function cancelledLeases({ all }: Context): Promise<string[]> {
    const sql = 'SELECT sequence, claims, key FROM tasks WHERE leased_by = ?1 AND cancelled = 1'
    return (await all<LeaseToken>(sql, [id])).map(leaseName)
  }

  /** Takes or renews the leads that this node wants. */
  async function contend(tx: Context): Promise<ReadonlyMap<Led, boolean>> {
    const wanted = [...led].filter(([, { followers }]) => followers.size > 0).map(([what]) => what)
    const leads = new Map<Led, boolean>()
    for (const what of wanted.toSorted())
      leads.set(what, await takeLease(tx, `lead:${what}`, { times, clock: clock.now() }))
    return leads
  }

  function begin(what: Led): void {
    const lead = led.get(what)
    if (lead === undefined) return
    lead.isLeading = true
    for (const follower of lead.followers) start(follower)
  }

  function start(follower: Follower): void {
    if (follower.end !== undefined) return
    const ending = new AbortController()
    follower.end = ending
    follower.run({
      signal: ending.signal,
      async hold() {
        await hold()
        ending.signal.throwIfAborted()
      },
    })
  }

  function end(what: Led): void {
    const lead = led.get(what)
    if (lead === undefined || !lead.isLeading) return
    lead.isLeading = false
    for (const follower of lead.followers) {
      follower.end?.abort(new StoreError('LEASE_LOST', `another node may lead ${what}`))
      delete follower.end
    }
  }

  /** Resolves while no other node can have taken over a claim, or what this node leads. A renewal may have left out a claim. */
  async function hold(claim?: number): Promise<void> {
    const isHeld = () => isFresh(claim === undefined ? renewedAt : core.claims.leasedAt(claim))
    while (!isHeld()) {
      if (isClosed) throw new StoreError('DRAINING', 'the store is closed')
      await renew().catch(() => undefined)
      if (!isHeld()) await new Promise((resolve) => setTimeout(resolve, retryMs).unref())
    }
  }

  function tick(): void {
    if (isClosed) return
    if (!isFresh()) for (const what of led.keys()) end(what)
    if (performance.now() - renewedAt + tickMs / 2 >= times.renewMs) void renew().catch(() => undefined)
  }

  /** Sends what was committed, soon. */
  function announce({ pools, changes, cancelled }: Notes): void {
    if (pools.size === 0 && changes.length === 0 && cancelled.length === 0) return
    for (const news of pools.values()) lower(pending.pools, news)
    pending.changes.push(...changes)
    pending.cancelled.push(...cancelled)
    sending ??= setTimeout(() => void send(), gatherMs).unref()
  }

  async function send(isFree = false): Promise<void> {
    const { pools, changes, cancelled } = pending
    pending = emptyNews()
    sending = undefined
    const base = { n: id, ...(isFree && { f: true as const }) }
    const places = [...pools.values()].map(
      ({ kind, pool, dueAt, isFull }) =>
        [kind, pool, dueAt < Number.POSITIVE_INFINITY ? dueAt : null, isFull] as const,
    )
    const shown = changes.slice(0, 4 * maxChanges).map((value) => value ?? null)
    const payload: Payload = {
      ...base,
      ...(places.length > 0 && { p: places }),
      ...(shown.length > 0 && { c: shown }),
      ...(cancelled.length > 0 && { x: cancelled }),
    }
    const text = JSON.stringify(payload)
    await driver
      .notify(Buffer.byteLength(text) <= maxBytes ? text : JSON.stringify({ ...base, u: true }))
      .catch(() => undefined)
  }

  function receive(text: string): void {
    const { n, p = [], u, c = [], x = [], f }: Payload = JSON.parse(text)
    wakeUp = 'notify'
    if (n === id) return
    for (const [kind, pool, dueAt, isFull] of p)
      core.notePool({ kind, pool, dueAt: dueAt ?? Number.POSITIVE_INFINITY, isFull })
    if (u === true) core.forgetPools()
    if (f === true) void renew().catch(() => undefined)
    const cancelled = core.claims.cancel(x)
    options.onHappened({ changes: c.map((value) => value ?? undefined), cancelled })
  }

  /** Looks without a notification. */
  function look(): void {
    if (isClosed) return
    core.forgetPools()
    options.onHappened({})
  }

  led.set('retention', { followers: new Set([{ run: sweep }]), isLeading: false })
  await renew()
  const tickMs = Math.min(1_000, times.renewMs / 2)
  const timer = setInterval(tick, tickMs).unref()
  driver.listen(receive, look)
  /** Deletes old history while this node leads that. */
  function sweep({ signal }: Lead): void {
    core.setSweeps(true)
    options.onHappened({})
    signal.addEventListener('abort', () => core.setSweeps(false), { once: true })
  }

  function lead(what: Led, run: (lead: Lead) => void): () => void {
    const found = led.get(what) ?? { followers: new Set<Follower>(), isLeading: false }
    led.set(what, found)
    const follower: Follower = { run }
    found.followers.add(follower)
    if (found.isLeading) start(follower)
    else void renew().catch(() => undefined)
    return () => {
      found.followers.delete(follower)
      follower.end?.abort(new StoreError('LEASE_LOST', `this node gave up ${what}`))
      if (found.followers.size > 0 || !found.isLeading) return
      found.isLeading = false
      core
        .transact(now(), (tx) => giveUpLease(tx, `lead:${what}`))
        .then(() => send(true))
        .catch(() => undefined)
    }
  }

  const ownLeads = () => [...led].filter(([, { isLeading }]) => isLeading).map(([what]) => what)

  const cluster: Cluster = {
    node: id,
    isShared: true,
    async nodes() {
      await clock.ask()
      return await driver.read(async ({ all }) => {
        const rows = await all<NodeRow>(
          'SELECT * FROM nodes WHERE renewed_at >= ?1 ORDER BY started_at, id',
          [Math.round(clock.now() - times.expireMs)],
        )
        const leases = await all<{ name: string; owner: Id }>(
          'SELECT name, owner FROM leases WHERE until > ?1',
          [Math.round(clock.now())],
        )
        return rows.map((row) => {
          const isSelf = row.id === id
          const shown = isSelf && live !== undefined ? { ...row, live: JSON.stringify(live) } : row
          return nodeOf(shown, isSelf, isSelf ? ownLeads() : leadsOf(leases, row.id))
        })
      })
    },
    report(next) {
      live = next
      void renew().catch(() => undefined)
    },
    lead,
    sourceValues: createSourceValues(driver.read, (work) => core.transact(now(), work)),
    database: () => driver.describe(),
  }

  return {
    cluster,
    hold,
    announce,
    /** Gives up what this node holds, so that others begin at once. */
    async close(): Promise<void> {
      isClosed = true
      clearInterval(timer)
      clearTimeout(sending)
      clearTimeout(takingOver)
      for (const what of led.keys()) end(what)
      await renewing?.catch(() => undefined)
      await core
        .transact(now(), async (tx) => {
          await tx.run('DELETE FROM nodes WHERE id = ?1', [id])
          await tx.run('DELETE FROM leases WHERE owner = ?1', [id])
          const rows = await tx.all<{ sequence: number }>('SELECT sequence FROM tasks WHERE leased_by = ?1', [
            id,
          ])
          await freeTasks(
            tx,
            rows.map(({ sequence }) => sequence),
          )
        })
        .catch(() => undefined)
      await send(true)
    },
  }
}

/** The most bytes of a notification; see `Driver.notify`. */
const maxBytes = 7_900

function emptyNews(): { pools: Places; changes: (string | undefined)[]; cancelled: string[] } {
  return { pools: new Map(), changes: [], cancelled: [] }
}

interface NodeRow {
  readonly id: Id
  readonly name: string
  readonly version: string
  readonly role: NodeRecord['role']
  readonly live: string | null
  readonly started_at: number
  readonly renewed_at: number
  readonly skew_ms: number
  readonly wake_up: 'notify' | 'poll'
}

function nodeOf(row: NodeRow, isSelf: boolean, leads: readonly string[]): NodeRecord {
  return {
    id: row.id,
    name: decodeString(row.name),
    version: decodeString(row.version),
    role: row.role,
    ...(row.live !== null && JSON.parse(row.live)),
    startedAt: row.started_at,
    renewedAt: row.renewed_at,
    skewMs: row.skew_ms,
    wakeUp: row.wake_up,
    leads: leads.filter((what) => what !== 'retention'),
    isSelf,
  }
}

function leadsOf(leases: readonly { readonly name: string; readonly owner: Id }[], node: Id): string[] {
  return leases
    .filter(({ name, owner }) => owner === node && name.startsWith('lead:'))
    .map(({ name }) => name.slice('lead:'.length))
}
