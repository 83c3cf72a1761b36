/** Writes messages without markup, in which signs and the arrangement of lines take its place. */

import { alignTable, type Table, tableRecords } from './align-table.ts'
import type { Dialect, ItemMarker } from './dialect.ts'
import type { Inline } from './tree.ts'
import { createInlineWriter, createWriter } from './writer.ts'

export const plainDialect: Dialect = {
  text: (text) => text,
  strong: (inner) => inner,
  emphasis: (inner) => inner,
  strike: (inner) => inner,
  code: (text) => text,
  link: (inner, address, isBare) => (isBare ? inner : `${inner} (${address})`),
  image: (description, address) => (description === '' ? address : `${description} (${address})`),
  lineBreak: '\n',
  heading: (inner) => inner,
  codeBlock: (text) => text,
  quote: (inner) => inner.replace(/^/gm, '> ').replace(/^> $/gm, '>'),
  item: (inner, marker) => indentItem(`${plainMarker(marker)} `, inner),
  table: (table, write) => writeTableAsCode(plainDialect, table, { write }),
  rule: '———',
}

const writePlainCell = createInlineWriter(plainDialect)

export interface CodeTableOptions {
  /** Returns the text of a cell. Default: the text of the plain dialect. */
  readonly write?: (cell: readonly Inline[]) => string
  /** Maximum width in columns. Default: `widestTable`. */
  readonly maxWidth?: number
}

/** Writes a table as code in aligned columns, or as a list for each row if that would be too wide. */
export function writeTableAsCode(
  dialect: Dialect,
  table: Table,
  { write = writePlainCell, maxWidth }: CodeTableOptions = {},
): string {
  const aligned = alignTable(table, write, maxWidth)
  return aligned === undefined ? createWriter(dialect)(tableRecords(table)) : dialect.codeBlock(aligned, '')
}

/** The bullets by the depth of a list. */
const bullets = ['•', '◦', '▪'] as const

/** Returns `3.` for numbers, boxes for tasks, and a bullet for all other items. */
export function plainMarker({ number, checked, depth }: ItemMarker): string {
  const box = checked === undefined ? [] : [checked ? '☑' : '☐']
  if (number !== undefined) return [`${number}.`, ...box].join(' ')
  return box[0] ?? bullets[depth] ?? '▪'
}

/** Writes an item whose lines after the first are indented to the text of the first, behind its marker. */
export function indentItem(marker: string, inner: string, width: number = marker.length): string {
  if (inner === '') return marker.trimEnd()
  return marker + inner.replaceAll(/\n(?!\n)/g, `\n${' '.repeat(width)}`)
}
