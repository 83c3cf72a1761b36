/** Follows whether this node is the one that does something for all nodes. */

import { type Lead, type Leadership, type NodeRole, type Store, StoreError } from '../store/port.ts'

/** An ingress node never leads. */
export function followLead({ cluster }: Store, what: Leadership, role: NodeRole) {
  let lead: Lead | undefined
  let giveUp = () => {}
  return {
    isHeld: () => lead !== undefined && !lead.signal.aborted,
    /** As that of a claim. @throws StoreError `LEASE_LOST` */
    async hold(): Promise<void> {
      if (lead === undefined) throw new StoreError('LEASE_LOST', `another node does this: ${what}`)
      await lead.hold()
    },
    /** `changed` is called with each gain and each loss. */
    begin(changed: () => void) {
      if (role === 'ingress') return
      giveUp = cluster.lead(what, (next) => {
        lead = next
        next.signal.addEventListener('abort', changed)
        changed()
      })
    },
    close: () => giveUp(),
  }
}
