/** Remembers what this gateway has sent, as digests, and finds it again in a payload. */

import { hash } from 'node:crypto'
import { pagesOf } from '../store/pages.ts'
import type { DeliveryRecord, Reader, Store } from '../store/port.ts'

/** Milliseconds that a message is remembered. */
const keptMs = 86_400_000
/** Maximum number of remembered messages, the newest; each takes about 200 bytes, however long it is. */
const maxMessages = 10_000
/** A shorter text may come from anybody. UTF-16 units, folded. */
export const minTextLength = 24
/** Maximum size of a payload that is searched, which takes about a millisecond. */
const maxNodes = 10_000
const maxUnits = 256 * 1024

export type SentMessages = ReturnType<typeof createSentMessages>

/** `now` is in milliseconds since the Unix epoch. */
export function createSentMessages({
  now,
  maxCount = maxMessages,
}: {
  now: () => number
  maxCount?: number
}) {
  /** When each was sent, by digest, the oldest first. */
  const sent = new Map<string, number>()
  let longest = 0

  function forgetOld(): void {
    const since = now() - keptMs
    for (const [digest, at] of sent) {
      if (at > since && sent.size <= maxCount) break
      sent.delete(digest)
    }
    if (sent.size === 0) longest = 0
  }

  return {
    /** True if no message is remembered. */
    isEmpty: () => sent.size === 0,

    /** Remembers a message. `at` is when it was sent. Default: now. */
    note(text: string, at = now()): void {
      const folded = fold(text)
      const { length } = folded
      if (length < minTextLength) return
      const digest = digestOf(folded)
      // It was sent again while older messages were being loaded.
      if ((sent.get(digest) ?? at) > at) return
      sent.delete(digest)
      sent.set(digest, at)
      longest = Math.max(longest, length)
      forgetOld()
    },

    /**
     * True if a whole string of the payload is a message that was sent. White space at its ends, and its amount between words, do not
     * count. Of a large payload only the beginning is searched, level by level.
     */
    isEchoedIn(payload: unknown): boolean {
      forgetOld()
      if (sent.size === 0) return false
      // Folding makes no string that is far longer than every message equal to one.
      const maxNodeLength = longest * 2
      let units = 0
      const nodes: unknown[] = [payload]
      for (let at = 0; at < nodes.length; at += 1) {
        const node = nodes[at]
        if (typeof node !== 'string') {
          appendValues(node, nodes)
          continue
        }
        if (node.length < minTextLength || node.length > maxNodeLength) continue
        units += node.length
        if (units > maxUnits) return false
        if (sent.has(digestOf(fold(node)))) return true
      }
      return false
    },
  }
}

/**
 * Appends what a node holds, so that higher levels come first. Object.values() of an array that is far longer than what is looked
 * at would take long.
 */
function appendValues(node: unknown, nodes: unknown[]): void {
  if (typeof node !== 'object' || node === null) return
  const values: readonly unknown[] = Array.isArray(node) ? node : Object.values(node)
  for (let at = 0; at < values.length && nodes.length < maxNodes; at += 1) nodes.push(values[at])
}

function fold(text: string): string {
  return text.trim().replace(/\s+/g, ' ')
}

function digestOf(folded: string): string {
  return hash('sha256', folded, 'base64')
}

/** Maximum number of deliveries loaded; a request waits for them. */
const maxReplies = 1000
const pageSize = 500

/**
 * Loads the newest replies that were delivered before this process started. The parts of a reply are not on record, so that only a
 * reply of one part is recognised. @throws StoreError
 */
export async function loadSentMessages(
  sent: SentMessages,
  read: Pick<Reader, 'deliveries'>,
  now: number,
): Promise<void> {
  const newest: DeliveryRecord[] = []
  const list = (page: object) => read.deliveries({ state: 'delivered', ...page })
  for await (const deliveries of pagesOf(list, pageSize)) {
    newest.push(...deliveries.filter((delivery) => sentAt(delivery) > now - keptMs))
    const oldestAt = deliveries.at(-1)?.createdAt ?? 0
    if (oldestAt <= now - keptMs || newest.length >= maxReplies) break
  }
  for (const delivery of newest.reverse()) sent.note(delivery.text, sentAt(delivery))
}

/** Remembers what other nodes are about to send: each delivery, as soon as there is one. Ends with the signal. */
export async function followSentMessages(
  sent: SentMessages,
  { changes, read }: Pick<Store, 'changes'> & { readonly read: Pick<Reader, 'delivery'> },
  signal: AbortSignal,
): Promise<void> {
  /** The newest of those that were looked at. */
  const known = new Set<string>()
  for await (const { type, id, state } of changes({ signal })) {
    if (type !== 'delivery' || state !== 'pending' || known.has(id)) continue
    known.add(id)
    if (known.size > maxReplies) for (const oldest of known.values().take(1)) known.delete(oldest)
    const delivery = await read.delivery(id).catch(() => undefined)
    if (delivery !== undefined) sent.note(delivery.text)
  }
}

function sentAt({ endedAt, createdAt }: DeliveryRecord): number {
  return endedAt ?? createdAt
}
