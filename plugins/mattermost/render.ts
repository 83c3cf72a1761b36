/** Owns how a reply becomes posts. */

import { measureIn, type Part } from '@reveille/kit'
import { createWriter, renderParts } from '@reveille/kit/markdown'
import { arrange } from './arrange.ts'
import { mattermostDialect } from './dialect.ts'

/**
 * No server takes less (the limit of its oldest database schema); most take 16,383. Code points. Source: the server's
 * `model.PostMessageMaxRunesV1` and `V2`.
 */
export const partLimit = 4000
/** Messages that one reply may become; what is longer is read elsewhere. */
export const mostParts = 10

const measure = measureIn('characters')
const writers = {
  previews: createWriter(mattermostDialect(true)),
  none: createWriter(mattermostDialect(false)),
}

/** The reply as posts, in order; none for blank text. */
export function renderReply(markdown: string, linkPreviews: boolean): Part[] {
  const write = linkPreviews ? writers.previews : writers.none
  return renderParts<Part>(markdown, {
    limit: partLimit,
    measure: ({ text }) => measure(text),
    write: (blocks) => ({ text: write(arrange(blocks)) }),
  })
}
