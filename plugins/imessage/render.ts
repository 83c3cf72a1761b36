/** Owns how a reply becomes messages without any markup, which Messages does not know. */

import type { Part } from '@reveille/kit'
import { createWriter, type Dialect, plainDialect, renderParts, tableRecords } from '@reveille/kit/markdown'

/** Apple publishes no limit. UTF-16 units. */
export const partLimit = 4000
/** Messages that one reply may become; what is longer is read elsewhere. */
export const mostParts = 10

/** Messages has letters of unequal width, on narrow screens: a table is a list for each of its rows. */
const dialect: Dialect = { ...plainDialect, table: (table) => write(tableRecords(table)) }
const write = createWriter(dialect)

export function renderReply(markdown: string): Part[] {
  return renderParts<Part>(markdown, {
    limit: partLimit,
    measure: ({ text }) => text.length,
    write: (blocks) => ({ text: write(blocks) }),
  })
}
