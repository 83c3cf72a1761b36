/** Splits Markdown for readers that show Markdown themselves. */

import type { ChannelLimits } from '../channel.ts'
import { lengthIn } from '../measure.ts'
import { markdownDialect } from './markdown-dialect.ts'
import { createTextRenderer } from './render-parts.ts'

/**
 * Returns a text that fits into one part as it was written, without white space around it, and a longer one in parts that can be read on
 * their own; none for blank text.
 *
 * @throws RangeError if a part does not hold a single character of the text
 */
export function splitMarkdown(markdown: string, limits: Pick<ChannelLimits, 'part' | 'unit'>): string[] {
  const text = markdown
    .toWellFormed()
    .replaceAll(/\r\n?/g, '\n')
    .trimEnd()
    .replace(/^\s*\n/, '')
  if (text === '') return []
  if (lengthIn(limits.unit)(text) <= limits.part) return [text]
  return createTextRenderer(markdownDialect(), limits)(text).map((part) => part.text)
}
