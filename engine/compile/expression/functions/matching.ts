/** Owns `$contains`, `$match`, `$replace` and `$split`, which take a text, an expression or any matching function. */

import { type Focus, turnOf } from '../library.ts'
import { thrownLimit } from '../limit.ts'
import { createFind } from './find.ts'
import { createPieces } from './pieces.ts'
import { createSubstitute, type Match, type Substitute } from './substitute.ts'

/** A regular expression, or a function of the author's that keeps to the same rules. */
export interface Matcher {
  apply(self: unknown, values: readonly unknown[]): unknown
}

/** Parts that a text is split into. */
const mostParts = 100_000
/** Replacements between two looks at the clock. */
const batch = 512

export async function contains(
  this: Focus,
  text: string | undefined,
  token: string | Matcher | undefined,
): Promise<unknown> {
  if (text === undefined || token === undefined) return undefined
  if (typeof token === 'string') return createFind(token)(text, 0) !== -1
  return (await ask(this, token, text)) !== undefined
}

export async function match(
  this: Focus,
  text: string | undefined,
  pattern: Matcher,
  limit?: number,
): Promise<unknown> {
  if (text === undefined) return undefined
  checkLimit(limit, 'D3040', 3)
  const result = this.createSequence()
  for await (const found of matches(this, pattern, text, limit)) {
    result.push({ match: found.match, index: found.start, groups: found.groups })
  }
  return result
}

export async function replace(
  this: Focus,
  text: string | undefined,
  pattern: string | Matcher,
  replacement: string | Matcher,
  limit?: number,
): Promise<unknown> {
  if (text === undefined) return undefined
  if (pattern === '') throw { code: 'D3010', value: pattern, index: 2 }
  checkLimit(limit, 'D3011', 4)
  if (typeof pattern === 'string') return await replaceText(this, text, pattern, replacement, limit)
  const substitute = substituteOf(this, replacement)
  const pieces = createPieces()
  let position = 0
  for await (const found of matches(this, pattern, text, limit)) {
    pieces.add(text.substring(position, found.start))
    const piece = await substitute(found)
    if (typeof piece !== 'string') throw { code: 'D3012', value: piece }
    pieces.add(piece)
    position = found.start + found.match.length
  }
  pieces.add(text.substring(position))
  return pieces.text()
}

/** Here `$` has no meaning in the replacement. */
async function replaceText(
  focus: Focus,
  text: string,
  wanted: string,
  replacement: string | Matcher,
  limit = Number.POSITIVE_INFINITY,
): Promise<string> {
  if (typeof replacement !== 'string') throw { code: 'D3012', value: replacement }
  const turn = turnOf(focus)
  const find = createFind(wanted)
  const pieces = createPieces()
  let position = 0
  for (let count = 0; count < limit; count++) {
    const start = find(text, position)
    if (start === -1) break
    pieces.add(text.slice(position, start))
    pieces.add(replacement)
    position = start + wanted.length
    if (count % batch === batch - 1) await turn()
  }
  pieces.add(text.slice(position))
  return pieces.text()
}

export async function split(
  this: Focus,
  text: string | undefined,
  separator: string | Matcher,
  limit?: number,
): Promise<unknown> {
  if (text === undefined) return undefined
  checkLimit(limit, 'D3020', 3)
  if (typeof separator === 'string') return splitText(text, separator, limit)
  const parts: string[] = []
  let position = 0
  for await (const found of matches(this, separator, text, limit)) {
    parts.push(text.substring(position, found.start))
    position = found.end
    checkParts(parts)
  }
  if (limit === undefined || parts.length < limit) parts.push(text.substring(position))
  return parts
}

function splitText(text: string, separator: string, limit: number | undefined): readonly string[] {
  const most = Math.min(mostParts + 1, limit === undefined ? mostParts + 1 : Math.trunc(limit))
  const parts: string[] = separator === '' ? text.split('', most) : []
  const find = createFind(separator)
  let position = 0
  while (separator !== '' && parts.length < most) {
    const start = find(text, position)
    parts.push(text.slice(position, start === -1 ? undefined : start))
    if (start === -1) break
    position = start + separator.length
  }
  checkParts(parts)
  return parts
}

function checkParts(parts: readonly string[]): void {
  if (parts.length > mostParts)
    throw thrownLimit(`it splits a text into more than ${mostParts} parts`, 'D2015')
}

function checkLimit(limit: number | undefined, code: string, index: number): void {
  if (limit !== undefined && limit < 0) throw { code, value: limit, index }
}

function substituteOf(focus: Focus, replacement: string | Matcher): Substitute {
  if (typeof replacement === 'string') return createSubstitute(replacement)
  return (found) => replacement.apply(focus, [found])
}

/** One after the other, with a turn for others between them. */
async function* matches(
  focus: Focus,
  pattern: Matcher,
  text: string,
  limit: number | undefined,
): AsyncGenerator<Match> {
  const turn = turnOf(focus)
  const most = limit ?? Number.POSITIVE_INFINITY
  if (most <= 0) return
  let found = await ask(focus, pattern, text)
  for (let count = 0; found !== undefined && count < most; count++) {
    yield found
    await turn()
    found = await ask(focus, found.next as Matcher)
  }
}

/** @throws `T1010`, the library's, where what was found is not told in the way that all matchers tell it */
async function ask(focus: Focus, matcher: Matcher, text?: string): Promise<Match | undefined> {
  const answer = (await matcher.apply(focus, [text])) as Match | undefined
  if (!answer) return undefined
  const { start, end, groups, next } = answer
  const known =
    typeof start === 'number' ||
    typeof end === 'number' ||
    Array.isArray(groups) ||
    typeof next === 'function'
  if (!known) throw { code: 'T1010' }
  return answer
}
