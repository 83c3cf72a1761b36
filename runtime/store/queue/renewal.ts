/**
 * Keeps this node alive in the database: at each renewal it writes its row, renews the leases of its claims, frees those of nodes that are
 * gone, and contends for what it wants to lead.
 */

import { type Context, readCounts } from '../context.ts'
import type { Core } from '../core.ts'
import { type Id, StoreError, type Takeover } from '../port.ts'
import type { Happened } from '../protocol.ts'
import { cancelPartialJobs } from '../records/jobs.ts'
import { decodeString } from '../records/rows.ts'
import { freeExpired, type LeaseTimes, nextExpiry, renewLease, renewLeases } from './claiming.ts'
import type { OpenClaim } from './claims.ts'
import type { Leaderships } from './leaderships.ts'
import { type LeaseToken, leaseName } from './tasks.ts'

/** Milliseconds between two tries while the database does not answer. */
const retryMs = 250

export interface RenewalOptions {
  readonly core: Core
  readonly id: Id
  readonly times: LeaseTimes
  readonly clock: { ask(): Promise<void>; now(): number }
  readonly now: () => number
  readonly leads: Leaderships
  writeNode(tx: Context, steadySince: number): Promise<void>
  onHappened(happened: Partial<Happened>): void
  /** Called for other nodes. */
  onTakeover?(takeover: Takeover): void
}

export type Renewal = ReturnType<typeof createRenewal>

export function createRenewal(options: RenewalOptions) {
  const { core, times, clock, now, leads } = options
  let renewedAt = Number.NEGATIVE_INFINITY
  let renewing: Promise<void> | undefined
  let takingOver: NodeJS.Timeout | undefined
  let isClosed = false

  const isFresh = (since = renewedAt) => performance.now() - since < times.freshMs

  async function renew(): Promise<void> {
    // A node that closes does not join again.
    if (isClosed) return
    renewing ??= renewOnce().finally(() => {
      renewing = undefined
    })
    await renewing
  }

  const renewSoon = () => void renew().catch(() => undefined)

  async function renewOnce(): Promise<void> {
    const begun = performance.now()
    await clock.ask()
    const before = core.claims.all()
    const { made } = await core.transact(now(), (tx) => renewIn(tx, options, before))
    takeOverAt(Math.max(made.expiry, clock.now() + made.waitMs))
    // The reason why a task could not be claimed elsewhere may be gone.
    core.forgetPools()
    renewedAt = begun
    core.setForeignCounters(made.counters)
    for (const [what, isOurs] of made.leads) leads.set(what, isOurs)
    keepClaims(options, before, made, begun)
  }

  /** Takes over as soon as a lease of another node has expired. */
  function takeOverAt(expiry: number): void {
    clearTimeout(takingOver)
    if (isClosed || expiry === Number.POSITIVE_INFINITY) return
    takingOver = setTimeout(renewSoon, Math.max(retryMs, expiry - clock.now())).unref()
  }

  return {
    renew,
    renewSoon,
    /** Renews when that is due, and ends what this node can no longer be sure to lead. */
    tick(tickMs: number): void {
      if (isClosed) return
      if (!isFresh()) leads.endAll()
      if (performance.now() - renewedAt + tickMs / 2 >= times.renewMs) renewSoon()
    },
    /** Resolves while no other node can have taken over a claim, or what this node leads. A renewal may have left out a claim. */
    async confirm(claim?: number): Promise<void> {
      const isHeld = () => isFresh(claim === undefined ? renewedAt : core.claims.get(claim)?.leasedAt)
      while (!isHeld()) {
        if (isClosed) throw new StoreError('DRAINING', 'the store is closed')
        await renew().catch(() => undefined)
        if (!isHeld()) await new Promise((resolve) => setTimeout(resolve, retryMs).unref())
      }
    },
    isClosed: () => isClosed,
    async close(): Promise<void> {
      isClosed = true
      clearTimeout(takingOver)
      leads.endAll()
      await renewing?.catch(() => undefined)
    },
  }
}

