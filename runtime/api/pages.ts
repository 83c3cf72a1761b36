/** Cuts pages out of lists that are in memory. */

import type { Page, PageOptions } from '../store/port.ts'
import { badCursor } from './errors.ts'

const usualLimit = 50

/** The cursor is the key of the last item of the page before. @throws RequestError where no item has that key any more */
export function pageIn<Item>(
  items: readonly Item[],
  { limit = usualLimit, cursor }: PageOptions,
  keyOf: (item: Item) => string,
): Page<Item> {
  const start = cursor === undefined ? 0 : items.findIndex((item) => keyOf(item) === cursor) + 1
  if (cursor !== undefined && start === 0) throw badCursor
  const last = items[start + limit - 1]
  const hasNext = last !== undefined && start + limit < items.length
  return { items: items.slice(start, start + limit), ...(hasNext && { next: keyOf(last) }) }
}
