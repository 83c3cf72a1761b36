/**
 * Reads how Twilio's signature covers a body. It covers the fields of a form, joined without dividers; of any other body it
 * covers a digest that is in the query. https://www.twilio.com/docs/usage/webhooks/webhooks-security
 */

import { hash } from 'node:crypto'
import { fieldsOf, hasTooManyFields, isFormType } from '../../payload/form.ts'
import { decode } from '../../providers/encoding.ts'
import { isSameSecret } from '../compare.ts'
import { headerOf } from '../header.ts'
import { type SignedRequest, type Unverified, unverified } from '../verifier.ts'
import { isPacked, packedBody, textOfBody } from './body-fields.ts'

export interface Coverage {
  /** The text that is signed of a form. */
  readonly form: string
  /** The digest of the body that is in the query, if the signature covers that. */
  readonly digest?: string
}

/** Says how the signature covers the body, if it is right. `parameter` names the digest in the query. */
export function readCoverage(request: SignedRequest, parameter?: string): Coverage | Unverified {
  const digest = parameter === undefined ? null : new URLSearchParams(queryOf(request.target)).get(parameter)
  if (digest !== null) return { form: '', digest }
  if (request.rawBody.length === 0) return { form: '' }
  if (isPacked(request.headers)) return packedBody
  const text = textOfBody(request)
  if (!isFormType(headerOf(request.headers, 'content-type')) || looksLikeJson(text)) {
    return unverified('BODY_NOT_COVERED')
  }
  return hasTooManyFields(text) ? unverified('BODY_MALFORMED') : { form: writeForm(text) }
}

/** True if the digest that a right signature covers is that of the body. */
export function isCovered({ digest }: Coverage, body: Uint8Array): boolean {
  if (digest === undefined) return true
  const bytes = decode(digest, 'hex')
  return bytes !== undefined && isSameSecret(bytes, hash('sha256', body, 'buffer'))
}

function queryOf(target: string): string {
  const mark = target.indexOf('?')
  return mark === -1 ? '' : target.slice(mark + 1)
}

/** The gateway parses such a body as JSON whatever its type says, and no form of Twilio's begins this way. */
function looksLikeJson(text: string): boolean {
  return /^\s*[[{]/.test(text)
}

/** Writes each distinct pair of name and value, in the order of their bytes. */
function writeForm(text: string): string {
  const fields = new Map<string, Set<string>>()
  for (const [name, value] of fieldsOf(text)) {
    const values = fields.get(name)
    if (values === undefined) fields.set(name, new Set([value]))
    else values.add(value)
  }
  let written = ''
  for (const [name, values] of [...fields].sort(([a], [b]) => byBytes(a, b))) {
    for (const value of [...values].sort(byBytes)) written += name + value
  }
  return written
}

function byBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b))
}
