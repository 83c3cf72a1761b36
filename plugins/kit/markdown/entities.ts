/** Decodes character references: numeric ones and the names of HTML 5. */

import { decodeHTMLStrict } from 'entities'

/** The control characters other than tab and line feed, and the overrides of direction, which make a text read differently. */
const controls = /(?![\t\n])\p{Cc}|[\u202d\u202e\ufeff\ufff9-\ufffb]/gu

export function withoutControls(text: string): string {
  return text.replace(controls, '')
}

export const characterReference = /&(?:#(\d{1,7})|#[xX]([\da-fA-F]{1,6})|([a-zA-Z][a-zA-Z\d]{1,30}));/

const everyReference = new RegExp(characterReference, 'g')

/**
 * Returns what a person reads. A number without a character becomes U+FFFD, a control character disappears, and an unknown
 * name stays.
 */
export function decodeReferences(text: string): string {
  if (!text.includes('&')) return text
  return text.replace(everyReference, (whole, decimal?: string, hexadecimal?: string, name?: string) => {
    if (name !== undefined) return decodeHTMLStrict(whole)
    return character(decimal === undefined ? Number.parseInt(hexadecimal ?? '', 16) : Number(decimal))
  })
}

function character(code: number): string {
  const isNone = code === 0 || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)
  return isNone ? '\ufffd' : withoutControls(String.fromCodePoint(code))
}
