/**
 * Owns the ways in which programs write one and the same JSON. Only its writing is changed: no number is rounded, no key is
 * moved, so that what comes out is what another program would have sent.
 */

import { stringEnd } from './json-strings.ts'

export interface JsonForm {
  /** Behind “when the body is written”. */
  readonly told: string
  readonly text: string
}

/** A blank layout: what stands behind a comma and a colon, or how deep each level is set in. */
interface Layout {
  readonly told: string
  readonly indent?: string
  readonly comma?: string
  readonly colon?: string
}

const compact: Layout = { told: 'as compact JSON' }

const layouts: readonly Layout[] = [
  compact,
  { told: 'with two-space indentation', indent: '  ' },
  { told: 'with four-space indentation', indent: '    ' },
  { told: 'with tabs as indentation', indent: '\t' },
  { told: 'with a space behind each comma and colon', comma: ' ', colon: ' ' },
]

interface Rewriting {
  readonly told: string
  rewrite(text: string): string
}

const units = /\\(?:u[\da-fA-F]{4}|[\s\S])/g
const same = (text: string) => text

const slashes: readonly Rewriting[] = [
  { told: '', rewrite: same },
  {
    told: 'with `\\/`',
    rewrite: (text) => text.replace(/\\[\s\S]|\//g, (unit) => (unit === '/' ? '\\/' : unit)),
  },
  {
    told: 'with `/` in place of `\\/`',
    rewrite: (text) => text.replace(/\\[\s\S]/g, (unit) => (unit === '\\/' ? '/' : unit)),
  },
]

const characters: readonly Rewriting[] = [
  { told: '', rewrite: same },
  { told: 'with \\uXXXX for what is not ASCII', rewrite: (text) => escaped(text, /[\u0080-\uffff]/g) },
  {
    told: 'with \\uXXXX, in upper case, for what is not ASCII',
    rewrite: (text) => escaped(text, /[\u0080-\uffff]/g).replace(units, upperCase),
  },
  {
    told: 'with characters in place of \\uXXXX',
    rewrite: (text) => text.replace(units, (unit) => unescaped(unit, (code) => code >= 0x80)),
  },
  {
    told: 'with \\uXXXX for `<`, `>` and `&`',
    rewrite: (text) => escaped(text, /[<>&\u2028\u2029]/g),
  },
  {
    told: 'with `<`, `>` and `&` in place of \\uXXXX',
    rewrite: (text) => text.replace(units, (unit) => unescaped(unit, (code) => htmlCodes.has(code))),
  },
]

const htmlCodes = new Set([0x3c, 0x3e, 0x26])

/** Of more it takes half a second to write each layout. */
const manyTokens = 250_000

/** Nothing where the text is no JSON object or list. The likelier ones come first, and none comes twice. */
export function* jsonForms(text: string): Iterable<JsonForm> {
  const tokens = tokensOf(text)
  if (tokens === undefined) return
  yield* asWritten({ told: '', text }, text)
  for (const layout of tokens.length > manyTokens ? [compact] : layouts) {
    const laidOut = layOut(tokens, layout, 4 * text.length + 1024)
    if (laidOut === undefined || laidOut === text) continue
    yield { told: layout.told, text: laidOut }
    yield { told: `${layout.told}, and a line break at its end`, text: `${laidOut}\n` }
    yield* asWritten({ told: layout.told, text: laidOut }, text)
  }
}

/** The one that is tried where there is time for one only. */
export function compactForm(text: string): JsonForm | undefined {
  const tokens = tokensOf(text)
  const written = tokens && layOut(tokens, compact, text.length)
  return written === undefined || written === text ? undefined : { told: compact.told, text: written }
}

function* asWritten(base: JsonForm, original: string): Iterable<JsonForm> {
  for (const slash of slashes) {
    const slashed = slash.rewrite(base.text)
    if (slash !== slashes[0] && slashed === base.text) continue
    for (const character of characters) {
      const written = character.rewrite(slashed)
      if (written === original || (written === base.text && base.told !== '')) continue
      if (character !== characters[0] && written === slashed) continue
      yield { told: [base.told, slash.told, character.told].filter(Boolean).join(', '), text: written }
    }
  }
}

function escaped(text: string, wanted: RegExp): string {
  return text.replace(wanted, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

function upperCase(unit: string): string {
  return unit.startsWith('\\u') ? `\\u${unit.slice(2).toUpperCase()}` : unit
}

function unescaped(unit: string, isMeant: (code: number) => boolean): string {
  if (unit.length !== 6) return unit
  const code = Number.parseInt(unit.slice(2), 16)
  return isMeant(code) ? String.fromCharCode(code) : unit
}

/** What stands between blanks: strings whole, marks, and all else. Undefined: it is no JSON object or list. */
function tokensOf(text: string): readonly string[] | undefined {
  if (!/^[ \t\r\n]*[{[]/.test(text.slice(0, 1024))) return undefined
  const tokens: string[] = []
  const other = /[^\s"{}[\],:]+|[{}[\],:]|\s+/y
  for (let at = 0; at < text.length; ) {
    const isString = text[at] === '"'
    other.lastIndex = at
    const end = isString ? stringEnd(text, at) : at + (other.exec(text)?.[0].length ?? 0)
    if (end === undefined) return undefined
    const token = text.slice(at, end)
    if (isString || token.trim() !== '') tokens.push(token)
    at = end
  }
  return tokens
}

/** Undefined: longer than that; brackets in brackets set in grow with the square of their number. */
function layOut(tokens: readonly string[], layout: Layout, longest: number): string | undefined {
  const { indent, comma = '', colon = indent === undefined ? '' : ' ' } = layout
  const parts: string[] = []
  let depth = 0
  let length = 0
  const put = (part: string) => {
    parts.push(part)
    length += part.length
  }
  const newLine = () => {
    if (indent !== undefined) put(`\n${indent.repeat(Math.min(depth, longest))}`)
  }
  for (const [index, token] of tokens.entries()) {
    if (length > longest || (indent !== undefined && depth * indent.length > longest)) return undefined
    const isEmpty = token === '}' ? tokens[index - 1] === '{' : token === ']' && tokens[index - 1] === '['
    if (token === '}' || token === ']') {
      depth = Math.max(0, depth - 1)
      if (!isEmpty) newLine()
    }
    put(token)
    if (token === ',') {
      put(comma)
      newLine()
    } else if (token === ':') put(colon)
    else if (token === '{' || token === '[') {
      depth += 1
      const next = tokens[index + 1]
      if (next !== (token === '{' ? '}' : ']')) newLine()
    }
  }
  return parts.join('')
}
