/** Decodes the bytes of a body into a payload, and says how many bytes an endpoint takes. */

import { type HookRequest, isFormType, parseJson, type Snapshot, TooManyKeysError } from '@reveille/engine'
import { RequestError } from '../errors.ts'
import { hasTooManyFields, parseFields } from './fields.ts'

/** How deep JSON may nest. */
export const maxDepth = 1000
/** A text up to this length parses fast enough however deep it nests, so most requests skip the count. */
export const harmlessLength = 64 * 1024

const quote = 0x22
const backslash = 0x5c
const utf8 = new TextDecoder('utf-8', { fatal: true })

export function maxBytesFor({ policyOf, settings }: Snapshot, endpoint: string): number {
  return policyOf(endpoint)?.maxBodyBytes ?? settings.hooks.maxBodyBytes
}

type Decoded = Pick<HookRequest, 'payload' | 'unwrapped' | 'isForm'>

/** Decodes a body the way its endpoint takes it. @throws RequestError */
export function decodeFor(endpoint: string, body: Buffer, contentType: string | undefined): Promise<Decoded> {
  return endpoint === 'wake' || endpoint === 'agent' ? decodeJson(body) : decodePayload(body, contentType)
}

/** Decodes a body for `/wake` and `/agent`, which read JSON whatever the content type says. */
export async function decodeJson(body: Buffer): Promise<Decoded> {
  return { payload: await readJson(decodeText(body)) }
}

/** Decodes a body for a mapped endpoint: JSON, a form, or nothing at all. */
export async function decodePayload(body: Buffer, contentType: string | undefined): Promise<Decoded> {
  const text = decodeText(body)
  if (!/\S/.test(text)) return { payload: {} }
  if (!isFormType(contentType) || isMislabelled(text)) return { payload: await readJson(text) }
  return decodeForm(text)
}

function decodeText(body: Buffer): string {
  try {
    return utf8.decode(body)
  } catch {
    throw new RequestError('INVALID_TEXT')
  }
}

/** The message of the parser quotes the body, so it is dropped here. */
async function readJson(text: string): Promise<unknown> {
  if (nestsTooDeep(text)) throw new RequestError('NESTED_TOO_DEEP')
  try {
    return await parseJson(text)
  } catch (error) {
    throw new RequestError(error instanceof TooManyKeysError ? 'TOO_MANY_FIELDS' : 'INVALID_JSON')
  }
}

/** `curl -d '{…}'` labels its JSON as a form. No real form begins with an unescaped brace or bracket. */
function isMislabelled(text: string): boolean {
  return /^\s*[[{]/.test(text)
}

/** GitHub and Slack can put their whole JSON into a form field named `payload`. */
async function decodeForm(text: string): Promise<Decoded> {
  if (hasTooManyFields(text)) throw new RequestError('TOO_MANY_FIELDS')
  const fields = parseFields(text)
  const wrapped = fields['payload']
  if (typeof wrapped !== 'string') return { payload: fields, isForm: true }
  const payload = await readObject(wrapped)
  return payload === undefined ? { payload: fields, isForm: true } : { payload, unwrapped: wrapped }
}

/** Returns undefined for text that is not JSON, and for a value that is not an object or a list. */
async function readObject(text: string): Promise<object | undefined> {
  if (nestsTooDeep(text)) throw new RequestError('NESTED_TOO_DEEP')
  try {
    const value = await parseJson(text)
    return isObject(value) ? value : undefined
  } catch (error) {
    if (error instanceof TooManyKeysError) throw new RequestError('TOO_MANY_FIELDS')
    return undefined
  }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

/**
 * Whether JSON nests so deep that parsing it would hold other senders up. The brackets outside of strings are counted; whether
 * the text is JSON at all is left to the parser.
 */
export function nestsTooDeep(text: string): boolean {
  if (text.length <= harmlessLength) return false
  let depth = 0
  let inString = false
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    if (inString) {
      if (unit === backslash) at += 1
      else if (unit === quote) inString = false
    } else if (unit === quote) inString = true
    // `[` (0x5b) differs from `{` (0x7b) in one bit, and so does `]` (0x5d) from `}` (0x7d).
    else if ((unit | 0x20) === 0x7b) {
      depth += 1
      if (depth > maxDepth) return true
    } else if ((unit | 0x20) === 0x7d) depth -= 1
  }
  return false
}
