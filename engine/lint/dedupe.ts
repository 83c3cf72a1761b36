/** Owns what lint says about keys of `dedupe`: one that is the same for what should be told apart. */

import type { MappingEntry } from '../config/configuration.ts'
import type { Warnings } from './warnings.ts'

/** What differs, or may differ, from element to element. */
const ofElement = /\b(?:item|index|vars)\b/

/** Of elements with one key only the first counts, which is hardly meant of a whole list. */
export function lintDedupe(entry: MappingEntry, warnings: Warnings): void {
  const { forEach, dedupe } = entry.value
  if (forEach === undefined || !dedupe?.enabled || dedupe.key === undefined) return
  if (ofElement.test(dedupe.key)) return
  warnings.add(entry, {
    code: 'SHARED_DEDUPE_KEY',
    path: ['dedupe', 'key'],
    message: `All elements of \`forEach\` of mapping "${entry.id}" have one dedupe key, so that only the first counts`,
    hint: 'Name the element too, such as item.id, or index where it has nothing of its own.',
  })
}
