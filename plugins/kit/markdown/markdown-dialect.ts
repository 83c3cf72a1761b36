/** Owns Markdown as the surfaces take it that read Markdown themselves. */

import { alignTable, tableRecords } from './align-table.ts'
import type { Dialect, Place } from './dialect.ts'
import { characterReference } from './entities.ts'
import { indentItem, plainDialect } from './plain-dialect.ts'
import type { Inline } from './tree.ts'
import { createInlineWriter, createWriter } from './writer.ts'

export interface MarkdownOptions {
  /** Makes harmless what the surface would take for a mention, in text that has no markup. Default: as it is. */
  readonly neutralise?: (text: string) => string
  /** The same for the text of code, on surfaces that look for mentions there. Default: as it is. */
  readonly neutraliseCode?: (text: string) => string
  /** `code`: aligned in a code block, or as lists where that is too wide. Default: `keep`. */
  readonly tables?: 'keep' | 'code'
  /** `strong`: as lines in bold. Default: `keep`. */
  readonly headings?: 'keep' | 'strong'
  /** Default: `keep`; `plain`: `[x]` and `[ ]` where the surface shows no boxes, as `☑` and `☐`. */
  readonly tasks?: 'keep' | 'plain'
  /** Default: a line feed. CommonMark proper wants a backslash or two spaces before it. */
  readonly lineBreak?: string
  /** Default: `---`. */
  readonly rule?: string
}

