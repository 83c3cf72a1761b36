/** Renders a reply as plain text, since Messages knows no markup. */

import {
  createTextRenderer,
  createWriter,
  type Dialect,
  plainDialect,
  tableRecords,
} from '@reveille/kit/markdown'

/** Apple publishes no limit. Of a reply in more than ten parts the last one says where the rest can be read. */
export const limits = { part: 4000, unit: 'utf16', parts: 10 } as const

/** The plain dialect, with a table as a list for each row, since Messages has proportional letters on narrow screens. */
const dialect: Dialect = { ...plainDialect, table: (table) => write(tableRecords(table)) }
const write = createWriter(dialect)

export const renderReply = createTextRenderer(dialect, limits)
