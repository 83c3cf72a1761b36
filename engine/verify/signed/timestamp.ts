/** Owns the time of a signature: where it stands, how it is written, and how far it may lie from now. */

import type { VerifyPolicy } from '../../config/configuration.ts'
import { parseDuration } from '../../config/duration.ts'
import { firstHeaderOf } from '../header.ts'
import type { HeaderPlace, SignaturePlace, TimestampPlace, TimeUnit } from '../scheme.ts'
import { type Headers, type SignedRequest, type Unverified, unverified } from '../signed-request.ts'
import type { BodyFields } from './body-fields.ts'
import { elementsIn, isInBody } from './signature-place.ts'
import { compileSigned, hasSlot } from './signed-bytes.ts'

export interface TimedScheme {
  readonly signature: SignaturePlace
  readonly signed: string
  readonly timestamp?: TimestampPlace
}

/** As it was written, which is what is signed. */
export type ReadTimestamp = (headers: Headers, body: BodyFields) => string | Unverified

/** Decimal digits and nothing else: a sign, a fraction or an exponent is no time of anybody's. */
const digits = /^[0-9]{1,16}$/
/** https://www.rfc-editor.org/rfc/rfc3339#section-5.6, without the leap second that no clock here has. */
const rfc3339 =
  /^(\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])[Tt](?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d)(\.\d{1,12})?([Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/

/** Milliseconds since the Unix epoch; undefined where it is not written so. */
function timeOf(text: string, unit: TimeUnit): number | undefined {
  if (unit !== 'rfc3339') return digits.test(text) ? Number(text) * (unit === 's' ? 1000 : 1) : undefined
  const [, moment = '', fraction = '', zone = ''] = rfc3339.exec(text) ?? []
  const time = Date.parse(`${moment}${fraction.slice(0, 4)}${zone}`.toUpperCase())
  return Number.isNaN(time) ? undefined : time
}

export function createTimestampReader(place: TimestampPlace, signature: SignaturePlace): ReadTimestamp {
  const find = createFinder(place.from, signature)
  return (headers, body) => {
    const found = find(headers, body)
    if (found === undefined) return unverified('TIMESTAMP_MISSING')
    const text = typeof found === 'number' ? String(found) : found
    return typeof text === 'string' && timeOf(text, place.unit) !== undefined
      ? text
      : unverified('TIMESTAMP_MALFORMED')
  }
}

function createFinder(
  from: TimestampPlace['from'],
  signature: SignaturePlace,
): (headers: Headers, body: BodyFields) => unknown {
  if ('header' in from) return (headers) => firstHeaderOf(headers, from.header)
  if ('body' in from) return (_, body) => body(from)
  if (isInBody(signature)) return () => undefined
  return (headers) => elementOf(headers, signature, from.element)
}

function elementOf(headers: Headers, { headers: names, divider }: HeaderPlace, element: string) {
  const text = firstHeaderOf(headers, names)
  return text === undefined ? undefined : elementsIn(text, element, divider)[0]
}

export interface TimeWindow {
  /** Whether the time stands in the body. */
  readonly readsBody: boolean
  /** Undefined: the time is within. */
  judge(request: SignedRequest, body: BodyFields): Unverified | undefined
}

/**
 * On both sides of now, the ends included. Undefined where any time will do: neither the operator nor the provider says
 * how old a request may be, or the time is not signed, so that it is the sender's to choose. One inside of a signed body
 * is signed with it.
 */
export function createTimeWindow(scheme: TimedScheme, policy: VerifyPolicy): TimeWindow | undefined {
  const { timestamp, signature } = scheme
  if (timestamp === undefined) return undefined
  const readsBody = 'body' in timestamp.from
  const template = compileSigned(scheme.signed)
  const isSigned = hasSlot(template, 'timestamp') || (readsBody && hasSlot(template, 'body'))
  const toleranceMs = toleranceOf(timestamp, policy)
  if (toleranceMs === undefined || !isSigned) return undefined
  const read = createTimestampReader(timestamp, signature)

  return {
    readsBody,
    judge({ headers, now }, body) {
      const text = read(headers, body)
      if (typeof text === 'object') return text
      const skewMs = skewOf(timeOf(text, timestamp.unit) ?? 0, timestamp.unit, now)
      if (Math.abs(skewMs) <= toleranceMs) return undefined
      return unverified('TIMESTAMP_OUTSIDE', { skewSeconds: skewMs / 1000 })
    },
  }
}

/** What the operator says counts before what the provider says. */
function toleranceOf({ tolerance }: TimestampPlace, policy: VerifyPolicy): number | undefined {
  if (policy.tolerance !== undefined) return parseDuration(policy.tolerance)
  return tolerance === undefined ? undefined : tolerance * 1000
}

/** A sender that writes seconds has cut its clock, and so is ours. */
function skewOf(timeMs: number, unit: TimeUnit, now: number): number {
  return timeMs - (unit === 's' ? Math.floor(now / 1000) * 1000 : now)
}
