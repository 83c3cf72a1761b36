/** Renders a reply as texts with ranges of styles, since Signal knows four styles and no other markup. */

import type { Part } from '@reveille/kit'
import {
  type Block,
  createWriter,
  type Dialect,
  plainMarker,
  renderParts,
  shownAddress,
  writeTableAsCode,
} from '@reveille/kit/markdown'

/** A text and its styles. */
export interface StyledPart extends Part {
  /** The styles as `start:length:STYLE`, in UTF-16 units of the text. */
  readonly styles: readonly string[]
}

type Style = 'BOLD' | 'ITALIC' | 'STRIKETHROUGH' | 'MONOSPACE'

/**
 * Marks in a text where styles begin, until the text is final and the marks become ranges. They are noncharacters, which
 * Unicode keeps out of texts, so that a text loses nothing when they are removed.
 */
const opening: Readonly<Record<Style | 'PLAIN', string>> = {
  BOLD: '\ufdd0',
  ITALIC: '\ufdd1',
  STRIKETHROUGH: '\ufdd2',
  MONOSPACE: '\ufdd3',
  PLAIN: '\ufdd4',
}
const closing = '\ufdd5'
const names = new Map(Object.entries(opening).map(([style, mark]) => [mark, style as Style | 'PLAIN']))

/** Marks a text with a style. `PLAIN` has no style, whatever surrounds it, for prefixes before the lines of a styled text. */
function mark(style: Style | 'PLAIN', inner: string): string {
  return opening[style] + inner + closing
}

/** Removes marks from the agent's text. */
function withoutMarks(text: string): string {
  return text.replaceAll(/[\ufdd0-\ufdd5]/g, '')
}

interface Range {
  readonly style: Style
  readonly start: number
  end: number
}

/** Returns the text without its marks, and their ranges, which overlap if marks are nested. */
function readMarks(marked: string): StyledPart {
  const open: (Style | 'PLAIN')[] = []
  const ranges: Range[] = []
  let text = ''
  for (const piece of marked.split(/([\ufdd0-\ufdd5])/)) {
    const opened = names.get(piece)
    if (opened !== undefined) open.push(opened)
    else if (piece === closing) open.pop()
    else if (piece !== '') {
      const start = text.length
      text += piece
      for (const style of stylesOf(open)) extend(ranges, { style, start, end: text.length })
    }
  }
  const seen = ranges.filter(({ start, end }) => text.slice(start, end).trim() !== '')
  return { text, styles: seen.map(({ style, start, end }) => `${start}:${end - start}:${style}`) }
}

function stylesOf(open: readonly (Style | 'PLAIN')[]): Set<Style> {
  return open.includes('PLAIN') ? new Set() : new Set(open as readonly Style[])
}

/** Adds a range, or extends the range of the same style that ends where it begins. */
function extend(ranges: Range[], range: Range): void {
  const before = ranges.find(({ style, end }) => style === range.style && end === range.start)
  if (before === undefined) ranges.push(range)
  else before.end = range.end
}

/** Columns of a line that a phone shows without wrapping. */
const maxTableWidth = 36

/** Writes styles as marks, which `readMarks` turns into ranges. */
const markedDialect: Dialect = {
  // Text mentions no one: Signal has mentions only as separate parameters.
  text: withoutMarks,
  strong: (inner) => mark('BOLD', inner),
  emphasis: (inner) => mark('ITALIC', inner),
  strike: (inner) => mark('STRIKETHROUGH', inner),
  code: (text) => mark('MONOSPACE', withoutMarks(text)),
  // Signal links addresses that it finds in the text, and has no links with labels.
  link: (inner, address, isBare) => (isBare ? inner : `${inner} (${shownAddress(address)})`),
  image: (description, address) => {
    const label = withoutMarks(description)
    return label.trim() === '' ? shownAddress(address) : `${label} (${shownAddress(address)})`
  },
  lineBreak: '\n',
  heading: (inner) => mark('BOLD', inner),
  codeBlock: (text) => mark('MONOSPACE', withoutMarks(text)),
  quote: (inner) =>
    inner.replaceAll(/^(?=(\n|$)?)/gm, (_, end) => mark('PLAIN', end === undefined ? '> ' : '>')),
  item(inner, marker) {
    const indented = inner.replaceAll(/\n(?=[^\n])/g, `\n${mark('PLAIN', '   ')}`)
    return `${plainMarker(marker)} ${indented}`
  },
  table: (table, write) =>
    writeTableAsCode(markedDialect, table, {
      write: (cell) => readMarks(write(cell)).text,
      maxWidth: maxTableWidth,
    }),
  rule: '———',
}

/** Signal-cli sends a longer text as a file. Of a reply in more than ten parts the last one says where the rest can be read. */
export const limits = { part: 2000, unit: 'utf8', parts: 10 } as const

const write = createWriter(markedDialect)

export function renderReply(markdown: string): StyledPart[] {
  return renderParts(markdown, {
    write: (blocks: readonly Block[]) => readMarks(write(blocks)),
    measure: ({ text }) => Buffer.byteLength(text),
    limit: limits.part,
  })
}
