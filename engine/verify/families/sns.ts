/**
 * Verifies signatures of AWS SNS, which cover fields of the body:
 * https://docs.aws.amazon.com/sns/latest/dg/sns-verify-signature-of-message.html
 */

import { verify as isSignedBy, type KeyObject, X509Certificate } from 'node:crypto'
import type { VerifyPolicy } from '../../config/schema/policy-schema.ts'
import { isRecord } from '../../config/values/is-record.ts'
import { parseDuration } from '../../config/values/quantities.ts'
import { decode } from '../../providers/encoding.ts'
import type { SnsScheme } from '../../providers/scheme.ts'
import { isPacked, packedBody } from '../signed/body-fields.ts'
import { timeOf } from '../signed/timestamp.ts'
import {
  type Headers,
  UnavailableError,
  type Unverified,
  unverified,
  type Verifier,
  type VerifyDependencies,
} from '../verifier.ts'
import { parseSnsAddress } from './sns-address.ts'

const typeHeader = 'x-amz-sns-message-type'
const rawHeader = 'x-amz-sns-rawdelivery'
/** Headers that repeat a field, unsigned, and that mappings may read. */
const repeated = [
  ['x-amz-sns-topic-arn', 'TopicArn'],
  ['x-amz-sns-message-id', 'MessageId'],
] as const

/** A message has 256 KiB at most, and the fields around it are short. */
const maxBytes = 512 * 1024

const hashes: ReadonlyMap<string, string> = new Map([
  ['1', 'sha1'],
  ['2', 'sha256'],
])

const confirmation = ['Message', 'MessageId', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type']
/** The fields that each type signs, in this order. A subject is signed only where there is one. */
const signedFields: ReadonlyMap<unknown, readonly string[]> = new Map([
  ['Notification', ['Message', 'MessageId', 'Subject', 'Timestamp', 'TopicArn', 'Type']],
  ['SubscriptionConfirmation', confirmation],
  ['UnsubscribeConfirmation', confirmation],
])

export function createSnsVerifier(
  { name = 'default' }: SnsScheme,
  { topicArns = [], signatureVersion: only, tolerance }: VerifyPolicy,
): Verifier | undefined {
  const topics = new Set(topicArns.filter((arn) => arn.trim() !== ''))
  if (topics.size === 0) return undefined
  const toleranceMs = tolerance === undefined ? Number.POSITIVE_INFINITY : parseDuration(tolerance)

  return {
    isPresent: (headers) => headers[typeHeader] !== undefined,
    /** The topic is checked before anything is downloaded, so that other senders' topics cost nothing. */
    async verify({ headers, rawBody, now }, dependencies) {
      if (headers[rawHeader] === 'true') return unverified('SIGNATURE_MISSING', { reason: rawDelivery })
      if (isPacked(headers)) return packedBody
      const message = await readMessage(rawBody, headers)
      if (typeof message === 'string') return unverified(message)
      if (!topics.has(message.topic)) return unverified('WRONG_TOPIC', { reason: otherTopic })
      const hash = hashes.get(message.version)
      if (hash === undefined) return unverified('SIGNATURE_MALFORMED')
      if (only !== undefined && message.version !== String(only))
        return unverified(only === 2 ? 'SIGNATURE_WEAKER' : 'SIGNATURE_MALFORMED', { reason: otherVersion })
      const key = await keyOf(message.certificate, now, dependencies)
      if ('ok' in key) return key
      if (!isSignedBy(hash, Buffer.from(message.signed), key, message.signature))
        return unverified('SIGNATURE_MISMATCH')
      const skewMs = message.time - now
      if (Math.abs(skewMs) > toleranceMs)
        return unverified('TIMESTAMP_OUTSIDE', { skewSeconds: Math.round(skewMs / 1000) })
      return { ok: true, scheme: name, secret: 0 }
    },
  }
}

const rawDelivery =
  'raw message delivery is switched on for the subscription, and such messages are not signed'
const otherVersion = 'the signature is not of the version that `signatureVersion` names'
const otherTopic = 'the message names a topic that is not among `topicArns`'

/** Returns the parts of a message that count, checked to be texts, or the code of what is wrong with it. */
async function readMessage(body: Uint8Array, headers: Headers) {
  const type = headers[typeHeader]
  const fields = await readFields(body)
  if (fields === undefined || fields.get('Type') !== type) return 'BODY_MALFORMED'
  if (repeated.some(([header, name]) => (headers[header] ?? fields.get(name)) !== fields.get(name)))
    return 'BODY_MALFORMED'
  const written = fields.get('Signature')
  if (written === undefined) return 'SIGNATURE_MISSING'
  const signature = decode(written, 'base64')
  if (signature === undefined) return 'SIGNATURE_MALFORMED'
  const names = signedFields.get(type)?.filter((name) => name !== 'Subject' || fields.has(name))
  if (names === undefined || !names.every((name) => isUnmistakable(name, fields.get(name))))
    return 'BODY_MALFORMED'
  const time = timeOf(fields.get('Timestamp') ?? '', 'rfc3339')
  if (time === undefined) return 'TIMESTAMP_MALFORMED'
  return {
    signed: names.map((name) => `${name}\n${fields.get(name)}\n`).join(''),
    topic: fields.get('TopicArn') ?? '',
    time,
    version: fields.get('SignatureVersion') ?? '',
    signature,
    certificate: fields.get('SigningCertURL') ?? '',
  }
}

/**
 * The signed text has each name and each value on a line of its own. Only the first value, the message, may have
 * several lines, so that the text can be read in one way only, from the last line upwards.
 */
function isUnmistakable(name: string, value: string | undefined): boolean {
  return value !== undefined && (name === 'Message' || !value.includes('\n'))
}

/** Returns the fields that are texts; undefined where the body is not a JSON object. */
async function readFields(body: Uint8Array): Promise<ReadonlyMap<string, string> | undefined> {
  if (body.byteLength > maxBytes) return undefined
  try {
    const value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body))
    if (!isRecord(value)) return undefined
    // A subject that is not a text is not signed, yet mappings would see it.
    if (typeof (value['Subject'] ?? '') !== 'string') return undefined
    return new Map(
      Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
    )
  } catch {
    return undefined
  }
}

