/**
 * Keeps this node's membership in the cluster: it renews its row, takes over what nodes leave behind whose rows are too old by the
 * database's clock, and leads what runs once in the cluster.
 *
 * A node whose row was deleted has lost all of its claims. It finds that out with its next renewal, or when it claims; what it
 * still writes is refused, because its claims are no longer its own. What must not happen twice waits for `hold`.
 */

import { randomUUID } from 'node:crypto'
import {
  type Cluster,
  type Id,
  type Lead,
  type Leadership,
  type NodeRecord,
  StoreError,
  type StoreOptions,
  type TaskKind,
} from '../port.ts'
import type { Link, Transaction } from './connection.ts'
import type { Alarm } from './parts.ts'
import { columnOfText, textOfColumn } from './rows.ts'
import { freeClaims } from './schedule.ts'

export interface NodeTimes {
  /** Milliseconds between two renewals. */
  readonly renewMs: number
  /** A node that has not renewed its row for this long is taken for dead. */
  readonly expireMs: number
  /** A node that has not renewed its row for this long starts nothing that must not happen twice. */
  readonly holdMs: number
}

export const nodeTimes: NodeTimes = { renewMs: 5_000, expireMs: 15_000, holdMs: 10_000 }

/** The least time between two looks at the other nodes. */
const leastLookMs = 20
/** When it is looked again after a node has expired, in case it could not be taken over. */
const lookAgainMs = 1_000

export interface MembershipParts {
  readonly link: Link
  /** For transactions, which may wait for the locks of others: a renewal must not wait behind them, nor become a part of one. */
  readonly transactions: Link
  readonly times: NodeTimes
  readonly node: StoreOptions['node']
  readonly now: () => number
  /** How this node hears of what others did. */
  readonly wakeUp: () => 'notify' | 'poll'
  /** Called when this node has taken over from one that is dead, and when others have taken this one for dead. */
  readonly onTakeover: StoreOptions['onTakeover']
  /** Called when other nodes have taken this one for dead. It has lost all claims, and gets a new id. Returns how many they were. */
  onGone(): number
  /** Called when this node has joined again after it was taken for dead. */
  onJoinedAgain(): void
  /** Called when nodes came or went. */
  onNodes(isAlone: boolean): void
  /** Called when a node has freed what it held: with the tasks that are due again, and for leaderships that another node may want. */
  onFreed(alarms: readonly Alarm[]): void
  /** Called with claims of this node whose runs were cancelled. */
  onCancelled(claims: readonly number[]): void
}

interface Follower {
  readonly run: (lead: Lead) => void
  end?: AbortController
}

interface Led {
  readonly parts: Set<Follower>
  isLeading: boolean
}

interface NodeRow {
  readonly id: Id
  readonly name: string
  readonly version: string
  readonly role: string
  readonly record: string
  readonly renewed_at: number
  readonly started_at: number
}

export type Membership = Awaited<ReturnType<typeof joinCluster>>

