/** Owns the way from an agent's Markdown to texts with styles beside them. */

import { type Block, createWriter, renderParts } from '@reveille/kit/markdown'
import { markedDialect } from './dialect.ts'
import { readMarks, type StyledPart } from './marks.ts'

/** Bytes of UTF-8. What is longer signal-cli sends as a text file. */
export const partLimit = 2000
/** Messages that one reply may become; what is longer is read elsewhere. */
export const mostParts = 10

const write = createWriter(markedDialect)

export function renderReply(markdown: string): StyledPart[] {
  return renderParts(markdown, {
    write: (blocks: readonly Block[]) => readMarks(write(blocks)),
    measure: ({ text }) => Buffer.byteLength(text),
    limit: partLimit,
  })
}
