/** Owns how a reply is written for Teams. */

import type { Part } from '@reveille/kit'
import { renderParts } from '@reveille/kit/markdown'

/** The reply as messages, in order; none for blank text. `limit` is in UTF-16 units. */
export function renderReply(markdown: string, limit: number): Part[] {
  return renderParts(markdown, {
    limit,
    measure: (part) => part.text.length,
    write: (blocks) => ({
      text: blocks
        .map((block) =>
          'children' in block ? block.children.map((each) => ('text' in each ? each.text : '')).join('') : '',
        )
        .join('')
        .replaceAll(/<(?=\/?at)/gi, '&lt;')
        .replaceAll(/^#+ (.*)$/gm, '**$1**'),
    }),
  })
}
