/** Leadership of this node. Each is a lease by name; a node that may have lost it stops the work that depends on it. */

import type { Context } from '../context.ts'
import { type LeaderDuty, type Leadership, StoreError } from '../port.ts'
import { type ClaimOptions, takeLease } from './claiming.ts'

/** Work with one leader. The store itself leads its retention. */
export type Duty = LeaderDuty | 'retention'

interface Follower {
  readonly run: (lead: Leadership) => void
  end?: AbortController
}

export interface LeadershipsOptions {
  /** Resolves while no other node can lead in place of this one. */
  confirm(): Promise<void>
  /** Called when this node wants to lead something. */
  onWanted(what: Duty): void
  /** Called when this node no longer wants what it leads. */
  onGivenUp(what: Duty): void
}

export type Leaderships = ReturnType<typeof createLeaderships>

export function createLeaderships({ confirm, onWanted, onGivenUp }: LeadershipsOptions) {
  const led = new Map<Duty, { readonly followers: Set<Follower>; isLeading: boolean }>()

  function start(follower: Follower): void {
    if (follower.end !== undefined) return
    const ending = new AbortController()
    follower.end = ending
    follower.run({
      signal: ending.signal,
      async confirm() {
        await confirm()
        ending.signal.throwIfAborted()
      },
    })
  }

  function set(what: Duty, isLeading: boolean): void {
    const leadership = led.get(what)
    if (leadership === undefined || (!isLeading && !leadership.isLeading)) return
    leadership.isLeading = isLeading
    for (const follower of leadership.followers) {
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
    own: (): Duty[] => [...led].filter(([, { isLeading }]) => isLeading).map(([what]) => what),
    /** Takes or renews the leases of what this node wants to lead. */
    async contend(tx: Context, options: () => ClaimOptions): Promise<ReadonlyMap<Duty, boolean>> {
      const duties = [...led].filter(([, { followers }]) => followers.size > 0).map(([what]) => what)
      const leads = new Map<Duty, boolean>()
      for (const what of duties.toSorted()) leads.set(what, await takeLease(tx, `lead:${what}`, options()))
      return leads
    },
    /** Calls `run` whenever this node leads, until the returned function is called. */
    whileLeading(what: Duty, run: (lead: Leadership) => void): () => void {
      const found = led.get(what) ?? { followers: new Set<Follower>(), isLeading: false }
      led.set(what, found)
      const follower: Follower = { run }
      found.followers.add(follower)
      if (found.isLeading) start(follower)
      else onWanted(what)
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
