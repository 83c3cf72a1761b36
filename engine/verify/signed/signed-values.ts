/** Gathers the values of a request that a signature covers, as the template of its scheme names them. */

import type { HmacScheme, SigningScheme } from '../../providers/scheme.ts'
import { firstHeaderOf } from '../header.ts'
import { type SignedRequest, type Unverified, unverified } from '../verifier.ts'
import type { BodyFields } from './body-fields.ts'
import { isInBody } from './signature-place.ts'
import { hasSlot, type SignedTemplate, type SignedValues } from './signed-bytes.ts'
import { type Coverage, readCoverage } from './signed-form.ts'
import { createTimestampReader } from './timestamp.ts'

export interface Gathered {
  /** Without the address, which may be written in several forms. */
  readonly values: Omit<SignedValues, 'url'>
  readonly coverage: Coverage
}

export interface ValuesReader {
  /** True if some of the values are in the body. */
  readonly readsBody: boolean
  read(request: SignedRequest, body: BodyFields): Gathered | Unverified
}

/** The body is signed as a whole, or not at all. */
const wholeBody: Coverage = { form: '' }

export function createValuesReader(
  scheme: SigningScheme & Pick<HmacScheme, 'id' | 'bodyHash'>,
  template: SignedTemplate,
): ValuesReader {
  const { id, timestamp } = scheme
  const signsTime = hasSlot(template, 'timestamp')
  const signsId = hasSlot(template, 'id')
  const signsForm = hasSlot(template, 'form')
  const readTime = timestamp && createTimestampReader(timestamp, scheme.signature)
  const isAmbiguous = createAmbiguityTest(template)
  const isTimeInBody = signsTime && timestamp !== undefined && 'body' in timestamp.from

  return {
    readsBody: isTimeInBody || (signsId && isInBody(id)),
    read(request, body) {
      const time = signsTime ? (readTime?.(request.headers, body) ?? unverified('TIMESTAMP_MISSING')) : ''
      if (typeof time === 'object') return time
      const idText = signsId ? findId(id, request, body) : ''
      if (idText === undefined) return unverified('SIGNATURE_MALFORMED', { reason: missingId })
      if (isAmbiguous(idText)) return unverified('SIGNATURE_MALFORMED', { reason: ambiguousId })
      const coverage = signsForm ? readCoverage(request, scheme.bodyHash) : wholeBody
      if ('code' in coverage) return coverage
      const { rawBody, method } = request
      return { values: { body: rawBody, timestamp: time, id: idText, method, form: coverage.form }, coverage }
    },
  }
}

function findId(place: HmacScheme['id'], request: SignedRequest, body: BodyFields): string | undefined {
  if (!isInBody(place)) return place && firstHeaderOf(request.headers, place)
  const value = body(place)
  return typeof value === 'string' ? value : undefined
}

/**
 * In `{id}.{timestamp}.{body}`, an id that holds a time between dots can also be read as a shorter id, that time and the
 * beginning of a body: text that a client wrote into an event would then be where its body begins.
 */
function createAmbiguityTest(template: SignedTemplate): (id: string) => boolean {
  const at = template.findIndex((piece) => 'slot' in piece && piece.slot === 'id')
  const [before, time, behind] = template.slice(at + 1)
  const isBetween = time !== undefined && 'slot' in time && time.slot === 'timestamp'
  if (at === -1 || !isBetween || !before || !('text' in before) || !behind || !('text' in behind))
    return () => false
  const timed = new RegExp(`${RegExp.escape(before.text)}[0-9]+${RegExp.escape(behind.text)}`)
  return (id) => timed.test(id)
}

const ambiguousId = 'the id holds what could be a time: what is signed could be read in two ways'
const missingId = 'the id that the signature covers is missing'
