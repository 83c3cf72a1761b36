/** Owns what Mattermost's web client cannot read though it is Markdown: tables in lists, and lists right after lists. */

import { alignTable, type Block, readInlines, tableRecords } from '@reveille/kit/markdown'

/** The same, arranged so that it is read as it is meant. */
export function arrange(blocks: readonly Block[], isInList = false): Block[] {
  return blocks.flatMap((block, index): Block[] => {
    const apart = block.type === 'list' && blocks[index - 1]?.type === 'list' ? [nothing] : []
    return [...apart, ...arrangeOne(block, isInList)]
  })
}

/** U+2060: a line that nobody sees. Without it the second list's items would go on with the numbers of the first. */
const nothing: Block = { type: 'paragraph', children: [{ type: 'text', text: '\u2060' }] }

function arrangeOne(block: Block, isInList: boolean): Block[] {
  switch (block.type) {
    case 'quote':
      return [{ ...block, blocks: arrange(block.blocks, isInList) }]
    case 'list': {
      const items = block.items.map((item) => ({ ...item, blocks: arrange(item.blocks, true) }))
      return [{ ...block, items }]
    }
    case 'table': {
      if (!isInList) return [block]
      const text = alignTable(block, readInlines)
      return text === undefined ? [...tableRecords(block)] : [{ type: 'code', language: '', text }]
    }
    default:
      return [block]
  }
}
