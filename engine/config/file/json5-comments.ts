/**
 * The comments of JSON5 in a text that is read as YAML: blanked before it is parsed, so that every character after them
 * keeps its place. Inside brackets and braces a token that begins with `//` or `/*` is one; around a file that is one such
 * collection it is one too. Everywhere else, and in the middle of a text, it is text.
 */

/** Most texts have nothing that could be one. */
const mayHoldOne = /(?:^|[\s,[\]{}:"'])\/[/*]/

export interface Blanked {
  /** Of the same length, line breaks in the same places. */
  readonly text: string
  /** Where a comment begins that nothing ends. */
  readonly unclosed?: number
}

/** The text with spaces in place of such comments. */
export function blankComments(text: string): Blanked {
  if (!mayHoldOne.test(text)) return { text }
  const scanner = createScanner(text)
  while (scanner.step());
  return scanner.end()
}

/** The same at once, for commands that look into a configuration by themselves. */
export function withoutJson5Comments(text: string): string {
  return blankComments(text).text
}

interface Scanner {
  /** Reads one token; false at the end. */
  step(): boolean
  end(): Blanked
}

/** A value of JSON5 without quotes ends before a comment; any other text may go on with what looks like one. */
const literal = /^(?:true|false|null|[-+]?(?:\d[\w.+-]*|\.\d[\w+-]*|Infinity|NaN))$/

function createScanner(text: string): Scanner {
  const parts: string[] = []
  let copied = 0
  let unclosed: number | undefined
  let at = 0
  /** Brackets and braces that are open. */
  let depth = 0
  /** The file is one collection, so that comments may stand around it. */
  const isWhole = beginsWithBracket(text)
  /** In a flow collection: the text without quotes that the last token was a part of. */
  let plain: string | undefined
  /** Nothing but blanks since the line began. */
  let isLineStart = true
  /** The token before was a quoted text or a collection, after which a colon needs no blank. */
  let isAfterJson = false
  /** In block style: the column of the innermost key or dash of this line, which what follows is indented against. */
  let parent = -1
  /** In block style: lines that are indented further go on with a text. */
  let continued: number | undefined

  const match = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at
    return pattern.exec(text)?.[0]
  }
  const isAtComment = () => text[at] === '/' && (text[at + 1] === '/' || text[at + 1] === '*')
  const endOfLine = (from: number) => {
    const end = text.indexOf('\n', from)
    return end < 0 ? text.length : end
  }

  function blank(): void {
    const isBlock = text[at + 1] === '*'
    const close = isBlock ? text.indexOf('*/', at + 2) : endOfLine(at)
    if (close < 0) {
      unclosed = at
      at = text.length
      return
    }
    const end = isBlock ? close + 2 : close
    parts.push(text.slice(copied, at), text.slice(at, end).replace(/[^\r\n]/g, ' '))
    copied = end
    at = end
  }

  function quoted(quote: string): void {
    for (let from = at + 1; ; ) {
      const end = text.indexOf(quote, from)
      if (end < 0) {
        at = text.length
        return
      }
      at = end + 1
      if (quote === '"') {
        let slashes = 0
        while (text[end - 1 - slashes] === '\\') slashes++
        if (slashes % 2 === 0) return
      } else if (text[at] !== "'") return
      else at++
      from = at
    }
  }

  function stepInFlow(): void {
    const blanks = match(/\s+/y)
    if (blanks !== undefined) {
      at += blanks.length
      if (blanks.includes('\n')) isLineStart = true
      isAfterJson = false
      return
    }
    const wasLineStart = isLineStart
    const wasAfterJson = isAfterJson
    isLineStart = false
    isAfterJson = false
    const sign = text[at] ?? ''
    if (isAtComment() && (plain === undefined || wasLineStart || literal.test(plain))) {
      blank()
      return
    }
    if (sign === '#' && /[\s,[{]/.test(text[at - 1] ?? ' ')) {
      at = endOfLine(at)
      return
    }
    if (/[,[\]{}]/.test(sign)) {
      plain = undefined
      isAfterJson = sign === ']' || sign === '}'
      depth += sign === '[' || sign === '{' ? 1 : isAfterJson ? -1 : 0
      at++
      return
    }
    if (sign === ':' && (wasAfterJson || /[\s,[\]{}]/.test(text[at + 1] ?? ' '))) {
      plain = undefined
      at++
      return
    }
    if (plain === undefined) {
      if (sign === '"' || sign === "'") {
        quoted(sign)
        isAfterJson = true
        return
      }
      const property = match(/[&*!][^\s,[\]{}]*/y)
      if (property !== undefined) {
        at += property.length
        return
      }
    }
    // The first sign of a text may be one that would end a word.
    const word = sign + (matchAfter(/(?:[^\s,[\]{}:]|:(?![\s,[\]{}]|$))*/y) ?? '')
    plain = plain === undefined ? word : `${plain} ${word}`
    at += word.length
  }

  function matchAfter(pattern: RegExp): string | undefined {
    pattern.lastIndex = at + 1
    return pattern.exec(text)?.[0]
  }

  /** A token in block style, or around the one collection of a file. */
  function stepInBlock(): void {
    if (isLineStart && !isWhole) {
      beginLine()
      return
    }
    const blanks = match(isWhole ? /\s+/y : /[ \t\r]+/y)
    if (blanks !== undefined) {
      at += blanks.length
      return
    }
    const sign = text[at] ?? ''
    if (sign === '\n') {
      at++
      isLineStart = true
    } else if (sign === '#' && /\s/.test(text[at - 1] ?? ' ')) at = endOfLine(at)
    else if (isWhole && isAtComment()) blank()
    else if (sign === '[' || sign === '{') {
      depth = 1
      plain = undefined
      isLineStart = false
      at++
    } else if (sign === '"' || sign === "'") {
      const start = at
      quoted(sign)
      if (match(/[ \t]*:(?=\s|$)/y) !== undefined) parent = columnOf(start)
    } else if (/[-?:]/.test(sign) && /\s/.test(text[at + 1] ?? ' ')) {
      if (sign !== ':') parent = columnOf(at)
      at++
    } else if (match(/[|>][-+0-9]*[ \t]*(?:#[^\n]*)?\r?(?:\n|$)/y) !== undefined) skipBlockText()
    else if (/[&*!]/.test(sign)) at += match(/\S+/y)?.length ?? 1
    else plainInBlock()
  }

  function columnOf(offset: number): number {
    return offset - (text.lastIndexOf('\n', offset - 1) + 1)
  }

  function beginLine(): void {
    isLineStart = false
    const indent = match(/ */y)?.length ?? 0
    parent = indent - 1
    const first = text[at + indent]
    const isBare = first === undefined || first === '\n' || first === '\r'
    if (continued !== undefined && (isBare || (indent > continued && first !== '#'))) {
      at = endOfLine(at)
      return
    }
    continued = undefined
    at += indent
    // The marks of a document's beginning and end.
    if (indent === 0) at += match(/(?:---|\.\.\.)(?=\s|$)/y)?.length ?? 0
  }

  /** The lines of a literal or folded text: all that are indented further than what holds it. */
  function skipBlockText(): void {
    const holder = parent
    for (;;) {
      const end = endOfLine(at)
      at = end
      if (end === text.length) return
      const next = /[ ]*/y
      next.lastIndex = end + 1
      const indent = next.exec(text)?.[0].length ?? 0
      const first = text[end + 1 + indent]
      if (first !== undefined && first !== '\n' && first !== '\r' && indent <= holder) return
      at = end + 1
    }
  }

  function plainInBlock(): void {
    const start = at
    const found = match(/(?:[^\s:]|:(?=\S)|[ \t]+(?=[^\s#]))+/y) ?? ''
    at += Math.max(1, found.length)
    if (text[at] === ':') parent = columnOf(start)
    else continued = parent
  }

  return {
    step() {
      if (at >= text.length) return false
      if (depth > 0) stepInFlow()
      else stepInBlock()
      return true
    },
    end() {
      const blanked = copied === 0 ? text : parts.join('') + text.slice(copied)
      return unclosed === undefined ? { text: blanked } : { text: blanked, unclosed }
    },
  }
}

/** Whether nothing but comments and blanks stands before the file's first bracket or brace. */
function beginsWithBracket(text: string): boolean {
  const skip = /\s+|#[^\n]*|\/\/[^\n]*|\/\*/y
  for (let at = 0; at < text.length; ) {
    skip.lastIndex = at
    const found = skip.exec(text)?.[0]
    if (found === undefined) return text[at] === '{' || text[at] === '['
    const close = found === '/*' ? text.indexOf('*/', at + 2) : 0
    if (close < 0) return false
    at = found === '/*' ? close + 2 : at + found.length
  }
  return false
}
