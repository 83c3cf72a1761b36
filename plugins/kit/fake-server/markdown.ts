/** Reads Markdown as a person sees it, for vendors whose clients show most of it. */

export interface Reading {
  /** True if headings, rules and tables are read. Default: false, since some clients show their marks. */
  readonly hasHeadings?: boolean
  /** Reads what only the vendor has, such as mentions, at the start of the rest of a text. */
  special?(rest: string): Piece | undefined
  /** Called with the address of each image. */
  onImage?(address: string): void
}

export function readMarkdown(markup: string, reading: Reading = {}): string {
  return readBlocks(markup.split('\n'), reading).join('\n')
}

const fence = /^( {0,3})(`{3,}|~{3,})([^`]*)$/
const quote = /^ {0,3}> ?/
const item = /^( *)([*+-]|\d{1,9}[.)])( +|$)/
const heading = /^ {0,3}#{1,6} +(?=\S)/
const rule = /^ {0,3}(?:(?:\* *){3,}|(?:- *){3,}|(?:_ *){3,})$/
const row = /^ *\|.*\| *$/
const rowRule = /^ *\|(?: *:?-+:? *\|)+ *$/

function readBlocks(lines: readonly string[], reading: Reading): string[] {
  const shown: string[] = []
  let at = 0
  const line = () => lines[at] ?? ''
  const isIn = () => at < lines.length
  while (isIn()) {
    const opened = fence.exec(line())
    const bullet = item.exec(line())
    if (line().trim() === '') {
      shown.push('')
      at += 1
    } else if (opened !== null) {
      const [, indent = '', marker] = opened
      const close = new RegExp(`^ {0,3}${marker}[\`~]* *$`)
      const outdent = new RegExp(`^ {0,${indent.length}}`)
      for (at += 1; isIn() && !close.test(line()); at += 1) shown.push(line().replace(outdent, ''))
      at += 1
    } else if (reading.hasHeadings && rule.test(line())) {
      at += 1
    } else if (reading.hasHeadings && heading.test(line())) {
      shown.push(readInline(line().replace(heading, ''), reading))
      at += 1
    } else if (reading.hasHeadings && row.test(line()) && rowRule.test(lines[at + 1] ?? '')) {
      shown.push(readRow(line(), reading))
      for (at += 2; isIn() && row.test(line()); at += 1) shown.push(readRow(line(), reading))
    } else if (quote.test(line())) {
      const quoted: string[] = []
      for (; isIn() && quote.test(line()); at += 1) quoted.push(line().replace(quote, ''))
      shown.push(...readBlocks(quoted, reading))
    } else if (bullet !== null) {
      const width = bullet[0].length
      const inside = [line().slice(width)]
      const indent = () => /^ */.exec(line())?.[0].length ?? 0
      const isInside = () => indent() >= width || (line().trim() === '' && /^ +\S/.test(lines[at + 1] ?? ''))
      for (at += 1; isIn() && isInside(); at += 1) inside.push(line().slice(width))
      const [first = '', ...rest] = readBlocks(inside, reading)
      shown.push(`${/\d/.test(bullet[2] ?? '') ? bullet[2] : '•'} ${first}`, ...rest)
    } else if (/^ {4}/.test(line())) {
      for (; isIn() && /^ {4}/.test(line()); at += 1) shown.push(line().slice(4))
    } else {
      const paragraph: string[] = []
      for (; isIn() && (paragraph.length === 0 || !startsBlock(line(), reading)); at += 1)
        paragraph.push(line().trimStart())
      shown.push(readInline(joinLines(paragraph), reading))
    }
  }
  return shown
}

function startsBlock(line: string, { hasHeadings }: Reading): boolean {
  const starts = [fence, quote, item, ...(hasHeadings ? [heading, rule] : [])]
  return line.trim() === '' || starts.some((start) => start.test(line))
}

function readRow(line: string, reading: Reading): string {
  const cells = line
    .trim()
    .slice(1, -1)
    .split(/(?<!\\)\|/)
  return cells.map((cell) => readInline(cell.trim(), reading)).join('  ')
}

