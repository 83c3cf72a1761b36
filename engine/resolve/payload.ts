/** Reads a body as the payload of a request, with the platform's own parser. */

import { charsetOf, decodeText, inUtf8, isMultipart } from '../payload/charset.ts'
import { hasTooManyFields, isFormType, parseFields } from '../payload/form.ts'
import { type Containment, uncontained } from './model/containment.ts'
import type { HookRequest } from './model/decision.ts'
import { RefusalError } from './model/refusal.ts'

type Decoded = Pick<HookRequest, 'payload' | 'unwrapped' | 'isForm'>

/** Bodies of up to this many bytes are read on the main loop. The worst shape takes some 15 ms to parse. */
const maxBytesOnMainLoop = 262_144
/** The nesting of longer texts is measured first, because parsing and printing take time for each level of each list. */
const harmlessLength = 65_536
const maxDepthOnMainLoop = 100
const maxDepth = 1000

/** True if reading the body, or printing its values, may hold the main loop for more than some milliseconds. */
export function isLongToRead(body: Uint8Array): boolean {
  return (
    body.length > maxBytesOnMainLoop ||
    (body.length > harmlessLength && nestsDeeper(body, maxDepthOnMainLoop))
  )
}

/**
 * `/wake` and `/agent` take JSON whatever the content type says. Mapped endpoints take JSON, a form, or an empty body.
 * @throws RefusalError `INVALID_TEXT`, `INVALID_JSON`, `NESTED_TOO_DEEP`, `TOO_MANY_FIELDS`, `MULTIPART_BODY`
 */
export function decodePayload(endpoint: string, body: Uint8Array, contentType: string | undefined): Decoded {
  if (body.length > harmlessLength && nestsDeeper(body, maxDepth)) throw new RefusalError('NESTED_TOO_DEEP')
  const charset = charsetOf(contentType)
  const isForm = isFormType(contentType) && endpoint !== 'wake' && endpoint !== 'agent'
  // JSON is UTF-8 whatever is declared, and senders that declare Latin-1 for it out of habit are common (RFC 8259).
  const isUtf8 = charset === undefined || (!isForm && decodeText(body) !== undefined)
  const text = decodeText(body, isUtf8 ? undefined : charset)
  if (text === undefined) throw new RefusalError('INVALID_TEXT', explainBytes(body))
  if (endpoint === 'wake' || endpoint === 'agent') return decodedJson(text, isUtf8)
  if (!/\S/.test(text)) return { payload: {} }
  if (isMultipart(contentType) && !isMislabelled(text)) throw new RefusalError('MULTIPART_BODY')
  if (!isForm || isMislabelled(text)) return decodedJson(text, isUtf8)
  return decodeForm(text, charset)
}

/** Returns the request with its payload. @throws RefusalError if its body cannot be read, NeedsThread */
export function decodeRequest(request: HookRequest, containment: Containment = uncontained): HookRequest {
  if (request.isUndecoded !== true) return request
  containment.beginUnbounded()
  const { 'content-type': contentType } = request.headers
  const type = typeof contentType === 'string' ? contentType : undefined
  return { ...request, ...decodePayload(request.endpoint, request.rawBody, type), isUndecoded: false }
}

/** Text that the raw bytes do not show is kept, because exact numbers are read from it. */
function decodedJson(text: string, isUtf8: boolean): Decoded {
  return isUtf8 ? { payload: parseJson(text) } : { payload: parseJson(text), unwrapped: text }
}

function parseJson(text: string, what = 'The body'): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new RefusalError('INVALID_JSON', `${what} is not valid JSON${explainJson(text, String(error))}.`)
  }
}

/** Says what the text is instead, or where it is wrong. Of the parser's own message only the place is used: it quotes the body. */
function explainJson(text: string, message: string): string {
  if (text.slice(0, 2).includes('\0')) return ': it is UTF-16, and has to be UTF-8'
  if (/^\s*</.test(text)) return ': it begins as XML or HTML does; choose JSON at the sender'
  if (/^[\w.[\]-]{1,100}=/.test(text))
    return ': it is a form, whose content type has to be application/x-www-form-urlencoded'
  const [, position, line, column] = /position (\d+) \(line (\d+) column (\d+)\)/.exec(message) ?? []
  if (/unexpected end|unterminated/i.test(message) || Number(position) >= text.length)
    return ': it ends too early'
  return line === undefined ? '' : `: it is wrong at line ${line}, column ${column}`
}

/** Returns undefined where nothing is known of the bytes. */
function explainBytes([first, second]: Uint8Array): string | undefined {
  if (first === 0x1f && second === 0x8b)
    return 'The body is compressed with gzip, and its header content-encoding does not say so.'
  const isUtf16 = (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)
  return isUtf16 ? 'The body is UTF-16, and has to be UTF-8.' : undefined
}

/** `curl -d '{…}'` labels JSON as a form. No real form begins with an unescaped brace or bracket. */
function isMislabelled(text: string): boolean {
  return /^\s*[[{]/.test(text)
}

/** GitHub and Slack can put their whole JSON into a form field named `payload`. Where it is the only field and begins as JSON does, it has to be JSON. */
function decodeForm(sent: string, charset: string | undefined): Decoded {
  if (hasTooManyFields(sent)) throw new RefusalError('TOO_MANY_FIELDS')
  const text = inUtf8(sent, charset)
  if (text === undefined) throw new RefusalError('INVALID_TEXT')
  const fields = parseFields(text)
  const field = fields['payload']
  if (typeof field !== 'string') return { payload: fields, isForm: true }
  const wrapped = field.replace(/^\ufeff/, '')
  if (wrapped.length > harmlessLength && nestsDeeper(Buffer.from(wrapped), maxDepth))
    throw new RefusalError('NESTED_TOO_DEEP')
  const isAlone = Object.keys(fields).length === 1
  const payload =
    isAlone && isMislabelled(wrapped)
      ? (parseJson(wrapped, 'The field `payload` of the form') as object)
      : parseObject(wrapped)
  return payload === undefined ? { payload: fields, isForm: true } : { payload, unwrapped: wrapped }
}

/** Returns undefined for any other value, and for a text that is not JSON. */
function parseObject(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? value : undefined
  } catch {
    return undefined
  }
}

const quote = 0x22
const backslash = 0x5c

/** Counts brackets outside of strings. The parser decides whether the text is JSON at all. */
function nestsDeeper(body: Uint8Array, maxDepth: number): boolean {
  let depth = 0
  let inString = false
  for (let at = 0; at < body.length; at++) {
    const unit = body[at] as number
    if (inString) {
      if (unit === backslash) at += 1
      else if (unit === quote) inString = false
    } else if (unit === quote) inString = true
    // `[` 0x5b and `{` 0x7b, as well as `]` 0x5d and `}` 0x7d, differ in one bit.
    else if ((unit | 0x20) === 0x7b) {
      depth += 1
      if (depth > maxDepth) return true
    } else if ((unit | 0x20) === 0x7d) depth -= 1
  }
  return false
}
