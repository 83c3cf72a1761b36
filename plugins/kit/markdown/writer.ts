/** Walks over a tree and writes it in a dialect. */

import { isSameAddress } from './address.ts'
import type { Dialect, InlineContext, Mark } from './dialect.ts'
import { trimEnd, trimInlines } from './inlines.ts'
import { type Block, type Inline, type ListItem, readInlines } from './tree.ts'

/** Creates a function that writes blocks with an empty line between them and none after the last. */
export function createWriter(dialect: Dialect): (blocks: readonly Block[]) => string {
  const inlines = createInlineWriter(dialect)

  function writeBlocks(blocks: readonly Block[], depth: number, gap: (next: Block) => string): string {
    let written = ''
    let previous: Block | undefined
    for (const block of blocks) {
      const text = writeBlock(block, depth)
      if (text === '') continue
      written += written === '' ? text : (previous?.type === 'paragraph' ? gap(block) : '\n\n') + text
      previous = block
    }
    return written
  }

  function writeBlock(block: Block, depth: number): string {
    switch (block.type) {
      case 'paragraph': {
        const inner = oneBreak(inlines(block.children).trim(), dialect.lineBreak)
        return dialect.paragraph === undefined ? inner : dialect.paragraph(inner)
      }
      case 'heading':
        return dialect.heading(inlines(block.children).trim(), block.level)
      case 'code':
        return dialect.codeBlock(block.text, block.language)
      case 'quote':
        return dialect.quote(writeBlocks(block.blocks, depth, betweenBlocks))
      case 'list': {
        const { start, items } = block
        const written = items.map((item, index) => {
          const number = start === undefined ? undefined : start + index
          const marker = { number, checked: item.checked, depth }
          return dialect.item(writeBlocks(blocksOf(item), depth + 1, insideItem), marker)
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

/** Begins an item that continues with an ellipsis. */
function blocksOf({ blocks, isContinued }: ListItem): readonly Block[] {
  if (isContinued !== true) return blocks
  const [first, ...others] = blocks
  const isText = first?.type === 'paragraph'
  const children: Inline[] = [{ type: 'text', text: isText ? '… ' : '…' }, ...(isText ? first.children : [])]
  return [{ type: 'paragraph', children }, ...(isText ? others : blocks)]
}

/** Joins several line breaks into one, since an empty line would end the paragraph on most surfaces. */
function oneBreak(inner: string, lineBreak: string): string {
  const two = lineBreak + lineBreak
  let written = inner
  while (written.includes(two)) written = written.replaceAll(two, lineBreak)
  return written
}

function betweenBlocks(): string {
  return '\n\n'
}

/** Keeps a block directly below the paragraph that it belongs to, if Markdown does not read it as a line of that paragraph. */
function insideItem(next: Block): string {
  if (next.type === 'code') return '\n'
  const follows = next.type === 'list' && (next.start ?? 1) === 1 && next.items[0]?.blocks.length !== 0
  return follows ? '\n' : '\n\n'
}

/** True if an item has more than one paragraph besides its lists and code. */
function isRoomy({ blocks }: ListItem): boolean {
  return blocks.filter((each) => each.type !== 'list' && each.type !== 'code').length > 1
}

/** A sign that takes the place of the mark around a text while the text is written: neither white space nor a letter. */
const someMark = '"'

/** Writes a line or several of a paragraph. */
export function createInlineWriter(dialect: Dialect): (inlines: readonly Inline[]) => string {
  interface Around extends InlineContext {
    readonly marks: readonly Mark[]
  }

  function writeAll(given: readonly Inline[], around: Around): string {
    const inlines = mergeMarks(withoutMarks(given, around.marks))
    let written = ''
    // The last character is read from the piece, because reading it from the growing text would copy the text each time.
    let before = around.before
    for (const [index, each] of inlines.entries()) {
      const next = inlines[index + 1]
      const after = next === undefined ? around.after : firstOf(next)
      const rest = next === undefined ? (around.rest ?? '') : readAhead(inlines, index + 1, around.after)
      const piece = writeOne(each, {
        ...around,
        before: before === '\n' ? '' : before,
        after,
        rest: rest.slice(0, 16),
      })
      written += piece
      before = lastOf(piece) ?? before
    }
    return written
  }

  function writeOne(inline: Inline, place: Around): string {
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
        const inside = { ...place, before: '[', after: ']', rest: ']', isInLink: true }
        const inner = writeAll(inline.children, inside)
        return dialect.link(inner, inline.address, isSameAddress(label, inline.address), place)
      }
      default:
        return writeMark(inline.type, inline.children, place)
    }
  }

  function writeMark(type: Mark, children: readonly Inline[], place: Around): string {
    const text = readInlines(children)
    const [start = ''] = /^[ \t\n]*/.exec(text) ?? []
    const end = start === text ? '' : text.slice(trimEnd(text).length)
    const inside = start === '' && end === '' ? children : trimInlines(children)
    if (inside.length === 0) return gap(text)
    const head = gap(start)
    const tail = gap(end)
    const inner = writeAll(inside, {
      ...place,
      before: someMark,
      after: someMark,
      rest: someMark,
      isInMark: true,
      marks: [...place.marks, type],
    })
    const outside: Around = {
      ...place,
      before: head === '' ? place.before : ' ',
      after: tail === '' ? place.after : ' ',
      rest: tail === '' ? place.rest : ' ',
    }
    if (dialect.canMark?.(inner, type, outside) === false) return writeAll(children, place)
    return head + dialect[type](inner, outside) + tail
  }

  /** Writes the white space at the ends of a marked text, which is outside the marks. */
  function gap(text: string): string {
    return text.includes('\n') ? dialect.lineBreak : text === '' ? '' : ' '
  }

  return (inlines) => writeAll(inlines, { before: '', after: '', rest: '', isInLink: false, marks: [] })
}

/** Merges adjacent marks of one kind and adjacent code, which would be read as the end of one and a text. */
function mergeMarks(inlines: readonly Inline[]): readonly Inline[] {
  if (!inlines.some((each, index) => inlines[index + 1]?.type === each.type)) return inlines
  const merged: Inline[] = []
  for (const each of inlines) {
    const last = merged.at(-1)
    if (isMark(each) && last !== undefined && isMark(last) && last.type === each.type)
      merged[merged.length - 1] = { type: each.type, children: [...last.children, ...each.children] }
    else if ((each.type === 'code' || each.type === 'text') && last?.type === each.type)
      merged[merged.length - 1] = { type: each.type, text: last.text + each.text }
    else merged.push(each)
  }
  return merged
}

/** Removes a mark inside another of its kind. */
function withoutMarks(inlines: readonly Inline[], marks: readonly Mark[]): readonly Inline[] {
  if (!inlines.some((each) => isMark(each) && marks.includes(each.type))) return inlines
  return inlines.flatMap((each) =>
    isMark(each) && marks.includes(each.type) ? withoutMarks(each.children, marks) : [each],
  )
}

function isMark(inline: Inline): inline is Extract<Inline, { type: Mark }> {
  return inline.type === 'strong' || inline.type === 'emphasis' || inline.type === 'strike'
}

/** Returns the text that may follow, without marks, since whether they are written depends on their own surroundings. */
function readAhead(inlines: readonly Inline[], index: number, after: string): string {
  const next = inlines[index]
  if (next === undefined) return after
  if (next.type === 'text')
    return next.text + (inlines[index + 1] === undefined ? after : firstOf(inlines[index + 1] as Inline))
  return isMark(next) ? readInlines(next.children) : firstOf(next)
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
      if (first?.type === 'text' && /^\s/.test(first.text)) return ' '
      return inline.type === 'strike' ? '~' : '*'
    }
  }
}

function lastOf(text: string): string | undefined {
  const last = text.codePointAt(text.length - 2)
  return last !== undefined && last > 0xffff ? String.fromCodePoint(last) : text.at(-1)
}
