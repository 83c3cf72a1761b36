/** Reads the single values that verifiers need from a body, by their place in JSON or in a form. */

import { valueAt } from '../../config/values/path.ts'
import { fieldsOf, hasTooManyFields, isFormType } from '../../payload/form.ts'
import type { BodyPlace } from '../../providers/scheme.ts'
import { headerOf } from '../header.ts'
import { type Headers, type SignedRequest, unverified } from '../verifier.ts'

/** Returns undefined where there is no such value. */
export type BodyFields = (place: BodyPlace) => unknown

/** The fields of a body that is not read. */
export const noFields: BodyFields = () => undefined

/** A larger body takes the main loop too long to read, and no sender whose signature needs its fields sends one. */
const maxReadBytes = 524_288

/** Returns undefined for a body that is too long, or is neither JSON nor a form. */
export function readBodyFields(request: SignedRequest): BodyFields | undefined {
  if (request.rawBody.byteLength > maxReadBytes) return undefined
  const text = textOfBody(request)
  if (isFormType(headerOf(request.headers, 'content-type'))) return readForm(text)
  try {
    const payload = JSON.parse(text)
    return ({ body }) => valueAt(payload, body)
  } catch {
    return undefined
  }
}

const utf8 = new TextDecoder()

/** Decodes the body without its byte order mark, as mappings will see it. */
export function textOfBody({ rawBody }: SignedRequest): string {
  return utf8.decode(rawBody)
}

/**
 * True if the body came compressed. Some bytes are one text as they came and another text once they are decompressed, so
 * what would be read here is not what mappings would see.
 */
export function isPacked(headers: Headers): boolean {
  const encoding = headerOf(headers, 'content-encoding')?.trim().toLowerCase() ?? ''
  return encoding !== '' && encoding !== 'identity'
}

export const packedBody = unverified('BODY_NOT_COVERED', {
  reason: 'The body came compressed, and the signature covers its contents.',
})

function readForm(text: string): BodyFields | undefined {
  if (hasTooManyFields(text)) return undefined
  const fields = new Map(fieldsOf(text))
  return ({ field }) => (field === undefined ? undefined : fields.get(field))
}
