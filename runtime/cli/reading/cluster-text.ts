/** Shows the nodes of a cluster and the state of its database, for `status` and `doctor`. */

import type { GatewayStatus } from '../../api/index.ts'
import type { DatabaseState, NodeRecord } from '../../store/port.ts'
import { shortTime } from '../table.ts'

/** A transaction of a backup may last for minutes; one that is older than this is more likely forgotten. Milliseconds. */
export const oldTransactionMs = 300_000

/** Whether there is more to say about nodes than that this one runs. */
export function isCluster({ nodes = [], database = null }: Partial<GatewayStatus>): boolean {
  return nodes.length > 1 || database !== null
}

/** A line for each node, and one that says that they differ. */
export function nodeLines(nodes: readonly NodeRecord[], now: number): string[] {
  const lines = nodes.map((node) => {
    const { name, role, version, generation, digest, startedAt, leads, wakeUp, isSelf } = node
    return [
      `${name || node.id}${isSelf ? ' (this one)' : ''}`,
      role,
      version,
      generation === undefined ? 'nothing live' : `generation ${generation} (${digest})`,
      `since ${shortTime(startedAt, now)}`,
      ...(leads.length > 0 ? [`leads ${leads.join(' and ')}`] : []),
      ...(wakeUp === 'poll' ? ['polls, as notifications do not arrive'] : []),
    ].join(', ')
  })
  const found = differences(nodes)
  return found === undefined ? lines : [...lines, found]
}

/** Says that nodes serve different configurations, or undefined. */
export function differences(nodes: readonly NodeRecord[]): string | undefined {
  const digests = Map.groupBy(nodes, ({ digest }) => digest)
  digests.delete(undefined)
  if (digests.size < 2) return undefined
  const sides = [...digests].map(
    ([digest, with_]) => `${digest} on ${with_.map(({ name }) => name).join(', ')}`,
  )
  return `they serve different configurations: ${sides.join('; ')}`
}

export function databaseText({ version, oldestTransaction }: DatabaseState): string {
  const old = oldTransactionText(oldestTransaction)
  return `PostgreSQL ${version}${old === undefined ? '' : `; ${old}`}`
}

/** Names a transaction that is open for so long that dead rows pile up, or returns undefined. */
export function oldTransactionText(oldest: DatabaseState['oldestTransaction']): string | undefined {
  if (oldest === undefined || oldest.ageMs < oldTransactionMs) return undefined
  return `a transaction of ${oldest.by} is open for ${Math.floor(oldest.ageMs / 60_000)} minutes, and keeps dead rows from being removed`
}
