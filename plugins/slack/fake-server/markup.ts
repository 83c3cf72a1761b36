/** Reads Slack's Markdown and its older mrkdwn as a person sees them. */

export function readMarkdown(source: string): string {
  const read: string[] = []
  const lines = source.split('\n')
  /** The lines of the current paragraph; a mark may begin in one of them and end in another. */
  let paragraph: string | undefined
  function end(): void {
    if (paragraph !== undefined) read.push(readInline(paragraph))
    paragraph = undefined
  }

  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? ''
    const [, before = '', fence] = /^((?:\s*>)*\s*)(`{3,}|~{3,})[^`]*$/.exec(line) ?? []
    if (fence !== undefined) {
      end()
      const isEnd = (text: string) => /^ {0,3}(`{3,}|~{3,})\s*$/.exec(text)?.[1]?.startsWith(fence) === true
      for (at += 1; at < lines.length; at += 1) {
        const text = withoutPrefix(lines[at] ?? '', before)
        if (isEnd(text)) break
        read.push(text)
      }
      continue
    }
    if (isRow(line) && isRowRule(lines[at + 1] ?? '')) {
      end()
      read.push(readRow(line))
      for (at += 1; isRow(lines[at + 1] ?? ''); at += 1) read.push(readRow(lines[at + 1] ?? ''))
      continue
    }
    const { text, begins, isShown } = lineOf(line)
    if (begins || text.trim() === '') end()
    if (!isShown) continue
    paragraph = paragraph === undefined ? text : `${paragraph}\n${text}`
  }
  end()
  return read.join('\n')
}

/** Removes the quote or list prefix that precedes every line of code inside a quote or list. */
function withoutPrefix(line: string, prefix: string): string {
  if (line.startsWith(prefix)) return line.slice(prefix.length)
  return line.startsWith(prefix.trimEnd()) ? line.slice(prefix.trimEnd().length) : line
}

const quoteMarks = /^(?:\s*>)+ ?/

/** Reads a line's block marks: the text that remains, whether the line begins a new block, and whether it is shown. */
function lineOf(line: string): { text: string; begins: boolean; isShown: boolean } {
  const bare = line.replace(quoteMarks, '').replace(/(?:\\| {2,})$/, '')
  const isRule = /^ {0,3}(?:(?:\*\s*){3,}|(?:-\s*){3,}|(?:_\s*){3,})$/.test(bare)
  const [, indent = '', rest = ''] = /^(\s*)(.*)$/s.exec(bare) ?? []
  const [, bullet, item] = /^([-*+]|\d{1,9}[.)])\s+(.*)$/s.exec(rest) ?? []
  const heading = /^#{1,6}\s+/
  const inner = (item ?? rest).replace(heading, '')
  const marker = bullet === undefined ? '' : `${/\d/.test(bullet) ? bullet : '•'} `
  const begins = isRule || bullet !== undefined || heading.test(rest)
  return { text: `${indent}${marker}${inner}`, begins, isShown: !isRule }
}

function isRow(line: string): boolean {
  return /^\s*\|.*\|\s*$/.test(line.replace(quoteMarks, ''))
}

function isRowRule(line: string): boolean {
  return /^\s*\|(?:\s*:?-+:?\s*\|)+\s*$/.test(line.replace(quoteMarks, ''))
}

function readRow(row: string): string {
  const cells = row
    .replace(quoteMarks, '')
    .trim()
    .slice(1, -1)
    .split(/(?<!\\)\|/)
  return cells.map((cell) => readInline(cell.trim())).join('  ')
}

interface Mark {
  readonly sign: string
  readonly opens: boolean
  readonly closes: boolean
  count: number
}

type Token = string | Mark

function readInline(text: string): string {
  const tokens = tokensOf(text)
  for (const [at, closer] of tokens.entries()) {
    if (typeof closer === 'string' || !closer.closes) continue
    for (let back = at - 1; back >= 0 && closer.count > 0; back -= 1) {
      const opener = tokens[back]
      if (opener === undefined || typeof opener === 'string') continue
      if (!opener.opens || opener.sign !== closer.sign || opener.count === 0) continue
      const taken = Math.min(opener.count, closer.count)
      opener.count -= taken
      closer.count -= taken
    }
  }
  return tokens.map((token) => (typeof token === 'string' ? token : token.sign.repeat(token.count))).join('')
}

function tokensOf(text: string): Token[] {
  const tokens: Token[] = []
  for (let at = 0; at < text.length; ) {
    const [token, length] = nextToken(text, at)
    tokens.push(token)
    at += length
  }
  return tokens
}

const escaped = /\\([!-/:-@[-`{-~])/y
const ticks = /(`+)(?!`)/y
const autolink = /<((?:https?:\/\/|mailto:|tel:)[^\s<>]*|[^\s<>@]+@[^\s<>@]+)>/y
const entity = /&(lt|gt|amp|quot|nbsp|#\d{1,7}|#x[0-9a-f]{1,6});/iy
const run = /([*_~])\1*/y

/** Returns the token at this place and the UTF-16 units that it takes. */
function nextToken(text: string, at: number): [Token, number] {
  const match = (pattern: RegExp) => {
    pattern.lastIndex = at
    return pattern.exec(text)
  }
  const literal = match(escaped)
  if (literal) return [literal[1] ?? '', 2]
  const span = match(ticks)
  if (span) return readSpan(text, at, span[1] ?? '')
  const bare = match(autolink)
  if (bare) return [bare[1] ?? '', bare[0].length]
  const named = match(entity)
  if (named) return [characterOf(named[1] ?? ''), named[0].length]
  const link = readLink(text, at)
  if (link) return link
  const mark = match(run)
  if (mark) return [markOf(text, at, mark[0]), mark[0].length]
  return [String.fromCodePoint(text.codePointAt(at) ?? 0), (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1]
}

function readSpan(text: string, at: number, opening: string): [string, number] {
  const start = at + opening.length
  const closing = new RegExp(`(?<!\`)${opening}(?!\`)`, 'g')
  closing.lastIndex = start
  const end = closing.exec(text)?.index
  if (end === undefined) return [opening, opening.length]
  const code = text.slice(start, end)
  const isPadded = code.startsWith(' ') && code.endsWith(' ') && code.trim() !== ''
  return [isPadded ? code.slice(1, -1) : code, end + opening.length - at]
}

/** Reads a link as its label. Brackets in a label are escaped or in pairs. */
function readLink(text: string, at: number): [string, number] | undefined {
  const start = text[at] === '!' ? at + 1 : at
  if (text[start] !== '[') return undefined
  let depth = 0
  for (let end = start; end < text.length; end += 1) {
    if (text[end] === '\\') end += 1
    else if (text[end] === '[') depth += 1
    else if (text[end] === ']') depth -= 1
    if (depth > 0) continue
    const target = /^\((?:<[^<>\n]*>|(?:\\.|[^\s()\\]|\([^\s()]*\))*)(?:\s+"[^"]*")?\)/.exec(
      text.slice(end + 1),
    )
    if (target === null) return undefined
    return [readInline(text.slice(start + 1, end)), end + 1 + target[0].length - at]
  }
  return undefined
}

function markOf(text: string, at: number, signs: string): Mark {
  const sign = signs[0] ?? ''
  const before = text[at - 1] ?? ' '
  const after = text[at + signs.length] ?? ' '
  const isWord = (character: string) => /[\p{L}\p{N}]/u.test(character)
  const isSpace = (character: string) => /\s/.test(character)
  const left = !isSpace(after) && (isWord(after) || isSpace(before) || !isWord(before))
  const right = !isSpace(before) && (isWord(before) || isSpace(after) || !isWord(after))
  const inside = sign === '_' && isWord(before) && isWord(after)
  return { sign, opens: left && !inside, closes: right && !inside, count: signs.length }
}

function characterOf(name: string): string {
  const names: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', nbsp: '\u00a0' }
  const emoji = names[name.toLowerCase()]
  if (emoji !== undefined) return emoji
  const code = /^#x/i.test(name) ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1))
  return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : '\ufffd'
}

/** No mark begins after a letter, a digit or U+2060, and none ends before one. */
const noEdgeBefore = '(?<![\\p{L}\\p{N}\\u2060])'
const noEdgeAfter = '(?![\\p{L}\\p{N}\\u2060])'
const span = new RegExp(`${noEdgeBefore}\`([^\`]+)\`${noEdgeAfter}`, 'u')
const marks = new RegExp(`${noEdgeBefore}([*_~])(?=\\S)((?:(?!\\1).)+?)(?<=\\S)\\1${noEdgeAfter}`, 'gu')

export function readMrkdwn(source: string): string {
  // Every second piece is code.
  const pieces = source.split(/```\n?/)
  return pieces
    .map((piece, index) => (index % 2 === 1 ? readEntities(brackets(piece)) : readLines(piece)))
    .join('')
}

function readLines(text: string): string {
  return text.split('\n').map(readLine).join('\n')
}

function readLine(line: string): string {
  const pieces = line.replace(/^(?:>|&gt;) ?/, '').split(span)
  return pieces
    .map((piece, index) => readEntities(brackets(index % 2 === 1 ? piece : unmark(piece))))
    .join('')
}

/** Removes marks, which are at the edges of words and never inside brackets. */
function unmark(text: string): string {
  const pieces = text.split(/(<[^<>]*>)/)
  let rest = pieces.map((piece, index) => (index % 2 === 1 ? `\ue000${index}\ue001` : piece)).join('')
  for (let before = ''; before !== rest; ) {
    before = rest
    rest = rest.replaceAll(marks, '$2')
  }
  return rest.replaceAll(/\ue000(\d+)\ue001/g, (_, index: string) => pieces[Number(index)] ?? '')
}

function brackets(text: string): string {
  return text.replaceAll(/<([^<>|]*)(?:\|([^<>]*))?>/g, (_, address: string, label: string | undefined) => {
    if (label !== undefined) return label
    return address.replace(/^!/, '@')
  })
}

function readEntities(text: string): string {
  return text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&')
}
