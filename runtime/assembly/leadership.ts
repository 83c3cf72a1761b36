/** Follows whether this node is the one that does something for all nodes. */

import { type LeaderDuty, type Leadership, type NodeRole, type Store, StoreError } from '../store/port.ts'

/** An ingress node never leads. */
export function followLeadership({ cluster }: Store, what: LeaderDuty, role: NodeRole) {
  let lead: Leadership | undefined
  let giveUp = () => {}
  return {
    isHeld: () => lead !== undefined && !lead.signal.aborted,
    /** As that of a claim. @throws StoreError `LEASE_LOST` */
    async confirm(): Promise<void> {
      if (lead === undefined) throw new StoreError('LEASE_LOST', `another node does this: ${what}`)
      await lead.confirm()
    },
    /** `changed` is called with each gain and each loss. */
    begin(changed: () => void) {
      if (role === 'ingress') return
      giveUp = cluster.whileLeading(what, (next) => {
        lead = next
        next.signal.addEventListener('abort', changed)
        changed()
      })
    },
    close: () => giveUp(),
  }
}
