/** Owns marks in a text that say where a style begins and ends, until the text is final and they become ranges. */

import type { Part } from '@reveille/kit'

/** A text, and what of it looks how. */
export interface StyledPart extends Part {
  /** `start:length:STYLE`, in UTF-16 units of the text. */
  readonly styles: readonly string[]
}

export type Style = 'BOLD' | 'ITALIC' | 'STRIKETHROUGH' | 'MONOSPACE'

/** Code points that Unicode keeps out of texts (noncharacters), so that a text without them loses nothing. */
const opening: Readonly<Record<Style | 'PLAIN', string>> = {
  BOLD: '\ufdd0',
  ITALIC: '\ufdd1',
  STRIKETHROUGH: '\ufdd2',
  MONOSPACE: '\ufdd3',
  PLAIN: '\ufdd4',
}
const closing = '\ufdd5'
const names = new Map(Object.entries(opening).map(([style, mark]) => [mark, style as Style | 'PLAIN']))

/** Within `PLAIN` there is no style, whatever is around it: for what is put before the lines of a text that has some. */
export function mark(style: Style | 'PLAIN', inner: string): string {
  return opening[style] + inner + closing
}

/** Whoever wrote the text shall not write marks. */
export function withoutMarks(text: string): string {
  return text.replaceAll(/[\ufdd0-\ufdd5]/g, '')
}

interface Range {
  readonly style: Style
  readonly start: number
  end: number
}

/** The text without its marks, and the ranges that they meant: those of nested marks overlap. */
export function readMarks(marked: string): StyledPart {
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

/** A style that goes on without a gap is one range. */
function extend(ranges: Range[], range: Range): void {
  const before = ranges.find(({ style, end }) => style === range.style && end === range.start)
  if (before === undefined) ranges.push(range)
  else before.end = range.end
}
