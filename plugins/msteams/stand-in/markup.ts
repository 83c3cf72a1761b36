/** Owns reading Teams' Markdown as Teams shows it: its subset, and the HTML that it lets through. */

export interface ReadMarkup {
  /** What a person reads. */
  readonly text: string
  /** Who stands in an `<at>` that Teams would take for one. */
  readonly named: readonly string[]
  readonly images: readonly string[]
}

interface Found {
  readonly named: string[]
  readonly images: string[]
}

export function readMarkup(markup: string): ReadMarkup {
  const found: Found = { named: [], images: [] }
  const text = readBlocks(markup.split('\n'), found).join('\n')
  return { text, ...found }
}

const fence = /^( {0,3})(`{3,}|~{3,})([^`]*)$/
const quote = /^ {0,3}> ?/
const item = /^( *)([*+-]|\d{1,9}[.)])( +|$)/

/** Headings and rules are no blocks here: Teams shows their marks on some of its clients. */
function readBlocks(lines: readonly string[], found: Found): string[] {
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
      shown.push(...readLines(paragraph).map((each) => readInline(each, found)))
    }
  }
  return shown
}

function startsBlock(line: string): boolean {
  return line.trim() === '' || [fence, quote, item].some((start) => start.test(line))
}

/** A line's end counts where two spaces are before it; any other is a space. */
function readLines(lines: readonly string[]): string[] {
  const read: string[] = ['']
  for (const [index, line] of lines.entries()) {
    const last = index === lines.length - 1
    read[read.length - 1] += line.trimEnd()
    if (/ {2}$/.test(line) && !last) read.push('')
    else if (!last) read[read.length - 1] += ' '
  }
  return read
}

const escaped = /^\\([!-/:-@[-`{-~])/
const link = /^(!?)\[((?:\\.|\[[^\]]*\]|[^[\]])*)\]\(<?((?:[^()<>\s]|\([^()]*\))*)>?\)/
const code = /^(`+)(?!`)([\s\S]*?[^`])\1(?!`)/
const marks = [/^(\*\*)(?=\S)([\s\S]*?\S)\*\*/, /^(__)(?=\S)([\s\S]*?\S)__/, /^(~~)(?=\S)([\s\S]*?\S)~~/]
const oblique = [
  /^(\*)(?=[^\s*])((?:\\.|[^*\\]|\*\*[^*]+\*\*)*?[^\s\\])\*(?!\*)/,
  /^(_)(?=[^\s_])((?:\\.|[^_\\])*?[^\s\\])_(?![\p{L}\p{N}_])/u,
]
const mention = /^<at\b[^>]*>([\s\S]*?)<\/at>/i
const tag = /^<\/?[a-z][^>]*>/i
const isWord = /[\p{L}\p{N}_]/u

function readInline(source: string, found: Found): string {
  let shown = ''
  let rest = source
  let before = ''
  while (rest !== '') {
    const isInWord = isWord.test(before)
    const plain = escaped.exec(rest)
    const span = code.exec(rest)
    const linked = link.exec(rest)
    const named = mention.exec(rest)
    const entity = /^&(#\d+|#x[\da-f]+|amp|lt|gt|quot|nbsp);/i.exec(rest)
    const mark = [...marks, ...oblique]
      .filter((each) => !(isInWord && each.source.includes('_')))
      .map((each) => each.exec(rest))
      .find((each) => each !== null)
    let taken = 1
    if (plain !== null) {
      shown += plain[1]
      taken = 2
    } else if (span !== null) {
      shown += (span[2] ?? '').replace(/^ ([\s\S]*) $/, '$1')
      taken = span[0].length
    } else if (linked !== null) {
      if (linked[1] === '!') found.images.push(String(linked[3]))
      shown += linked[1] === '!' ? '' : readInline(String(linked[2]), found)
      taken = linked[0].length
    } else if (named !== null) {
      found.named.push(String(named[1]))
      shown += named[1]
      taken = named[0].length
    } else if (tag.test(rest)) {
      taken = tag.exec(rest)?.[0].length ?? 1
    } else if (mark !== undefined && mark !== null) {
      shown += readInline(String(mark[2]), found)
      taken = mark[0].length
    } else if (entity !== null) {
      shown += characterOf(entity[1] ?? '')
      taken = entity[0].length
    } else {
      const [character = ''] = rest
      shown += character
      taken = character.length
    }
    before = rest[taken - 1] ?? ''
    rest = rest.slice(taken)
  }
  return shown
}

function characterOf(reference: string): string {
  const named: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', nbsp: ' ' }
  const name = reference.toLowerCase()
  if (!name.startsWith('#')) return named[name] ?? ''
  const number = name.startsWith('#x') ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1))
  return String.fromCodePoint(number)
}
