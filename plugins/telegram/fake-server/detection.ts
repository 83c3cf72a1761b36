/** Owns what Telegram finds in plain words by itself: names that it calls, and links into itself. */

import type { Entity, FormattedText } from './html.ts'

/** Inside of these it looks for nothing (TDLib, `find_entities`). */
const opaque = new Set(['code', 'pre', 'text_link', 'text_mention'])

export function detectEntities({ text, entities }: FormattedText): Entity[] {
  const found = [
    ...matches('mention', /(?<![\p{L}\p{N}_])@[a-zA-Z0-9_]{2,32}(?![\p{L}\p{N}_])/gu, text),
    ...matches(
      'url',
      /(?<![\p{L}\p{N}_])(?:https?|tg|ton|tonsite):\/\/[^\s\u2000-\u206f<>"]*[^\s\u2000-\u206f<>".,;:!?)]/giu,
      text,
    ),
  ]
  const blocked = entities.filter(({ type }) => opaque.has(type))
  return found.filter((each) => !blocked.some((other) => overlaps(each, other)))
}

function matches(type: string, pattern: RegExp, text: string): Entity[] {
  return Array.from(text.matchAll(pattern), ({ index, 0: { length } }) => ({ type, offset: index, length }))
}

function overlaps(left: Entity, right: Entity): boolean {
  return left.offset < right.offset + right.length && right.offset < left.offset + left.length
}
