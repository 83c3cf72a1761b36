/**
 * Owns when WhatsApp takes a sign as markup. Meta describes the signs and not their rules, and there are no escapes: a
 * word joiner, which nobody sees, before a sign leaves it neither after a space nor after punctuation, so that it opens
 * nothing.
 *
 * Source: faq.whatsapp.com, "How to format your messages"; for the rules mautrix/whatsapp, which reads such messages.
 */

import type { Place } from '@reveille/kit/markdown'

/** U+2060 WORD JOINER. */
export const joiner = '\u2060'

/** The text with all signs made harmless that would be markup where it stands, and no others. */
export function inert(text: string, { before, after }: Place): string {
  return text.replaceAll(/[*_~`]/g, (sign, at: number) =>
    mayCount(sign, text[at - 1] ?? before, text[at + 1] ?? after) ? `${joiner}${sign}` : sign,
  )
}

/** A paragraph whose lines are neither quotes nor items of a list. */
export function inertLines(text: string): string {
  return text.replaceAll(/^(?=(?:>|[-*\u2022]|\d+\.) )/gm, joiner)
}

/** An address whose signs are no markup, as a URL writes them otherwise. */
export function inertAddress(address: string): string {
  return address.replaceAll(/[*_~]/g, (sign, at: number) =>
    mayCount(sign, address[at - 1] ?? '', address[at + 1] ?? '')
      ? `%${sign.charCodeAt(0).toString(16).toUpperCase()}`
      : sign,
  )
}

function mayCount(sign: string, before: string, after: string): boolean {
  const opens = !isWord(before) && !isSpace(after)
  const closes = !isSpace(before) && !isWord(after)
  return sign === '`' || opens || closes
}

function isWord(character: string): boolean {
  return /[\p{L}\p{N}]/u.test(character)
}

/** A line's end counts as a space does. */
function isSpace(character: string): boolean {
  return character === '' || /\s/.test(character)
}

/** Whether a mark may open after this character, or close before it; '' is a line's end. */
export function isEdge(character: string): boolean {
  return character === '' || /[\s\p{P}\p{S}]/u.test(character)
}
