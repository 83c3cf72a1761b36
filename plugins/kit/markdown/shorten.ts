/** Converts the few things that cannot be cut and do not fit into a message to things that can be cut. */

import { tableRecords } from './align-table.ts'
import { joinTexts } from './inlines.ts'
import { type Block, type Inline, readInlines } from './tree.ts'

/** Turns a link whose address is longer than a message into text, and a table whose rows are longer into a list. */
export function shorten(block: Block, limit: number, fits: (blocks: readonly Block[]) => boolean): Block[] {
  const inner = (blocks: readonly Block[], wrap: (blocks: readonly Block[]) => readonly Block[]) =>
    mapAll(blocks, (each) => shorten(each, limit, (within) => fits(wrap(within))))
  const line = (inlines: readonly Inline[]) => shortenInlines(inlines, limit, fits)
  switch (block.type) {
    case 'paragraph':
    case 'heading': {
      const children = line(block.children)
      return [children === block.children ? block : { ...block, children }]
    }
    case 'quote': {
      const blocks = inner(block.blocks, (quoted) => [{ ...block, blocks: quoted }])
      return [blocks === block.blocks ? block : { ...block, blocks }]
    }
    case 'list': {
      const items = block.items.map((item) => {
        const blocks = inner(item.blocks, (below) => [
          { ...block, items: [{ ...item, blocks: [ellipsis, ...below] }] },
        ])
        return blocks === item.blocks ? item : { ...item, blocks }
      })
      return [items.every((item, index) => item === block.items[index]) ? block : { ...block, items }]
    }
    case 'table': {
      const rows = block.rows.map((row) => row.map(line))
      const table = { ...block, head: block.head.map(line), rows }
      const isCut = table.rows.length > 0 && !fits([{ ...table, rows: [maxCells(table)] }])
      return isCut || (rows.length === 0 && !fits([table])) ? [...tableRecords(table)] : [table]
    }
    default:
      return [block]
  }
}

/** Marks an item that continues from the message before. */
const ellipsis: Block = { type: 'paragraph', children: [{ type: 'text', text: '…' }] }

/** Maps blocks, and returns the same array if nothing has changed. */
function mapAll(blocks: readonly Block[], map: (block: Block) => Block[]): readonly Block[] {
  const mapped = blocks.flatMap(map)
  return mapped.length === blocks.length && mapped.every((each, index) => each === blocks[index])
    ? blocks
    : mapped
}

/** Returns a row of the longest cell of each column, so that no row of the table is longer. */
function maxCells({ head, rows }: Extract<Block, { type: 'table' }>): (readonly Inline[])[] {
  const longest = head.map((): { cell: readonly Inline[]; length: number } => ({ cell: [], length: 0 }))
  for (const row of rows)
    for (const [column, cell] of row.entries()) {
      const length = lengthOf(cell)
      if (length > (longest[column]?.length ?? 0)) longest[column] = { cell, length }
    }
  return longest.map(({ cell }) => cell)
}

function lengthOf(inlines: readonly Inline[]): number {
  let length = 0
  for (const each of inlines) {
    if (each.type === 'text' || each.type === 'code') length += each.text.length
    else if (each.type === 'image') length += each.address.length + each.description.length
    else if (each.type !== 'break')
      length += lengthOf(each.children) + (each.type === 'link' ? each.address.length : 4)
  }
  return length
}

function shortenInlines(
  inlines: readonly Inline[],
  limit: number,
  fits: (blocks: readonly Block[]) => boolean,
): readonly Inline[] {
  let isChanged = false
  const shortened = inlines.flatMap((each): readonly Inline[] => {
    if (!('address' in each) && !('children' in each)) return [each]
    if ('address' in each) {
      const label = each.type === 'image' ? each.description : readInlines(each.children)
      if (4 * (each.address.length + label.length) < limit) return [each]
      // Some of the label must fit beside the address, so that the link can be cut.
      const shortened: Inline =
        each.type === 'image' ? each : { ...each, children: [{ type: 'text', text: label.slice(0, 8) }] }
      if (fits([{ type: 'paragraph', children: [shortened] }])) return [each]
      isChanged = true
      const text = label === each.address || label === '' ? each.address : `${label} (${each.address})`
      return [{ type: 'text', text }]
    }
    const children = shortenInlines(each.children, limit, fits)
    if (children === each.children) return [each]
    isChanged = true
    return [{ ...each, children }]
  })
  return isChanged ? joinTexts(shortened) : inlines
}