/** Writes what, read again, gives the same tree, with no more backslashes than that takes. Images become links. */
export function markdownDialect(options: MarkdownOptions = {}): Dialect {
  const { neutralise = asIs, neutraliseCode = asIs, lineBreak = '\n' } = options
  const writePlainCell = createInlineWriter({ ...plainDialect, text: neutraliseCode, code: neutraliseCode })

  const dialect: Dialect = {
    text: (text, place) => escapeText(neutralise(text), place),
    takesMarks(inner, type, place) {
      const { before, after, isInMark } = place
      // What stands before an address of mail is taken for its beginning.
      if (!canMark(inner, place) || (!isGap(before) && /^\S+@/.test(inner.slice(0, 80)))) return false
      if (type === 'strike') return before !== '~' && after !== '~'
      // Asterisks beside asterisks are told apart by rules that not everybody knows.
      if (type === 'strong') return before !== '*'
      if (!touchesWord(place)) return before !== '_'
      return !isInMark && before !== '*' && after !== '*' && !inner.includes('*')
    },
    strong: (inner, place) => mark(inner, '**', place),
    emphasis: (inner, place) => mark(inner, touchesWord(place) ? '*' : '_', place),
    strike: (inner, place) => mark(inner, '~~', place),
    code: (text, place) =>
      place.before === '`' ? dialect.text(text, place) : codeSpan(neutraliseCode(text)),
    link: (inner, address, isBare, place) => {
      const isWhole = isBare && shownAddress(address) === inner.replaceAll('\\', '')
      return (isWhole ? bareLink(address, place) : undefined) ?? `[${inner}](${destination(address)})`
    },
    image(description, address, place) {
      const inner =
        description === '' ? 'image' : escapeText(neutralise(description), { ...place, isInLink: true })
      return `[${inner}](${destination(address)})`
    },
    lineBreak,
    paragraph: escapeLineStarts,
    heading(inner, level) {
      const line = inner.replaceAll(lineBreak, ' ').replaceAll('\n', ' ')
      if (options.headings !== 'strong')
        return `${'#'.repeat(level)} ${line.replace(/(^|\s)(#+)$/, '$1\\$2')}`
      return dialect.strong(line.replaceAll('**', ''), atLine)
    },
    codeBlock(text, language) {
      const fence = fenceAround(text, 3)
      return `${fence}${language}\n${neutraliseCode(text)}\n${fence}`
    },
    quote: (inner) => inner.replace(/^/gm, '> ').replace(/^> $/gm, '>'),
    item(inner, { number, checked, isApart }) {
      const bullet = number === undefined ? (isApart ? '*' : '-') : `${number}${isApart ? ')' : '.'}`
      const isText = inner !== '' && !beginsBlock.test(inner)
      const signs = options.tasks === 'plain' || !isText ? ['☐', '☑'] : ['[ ]', '[x]']
      const gap = isText ? ' ' : inner === '' ? '' : '\n\n'
      const box = checked === undefined ? '' : `${signs[checked ? 1 : 0]}${gap}`
      return indentItem(`${bullet} `, box + inner)
    },
    table(table, write) {
      if (options.tables === 'code') {
        const aligned = alignTable(table, writePlainCell)
        return aligned === undefined ? writeRecords(tableRecords(table)) : dialect.codeBlock(aligned, '')
      }
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
  const writeRecords = createWriter(dialect)
  return dialect
}

/** Not everybody takes the backslash away that a bar in a table needs where the bar is in code. */
function withoutBars(cell: readonly Inline[]): readonly Inline[] {
  return cell.map((each): Inline => {
    if (each.type === 'code') return each.text.includes('|') ? { type: 'text', text: each.text } : each
    return 'children' in each ? { ...each, children: withoutBars(each.children) } : each
  })
}

/** After a box only the text of a paragraph can stand. */
const beginsBlock = /^(?:```|(?:[-*+>|]|#{1,6}|\d+[.)]|---)(?:\s|$))/

const atLine: Place = { before: '', after: '', isInLink: false }

function asIs(text: string): string {
  return text
}

const punctuation = /^[!-/:-@[-`{-~]/
const space = /^\s/
const letter = /^[\p{L}\p{N}]/u

/**
 * The signs of a text that would be marks where they stand, each after a backslash. `hidesInLabels`: addresses too that stand
 * in the label of a link, for surfaces that look for them there. Default: false.
 */
export function escapeText(text: string, { before, after, isInLink }: Place, hidesInLabels = false): string {
  const runAt = createRuns(text)
  return text.replace(/[\\`*_~[\]<&!]|(?<=https?|ftp):(?=\/\/)|(?<=www)\./gi, (sign, at: number) => {
    const previous = at === 0 ? before : (text[at - 1] ?? '')
    const next = at === text.length - 1 ? after : (text[at + 1] ?? '')
    const isLoose = isGap(previous) && isGap(next)
    switch (sign) {
      // A bare address is taken as it is, backslashes and marks included; in a label there is none.
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

/** Where the letters without white space between them end in which a position lies, and where the last mark of them is. */
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

/** What would begin another block at the beginning of a line. */
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

function touchesWord({ before, after, rest = after }: Place): boolean {
  return letter.test(before) || letter.test(after) || letter.test(rest)
}

/** Text that the marks would not be taken for marks around stays without them. */
function mark(inner: string, sign: string, place: Place): string {
  return canMark(inner, place) ? sign + inner + sign : inner
}

/** CommonMark, "left-flanking" and "right-flanking": a sign outside may not be a letter where the one inside is none. */
function canMark(inner: string, { before, after, rest = after }: Place): boolean {
  const first = String.fromCodePoint(inner.codePointAt(0) ?? 32)
  const last = [...inner.slice(-2)].at(-1) ?? ' '
  const opens = !isPunctuation(first) || isEdge(before)
  const closes =
    !isPunctuation(last) || (isEdge(after) && isEdge(String.fromCodePoint(rest.codePointAt(0) ?? 32)))
  return opens && closes && !isGap(first) && !isGap(last)
}

/** A tilde is taken for a letter beside other marks by some, since it may be within them, and an emoji by others. */
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

/** Backticks that are not in the text so many at a time. */
function fenceAround(text: string, least: number): string {
  let longest = 0
  for (const [run] of text.matchAll(/`+/g)) longest = Math.max(longest, run.length)
  return '`'.repeat(Math.max(least, longest + 1))
}

const mailAddress = /^[\w.+-]+@[a-z\d](?:[a-z\d-]*[a-z\d])?(?:\.[a-z\d](?:[a-z\d-]*[a-z\d])?)+$/i

function shownAddress(address: string): string {
  return address.replace(/^mailto:/, '')
}

/** Undefined where the address alone would not be taken for a link, or not for the whole of it. */
function bareLink(address: string, { before, after, rest = after }: Place): string | undefined {
  const shown = shownAddress(address)
  if (/^tel:/i.test(address)) return undefined
  if (shown !== address) return mailAddress.test(shown) ? `<${shown}>` : undefined
  const isPlain =
    /^https?:\/\/[\p{L}\p{N}/?#=&%:;.,@+~$_-]*[\p{L}\p{N}/]$/u.test(address) &&
    !/&\w+;|~~|[_~]{2}/.test(address)
  if (isPlain && /^[\s(]?$/.test(before) && /^[).,;:!?]*(?:\s|$)/.test(rest)) return address
  return /^[^\s<>]+$/.test(shown) ? `<${shown}>` : undefined
}

/** Between the parentheses of a link. */
function destination(address: string): string {
  const balanced = /^[^()]*(?:\([^()]*\)[^()]*)*$/.test(address)
  const safe = address.replaceAll('&', (sign, at: number) => (isReference(address, at) ? '&amp;' : sign))
  return balanced ? safe : safe.replaceAll('(', '%28').replaceAll(')', '%29')
}

function isReference(text: string, at: number): boolean {
  return text.slice(at, at + 40).search(characterReference) === 0
}
