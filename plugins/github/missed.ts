/** Lists what a webhook could not deliver, by the first attempt of each event whose attempts all failed. */

import type { Missed, MissedList } from '@reveille/kit'
import type { Delivery, GitHubApi } from './api.ts'

/** `from` is in milliseconds since the Unix epoch. @throws PluginError */
export async function missedDeliveries(api: GitHubApi, hookId: string, from: number): Promise<MissedList> {
  const first = new Map<string, Delivery>()
  const delivered = new Set<string>()
  pages: for await (const page of api.deliveries(hookId)) {
    for (const delivery of page) {
      if (delivery.at < from) break pages
      if (delivery.status >= 200 && delivery.status < 300) delivered.add(delivery.guid)
      else if (delivery.event !== 'ping') first.set(delivery.guid, delivery)
    }
  }
  const missed = [...first.values()].filter(({ guid }) => !delivered.has(guid)).reverse()
  missed.sort((one, other) => one.at - other.at)
  const items = missed.map(
    ({ id, guid, at }): Missed => ({ id: guid, at, read: () => api.readDelivery(hookId, id) }),
  )
  return { count: items.length, items }
}
