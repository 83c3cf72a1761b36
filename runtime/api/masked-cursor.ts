/** Keeps known secrets out of the cursors of lists whose keys may hold words of senders. */

import type { Page } from '../store/port.ts'
import type { AdminOptions } from './options.ts'

/** A page goes on at the time in its cursor, so a masked key in it is as good a place. */
export function withMaskedCursor<Item>(
  { next, ...page }: Page<Item>,
  { text }: AdminOptions['mask'],
): Page<Item> {
  if (next === undefined) return page
  const values: unknown[] = JSON.parse(Buffer.from(next, 'base64url').toString())
  const masked = values.map((value) => (typeof value === 'string' ? text(value) : value))
  return { ...page, next: Buffer.from(JSON.stringify(masked)).toString('base64url') }
}
