/** Tells other nodes what this one has committed, and hears it from them. Notifications may be lost: leases and due times are in rows. */

import type { Driver } from '@reveille/kit'
import type { Notes } from '../context.ts'
import type { Id, TaskKind } from '../port.ts'
import { lower, type Place } from './places.ts'

/** Milliseconds within which what was committed is gathered for one notification. */
const gatherMs = 10
/** A notification holds as many changes. Others are left out: a listener that must not miss anything reads. */
const maxChanges = 100
/** Maximum size of a notification, in bytes; see `Driver.notify`. */
const maxBytes = 7_900

/** The content of one notification. The names are short, because the room is. */
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

/** The commits of another node. */
export interface News {
  readonly places: readonly Place[]
  readonly changes: readonly (string | undefined)[]
  /** Leases whose runs were cancelled, by name. */
  readonly cancelled: readonly string[]
  /** More has happened than there was room for. */
  readonly isCut: boolean
  /** The node has given up something that it led. */
  readonly isFree: boolean
}

export function createAnnouncer(id: Id, notify: Driver['notify']) {
  let pending = nothing()
  let sending: NodeJS.Timeout | undefined

  async function send(isFree = false): Promise<void> {
    const { pools, changes, cancelled } = pending
    pending = nothing()
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
    const fits = Buffer.byteLength(text) <= maxBytes
    await notify(fits ? text : JSON.stringify({ ...base, u: true })).catch(() => undefined)
  }

  return {
    send,
    /** Sends what was committed, soon. */
    announce({ pools, changes, cancelled }: Notes): void {
      if (pools.size === 0 && changes.length === 0 && cancelled.length === 0) return
      for (const news of pools.values()) lower(pending.pools, news)
      pending.changes.push(...changes)
      pending.cancelled.push(...cancelled)
      sending ??= setTimeout(() => void send(), gatherMs).unref()
    },
    close: () => clearTimeout(sending),
  }
}

function nothing(): Pick<Notes, 'pools' | 'changes' | 'cancelled'> {
  return { pools: new Map(), changes: [], cancelled: [] }
}

/** Returns what another node says; undefined for what this one has sent. */
export function readNews(text: string, id: Id): News | undefined {
  const { n, p = [], u, c = [], x = [], f }: Payload = JSON.parse(text)
  if (n === id) return undefined
  const places = p.map(([kind, pool, dueAt, isFull]) => ({
    kind,
    pool,
    dueAt: dueAt ?? Number.POSITIVE_INFINITY,
    isFull,
  }))
  const changes = c.map((value) => value ?? undefined)
  return { places, changes, cancelled: x, isCut: u === true, isFree: f === true }
}
