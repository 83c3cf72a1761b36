/** Owns gathering what a signature is made over: the values of a request that the template of a scheme asks for. */

import { firstHeaderOf } from '../header.ts'
import type { BodyPlace, HmacScheme } from '../scheme.ts'
import { type SignedRequest, type Unverified, unverified } from '../signed-request.ts'
import type { BodyFields } from './body-fields.ts'
import { hasSlot, type SignedTemplate, type SignedValues } from './signed-bytes.ts'
import { type Coverage, readCoverage } from './signed-form.ts'
import { createTimestampReader, type TimedScheme } from './timestamp.ts'

export interface Gathered {
  /** The address aside, of which there may be several spellings. */
  readonly values: Omit<SignedValues, 'url'>
  readonly coverage: Coverage
}

export interface ValuesReader {
  /** Whether some of them stand in the body. */
  readonly readsBody: boolean
  read(request: SignedRequest, body: BodyFields): Gathered | Unverified
}

/** The body is what it is, and what is signed covers it. */
const wholeBody: Coverage = { form: '' }

export function createValuesReader(
  scheme: TimedScheme & Pick<HmacScheme, 'id' | 'bodyHash'>,
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
      const found = signsId ? findId(id, request, body) : ''
      if (found === undefined) return unverified('SIGNATURE_MALFORMED', { told: missingId })
      if (isAmbiguous(found)) return unverified('SIGNATURE_MALFORMED', { told: ambiguousId })
      const coverage = signsForm ? readCoverage(request, scheme.bodyHash) : wholeBody
      if ('code' in coverage) return coverage
      const { rawBody, method } = request
      return { values: { body: rawBody, timestamp: time, id: found, method, form: coverage.form }, coverage }
    },
  }
}

function findId(place: HmacScheme['id'], request: SignedRequest, body: BodyFields): string | undefined {
  if (!isInBody(place)) return place && firstHeaderOf(request.headers, place)
  const found = body(place)
  return typeof found === 'string' ? found : undefined
}

function isInBody(place: HmacScheme['id']): place is BodyPlace {
  return place !== undefined && 'body' in place
}
/**
 * Of `{id}.{timestamp}.{body}` an id that holds a time between dots could be the beginning of another id, with that time and
 * some of its body: what a stranger wrote into an event would then stand where its body begins.
 */
function createAmbiguityTest(template: SignedTemplate): (id: string) => boolean {
  const at = template.findIndex((piece) => 'slot' in piece && piece.slot === 'id')
  const [before, time, behind] = template.slice(at + 1)
  const isBetween = time !== undefined && 'slot' in time && time.slot === 'timestamp'
  if (at === -1 || !isBetween || !before || !('text' in before) || !behind || !('text' in behind))
    return () => false
  const timed = new RegExp(`${literally(before.text)}[0-9]+${literally(behind.text)}`)
  return (id) => timed.test(id)
}

function literally(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')
}

const ambiguousId = 'the id holds what could be a time: what is signed could be read in two ways'
const missingId = 'the id that the signature covers is missing'
