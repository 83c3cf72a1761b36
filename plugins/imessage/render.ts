/** Owns how a reply becomes messages without any markup, which Messages does not know. */

import type { Part } from '@reveille/kit'
import { createWriter, plainDialect, renderParts } from '@reveille/kit/markdown'

/** Apple publishes no limit. UTF-16 units. */
export const partLimit = 4000

const write = createWriter(plainDialect)

export function renderReply(markdown: string): Part[] {
  return renderParts<Part>(markdown, {
    limit: partLimit,
    measure: ({ text }) => text.length,
    write: (blocks) => ({ text: write(blocks) }),
  })
}