/** Reads a line's end as a line break if two spaces or a backslash precede it, and as a space otherwise. */
function joinLines(lines: readonly string[]): string {
  const ends = lines.map((line) => (hardBreak.test(line) ? '\n' : ' '))
  const last = lines.length - 1
  return lines
    .map((line, at) => (at < last ? line.replace(hardBreak, '').trimEnd() + ends[at] : line.trimEnd()))
    .join('')
}

const hardBreak = /(?: {2,}|\\)$/
const escaped = /^\\([!-/:-@[-`{-~])/
const link = /^(!?)\[((?:\\.|\[(?:\\.|[^\]\\])*\](?!\()|[^[\]\\])*)\]\(<?((?:[^()<>\s]|\([^()]*\))*)>?\)/
const code = /^(`+)(?!`)([\s\S]*?[^`])\1(?!`)/
const entity = /^&(#\d+|#x[\da-f]+|amp|lt|gt|quot|nbsp);/i
const isWord = /[\p{L}\p{N}]/u

function readInline(source: string, reading: Reading): string {
  let shown = ''
  let before = ''
  for (let rest = source; rest !== ''; ) {
    const { whole, text, inner } = readOne(rest, before, reading)
    shown += text ?? readInline(inner ?? '', reading)
    before = whole.at(-1) ?? ''
    rest = rest.slice(whole.length)
  }
  return shown
}

/** The start of the rest of a line: `text` is its final text, and `inner` is markup to be read in turn. */
export interface Piece {
  readonly whole: string
  readonly text?: string
  readonly inner?: string
}

function readOne(rest: string, before: string, reading: Reading): Piece {
  const [whole, sign] = escaped.exec(rest) ?? []
  if (whole !== undefined) return { whole, text: sign ?? '' }
  const [span, , content = ''] = code.exec(rest) ?? []
  if (span !== undefined) return { whole: span, text: content.replace(/^ ([\s\S]*) $/, '$1') }
  const [linked, mark, label = '', address = ''] = link.exec(rest) ?? []
  if (linked !== undefined && mark === '!') reading.onImage?.(address)
  if (linked !== undefined) return { whole: linked, inner: mark === '!' ? '' : label }
  const special = reading.special?.(rest)
  if (special !== undefined) return special
  const marked = readMark(rest, before)
  if (marked !== undefined) return marked
  const [reference, number] = entity.exec(rest) ?? []
  if (reference !== undefined) return { whole: reference, text: characterOf(number ?? '') }
  const run = /^(?:`+|[\s\S])/u.exec(rest)?.[0] ?? ''
  return { whole: run, text: run }
}

function readMark(rest: string, before: string): Piece | undefined {
  for (const mark of ['**', '__', '~~', '*', '_']) {
    const isOpen = rest.startsWith(mark) && /\S/.test(rest[mark.length] ?? ' ')
    if (!isOpen || (mark.includes('_') && isWord.test(before))) continue
    for (let at = mark.length; at < rest.length; ) {
      const ahead = rest.slice(at)
      const after = ahead[mark.length] ?? ''
      const isLast = ahead.startsWith(mark) && after !== mark.at(-1) && /\S/.test(rest[at - 1] ?? '')
      if (isLast && at > mark.length && !(mark.includes('_') && isWord.test(after))) {
        return { whole: rest.slice(0, at + mark.length), inner: rest.slice(mark.length, at) }
      }
      // A sign that is escaped, in code or in an address closes nothing.
      at += (escaped.exec(ahead) ?? code.exec(ahead) ?? link.exec(ahead))?.[0].length ?? 1
    }
  }
  return undefined
}

function characterOf(reference: string): string {
  const named: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', nbsp: ' ' }
  const name = reference.toLowerCase()
  if (!name.startsWith('#')) return named[name] ?? ''
  const number = name.startsWith('#x') ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1))
  return String.fromCodePoint(number)
}
