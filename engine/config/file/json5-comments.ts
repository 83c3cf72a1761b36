/**
 * Blanks the comments of JSON5 in a text before it is parsed as YAML, so that every character after them keeps its
 * place. Inside brackets and braces, a token that begins with `//` or `/*` is a comment, and so is one around a file
 * that is one such collection. Everywhere else, and inside of a text, it is text.
 */

import { CST, Lexer } from 'yaml'
import type { Span } from '../secret.ts'

export interface Blanked {
  /** The text has the same length, and line breaks in the same places. */
  readonly text: string
  /** The beginning of a comment without an end. */
  readonly unclosed?: number
}

/** Most texts contain nothing that could be a comment of JSON5. */
const mayHoldOne = /(?:^|[\s,[\]{}:"'])\/[/*]/

/** Matches a file that is one collection, with nothing but comments before it. */
const isOneCollection = /^(?:\s|#[^\n]*\n|\/\/[^\n]*\n|\/\*(?:[^*]|\*(?!\/))*\*\/)*[[{]/

/** Returns the text with spaces in place of such comments. */
export function blankComments(text: string): Blanked {
  if (!mayHoldOne.test(text)) return { text }
  const comments: Span[] = []
  if (isOneCollection.test(text)) scanCollection(text, 0, text.length, comments)
  else
    for (let at = findBracket(text, 0); at !== undefined; )
      at = findBracket(text, scanCollection(text, at, at, comments))
  const last = comments.at(-1)
  const isUnclosed = last !== undefined && isOpen(text, last)
  let blanked = ''
  let copied = 0
  for (const { start, end } of isUnclosed ? comments.slice(0, -1) : comments) {
    blanked += text.slice(copied, start) + text.slice(start, end).replace(/[^\r\n]/g, ' ')
    copied = end
  }
  return { text: blanked + text.slice(copied), ...(isUnclosed && { unclosed: last.start }) }
}

/** Does the same for commands that read a configuration by themselves. */
export function withoutJson5Comments(text: string): string {
  return blankComments(text).text
}

function isOpen(text: string, { start, end }: Span): boolean {
  return text[start + 1] === '*' && (end < start + 4 || !text.startsWith('*/', end - 2))
}

/** Returns the beginning of the next collection in brackets, in block style and outside of all texts. */
function findBracket(text: string, from: number): number | undefined {
  let at = from
  let isScalar = false
  for (const lexeme of new Lexer().lex(text.slice(from))) {
    if (!isScalar && (lexeme === '[' || lexeme === '{')) return at
    const isMark = !isScalar && [CST.DOCUMENT, CST.FLOW_END, CST.SCALAR].includes(lexeme)
    isScalar = !isScalar && lexeme === CST.SCALAR
    if (!isMark) at += lexeme.length
  }
  return undefined
}

const blanks = /\s+/y
const comment = /\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$(?![\s\S]))/y
const yamlComment = /#[^\n]*/y
const quoted = /"[^"\\]*(?:\\[\s\S][^"\\]*)*"?|'[^']*(?:''[^']*)*'?/y
/** Matches an anchor, an alias or a tag. */
const property = /[&*!][^\s,[\]{}]*/y
/** The first character of a text may be one that would end a word. */
const word = /[\s\S](?:[^\s,[\]{}:]|:(?![\s,[\]{}]|$))*/y
/** A value of JSON5 without quotes ends before a comment. Any other text may continue with what looks like one. */
const literal = /^(?:true|false|null|[-+]?(?:\d[\w.+-]*|\.\d[\w+-]*|Infinity|NaN))$/

/**
 * Adds the comments between the bracket at `from` and the closing one, or those up to `least` if that is later. Returns
 * where it ended.
 */
function scanCollection(text: string, from: number, least: number, comments: Span[]): number {
  let at = from
  let depth = 0
  /** The unquoted text that the last token belongs to. */
  let plain: string | undefined
  /** Whether only blanks have come since the line began. */
  let isLineStart = true
  /** Whether the token before was a quoted text or a collection, after which a colon needs no blank. */
  let isAfterJson = false

  function take(pattern: RegExp): string | undefined {
    pattern.lastIndex = at
    const found = pattern.exec(text)?.[0]
    at += found?.length ?? 0
    return found
  }

  do {
    const space = take(blanks)
    if (space !== undefined) isAfterJson = false
    if (space?.includes('\n')) isLineStart = true
    const start = at
    const sign = text[at] ?? ''
    const mayBegin = plain === undefined || isLineStart || literal.test(plain)
    const wasAfterJson = isAfterJson
    isLineStart = false
    isAfterJson = false
    if (mayBegin && take(comment) !== undefined) comments.push({ start, end: at })
    else if (sign === '#' && /[\s,[{]/.test(text[at - 1] ?? ' ')) take(yamlComment)
    else if (/[,[\]{}]/.test(sign)) {
      plain = undefined
      isAfterJson = sign === ']' || sign === '}'
      depth += sign === '[' || sign === '{' ? 1 : isAfterJson ? -1 : 0
      at++
    } else if (sign === ':' && (wasAfterJson || /[\s,[\]{}]/.test(text[at + 1] ?? ' '))) {
      plain = undefined
      at++
    } else if (plain === undefined && take(quoted) !== undefined) isAfterJson = true
    else if (plain !== undefined || take(property) === undefined) {
      const next = take(word)
      plain = plain === undefined ? next : `${plain} ${next}`
    }
  } while (at < text.length && (depth > 0 || at < least))
  return at
}
