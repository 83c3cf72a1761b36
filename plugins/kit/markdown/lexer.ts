/**
 * Bounds the work of `marked`'s lexer. Some texts cost it time that grows with their square, or overflow the stack. Here they
 * give less markup instead, and never less text.
 */

import { Lexer, type Token, Tokenizer, type Tokens } from 'marked'

/** Maximum nesting of quotes and lists. Anything deeper is one paragraph. */
const maxDepth = 12
/**
 * Maximum work of reading a text, in multiples of its length; beyond that the text is shown unchanged. The lexer reads the content of
 * quotes and lists again at each level, and again for each of their lines that lacks a marker.
 */
const maxPasses = 4
/** The work that is allowed in addition, so that short texts are always read. */
const freeWork = 32_768
/** Maximum length of a chunk that is searched for inline marks, since the lexer's time grows with the square of it. */
const maxChunkLength = 2048
/** Maximum length of a quote, for the same reason. A longer one becomes two. */
const maxQuoteLength = 16_384
/** Maximum length of an underlined heading. Each line of a list item is tried as the first line of one. */
const maxHeadingLength = 512
/** Maximum length of a paragraph with more than `maxRules` possible table rules; a longer one is read as rows. */
const maxAmongRulesLength = 2048
const maxRules = 8

/** Returns the blocks of a text whose lines end with line feeds. Never throws. */
export function lexBlocks(text: string): Token[] {
  const lexer = new BoundedLexer(maxPasses * text.length + freeWork)
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

function asText(raw: string): Tokens.Text {
  return { type: 'text', raw, text: raw }
}

class BoundedTokenizer extends Tokenizer {
  /** True while emphasis is looked for. The search for one end reads everything that may begin or end another. */
  marksEmphasis = true

  override blockquote(source: string) {
    return super.blockquote(firstLines(source, maxQuoteLength) || source.slice(0, maxQuoteLength))
  }

  override lheading(source: string) {
    return super.lheading(firstLines(source, maxHeadingLength))
  }

  override paragraph(source: string) {
    const near = firstLines(source, maxAmongRulesLength)
    const hasManyRules = (near.match(/\n {0,3}[|:-][|:\- ]*(?=\n)/g)?.length ?? 0) > maxRules
    return super.paragraph(hasManyRules ? near : source)
  }

  override emStrong(source: string, masked: string, previous?: string) {
    return this.marksEmphasis ? super.emStrong(source, masked, previous) : undefined
  }

  override del(source: string, masked: string, previous?: string) {
    return this.marksEmphasis ? super.del(source, masked, previous) : undefined
  }

  /**
   * Refuses tables with a wide head and many short rows, because every row is filled up to the length of the head. The rest
   * is read only if the first two lines are those of a table.
   */
  override table(source: string) {
    const [twoLines] = /^.*\n.*(?:\n|$)/.exec(source) ?? []
    if (twoLines === undefined) return
    const head = super.table(twoLines)
    if (head === undefined) return
    const end = source.indexOf('\n\n')
    const text = end < 0 ? source : source.slice(0, end)
    const cells = head.header.length * text.split('\n').length
    return cells > 20_000 && cells > 2 * text.length ? undefined : super.table(source)
  }

  /** Refuses addresses with much punctuation at the end, which the lexer removes sign by sign, each time from the beginning. */
  override url(source: string) {
    const isPunctuated = /^(?:https?:|ftp:|www\.)\S{0,2000}?[?!.,:;*_'"~)]{32}/i.test(source)
    return isPunctuated ? undefined : super.url(source)
  }

  /** Keeps a footnote of one word, which would otherwise disappear as the definition of a link. */
  override def(source: string) {
    return /^ {0,3}\[\^/.test(source) ? undefined : super.def(source)
  }
}

class BoundedLexer extends Lexer {
  readonly #tokenizer: BoundedTokenizer
  #work: number
  #depth = 0

  constructor(maxWork: number) {
    const tokenizer = new BoundedTokenizer()
    super({ gfm: true, tokenizer })
    this.#tokenizer = tokenizer
    this.#work = maxWork
  }

  override blockTokens(source: string, tokens: Token[] = [], clipped?: boolean): Token[] & Lexer['tokens'] {
    this.#work -= source.length
    if (this.#work < 0) throw new Exhausted()
    if (this.#depth > maxDepth) {
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
    for (const chunk of chunksOf(source)) {
      this.state.inLink = false
      this.state.inRawBlock = false
      this.#tokenizer.marksEmphasis = hasFewMarks(chunk)
      const found: Token[] = []
      try {
        this.inlineTokens(chunk, found)
        tokens.push(...found)
      } catch {
        tokens.push(asText(chunk))
      }
    }
  }
}

/** True if a text has no more marks than people or agents write, which is at most one every dozen characters. */
function hasFewMarks(text: string): boolean {
  const maxCount = 24 + text.length / 24
  let count = 0
  for (const _ of text.matchAll(/\*+|~+|(?<![\p{L}\p{N}])_+|_+(?![\p{L}\p{N}])/gu))
    if (++count > maxCount) return false
  return true
}

function* chunksOf(text: string): Generator<string> {
  let start = 0
  while (text.length - start > maxChunkLength) {
    const end = start + chunkEnd(text.slice(start, start + maxChunkLength))
    yield text.slice(start, end)
    start = end
  }
  yield text.slice(start)
}

/** Returns where a chunk may end: after the last white space that seems to be outside marks, links and code, or else after the last white space. */
function chunkEnd(text: string): number {
  let best = 0
  let last = 0
  let brackets = 0
  let isInCode = false
  let isInStrong = false
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at]
    if (character === '\\') at += 1
    else if (character === '`') isInCode = !isInCode
    else if (character === '[' || character === '(') brackets += 1
    else if (character === ']' || character === ')') brackets = Math.max(0, brackets - 1)
    else if (character === '*' && text[at + 1] === '*') {
      isInStrong = !isInStrong
      at += 1
    } else if (character === ' ' || character === '\n') {
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

/** Returns the text, or as many of its first lines as are at most that long. */
function firstLines(text: string, longest: number): string {
  return text.length > longest ? text.slice(0, text.lastIndexOf('\n', longest) + 1) : text
}
