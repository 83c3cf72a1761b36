/** Owns a reply as messages of Discord. */

import { measureIn, type Part } from '@reveille/kit'
import { createWriter, renderParts } from '@reveille/kit/markdown'
import { discordDialect } from './dialect.ts'

/** Of the 2000 that Discord takes from bots: room for what it may come to count differently. Characters. */
export const partLimit = 1950
/** Messages that one reply may become; what is longer is read elsewhere. */
export const mostParts = 10

const write = createWriter(discordDialect)
const measure = measureIn('characters')

export function renderReply(markdown: string): Part[] {
  return renderParts<Part>(markdown, {
    write: (blocks) => ({ text: write(blocks) }),
    measure: ({ text }) => measure(text),
    limit: partLimit,
  }).filter(({ text }) => text.trim() !== '')
}
