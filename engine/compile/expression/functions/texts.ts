/** Owns the functions of texts that would take long, or make much, for the texts that a payload can hold. */

import { type Focus, libraryFunction, turnOf } from '../library.ts'
import { mostText, thrownLimit, tooMuchText } from '../limit.ts'
import { weigh } from '../weigh.ts'
import { takeEach } from './elements.ts'
import { createFind } from './find.ts'
import { writeJson } from './write-json.ts'

const beyondBasicPlane = /[\ud800-\udbff][\udc00-\udfff]/

export function length(text: string | undefined): number | undefined {
  if (text === undefined || !beyondBasicPlane.test(text)) return text?.length
  let count = 0
  for (let at = 0; at < text.length; at++) count += isSecondHalf(text, at) ? 0 : 1
  return count
}

export function substring(text: string | undefined, start: number, count?: number): string | undefined {
  if (text === undefined) return undefined
  const size = length(text) as number
  const from = size + start < 0 ? 0 : start
  if (count !== undefined && count <= 0) return ''
  const end = count === undefined ? size : from >= 0 ? from + count : size + from + count
  return sliceCharacters(text, size, from, end)
}

/** What slicing a list of the text's characters would give. */
function sliceCharacters(text: string, size: number, start: number, end: number): string {
  if (size === text.length) return text.slice(start, end)
  const from = positionIn(size, start)
  const to = positionIn(size, end)
  let first = text.length
  let last = text.length
  for (let at = 0, character = 0; at <= text.length; at++) {
    if (at < text.length && isSecondHalf(text, at)) continue
    if (character === from) first = at
    if (character === to) {
      last = at
      break
    }
    character += 1
  }
  return text.slice(first, Math.max(first, last))
}

function positionIn(size: number, position: number): number {
  const whole = Math.trunc(position)
  return whole < 0 ? Math.max(0, size + whole) : Math.min(size, whole)
}

/** Of a character that takes two units. */
function isSecondHalf(text: string, at: number): boolean {
  const unit = text.charCodeAt(at)
  if (unit < 0xdc00 || unit > 0xdfff || at === 0) return false
  const before = text.charCodeAt(at - 1)
  return before >= 0xd800 && before <= 0xdbff
}

export function substringBefore(text: string | undefined, wanted: string): string | undefined {
  const position = text === undefined ? -1 : createFind(wanted)(text, 0)
  return position === -1 ? text : text?.slice(0, position)
}

export function substringAfter(text: string | undefined, wanted: string): string | undefined {
  const position = text === undefined ? -1 : createFind(wanted)(text, 0)
  return position === -1 ? text : text?.slice(position + wanted.length)
}

export function pad(text: string | undefined, width: number, character?: string): string | undefined {
  if (text === undefined) return undefined
  const whole = Math.trunc(width)
  const missing = Math.abs(whole) - (length(text) as number)
  if (!(missing > 0)) return text
  if (missing > mostText) throw tooMuchText()
  const piece = character === undefined || character === '' ? ' ' : character
  const pieceLength = length(piece) as number
  const many = piece.repeat(Math.floor(missing / pieceLength))
  const padding = many + (substring(piece, 0, missing % pieceLength) as string)
  return whole > 0 ? text + padding : padding + text
}

/** Characters that are trimmed between two looks at the clock. */
const trimmedAtOnce = 65_536

export async function trim(this: Focus, text: string | undefined): Promise<string | undefined> {
  if (text === undefined) return undefined
  const turn = turnOf(this)
  const pieces: string[] = []
  for (let from = 0; from < text.length; ) {
    const to = endOfRun(text, from + trimmedAtOnce)
    pieces.push(text.slice(from, to).replace(/[ \t\n\r]+/g, ' '))
    from = to
    await turn()
  }
  return pieces.join('').replace(/^ | $/g, '')
}

/** Behind the spaces there. */
function endOfRun(text: string, from: number): number {
  let at = from
  while (at < text.length && ' \t\n\r'.includes(text.charAt(at))) at += 1
  return Math.min(at, text.length)
}

export async function join(
  this: Focus,
  texts: readonly string[] | undefined,
  separator?: string,
): Promise<string | undefined> {
  if (texts === undefined) return undefined
  const between = separator ?? ''
  let size = between.length * Math.max(0, texts.length - 1)
  await takeEach(this, texts, 'strings', (text: string) => {
    size += text.length
  })
  if (size > mostText) throw tooMuchText()
  return texts.join(between)
}

/** What the library writes at once: some 5 ms. */
const writtenAtOnce = 20_000

export async function string(this: Focus, value: unknown, pretty?: boolean): Promise<unknown> {
  if (weigh(value, writtenAtOnce) <= writtenAtOnce) return libraryFunction('string').call(this, value, pretty)
  await turnOf(this)()
  return await writeJson(value, pretty === true ? 2 : 0, turnOf(this))
}

const longestNumber = 1_000

export function number(this: Focus, value: unknown): unknown {
  if (typeof value === 'string' && value.length > longestNumber) throw { code: 'D3030', value, index: 1 }
  return libraryFunction('number').call(this, value)
}

/** The codings work at once and give up to nine characters for one. */
const longestCoded = 262_144

export function coding(name: string): (this: Focus, text: string | undefined) => unknown {
  return function (this: Focus, text) {
    if (text !== undefined && text.length > longestCoded) {
      throw thrownLimit(`$${name} takes texts of up to ${longestCoded} characters`)
    }
    return libraryFunction(name).call(this, text)
  }
}
