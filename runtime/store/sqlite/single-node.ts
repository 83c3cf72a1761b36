/** The cluster of a store that one process holds: this node alone, which leads everything at once. */

import { randomUUID } from 'node:crypto'
import type { Cluster, StoreOptions } from '../port.ts'
import { createLeaderships } from '../queue/leaderships.ts'

export function createSingleNode({
  node: { name = '', version = '', role = 'all' } = {},
  now,
}: Pick<StoreOptions, 'now'> & { readonly node?: Partial<StoreOptions['node']> | undefined }): Cluster {
  const id = randomUUID()
  const startedAt = now()
  const leads = createLeaderships({
    confirm: async () => undefined,
    onWanted: (what) => leads.set(what, true),
    onGivenUp: () => undefined,
  })
  let live: Parameters<Cluster['report']>[0] | undefined

  return {
    node: id,
    isShared: false,
    nodes: async () => [
      {
        id,
        name,
        version,
        role,
        ...live,
        startedAt,
        renewedAt: now(),
        leads: leads.own(),
        isSelf: true,
      },
    ],
    report(next) {
      live = next
    },
    whileLeading: leads.whileLeading,
    database: async () => undefined,
  }
}
