/** Leadership of this node. Each is a lease by name; a node that may have lost it stops the work that depends on it. */

import type { Context } from '../context.ts'
import { type Lead, type Leadership, StoreError } from '../port.ts'
import { type ClaimOptions, takeLease } from './claiming.ts'

/** Work with one leader. The store itself leads its retention. */
export type Led = Leadership | 'retention'

interface Follower {
  readonly run: (lead: Lead) => void
  end?: AbortController
}

export interface LeadsOptions {
  /** Resolves while no other node can lead in place of this one. */
  hold(): Promise<void>
  /** Called when this node wants to lead something. */
  onWanted(): void
  /** Called when this node no longer wants what it leads. */
  onGivenUp(what: Led): void
}

export type Leads = ReturnType<typeof createLeads>

export function createLeads({ hold, onWanted, onGivenUp }: LeadsOptions) {
  const led = new Map<Led, { readonly followers: Set<Follower>; isLeading: boolean }>()

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

  function set(what: Led, isLeading: boolean): void {
    const lead = led.get(what)
    if (lead === undefined || (!isLeading && !lead.isLeading)) return
    lead.isLeading = isLeading
    for (const follower of lead.followers) {
      if (isLeading) start(follower)
      else {
        follower.end?.abort(new StoreError('LEASE_LOST', `another node may lead ${what}`))
        delete follower.end
      }
    }
  }

  return {
    set,
    endAll() {
      for (const what of led.keys()) set(what, false)
    },
    own: (): Led[] => [...led].filter(([, { isLeading }]) => isLeading).map(([what]) => what),
    /** Takes or renews the leases of what this node wants to lead. */
    async contend(tx: Context, options: () => ClaimOptions): Promise<ReadonlyMap<Led, boolean>> {
      const wanted = [...led].filter(([, { followers }]) => followers.size > 0).map(([what]) => what)
      const leads = new Map<Led, boolean>()
      for (const what of wanted.toSorted()) leads.set(what, await takeLease(tx, `lead:${what}`, options()))
      return leads
    },
    /** Calls `run` whenever this node leads, until the returned function is called. */
    lead(what: Led, run: (lead: Lead) => void): () => void {
      const found = led.get(what) ?? { followers: new Set<Follower>(), isLeading: false }
      led.set(what, found)
      const follower: Follower = { run }
      found.followers.add(follower)
      if (found.isLeading) start(follower)
      else onWanted()
      return () => {
        found.followers.delete(follower)
        follower.end?.abort(new StoreError('LEASE_LOST', `this node gave up ${what}`))
        if (found.followers.size > 0 || !found.isLeading) return
        found.isLeading = false
        onGivenUp(what)
      }
    },
  }
}
