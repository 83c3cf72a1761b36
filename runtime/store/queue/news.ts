/** Tells other nodes what this one has committed, and hears it from them. Notifications may be lost: leases and due times are in rows. */

import type { Driver } from '@reveille/kit'
import type { Notes } from '../context.ts'
import type { Change, Id } from '../port.ts'
import { lower, type Place } from './places.ts'

/** Milliseconds within which what was committed is gathered for one notification. */
const gatherMs = 10
/** A notification holds as many changes. Others are left out: a listener that must not miss anything reads. */
const maxChanges = 60
/** Maximum size of a notification, in bytes; see `Driver.notify`. */
const maxBytes = 7_900

/** The commits of a node, and the content of one notification. */
export interface News {
  readonly node: Id
  readonly places: readonly Place[]
  readonly changes: readonly Change[]
  /** Leases whose runs were cancelled; see `leaseName`. */
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
    const news: News = {
      node: id,
      places: [...pools.values()],
      changes: changes.slice(0, maxChanges),
      cancelled,
      isCut: false,
      isFree,
    }
    const text = JSON.stringify(news)
    const cut: News = { ...news, places: [], changes: [], cancelled: [], isCut: true }
    const fits = Buffer.byteLength(text) <= maxBytes
    await notify(fits ? text : JSON.stringify(cut)).catch(() => undefined)
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
  const news: News = JSON.parse(text)
  if (news.node === id) return undefined
  // JSON has null for Infinity.
  return {
    ...news,
    places: news.places.map((place) => ({ ...place, dueAt: place.dueAt ?? Number.POSITIVE_INFINITY })),
  }
}
