/** Owns turning body bytes into a payload, and how many of them an endpoint takes. */

import { type HookRequest, isFormType, parseJson, type Snapshot, TooManyKeysError } from '@reveille/engine'
import { RequestError } from '../errors.ts'
import { hasTooManyFields, parseFields } from './fields.ts'
import { nestsTooDeep } from './nesting.ts'

const utf8 = new TextDecoder('utf-8', { fatal: true })

export function maxBytesFor({ policyOf, settings }: Snapshot, endpoint: string): number {
  return policyOf(endpoint)?.maxBodyBytes ?? settings.hooks.maxBodyBytes
}

type Decoded = Pick<HookRequest, 'payload' | 'unwrapped' | 'isForm'>

/** As the endpoint takes it; a long body is read in turns. Rejects with a RequestError. */
export function decodeFor(endpoint: string, body: Buffer, contentType: string | undefined): Promise<Decoded> {
  return endpoint === 'wake' || endpoint === 'agent' ? decodeJson(body) : decodePayload(body, contentType)
}

/** For `/wake` and `/agent`, whatever the content type says. */
export async function decodeJson(body: Buffer): Promise<Decoded> {
  return { payload: await readJson(decodeText(body)) }
}

/** For mapped endpoints: JSON, a form, or nothing at all. */
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

/** The parser's own message quotes the body, so it goes no further than here. */
async function readJson(text: string): Promise<unknown> {
  if (nestsTooDeep(text)) throw new RequestError('NESTED_TOO_DEEP')
  try {
    return await parseJson(text)
  } catch (error) {
    throw new RequestError(error instanceof TooManyKeysError ? 'TOO_MANY_FIELDS' : 'INVALID_JSON')
  }
}

/** `curl -d '{…}'` says that its JSON is a form; no real form begins with an unescaped brace or bracket. */
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

/** Nothing for any other value, and for what is no JSON. */
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
