/** Divides blocks into those of one message and those of the next ones. */

import { tableRecords } from './align-table.ts'
import { cutCode, cutProse, largest, sliceInlines, spellOut } from './cut-text.ts'
import { trimInlines } from './inlines.ts'
import { type Block, type Inline, type ListItem, readInlines } from './tree.ts'

/** The room that a message has for blocks, items or rows. */
interface Room<T> {
  /** True if there is nothing else in the message. */
  readonly isEmpty: boolean
  /** Maximum number of characters that a message can hold. */
  readonly max: number
  fits(taken: readonly T[]): boolean
  /** True if a message without anything else can hold it. */
  fitsAlone(one: T): boolean
}

interface Divided<T> {
  readonly taken: readonly T[]
  readonly rest: readonly T[]
}

type Divide<T> = (one: T, room: Room<T>) => Divided<T> | undefined

/**
 * Takes as many blocks as fit. The next one is divided if no message can hold it whole. A heading, or a line that announces
 * what follows, stays with it.
 *
 * @returns undefined if nothing fits
 */
export function divideBlocks(blocks: readonly Block[], room: Room<Block>): Divided<Block> | undefined {
  return divideAll(blocks, room, divideBlock)
}

function divideAll<T extends object>(
  all: readonly T[],
  room: Room<T>,
  divide: Divide<T>,
): Divided<T> | undefined {
  const taken = all.slice(
    0,
    largest(all.length, (count) => room.fits(all.slice(0, count))),
  )
  const next = all[taken.length]
  const isEmpty = room.isEmpty && taken.length === 0
  if (next !== undefined && (isEmpty || !room.fitsAlone(next))) {
    const inner = divide(next, { ...room, isEmpty, fits: (some) => room.fits([...taken, ...some]) })
    if (inner !== undefined)
      return { taken: [...taken, ...inner.taken], rest: [...inner.rest, ...all.slice(taken.length + 1)] }
  }
  const last = next === undefined ? -1 : taken.findLastIndex((each) => !announces(each))
  if (last >= 0) taken.length = last + 1
  return taken.length === 0 ? undefined : { taken, rest: all.slice(taken.length) }
}

/** Divides the content of a block or an item. `wrap` is called with the index of the first child only for what remains. */
function divideInside<T extends object, Outer>(
  children: readonly T[],
  room: Room<Outer>,
  divide: Divide<T>,
  wrap: (children: readonly T[], index?: number) => Outer,
): Divided<Outer> | undefined {
  const inner = divideAll(
    children,
    {
      ...room,
      fits: (taken) => room.fits([wrap(taken)]),
      fitsAlone: (one) => room.fitsAlone(wrap([one])),
    },
    divide,
  )
  if (inner === undefined) return undefined
  const { taken, rest } = inner
  return { taken: [wrap(taken)], rest: rest.length === 0 ? [] : [wrap(rest, children.length - rest.length)] }
}

function divideBlock(block: Block, room: Room<Block>): Divided<Block> | undefined {
  switch (block.type) {
    case 'quote':
      return divideInside(block.blocks, room, divideBlock, (blocks) => ({ ...block, blocks }))
    case 'list':
      return divideInside(block.items, room, divideItem, (items, index = 0) => ({
        ...block,
        start: block.start === undefined ? undefined : block.start + index,
        items,
      }))
    case 'table':
      return (
        divideInside(
          block.rows,
          room,
          () => undefined,
          (rows) => ({ ...block, rows }),
        ) ??
        // No message can hold the longest row.
        (room.isEmpty ? divideBlocks(tableRecords(block), room) : undefined)
      )
    case 'code':
      return divideCode(block, room)
    case 'paragraph':
    case 'heading':
      return (
        divideProse(block, block.children, room) ??
        // No message can hold the address of the first link.
        (room.isEmpty ? divideProse(block, spellOut(block.children), room) : undefined)
      )
    case 'rule':
      return undefined
  }
}

function divideItem(item: ListItem, room: Room<ListItem>): Divided<ListItem> | undefined {
  return divideInside(item.blocks, room, divideBlock, (blocks, index) =>
    index === undefined ? { ...item, blocks } : { ...item, blocks, isContinued: true },
  )
}

function divideCode(block: Extract<Block, { type: 'code' }>, room: Room<Block>): Divided<Block> | undefined {
  const { text } = block
  const upTo = (end: number): Block => ({ ...block, text: text.slice(0, end) })
  const at = cutCode(text.slice(0, room.max), {
    isEmpty: room.isEmpty,
    fits: (end) => room.fits([upTo(end)]),
  })
  if (at === undefined) return undefined
  const rest = text.slice(text[at] === '\n' ? at + 1 : at)
  return { taken: [upTo(at)], rest: rest === '' ? [] : [{ ...block, text: rest }] }
}

function divideProse(
  block: Extract<Block, { type: 'paragraph' | 'heading' }>,
  inlines: readonly Inline[],
  room: Room<Block>,
): Divided<Block> | undefined {
  const between = (from: number, to: number): Block => ({
    ...block,
    children: trimInlines(sliceInlines(inlines, from, to)),
  })
  const fits = (end: number) => room.fits([between(0, end)])
  const at = cutProse(inlines, room.max, { isEmpty: room.isEmpty, fits })
  if (at === undefined) return undefined
  const rest = between(at, Number.POSITIVE_INFINITY)
  return { taken: [between(0, at)], rest: 'children' in rest && rest.children.length === 0 ? [] : [rest] }
}

function announces(child: object): boolean {
  if (!('type' in child)) return false
  const block = child as Block
  if (block.type !== 'paragraph') return block.type === 'heading'
  const text = readInlines(block.children)
  return text.length < 240 && text.endsWith(':')
}

/**
 * Returns simpler blocks with the same text for a block of which nothing fits into a message, since its markup is too long.
 *
 * @throws RangeError if it has no markup
 */
export function simplify(block: Block, limit: number): readonly Block[] {
  switch (block.type) {
    case 'quote':
      return block.blocks
    case 'list':
      return block.items.flatMap((item) => item.blocks)
    case 'table':
      return tableRecords(block)
    case 'rule':
      return []
    default: {
      const text = block.type === 'code' ? block.text : readInlines(spellOut(block.children))
      const [only] = 'children' in block ? block.children : []
      if (block.type === 'paragraph' && only?.type === 'text' && only.text === text)
        throw new RangeError(`A limit of ${limit} holds not one character.`)
      return [{ type: 'paragraph', children: [{ type: 'text', text }] }]
    }
  }
}
