/** Owns how a reply becomes messages. */

import type { Part } from '@reveille/kit'
import { createWriter, renderParts } from '@reveille/kit/markdown'
import { teamsDialect } from './dialect.ts'

/**
 * Teams takes about 100 KB of UTF-16 for a whole message, and took 40 KB until 2024. UTF-16 units. Source: "Format your bot
 * messages".
 */
export const partLimit = 20_000
/** Messages that one reply may become; what is longer is read elsewhere. */
export const mostParts = 10

const write = createWriter(teamsDialect)

/** The reply as messages, in order; none for blank text. */
export function renderReply(markdown: string): Part[] {
  return renderParts<Part>(markdown, {
    limit: partLimit,
    measure: ({ text }) => text.length,
    write: (blocks) => ({ text: write(blocks) }),
  })
}
