/** Owns where a person would cut a message that has become too long. */

import { cutCode, cutProse, nearlyEmpty, type Stretch, type TextRoom } from './cut-text.ts'
import { readInlines } from './read-text.ts'
import { type Children, childAt, type Slicer } from './slice.ts'
import type { Block, Inline, ListItem } from './tree.ts'

export interface Room {
  /** Where the message begins, and the last position up to which all of it fits. */
  readonly from: number
  readonly to: number
  /** Whether these blocks would be a message by themselves. */
  fits(blocks: readonly Block[]): boolean
}

/** A block that has to be cut in any case is not begun in what little is left. */
const nearlyFull = 0.8

/**
 * Where to end the message, after `from` and at `to` at the latest; undefined where only what should not be cut lies
 * between them.
 *
 * What fits a message of its own is not cut, but begins the next one. Code and tables do so even where that leaves
 * a message nearly empty: an introduction alone in a message reads well, and code in two messages cannot be copied.
 * Other blocks are cut then.
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
      const isWhole = isPrecious(child) || fill(start) >= nearlyEmpty
      if (fill(start) >= nearlyFull || (isWhole && fitsAlone(child)))
        return keepHeading(children, positions, index, base)
    }
    const inside = cutInside(child, start)
    if (inside !== undefined) return inside
    return start > from ? start : undefined
  }

  /** A heading stays with what it is the heading of, and so does a line that announces what follows. */
  function keepHeading(children: Children, positions: Float64Array, index: number, base: number): number {
    let kept = index
    while (kept > 0 && announces(children[kept - 1])) kept -= 1
    const start = base + (positions[kept] ?? 0)
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
        return at(start, cutProse(readPositions(node.children), uncuttable(node.children), roomIn(start)))
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

function isPrecious(child: Children[number]): boolean {
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

/** The text of a paragraph, a unit for each position. */
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

const stretches = new WeakMap<readonly Inline[], readonly Stretch[]>()

function uncuttable(inlines: readonly Inline[]): readonly Stretch[] {
  const known = stretches.get(inlines)
  if (known !== undefined) return known
  const found: Stretch[] = []
  let at = 0
  for (const each of inlines) {
    const length = readPositions([each]).length
    if (each.type === 'link' || each.type === 'code') found.push({ start: at, end: at + length })
    else if ('children' in each)
      for (const inner of uncuttable(each.children))
        found.push({ start: at + inner.start, end: at + inner.end })
    at += length
  }
  stretches.set(inlines, found)
  return found
}

function at(start: number, cut: number | undefined): number | undefined {
  return cut === undefined ? undefined : start + cut
}
