/** Counts positions in a tree, and slices the tree between two of them. */

import { trimInlines } from './inlines.ts'
import type { Block, Inline, ListItem } from './tree.ts'

export type Slicer = ReturnType<typeof createSlicer>

export type Cells = readonly (readonly Inline[])[]
export type Children = readonly Block[] | readonly ListItem[] | readonly Cells[] | Cells | readonly Inline[]

/**
 * Creates a slicer that remembers its counts, so that cutting a long text many times stays cheap. Positions count the UTF-16
 * units that a person reads; a break, an image, a rule and an empty node count one. The end of a node's last child is also the
 * end of the node, and the beginning of the next one.
 */
export function createSlicer() {
  const { starts, extent, within } = createCounter()

  /**
   * Returns the blocks between two positions. A block that is cut continues as the same kind of block: a list from the right
   * number, a table under its head, code in its language. An item that continues begins with an ellipsis.
   */
  function slice(blocks: readonly Block[], from: number, to: number): Block[] {
    const sliced: Block[] = []
    for (const each of within(blocks, from, to)) {
      const block = each.isWhole ? each.child : sliceBlock(each.child, each.from, each.to, each.extent)
      if (block !== undefined) sliced.push(block)
    }
    return sliced
  }

  function sliceBlock(block: Block, from: number, to: number, extent: number): Block | undefined {
    switch (block.type) {
      case 'paragraph':
      case 'heading': {
        let children = sliceInlines(block.children, from, to)
        if (from > 0) children = trimInlines(children, 'start')
        if (to < extent) children = trimInlines(children, 'end')
        return children.length === 0 ? undefined : { ...block, children }
      }
      case 'code': {
        const text = block.text.slice(from, to)
        return { ...block, text: to < extent && text.endsWith('\n') ? text.slice(0, -1) : text }
      }
      case 'quote': {
        const blocks = slice(block.blocks, from, to)
        return blocks.length === 0 ? undefined : { ...block, blocks }
      }
      case 'list': {
        const parts = [...within(block.items, from, to)]
        const items = parts.map((part) => {
          if (part.isWhole) return part.child
          const blocks = slice(part.child.blocks, part.from, part.to)
          return { ...part.child, blocks: part.from > 0 ? withEllipsis(blocks) : blocks }
        })
        const start = block.start === undefined ? undefined : block.start + (parts[0]?.index ?? 0)
        return { ...block, start, items }
      }
      case 'table': {
        const rows = [...within(block.rows, from, to)].map(({ child, isWhole, ...row }) => {
          if (isWhole) return child
          const cells: Inline[][] = child.map(() => [])
          for (const cell of within(child, row.from, row.to))
            cells[cell.index] = cell.isWhole ? [...cell.child] : sliceInlines(cell.child, cell.from, cell.to)
          return cells
        })
        return { ...block, rows }
      }
      case 'rule':
        return block
    }
  }

  function sliceInlines(inlines: readonly Inline[], from: number, to: number): Inline[] {
    const sliced: Inline[] = []
    for (const { child, isWhole, from: start, to: end } of within(inlines, from, to)) {
      if (isWhole) sliced.push(child)
      else if (child.type === 'text' || child.type === 'code')
        sliced.push({ ...child, text: child.text.slice(start, end) })
      else if ('children' in child)
        sliced.push({ ...child, children: sliceInlines(child.children, start, end) })
    }
    return sliced
  }

  return { extent, starts, slice }
}

/** Returns the child at a position, which is the one that begins there rather than the one that ends. */
export function childAt(positions: Float64Array, position: number): number {
  let low = 0
  let high = positions.length - 1
  while (low < high) {
    const middle = (low + high) >> 1
    if ((positions[middle + 1] ?? 0) <= position) low = middle + 1
    else high = middle
  }
  return low
}

const ellipsis: Inline = { type: 'text', text: '… ' }

function withEllipsis(blocks: readonly Block[]): Block[] {
  const [first, ...others] = blocks
  if (first?.type === 'paragraph') return [{ ...first, children: [ellipsis, ...first.children] }, ...others]
  return [{ type: 'paragraph', children: trimInlines([ellipsis]) }, ...blocks]
}

/** Counts positions, and remembers the counts of each list. */
function createCounter() {
  const known = new WeakMap<Children, Float64Array>()

  /** Returns where each child begins and, as the last number, where the last child ends. */
  function starts(children: Children): Float64Array {
    const found = known.get(children)
    if (found !== undefined) return found
    const positions = new Float64Array(children.length + 1)
    let at = 0
    for (const [index, child] of children.entries()) {
      at += Math.max(1, extentOf(child))
      positions[index + 1] = at
    }
    known.set(children, positions)
    return positions
  }

  /** Returns how many positions a list has. */
  function extent(children: Children): number {
    const [only] = children
    return children.length === 1 && only !== undefined
      ? Math.max(1, extentOf(only))
      : (starts(children)[children.length] ?? 0)
  }

  function extentOf(child: Children[number]): number {
    if (Array.isArray(child)) return extent(child as Cells | readonly Inline[])
    const node = child as Block | ListItem | Inline
    if (!('type' in node)) return extent(node.blocks)
    switch (node.type) {
      case 'text':
      case 'code':
        return node.text.length
      case 'break':
      case 'image':
      case 'rule':
        return 1
      case 'quote':
        return extent(node.blocks)
      case 'list':
        return extent(node.items)
      case 'table':
        return extent(node.rows)
      default:
        return extent(node.children)
    }
  }

  /** Yields the part of each child between the positions; `isWhole` means that it is the whole child. */
  function* within<T extends Children[number]>(children: readonly T[], from: number, to: number) {
    const positions = starts(children as unknown as Children)
    let index = childAt(positions, from)
    for (; index < children.length && (positions[index] ?? 0) < to; index += 1) {
      const start = positions[index] ?? 0
      const end = positions[index + 1] ?? 0
      const isWhole = from <= start && end <= to
      const child = children[index] as T
      yield {
        child,
        index,
        isWhole,
        from: Math.max(0, from - start),
        to: Math.min(end, to) - start,
        extent: end - start,
      }
    }
  }

  return { starts, extent, within }
}
