/** Chooses where to cut a reply that is too long for one message. */

import { cutCode, cutProse, nearlyEmpty, type Span, type TextRoom } from './cut-text.ts'
import { type Children, childAt, type Slicer } from './slice.ts'
import { type Block, type Inline, type ListItem, readInlines } from './tree.ts'

export interface Room {
  /** The position where the message begins, and the last position up to which it fits. */
  readonly from: number
  readonly to: number
  /** True if these blocks fit into a message by themselves. */
  fits(blocks: readonly Block[]): boolean
}

/** Fraction of a message from which it begins no block that has to be cut anyway. */
const nearlyFull = 0.8

/**
 * Returns where to end the message, after `from` and at `to` at the latest, or undefined if everything between them should
 * stay whole.
 *
 * A block that fits into a message of its own is not cut but begins the next one. Code and tables do so even if that leaves
 * a message nearly empty: an introduction alone in a message reads well, and code in two messages cannot be copied. Other
 * blocks are cut then.
 */
export function chooseCut(blocks: readonly Block[], slicer: Slicer, room: Room): number | undefined {
  const { from, to } = room
  const fill = (position: number) => (position - from) / (to - from)

  function cutBetween(children: Children, base: number): number | undefined {
    const positions = slicer.starts(children)
    const index = childAt(positions, to - base)
    const start = base + (positions[index] ?? 0)
    const child = children[index]
    if (child === undefined) return to
    if (start >= to) return keepHeading(children, positions, index, base)
    if (start > from) {
      const isWhole = isCodeOrTable(child) || fill(start) >= nearlyEmpty
      if (fill(start) >= nearlyFull || (isWhole && fitsAlone(child)))
        return keepHeading(children, positions, index, base)
    }
    const inside = cutInside(child, start)
    if (inside !== undefined) return inside
    return start > from ? start : undefined
  }

  /** Keeps a heading, or a line that announces the next block, in one message with that block. */
  function keepHeading(children: Children, positions: Float64Array, index: number, base: number): number {
    let first = index
    while (first > 0 && announces(children[first - 1])) first -= 1
    const start = base + (positions[first] ?? 0)
    return start > from && fill(start) >= nearlyEmpty ? start : base + (positions[index] ?? 0)
  }

  function fitsAlone(child: Children[number]): boolean {
    if (Array.isArray(child)) return true
    if (!('type' in child)) return room.fits([{ type: 'list', start: undefined, items: [child as ListItem] }])
    return room.fits([child as Block])
  }

  function cutInside(child: Children[number], start: number): number | undefined {
    if (Array.isArray(child)) return undefined
    const node = child as Block | ListItem
    if (!('type' in node)) return cutBetween(node.blocks, start)
    switch (node.type) {
      case 'quote':
        return cutBetween(node.blocks, start)
      case 'list':
        return cutBetween(node.items, start)
      case 'table':
        return cutBetween(node.rows, start)
      case 'code':
        return at(start, cutCode(node.text, roomIn(start)))
      case 'paragraph':
      case 'heading':
        return at(start, cutProse(readPositions(node.children), spansOf(node.children), roomIn(start)))
      case 'rule':
        return undefined
    }
  }

  function roomIn(start: number): TextRoom {
    const low = Math.max(0, from - start)
    return { low, high: to - start, fill: (position) => fill(start + position), isFirst: start <= from }
  }

  return cutBetween(blocks, 0)
}

function isCodeOrTable(child: Children[number]): boolean {
  return !Array.isArray(child) && 'type' in child && (child.type === 'code' || child.type === 'table')
}

function announces(child: Children[number] | undefined): boolean {
  if (child === undefined || Array.isArray(child) || !('type' in child)) return false
  if (child.type === 'heading') return true
  if (child.type !== 'paragraph') return false
  const text = readInlines(child.children)
  return text.length < 240 && text.endsWith(':')
}

const positionTexts = new WeakMap<readonly Inline[], string>()

/** Returns the text of a paragraph with one UTF-16 unit for each position. */
export function readPositions(inlines: readonly Inline[]): string {
  const known = positionTexts.get(inlines)
  if (known !== undefined) return known
  let text = ''
  for (const each of inlines) {
    if (each.type === 'break') text += '\n'
    else if (each.type === 'image') text += '\ufffc'
    else text += 'children' in each ? readPositions(each.children) : each.text || '\ufffc'
  }
  positionTexts.set(inlines, text)
  return text
}

const knownSpans = new WeakMap<readonly Inline[], readonly Span[]>()

function spansOf(inlines: readonly Inline[]): readonly Span[] {
  const known = knownSpans.get(inlines)
  if (known !== undefined) return known
  const found: Span[] = []
  let at = 0
  for (const each of inlines) {
    const length = readPositions([each]).length
    if (each.type === 'link' || each.type === 'code') found.push({ start: at, end: at + length })
    else if ('children' in each)
      for (const inner of spansOf(each.children)) found.push({ start: at + inner.start, end: at + inner.end })
    at += length
  }
  knownSpans.set(inlines, found)
  return found
}

function at(start: number, cut: number | undefined): number | undefined {
  return cut === undefined ? undefined : start + cut
}
