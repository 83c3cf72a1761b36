/** Owns when one wanted header makes another certain. */

import type { HeaderPattern } from '../../config/configuration.ts'
import { compileRegex } from '../../regex/regex.ts'

/** Any of some texts, or tests that must all hold. */
type Wanted =
  | { readonly texts: readonly string[] }
  | { readonly exists: boolean | undefined; readonly pattern: string | undefined }

/** Whether a header that is as given is as wanted too. A header that came several times counts by any of its values. */
export function impliesHeader(given: HeaderPattern, wanted: HeaderPattern): boolean {
  const one = readHeader(given)
  const other = readHeader(wanted)
  if ('texts' in one) return one.texts.every((text) => isMet(text, other))
  if ('texts' in other) return false
  if (other.pattern !== undefined && other.pattern !== one.pattern) return false
  if (other.exists === undefined) return true
  return other.exists ? one.exists === true || one.pattern !== undefined : one.exists === false
}

function isMet(text: string, wanted: Wanted): boolean {
  if ('texts' in wanted) return wanted.texts.includes(text)
  if (wanted.exists === false) return false
  return wanted.pattern === undefined || compileRegex(wanted.pattern).test(text)
}

function readHeader(pattern: HeaderPattern): Wanted {
  if (typeof pattern === 'string') return { texts: [pattern] }
  if (isTexts(pattern)) return { texts: pattern }
  return { exists: pattern.exists, pattern: pattern.pattern }
}

function isTexts(pattern: HeaderPattern): pattern is readonly string[] {
  return Array.isArray(pattern)
}
