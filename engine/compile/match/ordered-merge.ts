/** Merges sorted lists of positions lazily, so that a search that ends early has merged little. */

export interface Positions<Tag> {
  /** Indexes into `positions`, ascending. */
  readonly list: readonly number[]
  /** Ascending. */
  readonly positions: readonly number[]
  readonly tag: Tag
}

interface Cursor<Tag> extends Positions<Tag> {
  at: number
}

/** Yields the positions of all lists in ascending order, each once, with the tag of a list that has it. */
export function mergeOrdered<Tag>(
  lists: readonly Positions<Tag>[],
): () => { readonly position: number; readonly tag: Tag } | undefined {
  const heap: Cursor<Tag>[] = []
  for (const { list, positions, tag } of lists)
    if (list.length > 0) heap.push({ list, positions, tag, at: 0 })
  for (let root = (heap.length >> 1) - 1; root >= 0; root--) sink(heap, root)
  let last = -1

  return () => {
    for (let first = heap[0]; first !== undefined; first = heap[0]) {
      const position = headOf(first)
      const { tag } = first
      advance(heap, first)
      if (position === last) continue
      last = position
      return { position, tag }
    }
    return undefined
  }
}

function advance(heap: Cursor<unknown>[], first: Cursor<unknown>): void {
  first.at += 1
  if (first.at === first.list.length) {
    const moved = heap.pop()
    if (moved === undefined || moved === first) return
    heap[0] = moved
  }
  sink(heap, 0)
}

/** Restores the heap: each cursor comes before those at twice its index plus one and plus two. */
function sink(heap: Cursor<unknown>[], start: number): void {
  const moved = heap[start] as Cursor<unknown>
  let at = start
  for (;;) {
    const left = 2 * at + 1
    const right = heap[left + 1]
    let child = heap[left]
    if (child === undefined) break
    let next = left
    if (right !== undefined && headOf(right) < headOf(child)) {
      child = right
      next = left + 1
    }
    if (headOf(moved) <= headOf(child)) break
    heap[at] = child
    at = next
  }
  heap[at] = moved
}

function headOf({ list, positions, at }: Cursor<unknown>): number {
  return positions[list[at] as number] as number
}
