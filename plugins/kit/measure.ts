/** Measures texts in the units of vendors. */

import type { LengthUnit } from './channel.ts'

const measures: Readonly<Record<LengthUnit, (text: string) => number>> = {
  utf16: (text) => text.length,
  utf8: (text) => Buffer.byteLength(text),
  characters: countCodePoints,
}

/** Returns the function that measures texts in this unit. @throws TypeError that names an unknown unit */
export function lengthIn(unit: LengthUnit): (text: string) => number {
  if (Object.hasOwn(measures, unit)) return measures[unit]
  throw new TypeError(
    `\`limits.unit\` is ${JSON.stringify(unit)}, but must be one of ${Object.keys(measures).join(', ')}.`,
  )
}

/** Counts code points without spreading the text into an array, which would take four times its memory. */
function countCodePoints(text: string): number {
  let count = 0
  for (let at = 0; at < text.length; at += (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1) count += 1
  return count
}
