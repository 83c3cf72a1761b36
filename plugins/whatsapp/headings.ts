/** Owns that headings, which are bold, hold nothing bold: WhatsApp would show the signs. */

import type { Block, Inline } from '@reveille/kit/markdown'

export function flattenHeadings(blocks: readonly Block[]): Block[] {
  return blocks.map((block) => {
    if (block.type === 'heading') return { ...block, children: withoutBold(block.children) }
    if (block.type === 'quote') return { ...block, blocks: flattenHeadings(block.blocks) }
    if (block.type !== 'list') return block
    return { ...block, items: block.items.map((item) => ({ ...item, blocks: flattenHeadings(item.blocks) })) }
  })
}

export function withoutBold(inlines: readonly Inline[]): Inline[] {
  return inlines.flatMap((inline) => {
    if (!('children' in inline)) return [inline]
    const children = withoutBold(inline.children)
    return inline.type === 'strong' ? children : [{ ...inline, children }]
  })
}
