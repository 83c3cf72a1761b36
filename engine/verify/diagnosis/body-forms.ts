/** Owns what may have become of a body on its way: the forms in which its sender may have signed it. */

import { gunzipSync, inflateSync } from 'node:zlib'
import { compactForm, jsonForms } from './json-forms.ts'

export interface BodyForm {
  /** Behind “the signature fits the body”. */
  readonly told: string
  readonly bytes: Uint8Array
}

/** Above it only what costs little is tried. */
const longBody = 5 * 1024 * 1024

/** What a compressed body may grow to. */
const mostDecompressed = 16 * 1024 * 1024

/** The likelier ones come first. Each is made when it is asked for; there are at most about two hundred. */
export function* bodyForms(raw: Uint8Array, contentType = ''): Iterable<BodyForm> {
  const body = Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength)
  yield* endings(body)
  yield* marks(body)
  if (body.length > longBody) {
    const compact = compactForm(body.toString())
    if (compact !== undefined) yield formOf(compact)
    return
  }
  const text = body.toString()
  yield* lineEnds(text)
  yield* forms(text, contentType)
  for (const form of jsonForms(withoutMark(text))) yield formOf(form)
  yield* encodings(body, text)
  yield* decompressed(body)
}

function formOf({ told, text }: { readonly told: string; readonly text: string }): BodyForm {
  return { told: `written ${told}`, bytes: Buffer.from(text) }
}

const lineFeed = 0x0a
const carriageReturn = 0x0d

function* endings(body: Buffer): Iterable<BodyForm> {
  if (body.at(-1) === lineFeed) {
    const end = body.at(-2) === carriageReturn ? body.length - 2 : body.length - 1
    yield { told: 'without the line break at its end', bytes: body.subarray(0, end) }
    if (body.at(-2) !== carriageReturn) {
      const bytes = Buffer.concat([body.subarray(0, end), Buffer.from('\r\n')])
      yield { told: 'with CRLF in place of the LF at its end', bytes }
    }
    return
  }
  yield { told: 'with a line break at its end', bytes: Buffer.concat([body, Buffer.from('\n')]) }
  yield { told: 'with CRLF at its end', bytes: Buffer.concat([body, Buffer.from('\r\n')]) }
}

const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf])

function* marks(body: Buffer): Iterable<BodyForm> {
  if (body.subarray(0, 3).equals(byteOrderMark))
    yield { told: 'without the byte order mark at its beginning', bytes: body.subarray(3) }
  else yield { told: 'with a byte order mark at its beginning', bytes: Buffer.concat([byteOrderMark, body]) }
}

function* lineEnds(text: string): Iterable<BodyForm> {
  if (!text.includes('\n')) return
  const withLf = text.replaceAll('\r\n', '\n')
  if (withLf !== text) yield { told: 'with LF in place of CRLF', bytes: Buffer.from(withLf) }
  const withCrlf = withLf.replaceAll('\n', '\r\n')
  if (withCrlf !== text) yield { told: 'with CRLF in place of LF', bytes: Buffer.from(withCrlf) }
}

/** Forms that were taken apart, put together or written anew on the way. */
function* forms(text: string, contentType: string): Iterable<BodyForm> {
  if (/^[ \t\r\n]*[{[]/.test(text.slice(0, 1024))) {
    const wrapped = new URLSearchParams([['payload', text]]).toString()
    yield { told: 'as a form, in its field `payload`', bytes: Buffer.from(wrapped) }
    yield {
      told: 'as a form with %20 for blanks, in its field `payload`',
      bytes: Buffer.from(wrapped.replaceAll('+', '%20')),
    }
    return
  }
  const isForm = contentType.startsWith('application/x-www-form-urlencoded') || /^[\w.-]{1,64}=/.test(text)
  if (!isForm) return
  const payload = /^payload=([^&]*)$/.exec(text)?.[1]
  if (payload !== undefined)
    yield { told: 'unwrapped from the field `payload` of its form', bytes: Buffer.from(decoded(payload)) }
  // Of a long form of many fields the platform's parser takes its time.
  if (text.length > 256 * 1024) return
  const anew = new URLSearchParams(text).toString()
  if (anew !== text) yield { told: 'as a form written anew, with + for blanks', bytes: Buffer.from(anew) }
  const percent = anew.replaceAll('+', '%20')
  if (percent !== text)
    yield { told: 'as a form written anew, with %20 for blanks', bytes: Buffer.from(percent) }
}

function decoded(value: string): string {
  return new URLSearchParams(`v=${value}`).get('v') ?? ''
}

function* encodings(body: Buffer, text: string): Iterable<BodyForm> {
  if (body.some((byte) => byte >= 0x80)) {
    if (!/[\u0100-\uffff]/.test(text))
      yield { told: 'in UTF-8 once: it was encoded twice', bytes: Buffer.from(text, 'latin1') }
    yield { told: 'in UTF-8 in place of Latin-1', bytes: Buffer.from(body.toString('latin1')) }
  }
  if (text.length >= 8 && /^[\w+/-]+={0,2}\s*$/.test(text))
    yield { told: 'decoded from base64', bytes: Buffer.from(text, 'base64') }
  if (text.startsWith('"')) {
    const inner = textIn(text)
    if (inner !== undefined) yield { told: 'unwrapped from a JSON string', bytes: Buffer.from(inner) }
  }
}

function textIn(json: string): string | undefined {
  try {
    const value: unknown = JSON.parse(json)
    return typeof value === 'string' ? value : undefined
  } catch {
    return undefined
  }
}

const decompressors = [
  { told: 'decompressed (gzip)', begins: [0x1f, 0x8b], open: gunzipSync },
  { told: 'decompressed (deflate)', begins: [0x78], open: inflateSync },
]

function* decompressed(body: Buffer): Iterable<BodyForm> {
  for (const { told, begins, open } of decompressors) {
    if (!begins.every((byte, index) => body[index] === byte)) continue
    try {
      yield { told, bytes: open(body, { maxOutputLength: mostDecompressed }) }
    } catch {
      // It only began like one.
    }
  }
}

function withoutMark(text: string): string {
  return text.startsWith('\ufeff') ? text.slice(1) : text
}
