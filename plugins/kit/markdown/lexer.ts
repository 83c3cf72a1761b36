/**
 * Owns `marked`'s lexer with its work bounded. Some texts cost it time that grows with their square, or overflow the
 * stack; here they give less markup instead, and never less text.
 */

import { Lexer, type Token, Tokenizer, type Tokens } from 'marked'

/** Quotes and lists inside each other. What is deeper is one paragraph. */
const deepest = 12
/**
 * What lies in quotes and lists is read again at each level, and where their lines lack markers, again for each such line.
 * A text that takes more than this many times its length to read is shown as it was written.
 */
const mostPasses = 8
const passesForFree = 65_536
/** Inline marks are looked for in stretches of this length at most: the lexer's time grows with the square of it. */
const longestStretch = 2048
/** And so it does for the lines of a quote. A longer one is two. */
const longestQuote = 16_384
/** In an item of a list each line is tried as the first of a heading with a line under it. */
const longestHeading = 512
/** A line that might be the rule of a table has all that follows read as its rows. Among many of them a paragraph is no longer. */
const longestAmongRules = 2048
const mostRules = 8

/** The blocks of a text that has line feeds only. Never throws. */
export function lexBlocks(text: string): Token[] {
  const lexer = new BoundedLexer(new Budget(mostPasses * text.length + passesForFree))
  try {
    lexer.blockTokens(text, lexer.tokens)
  } catch (error) {
    if (!(error instanceof Exhausted)) throw error
    return text
      .split(/\n\s*\n/)
      .map((raw): Tokens.Paragraph => ({ type: 'paragraph', raw, text: raw, tokens: [asText(raw)] }))
  }
  for (const { src, tokens } of lexer.inlineQueue.splice(0)) lexer.lexInline(src, tokens)
  return lexer.tokens
}

class Exhausted extends Error {}

class Budget {
  #left: number

  constructor(most: number) {
    this.#left = most
  }

  spend(work: number): void {
    this.#left -= work
    if (this.#left < 0) throw new Exhausted()
  }
}

function asText(raw: string): Tokens.Text {
  return { type: 'text', raw, text: raw }
}

class BoundedTokenizer extends Tokenizer {
  /** Looking for the end of one emphasis reads all that may begin or end another. */
  marksEmphasis = true
  readonly #budget: Budget

  constructor(budget: Budget) {
    super()
    this.#budget = budget
  }

  override blockquote(source: string) {
    const isLong = source.length > longestQuote
    const end = isLong ? source.lastIndexOf('\n', longestQuote) : -1
    const token = super.blockquote(isLong ? source.slice(0, end < 0 ? longestQuote : end + 1) : source)
    if (token !== undefined) this.#budget.spend(token.raw.length)
    return token
  }

  override list(source: string) {
    const token = super.list(source)
    if (token !== undefined) this.#budget.spend(token.raw.length)
    return token
  }

  override lheading(source: string) {
    const isLong = source.length > longestHeading
    return super.lheading(isLong ? source.slice(0, source.lastIndexOf('\n', longestHeading) + 1) : source)
  }

  override paragraph(source: string) {
    const near = source.slice(0, longestAmongRules)
    const hasManyRules = (near.match(/\n {0,3}[|:-][|:\- ]*(?=\n)/g)?.length ?? 0) > mostRules
    return super.paragraph(hasManyRules ? near.slice(0, near.lastIndexOf('\n') + 1) : source)
  }

  override emStrong(source: string, masked: string, previous?: string) {
    return this.marksEmphasis ? super.emStrong(source, masked, previous) : undefined
  }

  override del(source: string, masked: string, previous?: string) {
    return this.marksEmphasis ? super.del(source, masked, previous) : undefined
  }

  /**
   * Rows are filled up to the length of the head, which would make a great deal out of a wide head and many short rows. The
   * rest is read only where the first two lines are those of a table: any line might be.
   */
  override table(source: string) {
    const headEnd = source.indexOf('\n')
    const ruleEnd = source.indexOf('\n', headEnd + 1)
    if (
      headEnd < 0 ||
      !/^[\s|:-]*-[\s|:-]*$/.test(source.slice(headEnd + 1, ruleEnd < 0 ? undefined : ruleEnd))
    )
      return
    if (super.table(ruleEnd < 0 ? source : source.slice(0, ruleEnd + 1)) === undefined) return
    const end = source.indexOf('\n\n')
    const text = end < 0 ? source : source.slice(0, end)
    const cells = count(text.slice(0, headEnd), '|') * count(text, '\n')
    return cells > 20_000 && cells > 2 * text.length ? undefined : super.table(source)
  }

  /** The punctuation that ends a bare address is given back sign by sign, each time from the beginning. */
  override url(source: string) {
    const isPunctuated = /^(?:https?:|ftp:|www\.)\S{0,2000}?[?!.,:;*_'"~)]{32}/i.test(source)
    return isPunctuated ? undefined : super.url(source)
  }

  /** A footnote of one word would be the definition of an address otherwise, and go. */
  override def(source: string) {
    return /^ {0,3}\[\^/.test(source) ? undefined : super.def(source)
  }
}

class BoundedLexer extends Lexer {
  readonly #tokenizer: BoundedTokenizer
  readonly #budget: Budget
  #depth = 0

  constructor(budget: Budget) {
    const tokenizer = new BoundedTokenizer(budget)
    super({ gfm: true, tokenizer })
    this.#tokenizer = tokenizer
    this.#budget = budget
  }

  override blockTokens(source: string, tokens: Token[] = [], clipped?: boolean): Token[] & Lexer['tokens'] {
    this.#budget.spend(source.length)
    if (this.#depth > deepest) {
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
        tokens.push(asText(stretch))
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

function count(text: string, sign: string): number {
  let found = 0
  for (let at = text.indexOf(sign); at >= 0; at = text.indexOf(sign, at + 1)) found += 1
  return found
}
