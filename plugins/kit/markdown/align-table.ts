/** Writes tables for surfaces that have none: as columns in monospace, or as a line for each cell. */

import { widthOf } from '../width.ts'
import { type Block, type Inline, readInlines } from './tree.ts'

export type Table = Extract<Block, { type: 'table' }>

/** Width that most screens show unbroken, in columns. An aligned table that is broken cannot be read. */
export const maxTableWidth = 72

/**
 * Returns the table in monospaced columns, with the head, a rule and the rows each on a line, or undefined if it would be
 * wider than `widest` (default: 72 columns), which is what `tableRecords` is for. `write` returns the text of a cell.
 */
export function alignTable(
  table: Table,
  write: (cell: readonly Inline[]) => string,
  maxWidth: number = maxTableWidth,
): string | undefined {
  const rows = [table.head, ...table.rows].map((row) => row.map((cell) => write(cell).replaceAll('\n', ' ')))
  const widths = table.head.map((_, column) => Math.max(3, ...columnWidths(rows, column, maxWidth)))
  if (widths.reduce((sum, each) => sum + each + 3, -3) > maxWidth) return undefined
  const lines = rows.map((row) =>
    widths
      .map((width, column) => pad(row[column] ?? '', width, table.align[column]))
      .join(' | ')
      .trimEnd(),
  )
  const rule = widths.map((width) => '-'.repeat(width)).join('-|-')
  return [lines[0], rule, ...lines.slice(1)].join('\n')
}

function columnWidths(rows: readonly (readonly string[])[], column: number, widest: number): number[] {
  let width = 0
  for (const row of rows) {
    const cell = row[column] ?? ''
    if (cell.length > 0) width = Math.max(width, cell.length > 40 * widest ? cell.length : widthOf(cell))
  }
  return [width]
}

function pad(text: string, width: number, align: Table['align'][number]): string {
  const room = width - widthOf(text)
  if (align === 'right') return ' '.repeat(room) + text
  if (align === 'center') return ' '.repeat(Math.floor(room / 2)) + text + ' '.repeat(Math.ceil(room / 2))
  return text + ' '.repeat(room)
}

/**
 * Returns the table as blocks that every surface has: for each row the first cell in bold, and below it the others as items
 * of a list, each after the head of its column.
 */
export function tableRecords(table: Table): readonly Block[] {
  if (table.rows.length === 0) return table.head.map((children) => ({ type: 'paragraph', children }))
  return table.rows.flatMap((row): Block[] => {
    const [first = [], ...others] = row
    const title = titleOf(table.head[0] ?? [], first)
    const items = others.flatMap((cell, column) => {
      const children = headed(table.head[column + 1] ?? [], cell)
      return children.length === 0 ? [] : [{ blocks: [{ type: 'paragraph', children } as const] }]
    })
    const blocks: Block[] = title.length === 0 ? [] : [{ type: 'paragraph', children: title }]
    if (items.length > 0) blocks.push({ type: 'list', start: undefined, items })
    return blocks
  })
}

function titleOf(head: readonly Inline[], cell: readonly Inline[]): readonly Inline[] {
  const children = headed(head, cell)
  return children.length === 0 ? [] : [{ type: 'strong', children }]
}

function headed(head: readonly Inline[], cell: readonly Inline[]): readonly Inline[] {
  if (head.length === 0) return cell
  return readInlines(head).endsWith(':')
    ? [...head, { type: 'text', text: ' ' }, ...cell]
    : [...head, { type: 'text', text: ': ' }, ...cell]
}
