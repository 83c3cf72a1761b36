/** Says which keys of `verify` a provider reads, and whether they hold enough to verify with. */

import { providerRow } from '../../providers/index.ts'
import type {
  HmacScheme,
  ProviderRow,
  Scheme,
  SigningScheme,
  TimestampPlace,
} from '../../providers/scheme.ts'
import { secretsFor, secretsOf } from '../../providers/secrets.ts'
import type { HmacPolicy, VerifyPolicy } from '../schema/policy-schema.ts'

export type VerifyKey = keyof VerifyPolicy

/** Returns undefined for an unknown name, and for `hmac` without the block of that name. */
export function rowOf({ provider = '', hmac }: VerifyPolicy): ProviderRow | undefined {
  return provider === 'hmac' ? hmac && rowOfHmac(hmac) : providerRow(provider)
}

/** Returns the name for a sentence: the title without versions and products. */
export function shortTitleOf({ title }: ProviderRow): string {
  return title.replace(/(?: \(|, ).*$/, '')
}

/** True if a signature could be verified. */
export function hasMaterial(verify: VerifyPolicy): boolean {
  return rowOf(verify)?.schemes.some((scheme) => isSupplied(scheme, verify)) ?? false
}

/** True if the policy holds what this scheme is verified with: a secret, a key, or the accepted names. */
export function isSupplied(scheme: Scheme, verify: VerifyPolicy): boolean {
  switch (scheme.family) {
    case 'hmac':
    case 'token':
      return secretsFor(scheme, verify.secret).length > 0
    case 'ed25519':
    case 'ecdsa':
      return secretsOf(verify.publicKey).length > 0
    case 'oidc':
      return Boolean((verify.audience || verify.publicUrl) && verify.serviceAccount)
    case 'sns':
      return secretsOf(verify.topicArns).length > 0
  }
}

/** Returns all keys that a row reads besides `provider`. */
export function keysReadBy({ name, schemes, handshake }: ProviderRow): ReadonlySet<VerifyKey> {
  const keys = new Set<VerifyKey>(schemes.flatMap(keysOf))
  if (name === 'hmac') keys.add('hmac').add('challenge')
  if (handshake === 'meta') keys.add('verifyToken')
  if (handshake === 'cloudevents') keys.add('allowedOrigins')
  return keys
}

function keysOf(scheme: Scheme): VerifyKey[] {
  switch (scheme.family) {
    case 'hmac':
      return ['secret', ...timeOf(scheme), ...(signsUrl(scheme) ? (['publicUrl'] as const) : [])]
    case 'token':
      return ['secret']
    case 'ed25519':
    case 'ecdsa':
      return ['publicKey', ...timeOf(scheme)]
    case 'oidc':
      return ['audience', 'publicUrl', 'serviceAccount']
    case 'sns':
      return ['topicArns', 'signatureVersion', 'tolerance']
  }
}

export function signsUrl(scheme: Scheme): boolean {
  return scheme.family === 'hmac' && scheme.signed.includes('{url}')
}

function timeOf(scheme: SigningScheme): 'tolerance'[] {
  return signsTime(scheme) ? ['tolerance'] : []
}

/** The sender can choose a time that is not signed, so a tolerance would mean nothing. */
export function signsTime({ signed, timestamp }: SigningScheme): boolean {
  if (timestamp === undefined) return false
  return signed.includes('{timestamp}') || ('body' in timestamp.from && signed.includes('{body}'))
}

/** The tolerance of most senders. A sender that signs the time wants it checked. */
const toleranceSeconds = 300

function rowOfHmac(policy: HmacPolicy): ProviderRow {
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
