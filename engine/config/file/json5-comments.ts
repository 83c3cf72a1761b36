/**
 * Blanks the comments of JSON5 in a text before it is parsed as YAML, so that every character after them keeps its
 * place. Inside brackets and braces, a token that begins with `//` or `/*` is a comment, and so is one around a file
 * that is one such collection. Everywhere else, and inside a string, it is text.
 */

import { CST, Lexer } from 'yaml'

export interface Blanked {
  /** The text has the same length, and line breaks in the same places. */
  readonly text: string
  /** The beginning of a comment without an end. */
  readonly unclosed?: number
}

/** Most files contain nothing that could be a comment of JSON5. */
const mayHoldOne = /(?:^|[\s,[\]{}:"'])\/[/*]/

/** Matches a file that is one collection, with nothing but comments before it. */
const isOneCollection = /^(?:\s|#[^\n]*\n|\/\/[^\n]*\n|\/\*(?:[^*]|\*(?!\/))*\*\/)*[[{]/

/** Returns the text with spaces in place of such comments. */
export function blankComments(text: string): Blanked {
  if (!mayHoldOne.test(text)) return { text }
  const isWhole = isOneCollection.test(text)
  let blanked = ''
  let at = isWhole ? 0 : findBracket(text, 0)
  while (at !== undefined) {
    let depth = 0
    tokens.lastIndex = at
    do {
      const [token = '', comment] = tokens.exec(text) ?? []
      if (comment?.startsWith('/*') && !/^\/\*[\s\S]*\*\/$/.test(comment))
        return { text, unclosed: tokens.lastIndex - comment.length }
      if (comment) blanked += text.slice(blanked.length, tokens.lastIndex - comment.length)
      if (comment) blanked += comment.replace(/[^\r\n]/g, ' ')
      depth += /^[[{]$/.test(token) ? 1 : /^[\]}]$/.test(token) ? -1 : 0
      at = tokens.lastIndex
    } while (at < text.length && (isWhole || depth > 0))
    at = isWhole ? undefined : findBracket(text, at)
  }
  return { text: blanked + text.slice(blanked.length) }
}

/** Does the same for commands that read a configuration by themselves. */
export function withoutJson5Comments(text: string): string {
  return blankComments(text).text
}

/** Returns the beginning of the next collection in brackets, in block style and outside of all strings. */
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

const json5Comment = /(\/\/[^\n]*|\/\*(?:[^*]|\*(?!\/))*(?:\*\/)?)/
const yamlComment = /(?<![^\s,[{])#[^\n]*/
const quoted = /"(?:[^"\\]|\\[\s\S])*"?|'[^']*'?/
/** An anchor, an alias or a tag. */
const property = /[&*!][^\s,[\]{}]*/
/** A value of JSON5 without quotes ends before a comment. Any other string may continue with what looks like one. */
const literal = /(?:true|false|null|[-+]?(?:\.?\d[\w.+-]*|Infinity|NaN))(?=\s*\/[/*])/
const plain = /[^\s,[\]{}:](?:[^,[\]{}\n:#]|(?<!\s)#|:(?![\s,[\]{}]|$))*/
/** The tokens of a collection in brackets; every character belongs to one. */
const tokens = new RegExp(
  [json5Comment, yamlComment, quoted, property, literal, plain, /[\s\S]/]
    .map(({ source }) => source)
    .join('|'),
  'y',
)
