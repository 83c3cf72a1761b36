/** Renders a reply as plain text, since Messages knows no markup. */

import type { Part } from '@reveille/kit'
import { createWriter, type Dialect, plainDialect, renderParts, tableRecords } from '@reveille/kit/markdown'

/** The most UTF-16 units of a part. Apple publishes no limit. */
export const partLimit = 4000
/** The most messages that one reply becomes; the last of them says where the rest can be read. */
export const mostParts = 10

/** The plain dialect, with a table as a list for each row, since Messages has proportional letters on narrow screens. */
const dialect: Dialect = { ...plainDialect, table: (table) => write(tableRecords(table)) }
const write = createWriter(dialect)

export function renderReply(markdown: string): Part[] {
  return renderParts<Part>(markdown, {
    limit: partLimit,
    measure: ({ text }) => text.length,
    write: (blocks) => ({ text: write(blocks) }),
  })
}
