/** Writes Markdown for surfaces that read Markdown themselves. */

import type { Dialect, InlineContext } from './dialect.ts'
import { characterReference } from './entities.ts'
import { indentItem, writeTableAsCode } from './plain-dialect.ts'
import type { Inline } from './tree.ts'

export interface MarkdownOptions {
  /** Neutralises what the surface would read as a mention in text without markup. Default: as it is. */
  readonly neutralise?: (text: string) => string
  /** Does the same for the text of code, on surfaces that look for mentions there. Default: as it is. */
  readonly neutraliseCode?: (text: string) => string
  /** With `code` a table is aligned in a code block, or written as lists if it is too wide. Default: `keep`. */
  readonly tables?: 'keep' | 'code'
  /** With `strong` a heading becomes a line in bold. Default: `keep`. */
  readonly headings?: 'keep' | 'strong'
  /** With `plain` tasks have `☑` and `☐` instead of `[x]` and `[ ]`, for surfaces without task lists. Default: `keep`. */
  readonly tasks?: 'keep' | 'plain'
  /** The end of a line in a paragraph. CommonMark wants a backslash or two spaces before it. Default: a line feed. */
  readonly lineBreak?: string
  /** Default: `---`. */
  readonly rule?: string
}

/**
 * Creates a dialect whose Markdown parses to the same tree, with as few backslashes as possible. Images become links. Its
 * methods call each other by `this`, so that they use what a surface replaces.
 */
export function markdownDialect(options: MarkdownOptions = {}): Dialect {
  const { neutralise = asIs, neutraliseCode = asIs, lineBreak = '\n' } = options
  return {
    text: (text, place) => escapeText(neutralise(text), place),
    canMark(inner, type, place) {
      const { before, after, isInMark } = place
      // Text directly before an e-mail address is read as its beginning.
      if (!canMark(inner, place) || (!isGap(before) && /^\S+@/.test(inner.slice(0, 80)))) return false
      if (type === 'strike') return before !== '~' && after !== '~'
      // Readers differ in how they split adjacent asterisks.
      if (type === 'strong') return before !== '*'
      if (!touchesWord(place)) return before !== '_'
      return !isInMark && before !== '*' && after !== '*' && !inner.includes('*')
    },
    strong: (inner, place) => mark(inner, '**', place),
    emphasis: (inner, place) => mark(inner, touchesWord(place) ? '*' : '_', place),
    strike: (inner, place) => mark(inner, '~~', place),
    code(text, place) {
      return place.before === '`' ? this.text(text, place) : codeSpan(neutraliseCode(text))
    },
    link: (inner, address, isBare, place) => {
      const isWhole = isBare && shownAddress(address) === inner.replaceAll('\\', '')
      return (isWhole ? bareLink(address, place) : undefined) ?? `[${inner}](${destination(address)})`
    },
    image(description, address, place) {
      const label = this.text(description || 'image', { ...place, isInLink: true })
      return this.link(label, address, false, place)
    },
    lineBreak,
    paragraph: escapeLineStarts,
    heading(inner, level) {
      const line = inner.replaceAll(lineBreak, ' ').replaceAll('\n', ' ')
      if (options.headings !== 'strong')
        return `${'#'.repeat(level)} ${line.replace(/(^|\s)(#+)$/, '$1\\$2')}`
      return this.strong(line.replaceAll('**', ''), atLine)
    },
    codeBlock(text, language) {
      const fence = fenceAround(text, 3)
      return `${fence}${language}\n${neutraliseCode(text)}\n${fence}`
    },
    quote: (inner) => inner.replace(/^/gm, '> ').replace(/^> $/gm, '>'),
    item(inner, { number, checked }) {
      const bullet = number === undefined ? '-' : `${number}.`
      const isText = inner !== '' && !beginsBlock.test(inner)
      const signs = options.tasks === 'plain' || !isText ? ['☐', '☑'] : ['[ ]', '[x]']
      const gap = isText ? ' ' : inner === '' ? '' : '\n\n'
      const box = checked === undefined ? '' : `${signs[checked ? 1 : 0]}${gap}`
      return indentItem(`${bullet} `, box + inner)
    },
    table(table, write) {
      if (options.tables === 'code') return writeTableAsCode(this, table)
      const rules = { left: ':--', right: '--:', center: ':-:', none: '---' }
      const row = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
      const cell = (inner: string) =>
        inner.replaceAll(lineBreak, ' ').replaceAll('\n', ' ').trim().replaceAll('|', '\\|')
      return [
        row(table.head.map((each) => cell(write(withoutBars(each))))),
        row(table.head.map((_, column) => rules[table.align[column] ?? 'none'])),
        ...table.rows.map((cells) => row(cells.map((each) => cell(write(withoutBars(each)))))),
      ].join('\n')
    },
    rule: options.rule ?? '---',
  }
}

