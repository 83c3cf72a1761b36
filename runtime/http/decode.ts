/** Owns turning body bytes into a payload, and how many of them an endpoint takes. */

import type { HookRequest, Snapshot } from '@reveille/engine'
import { RequestError } from './errors.ts'
import { hasTooManyFields, parseFields } from './fields.ts'
import { nestsTooDeep } from './nesting.ts'

const utf8 = new TextDecoder('utf-8', { fatal: true })
const formType = /^\s*application\/x-www-form-urlencoded\s*(;|$)/i

export function maxBytesFor({ policyOf, settings }: Snapshot, endpoint: string): number {
  return policyOf(endpoint)?.maxBodyBytes ?? settings.hooks.maxBodyBytes
}

export type Decoded = Pick<HookRequest, 'payload' | 'unwrapped'>

/** As the endpoint takes it. @throws RequestError */
export function decodeFor(endpoint: string, body: Buffer, contentType: string | undefined): Decoded {
  return endpoint === 'wake' || endpoint === 'agent'
    ? { payload: decodeJson(body) }
    : decodePayload(body, contentType)
}

/** For `/wake` and `/agent`, whatever the content type says. @throws RequestError */
export function decodeJson(body: Buffer): unknown {
  return parseJson(decodeText(body))
}

/** For mapped endpoints: JSON, a form, or nothing at all. @throws RequestError */
export function decodePayload(body: Buffer, contentType: string | undefined): Decoded {
  const text = decodeText(body)
  if (!/\S/.test(text)) return { payload: {} }
  if (contentType === undefined || !formType.test(contentType)) return { payload: parseJson(text) }
  const payload = parseMislabelled(text)
  return payload === undefined ? parseForm(text) : { payload }
}

function decodeText(body: Buffer): string {
  try {
    return utf8.decode(body)
  } catch {
    throw new RequestError('INVALID_TEXT')
  }
}

/** The parser's own message quotes the body, so it goes no further than here. */
function parseJson(text: string): unknown {
  if (nestsTooDeep(text)) throw new RequestError('NESTED_TOO_DEEP')
  try {
    return JSON.parse(text)
  } catch {
    throw new RequestError('INVALID_JSON')
  }
}

/** `curl -d '{…}'` says that its JSON is a form; no real form begins with an unescaped brace or bracket. */
function parseMislabelled(text: string): object | undefined {
  return /^\s*[[{]/.test(text) ? parsedObject(text) : undefined
}

/** GitHub and Slack can put their whole JSON into a form field named `payload`. */
function parseForm(text: string): Decoded {
  if (hasTooManyFields(text)) throw new RequestError('TOO_MANY_FIELDS')
  const fields = parseFields(text)
  const wrapped = fields['payload']
  if (typeof wrapped !== 'string') return { payload: fields }
  const payload = parsedObject(wrapped)
  return payload === undefined ? { payload: fields } : { payload, unwrapped: wrapped }
}

function parsedObject(text: string): object | undefined {
  if (nestsTooDeep(text)) throw new RequestError('NESTED_TOO_DEEP')
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
