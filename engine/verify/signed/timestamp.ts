/** Reads the time of a signature, and checks how far it lies from now. */

import { signsTime } from '../../config/rules/material.ts'
import type { VerifyPolicy } from '../../config/schema/policy-schema.ts'
import { parseDuration } from '../../config/values/quantities.ts'
import type {
  HeaderPlace,
  SignaturePlace,
  SigningScheme,
  TimestampPlace,
  TimeUnit,
} from '../../providers/scheme.ts'
import { firstHeaderOf } from '../header.ts'
import { type Headers, type SignedRequest, type Unverified, unverified } from '../verifier.ts'
import type { BodyFields } from './body-fields.ts'
import { elementsIn, isInBody } from './signature-place.ts'

/** Returns the time as it was written, which is what is signed. */
export type ReadTimestamp = (headers: Headers, body: BodyFields) => string | Unverified

/** Decimal digits and nothing else: no sender writes a sign, a fraction or an exponent. */
const digits = /^[0-9]{1,16}$/
/** https://www.rfc-editor.org/rfc/rfc3339#section-5.6, without the leap second that no clock here has. */
const rfc3339 =
  /^(\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])[Tt](?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d)(\.\d{1,12})?([Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/

/** Returns milliseconds since the Unix epoch; undefined where the text is not such a time. */
export function timeOf(text: string, unit: TimeUnit): number | undefined {
  if (unit !== 'rfc3339') return digits.test(text) ? Number(text) * (unit === 's' ? 1000 : 1) : undefined
  const [, moment = '', fraction = '', zone = ''] = rfc3339.exec(text) ?? []
  const time = Date.parse(`${moment}${fraction.slice(0, 4)}${zone}`.toUpperCase())
  return Number.isNaN(time) ? undefined : time
}

export function createTimestampReader(place: TimestampPlace, signature: SignaturePlace): ReadTimestamp {
  const find = createFinder(place.from, signature)
  return (headers, body) => {
    const value = find(headers, body)
    if (value === undefined) return unverified('TIMESTAMP_MISSING')
    const text = typeof value === 'number' ? String(value) : value
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
  /** True if the time is in the body. */
  readonly readsBody: boolean
  /** Returns undefined where the time is within the window. */
  check(request: SignedRequest, body: BodyFields): Unverified | undefined
}

/**
 * The window reaches to both sides of now, its ends included. Returns undefined where any time is accepted: neither the
 * operator nor the provider limits the age of a request, or the time is not signed, so that the sender can choose it. A
 * time inside of a signed body is signed with it.
 */
export function createTimeWindow(scheme: SigningScheme, policy: VerifyPolicy): TimeWindow | undefined {
  const { timestamp, signature } = scheme
  if (timestamp === undefined || !signsTime(scheme)) return undefined
  const toleranceMs = toleranceOf(timestamp, policy)
  if (toleranceMs === undefined) return undefined
  const read = createTimestampReader(timestamp, signature)

  return {
    readsBody: 'body' in timestamp.from,
    check({ headers, now }, body) {
      const text = read(headers, body)
      if (typeof text === 'object') return text
      const skewMs = skewOf(timeOf(text, timestamp.unit) ?? 0, timestamp.unit, now)
      if (Math.abs(skewMs) <= toleranceMs) return undefined
      return unverified('TIMESTAMP_OUTSIDE', { skewSeconds: skewMs / 1000 })
    },
  }
}

/** The operator's tolerance counts before the provider's. */
function toleranceOf({ tolerance }: TimestampPlace, policy: VerifyPolicy): number | undefined {
  if (policy.tolerance !== undefined) return parseDuration(policy.tolerance)
  return tolerance === undefined ? undefined : tolerance * 1000
}

/** A sender that writes seconds has truncated its clock, so ours is truncated too. */
function skewOf(timeMs: number, unit: TimeUnit, now: number): number {
  return timeMs - (unit === 's' ? Math.floor(now / 1000) * 1000 : now)
}
