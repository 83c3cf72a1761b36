/** Owns how a reply becomes messages without any markup, which Messages does not know. */

import type { Part } from '@reveille/kit'
import { type Block, renderParts } from '@reveille/kit/markdown'

/** Apple publishes no limit. UTF-16 units. */
export const partLimit = 4000

export function renderReply(markdown: string): Part[] {
  return renderParts<Part>(markdown, {
    limit: partLimit,
    measure: ({ text }) => text.length,
    write: (blocks) => ({ text: textOf(blocks) }),
  })
}

function textOf(blocks: readonly Block[]): string {
  return blocks
    .flatMap((block) => (block.type === 'paragraph' ? block.children : []))
    .map((inline) => (inline.type === 'text' ? inline.text : ''))
    .join('')
}