/** @throws UnavailableError */
async function keyOf(
  address: string,
  now: number,
  { download }: VerifyDependencies,
): Promise<KeyObject | Unverified> {
  const url = parseSnsAddress(address)
  const isCertificate = url?.search === '' && /^\/[\w-]{1,200}\.pem$/.test(url.pathname)
  if (!isCertificate) return unverified('KEY_REFUSED', { reason: notOfAws })
  try {
    const certificate =
      readCertificate(await download(url.href)) ??
      // The server may have sent an error page with a status of success.
      new X509Certificate(await download(url.href, { fresh: true }))
    const { validFromDate, validToDate, publicKey } = certificate
    if (now < validFromDate.getTime() || now > validToDate.getTime())
      return unverified('KEY_REFUSED', { reason: outOfDate })
    const isStrong =
      publicKey.asymmetricKeyType === 'rsa' &&
      (publicKey.asymmetricKeyDetails?.modulusLength ?? 0) >= minKeyBits
    return isStrong ? publicKey : unverified('KEY_REFUSED', { reason: notRsa })
  } catch (error) {
    if (error instanceof UnavailableError && !error.isAbsent) throw error
    return unverified('KEY_REFUSED', { reason: noCertificate })
  }
}

function readCertificate(text: string): X509Certificate | undefined {
  try {
    return new X509Certificate(text)
  } catch {
    return undefined
  }
}

const minKeyBits = 2048
const notOfAws = 'the certificate is said to be at an address that is not one of SNS'
const outOfDate = 'the certificate is not valid at this time'
const notRsa = 'the certificate is not of an RSA key of 2,048 bits or more'
const noCertificate = 'there is no certificate at the address that the message names'
