/** Owns how a reply is written for Mattermost. */

import type { Part } from '@reveille/kit'
import { measureIn } from '@reveille/kit'
import { renderParts } from '@reveille/kit/markdown'

export interface RenderReplyOptions {
  /** Code points. */
  readonly limit: number
  readonly linkPreviews: boolean
}

const measure = measureIn('characters')

/** The reply as posts, in order; none for blank text. */
export function renderReply(markdown: string, { limit }: RenderReplyOptions): Part[] {
  return renderParts(markdown, {
    limit,
    measure: (part) => measure(part.text),
    write: (blocks) => ({
      text: blocks
        .map((block) =>
          'children' in block ? block.children.map((each) => ('text' in each ? each.text : '')).join('') : '',
        )
        .join('')
        .replaceAll(/@(?=\w)/g, '@\u2060'),
    }),
  })
}
