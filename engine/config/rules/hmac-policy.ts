/** Compiles `verify.hmac` into a row, for senders that the table does not know. */

import type { HmacScheme, ProviderRow, TimestampPlace } from '../../providers/scheme.ts'
import type { HmacPolicy } from '../schema/policy-schema.ts'

/** The tolerance of most senders. A sender that signs the time wants it checked. */
const toleranceSeconds = 300

export function rowOfHmac(policy: HmacPolicy): ProviderRow {
  const deliveryId = policy.deliveryIdHeader ?? policy.idHeader
  return {
    name: 'hmac',
    title: 'the sender',
    doc: 'https://datatracker.ietf.org/doc/html/rfc2104',
    schemes: [schemeOf(policy)],
    ...(deliveryId !== undefined && { deliveryId: [{ headers: [deliveryId.toLowerCase()] }] }),
    retryHorizon: '24h',
  }
}

function schemeOf(policy: HmacPolicy): HmacScheme {
  const { header, algorithm, encoding, key, signed, prefix, divider, element, idHeader } = policy
  const timestamp = timestampOf(policy)
  return {
    family: 'hmac',
    hash: algorithm,
    encoding,
    key,
    signature: { headers: [header.toLowerCase()], prefix, divider, element },
    signed,
    ...(timestamp && { timestamp }),
    ...(idHeader !== undefined && { id: [idHeader.toLowerCase()] }),
  }
}

function timestampOf({
  timestampHeader,
  timestampElement,
  timestampUnit,
}: HmacPolicy): TimestampPlace | undefined {
  const window = { unit: timestampUnit, tolerance: toleranceSeconds }
  if (timestampHeader !== undefined) return { from: { header: [timestampHeader.toLowerCase()] }, ...window }
  if (timestampElement !== undefined) return { from: { element: timestampElement }, ...window }
  return undefined
}
