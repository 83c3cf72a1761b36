/** Implements the keywords of our schemas that JSON Schema lacks, for validators that are compiled and for those that are generated. */

import { parseDuration } from '../duration.ts'

/** Of `later`. */
export function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null || value === false) return true
  return typeof value === 'object' && Object.keys(value).length === 0
}

/** Of `atMostMs`. What is no duration breaks another rule. */
export function isAtMost(limit: number, value: string): boolean {
  try {
    return parseDuration(value) <= limit
  } catch {
    return true
  }
}
