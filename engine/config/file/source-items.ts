/** Owns the items of lists that were not cut: they stay the same for as long as their list does. */

import type { Path } from '../path.ts'
import type { SourceItem } from './source.ts'

const known = new WeakMap<readonly unknown[], readonly SourceItem[]>()

/** Of the list at this path of a file's value; nothing where there is none. */
export function itemsAt(value: unknown, path: Path): readonly SourceItem[] | undefined {
  const list = path.reduce<unknown>(
    (holder, segment) => (isOwn(holder, segment) ? holder[segment] : undefined),
    value,
  )
  if (!Array.isArray(list)) return undefined
  const items = known.get(list) ?? list.map((item: unknown) => ({ value: item, stages: new Map() }))
  known.set(list, items)
  return items
}

function isOwn(holder: unknown, segment: string | number): holder is Record<string | number, unknown> {
  return typeof holder === 'object' && holder !== null && Object.hasOwn(holder, segment)
}