type Renewed = Awaited<ReturnType<typeof renewIn>>

async function renewIn(tx: Context, options: RenewalOptions, claims: readonly OpenClaim[]) {
  const { id, times, clock, leads, writeNode } = options
  const steadySince = await sinceWhenSteady(tx, options)
  await writeNode(tx, steadySince)
  // Where no node could renew for a while, each of them gets the whole time to come back.
  const waitMs = steadySince + times.expireMs - clock.now()
  const sequences = claims.map(({ token }) => token.sequence)
  const leased = await renewLeases(tx, sequences, { times, clock: clock.now() })
  const freed = waitMs > 0 ? new Map<Id, number>() : await freeExpired(tx, clock.now())
  const names = await namesOfNodes(tx)
  // One that still holds something is named once that is taken over.
  await tx.run(
    `DELETE FROM nodes WHERE renewed_at < ?1
     AND NOT EXISTS (SELECT 1 FROM tasks WHERE state = 'leased' AND leased_by = nodes.id)`,
    [Math.round(clock.now() - times.expireMs)],
  )
  await cancelPartialJobs(tx, 'SELECT id FROM nodes')
  return {
    leased,
    waitMs,
    freed,
    names,
    leads: await leads.contend(tx, () => ({ times, clock: clock.now() })),
    counters: await readCounts(tx, id),
    cancelled: await cancelledLeases(tx),
    expiry: await nextExpiry(tx),
  }
}

async function sinceWhenSteady({ all }: Context, { clock, times }: RenewalOptions): Promise<number> {
  const [row] = await all<{ since: number | null }>(
    'SELECT min(steady_since) AS since FROM nodes WHERE renewed_at > ?1',
    [Math.round(clock.now() - times.freshMs)],
  )
  return row?.since ?? Math.round(clock.now())
}

async function namesOfNodes({ all }: Context): Promise<ReadonlyMap<Id, string>> {
  const rows = await all<{ id: Id; name: string }>('SELECT id, name FROM nodes')
  return new Map(rows.map(({ id, name }) => [id, decodeString(name)]))
}

async function cancelledLeases({ all, node }: Context): Promise<string[]> {
  const sql = `SELECT sequence, claims, key FROM tasks WHERE state = 'leased' AND leased_by = ?1 AND cancelled = 1`
  return (await all<LeaseToken>(sql, [node])).map(leaseName)
}

/** Notes which claims were renewed, and ends those that other nodes have taken over. */
function keepClaims(
  options: RenewalOptions,
  before: readonly OpenClaim[],
  { leased, cancelled, freed, names }: Renewed,
  begun: number,
): void {
  const { core, id, onHappened, onTakeover } = options
  const leaseOf = ({ token }: OpenClaim) => {
    const lease = leased.get(token.sequence)
    return lease?.claims === token.claims && lease.key === token.key ? lease : undefined
  }
  for (const claim of before) {
    if (leaseOf(claim)?.isRenewed === true) core.claims.renew(claim.claim, begun)
    else if (leaseOf(claim) !== undefined) void renewAlone(options, claim).catch(() => undefined)
  }
  // A claim settled meanwhile is not lost.
  const lost = before.filter((claim) => leaseOf(claim) === undefined && core.claims.isOpen(claim.claim))
  core.claims.end(lost.map(({ claim }) => claim))
  core.claims.forgetCancelled()
  onHappened({ lost, cancelled: core.claims.cancel(cancelled) })
  for (const [node, tasks] of freed)
    if (node !== id) onTakeover?.({ node: names.get(node) ?? node, isSelf: false, tasks })
}

/** Renews the lease of a claim whose row is locked, by a checkpoint perhaps, as soon as the row is free. */
async function renewAlone({ core, times, clock, now }: RenewalOptions, { claim, token }: OpenClaim) {
  const begun = performance.now()
  const leased = { times, clock: clock.now() }
  const { made } = await core.transact(now(), (tx) => renewLease(tx, token, leased))
  if (made) core.claims.renew(claim, begun)
}
