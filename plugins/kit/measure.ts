/** Owns how long a text is, in what a vendor counts. */

import type { LengthUnit } from './channel.ts'

const measures: Readonly<Record<LengthUnit, (text: string) => number>> = {
  utf16: (text) => text.length,
  utf8: (text) => Buffer.byteLength(text),
  characters: countCodePoints,
}

export function measureIn(unit: LengthUnit): (text: string) => number {
  return measures[unit]
}

/** A pair of surrogates is one; spreading the text into an array would cost its memory four times over. */
function countCodePoints(text: string): number {
  let count = 0
  for (let at = 0; at < text.length; at += (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1) count += 1
  return count
}
