/** Owns a reply as messages of WhatsApp. */

import { measureIn, type Part } from '@reveille/kit'
import { createWriter, renderParts } from '@reveille/kit/markdown'
import { whatsAppDialect } from './dialect.ts'
import { flattenHeadings } from './headings.ts'

export interface WhatsAppPart extends Part {
  /** Whether the reply has no other part. */
  readonly isWholeReply: boolean
}

/** Of the 4096 that a text may have. Characters. */
export const partLimit = 4000
/** Messages that one reply may become; what is longer is read elsewhere. */
export const mostParts = 10

const write = createWriter(whatsAppDialect)
const measure = measureIn('characters')

export function renderReply(markdown: string): WhatsAppPart[] {
  const rendered = renderParts(markdown, {
    write: (blocks) => write(flattenHeadings(blocks)),
    measure,
    limit: partLimit,
  })
  const texts = rendered.filter((text) => text.trim() !== '')
  return texts.map((text) => ({ text, isWholeReply: texts.length === 1 }))
}
