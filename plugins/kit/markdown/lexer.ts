/**
 * Owns `marked`'s lexer with its work bounded. Some texts cost it time that grows with their square, or overflow the
 * stack; here they give less markup instead, and never less text.
 */

import { Lexer, type Token, Tokenizer, type Tokens } from 'marked'

/** Quotes and lists inside each other. What is deeper is one paragraph. */
const deepest = 12
/** Containers are lexed once for each level that they lie below; beyond this many times the whole text, no deeper. */
const mostPasses = 16
/** Inline marks are looked for in stretches of this length at most: the lexer's time grows with the square of it. */
const longestStretch = 4096

/** The blocks of a text that has line feeds only. Never throws. */
export function lexBlocks(text: string): Token[] {
  const lexer = new BoundedLexer(text.length)
  lexer.blockTokens(text, lexer.tokens)
  for (const { src, tokens } of lexer.inlineQueue.splice(0)) lexer.lexInline(src, tokens)
  return lexer.tokens
}

class BoundedTokenizer extends Tokenizer {
  /** Looking for the end of one emphasis reads all that may begin or end another. */
  marksEmphasis = true

  override emStrong(source: string, masked: string, previous?: string) {
    return this.marksEmphasis ? super.emStrong(source, masked, previous) : undefined
  }

  override del(source: string, masked: string, previous?: string) {
    return this.marksEmphasis ? super.del(source, masked, previous) : undefined
  }

  /** A footnote of one word would be the definition of an address otherwise, and go. */
  override def(source: string) {
    return /^ {0,3}\[\^/.test(source) ? undefined : super.def(source)
  }
}

class BoundedLexer extends Lexer {
  readonly #tokenizer: BoundedTokenizer
  #depth = 0
  #work: number

  constructor(length: number) {
    const tokenizer = new BoundedTokenizer()
    super({ gfm: true, tokenizer })
    this.#tokenizer = tokenizer
    this.#work = mostPasses * length + 65_536
  }

  override blockTokens(source: string, tokens: Token[] = [], clipped?: boolean): Token[] & Lexer['tokens'] {
    this.#work -= source.length
    if (this.#depth > deepest || this.#work < 0) {
      tokens.push({ type: 'paragraph', raw: source, text: source, tokens: this.inline(source) })
      return tokens as Lexer['tokens']
    }
    this.#depth += 1
    try {
      return super.blockTokens(source, tokens, clipped) as Lexer['tokens']
    } finally {
      this.#depth -= 1
    }
  }

  lexInline(source: string, tokens: Token[]): void {
    for (const stretch of stretches(source)) {
      this.state.inLink = false
      this.state.inRawBlock = false
      this.#tokenizer.marksEmphasis = hasFewMarks(stretch)
      const found: Token[] = []
      try {
        this.inlineTokens(stretch, found)
        tokens.push(...found)
      } catch {
        tokens.push({ type: 'text', raw: stretch, text: stretch } satisfies Tokens.Text)
      }
    }
  }
}

/** A text that people or agents write has a mark every dozen characters where it has many. */
function hasFewMarks(text: string): boolean {
  const most = 24 + text.length / 24
  let count = 0
  for (const _ of text.matchAll(/\*+|~+|(?<![\p{L}\p{N}])_+|_+(?![\p{L}\p{N}])/gu))
    if (++count > most) return false
  return true
}

function* stretches(text: string): Generator<string> {
  let start = 0
  while (text.length - start > longestStretch) {
    const end = start + quietPlace(text.slice(start, start + longestStretch))
    yield text.slice(start, end)
    start = end
  }
  yield text.slice(start)
}

/** Where a stretch may end: after the last white space that seems to lie in no mark, link or code; else after the last of all. */
function quietPlace(text: string): number {
  let best = 0
  let last = 0
  let brackets = 0
  let isInCode = false
  let isInStrong = false
  for (let at = 0; at < text.length; at += 1) {
    const each = text[at]
    if (each === '\\') at += 1
    else if (each === '`') isInCode = !isInCode
    else if (each === '[' || each === '(') brackets += 1
    else if (each === ']' || each === ')') brackets = Math.max(0, brackets - 1)
    else if (each === '*' && text[at + 1] === '*') {
      isInStrong = !isInStrong
      at += 1
    } else if (each === ' ' || each === '\n') {
      last = at + 1
      if (brackets === 0 && !isInCode && !isInStrong) best = at + 1
    }
  }
  if (best > text.length / 4) return best
  return last > 0 ? last : text.length - (isHighSurrogate(text.at(-1)) ? 1 : 0)
}

function isHighSurrogate(unit = ''): boolean {
  return unit >= '\ud800' && unit <= '\udbff'
}
