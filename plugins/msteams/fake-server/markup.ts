/** Reads Teams' Markdown as Teams shows it: its subset, and the HTML that it lets through. */

export interface ReadMarkup {
  /** The text that a person reads. */
  readonly text: string
  /** The users named in `<at>` tags that Teams would read. */
  readonly named: readonly string[]
  readonly images: readonly string[]
}

interface Collected {
  readonly named: string[]
  readonly images: string[]
}

export function readMarkup(markup: string): ReadMarkup {
  const found: Collected = { named: [], images: [] }
  const text = readBlocks(markup.split('\n'), found).join('\n')
  return { text, ...found }
}

const fence = /^( {0,3})(`{3,}|~{3,})([^`]*)$/
const quote = /^ {0,3}> ?/
const item = /^( *)([*+-]|\d{1,9}[.)])( +|$)/

/** Reads blocks. Headings and rules are not among them, since some of Teams' clients show their marks. */
function readBlocks(lines: readonly string[], found: Collected): string[] {
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
    } else if (quote.test(line())) {
      const quoted: string[] = []
      for (; isIn() && quote.test(line()); at += 1) quoted.push(line().replace(quote, ''))
      shown.push(...readBlocks(quoted, found))
    } else if (bullet !== null) {
      const width = bullet[0].length
      const inside = [line().slice(width)]
      const indent = () => /^ */.exec(line())?.[0].length ?? 0
      const isInside = () => indent() >= width || (line().trim() === '' && /^ +\S/.test(lines[at + 1] ?? ''))
      for (at += 1; isIn() && isInside(); at += 1) inside.push(line().slice(width))
      const [first = '', ...rest] = readBlocks(inside, found)
      shown.push(`${/\d/.test(bullet[2] ?? '') ? bullet[2] : '•'} ${first}`, ...rest)
    } else if (/^ {4}/.test(line())) {
      for (; isIn() && /^ {4}/.test(line()); at += 1) shown.push(line().slice(4))
    } else {
      const paragraph: string[] = []
      for (; isIn() && (paragraph.length === 0 || !startsBlock(line())); at += 1)
        paragraph.push(line().trimStart())
      shown.push(readInline(joinLines(paragraph), found))
    }
  }
  return shown
}

function startsBlock(line: string): boolean {
  return line.trim() === '' || [fence, quote, item].some((start) => start.test(line))
}

/** Reads a line's end as a line break if two spaces precede it, and as a space otherwise. */
function joinLines(lines: readonly string[]): string {
  const ends = lines.map((line, index) => (index === lines.length - 1 ? '' : / {2}$/.test(line) ? '\n' : ' '))
  return lines.map((line, index) => line.trimEnd() + ends[index]).join('')
}

const escaped = /^\\([!-/:-@[-`{-~])/
const link = /^(!?)\[((?:\\.|\[(?:\\.|[^\]\\])*\](?!\()|[^[\]\\])*)\]\(<?((?:[^()<>\s]|\([^()]*\))*)>?\)/
const code = /^(`+)(?!`)([\s\S]*?[^`])\1(?!`)/
const mention = /^<at\b[^>]*>([\s\S]*?)<\/at>/i
const tag = /^<\/?[a-z][^>]*>/i
const entity = /^&(#\d+|#x[\da-f]+|amp|lt|gt|quot|nbsp);/i
const isWord = /[\p{L}\p{N}]/u

function readInline(source: string, found: Collected): string {
  let shown = ''
  let before = ''
  for (let rest = source; rest !== ''; ) {
    const { whole, text, inner } = readOne(rest, before, found)
    shown += text ?? readInline(inner ?? '', found)
    before = whole.at(-1) ?? ''
    rest = rest.slice(whole.length)
  }
  return shown
}

/** The start of the rest of a line: `text` is its final text, and `inner` is markup to be read in turn. */
interface Piece {
  readonly whole: string
  readonly text?: string
  readonly inner?: string
}

function readOne(rest: string, before: string, found: Collected): Piece {
  const [whole, sign] = escaped.exec(rest) ?? []
  if (whole !== undefined) return { whole, text: sign ?? '' }
  const [span, , content = ''] = code.exec(rest) ?? []
  if (span !== undefined) return { whole: span, text: content.replace(/^ ([\s\S]*) $/, '$1') }
  const [linked, mark, label = '', address = ''] = link.exec(rest) ?? []
  if (linked !== undefined && mark === '!') found.images.push(address)
  if (linked !== undefined) return { whole: linked, inner: mark === '!' ? '' : label }
  const [named, name = ''] = mention.exec(rest) ?? []
  if (named !== undefined) found.named.push(name)
  if (named !== undefined) return { whole: named, text: name }
  const [element] = tag.exec(rest) ?? []
  if (element !== undefined) return { whole: element, text: '' }
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
