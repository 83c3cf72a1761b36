/** Owns what verifiers read of a body: single values by their place, in JSON or in a form. */

import { parseJson } from '../../resolve/json/parse.ts'
import { valueAt } from '../../resolve/payload-path.ts'
import { fieldsOf, hasTooManyFields, isFormType } from '../form.ts'
import { headerOf } from '../header.ts'
import type { BodyPlace } from '../scheme.ts'
import { type Headers, type SignedRequest, unverified } from '../signed-request.ts'

/** Undefined where nothing stands there. */
export type BodyFields = (place: BodyPlace) => unknown

/** What is read of a body that is neither. */
export const unreadable: BodyFields = () => undefined

/** A promise where the body is long: it is read in turns. */
export function readBodyFields(request: SignedRequest): BodyFields | Promise<BodyFields> {
  const text = textOfBody(request)
  if (isFormType(headerOf(request.headers, 'content-type'))) return readForm(text)
  try {
    const payload = parseJson(text)
    return payload instanceof Promise ? payload.then(inJson, () => unreadable) : inJson(payload)
  } catch {
    return unreadable
  }
}

const utf8 = new TextDecoder()

/** Without a mark of the byte order, as mappings will see it. */
export function textOfBody({ rawBody }: SignedRequest): string {
  return utf8.decode(rawBody)
}

/**
 * Whether the body came compressed. What is read of it here is then not what mappings will see: there are bytes that are
 * one text as they came, and another one unpacked.
 */
export function isPacked(headers: Headers): boolean {
  const encoding = headerOf(headers, 'content-encoding')?.trim().toLowerCase() ?? ''
  return encoding !== '' && encoding !== 'identity'
}

export const packedBody = unverified('BODY_NOT_COVERED', {
  told: 'The body came compressed, and what is signed stands inside of it.',
})

function readForm(text: string): BodyFields {
  if (hasTooManyFields(text)) return unreadable
  const fields = new Map(fieldsOf(text))
  return ({ field }) => (field === undefined ? undefined : fields.get(field))
}

function inJson(payload: unknown): BodyFields {
  return ({ body }) => valueAt(payload, body)
}
