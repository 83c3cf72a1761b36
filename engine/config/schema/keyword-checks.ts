/** Implements the keywords of our schemas that JSON Schema lacks, for validators that are compiled and for those that are generated. */

import { parseDuration } from '../duration.ts'

/** Of `atMostMs`. What is no duration breaks another rule. */
export function isAtMost(limit: number, value: string): boolean {
  try {
    return parseDuration(value) <= limit
  } catch {
    return true
  }
}
