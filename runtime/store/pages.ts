/** Reads lists page by page. */

import type { Page } from './port.ts'

/** Maximum number of items on a page. */
const maxItems = 500

/** Yields the items of each page of a list, until the last page, or until the loop ends. `list` adds its own filters to what it is given. */
export async function* pagesOf<Item>(
  list: (page: { readonly limit: number; readonly cursor?: string }) => Promise<Page<Item>>,
  limit = maxItems,
): AsyncGenerator<readonly Item[], void> {
  let page = await list({ limit })
  yield page.items
  while (page.next !== undefined) {
    page = await list({ limit, cursor: page.next })
    yield page.items
  }
}
