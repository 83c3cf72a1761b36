/** Owns what a gateway knows of its own words from before its start: the newest replies that it delivered. */

import type { DeliveryRecord, Reader } from '../store/port.ts'
import { keptMs, type OwnWords } from './own-words.ts'

/** So many at most: a request waits for it. */
const mostReplies = 1000
const pageSize = 500

/** The parts that a reply was sent in are not on record; a reply that was one part is known again. @throws StoreError */
export async function rememberOwnWords(
  words: OwnWords,
  read: Pick<Reader, 'deliveries'>,
  now: number,
): Promise<void> {
  const newest: DeliveryRecord[] = []
  let cursor: string | undefined
  do {
    const page = await read.deliveries({ state: 'delivered', limit: pageSize, ...(cursor && { cursor }) })
    newest.push(...page.items.filter((delivery) => saidAt(delivery) > now - keptMs))
    const oldest = page.items.at(-1)
    cursor = oldest && oldest.createdAt > now - keptMs ? page.next : undefined
  } while (cursor !== undefined && newest.length < mostReplies)
  for (const delivery of newest.reverse()) words.note(delivery.text, saidAt(delivery))
}

function saidAt({ endedAt, createdAt }: DeliveryRecord): number {
  return endedAt ?? createdAt
}
