/** Owns where a text stops being JSON. The platform's parser says it of some faults only, and quotes the text. */

import { stringEnd } from './json-strings.ts'

const scalar =
  /-?(?:0|[1-9]\d{0,400})(?:\.\d{1,400})?(?:[eE][+-]?\d{1,9})?(?![^\s,\]}:])|(?:true|false|null)\b/y
const blanks = /[ \t\r\n]*/y
const badInString = /(?![\u007f-\u009f])\p{Cc}|\\(?!["\\/bfnrt]|u[\da-fA-F]{4})/u

type Expected = 'value' | 'value or ]' | 'name' | 'name or }' | 'colon' | 'comma or end' | 'nothing'

/** The offset of what cannot stand where it stands; the text's end where something is missing. */
export function findJsonFault(text: string): number {
  const open: ('{' | '[')[] = []
  let expected: Expected = 'value'
  for (let at = past(blanks, text, 0); at < text.length; at = past(blanks, text, at)) {
    const first = text.charAt(at)
    const isString = first === '"'
    const isMark = '{}[],:'.includes(first)
    const closed = isString ? stringEnd(text, at) : undefined
    const end = isString ? (closed ?? text.length) : isMark ? at + 1 : past(scalar, text, at)
    if (end === at) return at
    if (isString) {
      const inside = text.slice(at + 1, closed === undefined ? end : end - 1)
      const bad = badInString.exec(inside.replaceAll('\\\\', '__'))
      if (bad !== null) return at + 1 + bad.index
      if (closed === undefined) return at
    }
    const next = after(expected, isString ? 'string' : isMark ? first : 'scalar', open)
    if (next === undefined) return at
    expected = next
    at = end
  }
  return text.length
}

/** Undefined: it may not stand there. `open` follows. */
function after(expected: Expected, kind: string, open: ('{' | '[')[]): Expected | undefined {
  if (kind === ':') return expected === 'colon' ? 'value' : undefined
  if (kind === ',') {
    if (expected !== 'comma or end') return undefined
    return open.at(-1) === '{' ? 'name' : 'value'
  }
  if (kind === '}' || kind === ']') {
    const mayEnd = expected === 'comma or end' || expected === (kind === '}' ? 'name or }' : 'value or ]')
    if (!mayEnd || open.pop() !== (kind === '}' ? '{' : '[')) return undefined
    return ended(open)
  }
  if (expected === 'name' || expected === 'name or }') return kind === 'string' ? 'colon' : undefined
  if (expected !== 'value' && expected !== 'value or ]') return undefined
  if (kind !== '{' && kind !== '[') return ended(open)
  open.push(kind)
  return kind === '{' ? 'name or }' : 'value or ]'
}

function ended(open: readonly string[]): Expected {
  return open.length === 0 ? 'nothing' : 'comma or end'
}

function past(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at
  return at + (pattern.exec(text)?.[0].length ?? 0)
}