export async function joinCluster(parts: MembershipParts) {
  const { link, transactions, times, now } = parts
  const { name = '', version = '', role = 'all' } = parts.node ?? {}
  const led = new Map<Leadership | 'retention', Led>()
  let id: Id = randomUUID()
  let live: { readonly generation: number; readonly digest: string } | undefined
  let skewMs: number | undefined
  let renewedAt = Number.NEGATIVE_INFINITY
  /** Since when this node has renewed its row without a gap. What made the gap may have kept others from renewing theirs. */
  let steadySince = Number.NEGATIVE_INFINITY
  let isAlone = true
  let isClosed = false
  let renewing: Promise<void> | undefined
  let timer: NodeJS.Timeout | undefined
  let looking: NodeJS.Timeout | undefined

  const record = () => JSON.stringify({ ...live, skewMs, wakeUp: isAlone ? undefined : parts.wakeUp() })

  async function join(): Promise<void> {
    id = randomUUID()
    const sentAt = performance.now()
    await link.query(
      `INSERT INTO nodes (id, name, version, role, record, renewed_at, started_at)
       VALUES ($1, $2, $3, $4, $5, clock_timestamp(), clock_timestamp())`,
      [id, columnOfText(name), columnOfText(version), role, record()],
    )
    renewedAt = sentAt
  }

  /** Concurrent calls share one renewal. A node that closes deletes its row, and must not find that it is gone. */
  function renew(): Promise<void> {
    if (isClosed) return renewing ?? Promise.resolve()
    renewing ??= renewOnce().finally(() => {
      renewing = undefined
    })
    return renewing
  }

  async function renewOnce(): Promise<void> {
    const sentAt = performance.now()
    const sentTime = now()
    const own = id
    const [renewed, others, orphans, cancelled] = await Promise.all([
      link.query<{ at: number }>(
        `UPDATE nodes SET renewed_at = clock_timestamp(), record = $2 WHERE id = $1
         RETURNING (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS at`,
        [own, record()],
      ),
      readOthers(),
      link.query<{ node: Id }>(
        `SELECT DISTINCT t.node FROM tasks AS t WHERE t.node IS NOT NULL AND NOT EXISTS (SELECT 1 FROM nodes AS n WHERE n.id = t.node)`,
      ),
      link.query<{ claim: number }>('SELECT claim FROM tasks WHERE node = $1 AND cancelled', [own]),
    ])
    const [row] = renewed
    if (row === undefined) {
      gone()
      await join()
      parts.onJoinedAgain()
      return renewOnce()
    }
    skewMs = Math.round((sentTime + now()) / 2 - row.at)
    if (performance.now() - renewedAt > times.holdMs) steadySince = performance.now()
    renewedAt = sentAt
    if (cancelled.length > 0) parts.onCancelled(cancelled.map(({ claim }) => claim))
    for (const { node } of orphans) if (node !== own) await takeOver(node)
    await judge(others)
  }

  /** Returns for each other node how many milliseconds are left until it expires. */
  function readOthers() {
    return link.query<{ id: Id; left: number }>(
      `SELECT id, ceil(extract(epoch FROM renewed_at - clock_timestamp()) * 1000 + $2)::bigint AS left FROM nodes WHERE id <> $1`,
      [id, times.expireMs],
    )
  }

  /**
   * Takes over from nodes that have expired, and looks again when the next one does. Where this node could not renew its row for a
   * while, perhaps no node could, so the others get the whole time to come back.
   */
  async function judge(others: readonly { readonly id: Id; readonly left: number }[]): Promise<void> {
    // The answer to a look may come before that to the renewal.
    const restMs = times.expireMs - (isFresh() ? performance.now() - steadySince : 0)
    const expired = restMs > 0 ? [] : others.filter(({ left }) => left <= 0)
    const waits = others.map(({ left }) => (left > 0 ? left : lookAgainMs))
    lookIn(Math.max(restMs, Math.min(...waits)))
    for (const { id: other } of expired) await takeOver(other)
    know(others.length > expired.length)
    await contend()
  }

  function lookIn(ms: number): void {
    clearTimeout(looking)
    if (isClosed || ms === Number.POSITIVE_INFINITY) return
    looking = setTimeout(
      () =>
        void readOthers()
          .then(judge)
          .catch(() => undefined),
      Math.max(leastLookMs, ms),
    )
    looking.unref()
  }

  function know(hasOthers: boolean): void {
    if (hasOthers !== isAlone) return
    isAlone = !hasOthers
    parts.onNodes(isAlone)
  }

  /** Deletes the row of a node that is dead, and frees its claims. */
  async function takeOver(node: Id): Promise<void> {
    const taken = await transactions.transact(async (tx) => {
      const [gone, [there]] = await Promise.all([
        tx.query<{ name: string }>(
          `DELETE FROM nodes WHERE id = $1 AND renewed_at <= clock_timestamp() - $2 * interval '1 millisecond' RETURNING name`,
          [node, times.expireMs],
        ),
        tx.query('SELECT 1 FROM nodes WHERE id = $1', [node]),
      ])
      return there === undefined ? { gone: gone[0], alarms: await leave(tx, node) } : undefined
    })
    if (taken === undefined) return
    const { gone, alarms } = taken
    parts.onFreed(alarms)
    // Another node may have been faster.
    if (gone === undefined) return
    parts.onTakeover?.({ node: textOfColumn(gone.name), isSelf: false, tasks: alarms.length })
  }

  /** Takes the leads that this node wants and no living node has. */
  async function contend(): Promise<void> {
    const wanted = [...led].filter(([, { parts: followers }]) => followers.size > 0).map(([what]) => what)
    if (wanted.length === 0 || isClosed) return
    const own = id
    const rows = await link.query<{ name: Leadership | 'retention' }>(
      `INSERT INTO singletons AS s (name, node) SELECT name, $2 FROM unnest($1::text[]) AS name ORDER BY name
       ON CONFLICT (name) DO UPDATE SET node = $2
       WHERE s.node = $2 OR NOT EXISTS (SELECT 1 FROM nodes AS n WHERE n.id = s.node) RETURNING name`,
      [wanted, own],
    )
    if (own !== id) return
    const ours = new Set(rows.map((row) => row.name))
    for (const what of wanted) {
      if (ours.has(what)) begin(what)
      else end(what)
    }
  }

  function begin(what: Leadership | 'retention'): void {
    const lead = led.get(what)
    if (lead === undefined) return
    lead.isLeading = true
    for (const part of lead.parts) start(part)
  }

  function start(part: Follower): void {
    if (part.end !== undefined) return
    const ending = new AbortController()
    part.end = ending
    part.run({
      signal: ending.signal,
      async hold() {
        await hold()
        ending.signal.throwIfAborted()
      },
    })
  }

  function end(what: Leadership | 'retention'): void {
    const lead = led.get(what)
    if (lead === undefined || !lead.isLeading) return
    lead.isLeading = false
    for (const part of lead.parts) {
      part.end?.abort(new StoreError('LEASE_LOST', `another node may lead ${what}`))
      delete part.end
    }
  }

  function gone(): void {
    renewedAt = Number.NEGATIVE_INFINITY
    steadySince = performance.now()
    for (const what of led.keys()) end(what)
    parts.onTakeover?.({ node: name, isSelf: true, tasks: parts.onGone() })
  }

  const isFresh = () => performance.now() - renewedAt < times.holdMs

  /** Resolves while no other node can have taken over what this one holds. */
  async function hold(): Promise<void> {
    while (!isFresh()) {
      if (isClosed) throw new StoreError('DRAINING', 'the store is closed')
      try {
        await renew()
      } catch {
        await new Promise((resolve) => setTimeout(resolve, 250).unref())
      }
    }
  }

  function tick(): void {
    if (isClosed) return
    if (!isFresh()) for (const what of led.keys()) end(what)
    // The tick that is nearest to the time.
    if (performance.now() - renewedAt + tickMs / 2 >= times.renewMs) void renew().catch(() => undefined)
  }

  await join()
  const tickMs = Math.min(1_000, times.renewMs / 2)
  timer = setInterval(tick, tickMs)
  timer.unref()
  // The first renewal looks for nodes that are gone.
  void renew().catch(() => undefined)

  const ownLeads = () => [...led].filter(([, { isLeading }]) => isLeading).map(([what]) => what)

  const cluster: Pick<Cluster, 'node' | 'nodes' | 'report' | 'lead'> = {
    get node() {
      return id
    },
    async nodes() {
      const [rows, singletons] = await Promise.all([
        link.query<NodeRow>(
          `SELECT id, name, version, role, record, (extract(epoch FROM renewed_at) * 1000)::bigint AS renewed_at,
           (extract(epoch FROM started_at) * 1000)::bigint AS started_at FROM nodes
           WHERE renewed_at >= clock_timestamp() - $1 * interval '1 millisecond' ORDER BY nodes.started_at, id`,
          [times.expireMs],
        ),
        link.query<{ name: string; node: Id }>('SELECT name, node FROM singletons ORDER BY name'),
      ])
      if (rows.some((row) => row.id !== id)) know(true)
      return rows.map((row): NodeRecord => {
        const isSelf = row.id === id
        const known = isSelf
          ? ownLeads()
          : singletons.filter(({ node }) => node === row.id).map((each) => each.name)
        return {
          id: row.id,
          name: textOfColumn(row.name),
          version: textOfColumn(row.version),
          role: row.role as NodeRecord['role'],
          ...JSON.parse(isSelf ? record() : row.record),
          startedAt: row.started_at,
          renewedAt: row.renewed_at,
          leads: known.filter((what) => what !== 'retention'),
          isSelf,
        }
      })
    },
    report(next) {
      live = next
      void renew().catch(() => undefined)
    },
    lead,
  }

  /** See `Cluster`. The store itself leads its retention. */
  function lead(what: Leadership | 'retention', run: (lead: Lead) => void): () => void {
    const found = led.get(what) ?? { parts: new Set(), isLeading: false }
    led.set(what, found)
    const part: Follower = { run }
    found.parts.add(part)
    if (found.isLeading) start(part)
    else void contend().catch(() => undefined)
    return () => {
      found.parts.delete(part)
      part.end?.abort(new StoreError('LEASE_LOST', `this node gave up ${what}`))
      if (found.parts.size > 0 || !found.isLeading) return
      found.isLeading = false
      link.query('DELETE FROM singletons WHERE name = $1 AND node = $2', [what, id]).then(
        () => parts.onFreed([]),
        () => undefined,
      )
    }
  }

  return {
    cluster,
    lead,
    hold,
    renew,
    isAlone: () => isAlone,
    /** Gives back the pools of these kinds that this node owns, whose tasks it claims no more. */
    async releasePools(kinds: readonly TaskKind[]): Promise<void> {
      await link.query('DELETE FROM pool_owners WHERE node = $1 AND kind = ANY($2::text[])', [id, kinds])
    },
    /** Gives up the membership: claims that are still open become free at once. */
    async close(): Promise<void> {
      isClosed = true
      clearInterval(timer)
      clearTimeout(looking)
      for (const what of led.keys()) end(what)
      await renewing?.catch(() => undefined)
      await transactions
        .transact((tx) => {
          tx.send('DELETE FROM nodes WHERE id = $1', [id])
          return leave(tx, id)
        })
        .then(parts.onFreed, () => undefined)
    },
  }
}

/** Frees everything that a node has held, whose row is deleted in the same transaction. */
async function leave(tx: Transaction, node: Id): Promise<Alarm[]> {
  const alarms = await freeClaims(tx, node, { isInterrupted: true })
  tx.send('DELETE FROM singletons WHERE node = $1', [node])
  tx.send('DELETE FROM pool_owners WHERE node = $1', [node])
  return alarms
}