/** Writes code with a bar as text, because some readers show the backslash that the bar needs in a table. */
function withoutBars(cell: readonly Inline[]): readonly Inline[] {
  return cell.map((each): Inline => {
    if (each.type === 'code') return each.text.includes('|') ? { type: 'text', text: each.text } : each
    return 'children' in each ? { ...each, children: withoutBars(each.children) } : each
  })
}

/** Matches a block that cannot follow a task box, which only a paragraph's text can. */
const beginsBlock = /^(?:```|(?:[-*+>|]|#{1,6}|\d+[.)]|---)(?:\s|$))/

const atLine: InlineContext = { before: '', after: '', isInLink: false }

function asIs(text: string): string {
  return text
}

const punctuation = /^[!-/:-@[-`{-~]/
const space = /^\s/
const letter = /^[\p{L}\p{N}]/u

/**
 * Returns a text with a backslash before each sign that would be markup in this place. With `hidesInLabels` addresses in the
 * label of a link are escaped as well, for surfaces that look for them there. Default: false.
 */
export function escapeText(
  text: string,
  { before, after, isInLink }: InlineContext,
  hidesInLabels = false,
): string {
  const runAt = createRuns(text)
  return text.replace(/[\\`*_~[\]<&!]|(?<=https?|ftp):(?=\/\/)|(?<=www)\./gi, (sign, at: number) => {
    const previous = at === 0 ? before : (text[at - 1] ?? '')
    const next = at === text.length - 1 ? after : (text[at + 1] ?? '')
    const isLoose = isGap(previous) && isGap(next)
    switch (sign) {
      // A bare address is read literally, with backslashes and marks; a label holds no bare address.
      case ':':
      case '.': {
        if (isInLink && !hidesInLabels) return sign
        const { end, lastMark } = runAt(at)
        const runsOn = end === text.length && !isGap(after)
        return runsOn || at < lastMark ? `\\${sign}` : sign
      }
      case '\\':
        return next === '' || punctuation.test(next) || at === text.length - 1 ? '\\\\' : sign
      case '`':
        return '\\`'
      case '*':
        return isLoose && previous !== '' ? sign : '\\*'
      case '_':
        return (isLoose && previous !== '') || (isWordEnd(text, at, before) && letter.test(next))
          ? sign
          : '\\_'
      case '~':
        return isGap(previous) && next !== '~' && next !== '' && (next === text[at + 1] || isGap(next))
          ? sign
          : '\\~'
      case '[':
        return isInLink || !/^\[[^[\]]*\]/.test(text.slice(at, at + 200)) ? '\\[' : sign
      case ']':
        if (!/\[[^[\]]*$/.test(text.slice(Math.max(0, at - 200), at))) return '\\]'
        return isInLink || '([:'.includes(next === '' ? ' ' : next) ? '\\]' : sign
      case '<':
        return /^[\p{L}/!?@#:]/u.test(next) || (at === text.length - 1 && after !== '') ? '\\<' : sign
      case '&':
        return isReference(text, at) ? '\\&' : sign
      default:
        return at === text.length - 1 && next === '[' ? '\\!' : sign
    }
  })
}

/** Finds the run of characters without white space at a position: its end, and the last mark in it. */
function createRuns(text: string): (at: number) => { readonly end: number; readonly lastMark: number } {
  let run = { end: -1, lastMark: -1 }
  return (at) => {
    if (at < run.end) return run
    const [letters = ''] = /^\S*/.exec(text.slice(at)) ?? []
    const end = at + letters.length
    const [marked = ''] = /^.*[\\`*_~[\]<&!]/s.exec(letters) ?? []
    run = { end, lastMark: at + marked.length - 1 }
    return run
  }
}

function isGap(sign: string): boolean {
  return sign === '' || space.test(sign)
}

function isWordEnd(text: string, at: number, before: string): boolean {
  if (at === 0) return letter.test(before)
  return /[\p{L}\p{N}]$/u.test(text.slice(Math.max(0, at - 2), at))
}

/** Escapes what would begin another block at the start of a line. */
function escapeLineStarts(inner: string): string {
  return inner.replace(/^[ \t]*(?:[-+*=>#~|:]|\d{1,9}[.)]|\[[ xX]\]|_).*$/gm, (line) => {
    if (/^\s*(?:[-+*]|#{1,6})(?:\s|$)/.test(line) || /^\s*(?:>|={2,}\s*$|-{2,}\s*$|~{3})/.test(line))
      return line.replace(/\S/, '\\$&')
    if (/^\s*=\s*$/.test(line)) return line.replace('=', '\\=')
    if (/^\s*\d{1,9}[.)](?:\s|$)/.test(line)) return line.replace(/[.)]/, '\\$&')
    if (/^\s*\[[ xX]\](?:\s|$)/.test(line)) return line.replace('[', '\\[')
    if (/^[\s|:-]*-[\s|:-]*$/.test(line)) return line.replace(/[|:-]/, '\\$&')
    return line
  })
}

function touchesWord({ before, after, rest = after }: InlineContext): boolean {
  return letter.test(before) || letter.test(after) || letter.test(rest)
}

/** Marks a text, or returns it without marks if they would not be read as marks. */
function mark(inner: string, sign: string, place: InlineContext): string {
  return canMark(inner, place) ? sign + inner + sign : inner
}

/** Applies CommonMark's rules of left-flanking and right-flanking: no letter outside if there is punctuation inside. */
function canMark(inner: string, { before, after, rest = after }: InlineContext): boolean {
  const first = String.fromCodePoint(inner.codePointAt(0) ?? 32)
  const last = [...inner.slice(-2)].at(-1) ?? ' '
  const opens = !isPunctuation(first) || isEdge(before)
  const closes =
    !isPunctuation(last) || (isEdge(after) && isEdge(String.fromCodePoint(rest.codePointAt(0) ?? 32)))
  return opens && closes && !isGap(first) && !isGap(last)
}

/** True if a mark may begin or end here. Some readers treat a tilde beside a mark as a letter, and others an emoji. */
function isEdge(sign: string): boolean {
  return isGap(sign) || (isPunctuation(sign) && sign !== '~' && (sign.codePointAt(0) ?? 0) < 0x10000)
}

function isPunctuation(sign: string): boolean {
  return /^[\p{P}\p{S}]/u.test(sign)
}

function codeSpan(text: string): string {
  const fence = fenceAround(text, 1)
  const padded = /^`|`$|^ .*[^ ].* $/s.test(text) ? ` ${text} ` : text
  return fence + padded + fence
}

/** Returns a run of backticks that is longer than any in the text. */
function fenceAround(text: string, minLength: number): string {
  let longest = 0
  for (const [run] of text.matchAll(/`+/g)) longest = Math.max(longest, run.length)
  return '`'.repeat(Math.max(minLength, longest + 1))
}

const mailAddress = /^[\w.+-]+@[a-z\d](?:[a-z\d-]*[a-z\d])?(?:\.[a-z\d](?:[a-z\d-]*[a-z\d])?)+$/i

function shownAddress(address: string): string {
  return address.replace(/^mailto:/, '')
}

/** Returns a bare link, or undefined if the address alone would not be read as one link. */
function bareLink(address: string, { before, after, rest = after }: InlineContext): string | undefined {
  const shown = shownAddress(address)
  if (/^tel:/i.test(address)) return undefined
  if (shown !== address) return mailAddress.test(shown) ? `<${shown}>` : undefined
  const isPlain =
    /^https?:\/\/[\p{L}\p{N}/?#=&%:;.,@+~$_-]*[\p{L}\p{N}/]$/u.test(address) &&
    !/&\w+;|~~|[_~]{2}/.test(address)
  if (isPlain && /^[\s(]?$/.test(before) && /^[).,;:!?]*(?:\s|$)/.test(rest)) return address
  return /^[^\s<>]+$/.test(shown) ? `<${shown}>` : undefined
}

/** Writes an address between the parentheses of a link. */
function destination(address: string): string {
  const balanced = /^[^()]*(?:\([^()]*\)[^()]*)*$/.test(address)
  const safe = address.replaceAll('&', (sign, at: number) => (isReference(address, at) ? '&amp;' : sign))
  return balanced ? safe : safe.replaceAll('(', '%28').replaceAll(')', '%29')
}

function isReference(text: string, at: number): boolean {
  return text.slice(at, at + 40).search(characterReference) === 0
}
