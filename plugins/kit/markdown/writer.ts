/** Owns the walk over a tree that writes it in a dialect. */

import { isSameAddress } from './address.ts'
import type { Dialect, Place } from './dialect.ts'
import { readInlines } from './read-text.ts'
import type { Block, Inline, ListItem } from './tree.ts'

/** The text of the blocks, an empty line between them; none after the last. */
export function createWriter(dialect: Dialect): (blocks: readonly Block[]) => string {
  const inlines = createInlineWriter(dialect)

  function writeBlocks(blocks: readonly Block[], depth: number, gap: (next: Block) => string): string {
    let written = ''
    let previous: Block | undefined
    let isApart = false
    for (const block of blocks) {
      isApart = isSameKind(previous, block) && !isApart
      const text = writeBlock(block, depth, isApart)
      if (text === '') continue
      written += written === '' ? text : (previous?.type === 'paragraph' ? gap(block) : '\n\n') + text
      previous = block
    }
    return written
  }

  function writeBlock(block: Block, depth: number, isApart: boolean): string {
    switch (block.type) {
      case 'paragraph': {
        const inner = inlines(block.children)
        return dialect.paragraph === undefined ? inner : dialect.paragraph(inner)
      }
      case 'heading':
        return dialect.heading(inlines(block.children), block.level)
      case 'code':
        return dialect.codeBlock(block.text, block.language)
      case 'quote':
        return dialect.quote(writeBlocks(block.blocks, depth, betweenBlocks))
      case 'list': {
        const { start, items } = block
        const written = items.map((item, index) => {
          const number = start === undefined ? undefined : start + index
          const marker = { number, checked: item.checked, depth, isApart }
          return dialect.item(writeBlocks(item.blocks, depth + 1, insideItem), marker)
        })
        return written.join(items.some(isRoomy) ? '\n\n' : '\n')
      }
      case 'table':
        return dialect.table(block, inlines)
      case 'rule':
        return dialect.rule
    }
  }

  return (blocks) => writeBlocks(blocks, 0, betweenBlocks)
}

function betweenBlocks(): string {
  return '\n\n'
}

/** What belongs to the paragraph above it stands right below it. */
function insideItem(next: Block): string {
  return next.type === 'list' || next.type === 'code' ? '\n' : '\n\n'
}

function isSameKind(previous: Block | undefined, next: Block): boolean {
  if (previous?.type !== 'list' || next.type !== 'list') return false
  return (previous.start === undefined) === (next.start === undefined)
}

/** Has more than one paragraph and what belongs to it. */
function isRoomy({ blocks }: ListItem): boolean {
  return blocks.filter((each) => each.type !== 'list' && each.type !== 'code').length > 1
}

type Mark = 'strong' | 'emphasis' | 'strike'

/** Writes a line or several of a paragraph. */
export function createInlineWriter(dialect: Dialect): (inlines: readonly Inline[]) => string {
  interface Surroundings extends Place {
    readonly marks: readonly Mark[]
  }

  function writeAll(given: readonly Inline[], around: Surroundings): string {
    const inlines = mergeMarks(given)
    let written = ''
    for (const [index, each] of inlines.entries()) {
      const next = inlines[index + 1]
      const before = written === '' ? around.before : (lastOf(written) ?? '')
      const after = next === undefined ? around.after : firstOf(next)
      written += writeOne(each, { ...around, before: before === '\n' ? '' : before, after })
    }
    return written
  }

  function writeOne(inline: Inline, place: Surroundings): string {
    switch (inline.type) {
      case 'text':
        return dialect.text(inline.text, place)
      case 'code':
        return dialect.code(inline.text, place)
      case 'break':
        return dialect.lineBreak
      case 'image':
        return dialect.image(inline.description, inline.address, place)
      case 'link': {
        const label = readInlines(inline.children)
        const inner = writeAll(inline.children, { ...place, before: '[', after: ']', isInLink: true })
        return dialect.link(inner, inline.address, isSameAddress(label, inline.address), place)
      }
      default:
        return writeMark(inline.type, inline.children, place)
    }
  }

  function writeMark(type: Mark, children: readonly Inline[], place: Surroundings): string {
    if (place.marks.includes(type)) return writeAll(children, place)
    const marks = [...place.marks, type]
    const written = writeAll(children, { ...place, before: '*', after: '*', marks })
    const inner = written.trim()
    if (inner === '') return written
    const start = written.indexOf(inner)
    const head = written.slice(0, start)
    const tail = written.slice(start + inner.length)
    const before = head === '' ? place.before : ' '
    const after = tail === '' ? place.after : ' '
    return head + dialect[type](inner, { ...place, before, after }) + tail
  }

  return (inlines) => writeAll(inlines, { before: '', after: '', isInLink: false, marks: [] })
}

/** Two marks of one kind beside each other would be read as one mark's end and a text. */
function mergeMarks(inlines: readonly Inline[]): readonly Inline[] {
  if (!inlines.some((each, index) => isMark(each) && inlines[index + 1]?.type === each.type)) return inlines
  const merged: Inline[] = []
  for (const each of inlines) {
    const last = merged.at(-1)
    if (isMark(each) && last !== undefined && isMark(last) && last.type === each.type)
      merged[merged.length - 1] = { type: each.type, children: [...last.children, ...each.children] }
    else merged.push(each)
  }
  return merged
}

function isMark(inline: Inline): inline is Extract<Inline, { type: Mark }> {
  return inline.type === 'strong' || inline.type === 'emphasis' || inline.type === 'strike'
}

function firstOf(inline: Inline): string {
  switch (inline.type) {
    case 'text':
      return String.fromCodePoint(inline.text.codePointAt(0) ?? 32)
    case 'break':
      return ''
    case 'code':
      return '`'
    case 'link':
    case 'image':
      return '['
    case 'strong':
    case 'emphasis':
    case 'strike': {
      const first = inline.children[0]
      return first?.type === 'text' && /^\s/.test(first.text) ? ' ' : '*'
    }
  }
}

function lastOf(text: string): string | undefined {
  const last = text.codePointAt(text.length - 2)
  return last !== undefined && last > 0xffff ? String.fromCodePoint(last) : text.at(-1)
}
