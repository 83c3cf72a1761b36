/** Decodes encoded words in headers (RFC 2047): `=?utf-8?q?Gr=C3=BC=C3=9Fe?=`. Gmail decodes most, but not all. */

import { decoderOf } from './decode.ts'

/**
 * An encoded word is delimited by white space, the parentheses of a comment or the ends of the text. A word
 * that is malformed, or in an unknown charset, stays as it is. Words longer than the 75 characters of section 2 are
 * read too, because many senders write them. https://www.rfc-editor.org/rfc/rfc2047#section-5
 */
export function decodeWords(text: string): string {
  if (!text.includes('=?')) return text
  let result = ''
  let end = 0
  let last: Word | undefined
  for (const found of text.matchAll(encodedWord)) {
    const word = readWord(found)
    if (word === undefined) continue
    const between = text.slice(end, found.index)
    end = found.index + found[0].length
    // White space between two encoded words only separates them (section 6.2).
    const isAdjacent = last !== undefined && between.trim() === ''
    // Some senders split a character between two words of one charset, so their bytes are decoded together.
    if (isAdjacent && last?.charset === word.charset) last.bytes.push(...word.bytes)
    else {
      result += decodeWord(last) + (isAdjacent ? '' : between)
      last = word
    }
  }
  return result + decodeWord(last) + text.slice(end)
}

/** The groups are the charset, the encoding and the text. A language may follow the charset (RFC 2231 section 5). */
const encodedWord = /(?<![^\s(])=\?([\w.:-]{1,40})(?:\*[\w-]{1,20})?\?([bq])\?([!->@-~]*)\?=(?![^\s)])/gi

interface Word {
  readonly charset: string
  readonly bytes: Buffer[]
}

function readWord([, charset = '', encoding = '', text = '']: RegExpExecArray): Word | undefined {
  if (decoderOf(charset) === undefined) return undefined
  const bytes = encoding.toLowerCase() === 'b' ? decodeB(text) : decodeQ(text)
  return bytes && { charset: charset.toLowerCase(), bytes: [bytes] }
}

function decodeWord(word: Word | undefined): string {
  return word === undefined ? '' : (decoderOf(word.charset)?.decode(Buffer.concat(word.bytes)) ?? '')
}

function decodeB(text: string): Buffer | undefined {
  return /^[A-Za-z0-9+/]*={0,2}$/.test(text) && text.length % 4 !== 1
    ? Buffer.from(text, 'base64')
    : undefined
}

function decodeQ(text: string): Buffer | undefined {
  if (/=(?![0-9a-f]{2})/i.test(text)) return undefined
  const spaced = text.replaceAll('_', ' ')
  return Buffer.from(
    spaced.replaceAll(/=([0-9a-f]{2})/gi, (_, code: string) =>
      String.fromCharCode(Number.parseInt(code, 16)),
    ),
    'latin1',
  )
}
