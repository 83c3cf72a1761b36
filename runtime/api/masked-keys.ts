/**
 * Finds what a client names by a key that it was shown without its secrets. Sessions and issues are addressed by keys that may
 * hold words of senders, and the cursors of their lists hold such a key.
 */

import { redacted } from '@reveille/engine'
import { pagesOf } from '../store/pages.ts'
import type { Page } from '../store/port.ts'
import type { AdminOptions } from './options.ts'

/** The records that are looked through for one key. */
const maxLookedAt = 5_000

type List<Query, Item> = (query: Query & { limit?: number; cursor?: string }) => Promise<Page<Item>>

export function createMaskedKeys<Query extends object, Item extends { readonly key: string }>(
  list: List<Query, Item>,
  { text }: AdminOptions['mask'],
  /** The time that a cursor of the list names beside the key. */
  timeOf: (item: Item) => number,
) {
  /** Returns the key itself, or that of the newest record which is shown under it; `among` are the times that it may have. */
  async function keyOf(shown: string, among?: readonly unknown[]): Promise<string> {
    if (!shown.includes(redacted)) return shown
    let looked = 0
    for await (const items of pagesOf((page) => list(page as Query))) {
      const found = items.find(
        (item) => text(item.key) === shown && (among === undefined || among.includes(timeOf(item))),
      )
      if (found !== undefined) return found.key
      looked += items.length
      if (looked >= maxLookedAt) break
    }
    return shown
  }

  return {
    keyOf,
    /** Lists a page between cursors that hold no secret. */
    async page(query: Query & { limit?: number; cursor?: string }): Promise<Page<Item>> {
      const cursor = query.cursor === undefined ? undefined : await withEach(query.cursor, keyOf)
      const { next, ...page } = await list({ ...query, ...(cursor !== undefined && { cursor }) })
      return next === undefined ? page : { ...page, next: await withEach(next, async (value) => text(value)) }
    },
  }
}

/** Changes the strings in a cursor. One that nobody made is left to the list, which refuses it. */
async function withEach(
  cursor: string,
  change: (value: string, values: readonly unknown[]) => Promise<string>,
): Promise<string> {
  try {
    const values: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString())
    if (!Array.isArray(values)) return cursor
    const changed = await Promise.all(
      values.map((value) => (typeof value === 'string' ? change(value, values) : value)),
    )
    return Buffer.from(JSON.stringify(changed)).toString('base64url')
  } catch (error) {
    if (error instanceof SyntaxError) return cursor
    throw error
  }
}
