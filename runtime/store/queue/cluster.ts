/**
 * The work of a process that shares its database, beside posts: it reports that it is alive, renews the leases of its claims, frees those
 * of nodes that are gone, takes leadership, and tells the others what it has committed. Nothing that it knows of other nodes decides
 * anything: leases are rows, by the database's clock.
 */

import type { Driver } from '@reveille/kit'
import type { Context } from '../context.ts'
import type { Cluster, Id, Leadership, NodeRecord, StoreOptions } from '../port.ts'
import { decodeString, encodeString } from '../records/rows.ts'
import { createSourceValues } from '../records/source-values.ts'
import { type Row, tables } from '../schema.ts'
import { freeTasks, giveUpLease } from './claiming.ts'
import { createLeaderships } from './leaderships.ts'
import { createAnnouncer, readNews } from './news.ts'
import { createRenewal, type Renewal, type RenewalOptions } from './renewal.ts'

export interface ClusterOptions extends Omit<RenewalOptions, 'leads' | 'writeNode'> {
  readonly driver: Driver
  readonly node: NonNullable<StoreOptions['node']>
  readonly clock: DatabaseClock
}

/** The database's clock as it was asked for, and what has passed since. */
export type DatabaseClock = ReturnType<typeof createDatabaseClock>

export function createDatabaseClock(driver: Pick<Driver, 'clock'>, own: () => number) {
  let reading = { clock: 0, at: 0, offByMs: Number.POSITIVE_INFINITY }
  const now = () => reading.clock + performance.now() - reading.at
  return {
    async ask(): Promise<void> {
      const start = performance.now()
      const clock = await driver.clock()
      const offByMs = (performance.now() - start) / 2
      // A slow answer is less exact than a quick one before it, unless the clock was set since.
      if (offByMs > reading.offByMs && Math.abs(now() - offByMs - clock) <= offByMs) return
      reading = { clock, at: start + offByMs, offByMs }
    },
    now,
    /** Milliseconds by which the clock of this machine is ahead. */
    skewMs: () => Math.round(own() - now()),
  }
}

/** The row by which other nodes know this one. */
function createNodeRow({ id, node, clock }: ClusterOptions) {
  let live: Parameters<Cluster['report']>[0] | undefined
  let startedAt = 0
  let wakeUp: NodeRow['wake_up'] = 'poll'
  return {
    report(next: typeof live) {
      live = next
    },
    /** Notifications of the database arrive. */
    heard() {
      wakeUp = 'notify'
    },
    /** This node's row with what is not written yet. */
    current: (row: NodeRow): NodeRow =>
      row.id === id
        ? { ...row, wake_up: wakeUp, ...(live !== undefined && { live: JSON.stringify(live) }) }
        : row,
    async write(tx: Context, steadySince: number): Promise<void> {
      const at = Math.round(clock.now())
      startedAt ||= at
      await tx.run('DELETE FROM nodes WHERE id = ?1', [id])
      const shown = live === undefined ? null : JSON.stringify(live)
      const names = [encodeString(node.name), encodeString(node.version), node.role]
      await tx.insert(tables.nodes, [
        [id, ...names, shown, startedAt, at, steadySince, clock.skewMs(), wakeUp],
      ])
    },
  }
}

export async function joinCluster(options: ClusterOptions) {
  const { driver, core, id, times, clock, now, onHappened } = options
  const row = createNodeRow(options)
  const announcer = createAnnouncer(id, driver.notify)
  const leads = createLeaderships({
    confirm: () => renewal.confirm(),
    onWanted: () => renewal.renewSoon(),
    onGivenUp: (what) =>
      void core
        .transact(now(), (tx) => giveUpLease(tx, `lead:${what}`))
        .then(() => announcer.send(true))
        .catch(() => undefined),
  })
  const renewal: Renewal = createRenewal({ ...options, leads, writeNode: row.write })

  function receive(text: string): void {
    const news = readNews(text, id)
    if (news === undefined) return
    for (const place of news.places) core.notePool(place)
    if (news.isCut) core.forgetPools()
    if (news.isFree) renewal.renewSoon()
    onHappened({ changes: news.changes, cancelled: core.claims.cancel(news.cancelled) })
  }

  /** Looks without a notification. */
  function look(): void {
    if (renewal.isClosed()) return
    core.forgetPools()
    onHappened({})
  }

  /** Deletes old history while this node leads that. */
  function sweep({ signal }: Leadership): void {
    core.setSweeps(true)
    onHappened({})
    signal.addEventListener('abort', () => core.setSweeps(false), { once: true })
  }

  leads.whileLeading('retention', sweep)
  await renewal.renew()
  const tickMs = Math.min(1_000, times.renewMs / 2)
  const timer = setInterval(() => renewal.tick(tickMs), tickMs).unref()
  driver.listen(receive, look, row.heard)

  const cluster: Cluster = {
    node: id,
    isShared: true,
    async nodes() {
      await clock.ask()
      const { rows, leases } = await readNodes(options)
      return rows.map((each) =>
        nodeOf(row.current(each), each.id === id, each.id === id ? leads.own() : leadsOf(leases, each.id)),
      )
    },
    report(next) {
      row.report(next)
      renewal.renewSoon()
    },
    whileLeading: leads.whileLeading,
    sourceValues: createSourceValues(driver.read, (work) => core.transact(now(), work)),
    database: () => driver.describe(),
  }

  return {
    cluster,
    confirm: renewal.confirm,
    announce: announcer.announce,
    /** Gives up what this node holds, so that others begin at once. */
    async close(): Promise<void> {
      clearInterval(timer)
      announcer.close()
      await renewal.close()
      await core.transact(now(), (tx) => leave(tx, id)).catch(() => undefined)
      await announcer.send(true)
    },
  }
}

async function leave(tx: Context, id: Id): Promise<void> {
  await tx.run('DELETE FROM nodes WHERE id = ?1', [id])
  await tx.run('DELETE FROM leases WHERE owner = ?1', [id])
  const rows = await tx.all<{ sequence: number }>(
    `SELECT sequence FROM tasks WHERE state = 'leased' AND leased_by = ?1`,
    [id],
  )
  await freeTasks(
    tx,
    rows.map(({ sequence }) => sequence),
  )
}

function readNodes({ driver, clock, times }: ClusterOptions) {
  return driver.read(async ({ all }) => ({
    rows: await all<NodeRow>('SELECT * FROM nodes WHERE renewed_at >= ?1 ORDER BY started_at, id', [
      Math.round(clock.now() - times.expireMs),
    ]),
    leases: await all<LeaseRow>('SELECT name, owner FROM leases WHERE until > ?1', [Math.round(clock.now())]),
  }))
}

type LeaseRow = Pick<Row<'leases'>, 'name' | 'owner'>

type NodeRow = Row<'nodes'> & { readonly role: NodeRecord['role']; readonly wake_up: 'notify' | 'poll' }

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

function leadsOf(leases: readonly LeaseRow[], node: Id): string[] {
  return leases
    .filter(({ name, owner }) => owner === node && name.startsWith('lead:'))
    .map(({ name }) => name.slice('lead:'.length))
}
