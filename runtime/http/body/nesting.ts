/** Owns how deep JSON may nest: parsing a megabyte of brackets would hold every other sender up. */

export const maxDepth = 1000
/** Texts up to here are parsed as they are: whatever they nest is parsed at once, and most requests are spared the look. */
export const harmlessLength = 64 * 1024

const quote = 0x22
const backslash = 0x5c

/** Counts brackets outside of strings; whether the text is JSON at all is for the parser to say. */
export function nestsTooDeep(text: string): boolean {
  if (text.length <= harmlessLength) return false
  let depth = 0
  let inString = false
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    if (inString) {
      if (unit === backslash) at += 1
      else if (unit === quote) inString = false
    } else if (unit === quote) inString = true
    // `[` 0x5b, `{` 0x7b, `]` 0x5d and `}` 0x7d differ in one bit from their like.
    else if ((unit | 0x20) === 0x7b) {
      depth += 1
      if (depth > maxDepth) return true
    } else if ((unit | 0x20) === 0x7d) depth -= 1
  }
  return false
}
