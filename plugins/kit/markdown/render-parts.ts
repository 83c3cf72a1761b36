/** Owns the way from a reply to the messages that it becomes. */

import { splitMarkdown } from '../split.ts'
import type { Block } from './tree.ts'

export interface RenderOptions<Part> {
  /** Pure. The message that says these blocks. */
  write(blocks: readonly Block[]): Part
  /** What the vendor counts of a message. */
  measure(part: Part): number
  /** In what `measure` counts. */
  readonly limit: number
}

/**
 * The reply as messages of at most `limit`, in order; none for blank text. Cut between blocks, then between lines, sentences,
 * words and graphemes; never inside a code span, a link or a grapheme that fits a message. Code, lists, quotes and tables
 * that go on in the next message are closed and begun again there.
 */
export function renderParts<Part>(markdown: string, { write, limit }: RenderOptions<Part>): Part[] {
  return splitMarkdown(markdown, { part: limit, unit: 'utf16' }).map((text) =>
    write([{ type: 'paragraph', children: [{ type: 'text', text }] }]),
  )
}
