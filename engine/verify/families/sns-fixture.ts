/** Makes signed messages of SNS for tests, and self-signed certificates with the key and the validity that a test needs. */

import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto'

export interface KeyPair {
  readonly publicKey: KeyObject
  readonly privateKey: KeyObject
}

export const rsa: KeyPair = generateKeyPairSync('rsa', { modulusLength: 2048 })
export const snsHost = 'sns.eu-central-1.amazonaws.com'
export const topic = 'arn:aws:sns:eu-central-1:123456789012:alerts'

export type Fields = Readonly<Record<string, unknown>>

/** Adds fields to a notification, and signs it: https://docs.aws.amazon.com/sns/latest/dg/sns-verify-signature-of-message.html */
export function snsMessage(more: Fields = {}, { privateKey }: KeyPair = rsa): Fields {
  const fields: Fields = {
    Type: 'Notification',
    MessageId: 'a4d6fd4f-2184-491b-afe3-2ad935e57c0e',
    TopicArn: topic,
    Message: '{"alarm":"on"}\nsecond line',
    Subject: 'Grüße',
    Timestamp: '2026-01-15T11:59:59.123Z',
    SignatureVersion: '2',
    SigningCertURL: `https://${snsHost}/SimpleNotificationService-0123456789abcdef.pem`,
    ...more,
  }
  const names = ['Message', 'MessageId', 'Subject', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type']
  const present = names.filter((name) => typeof fields[name] === 'string')
  const signed = Buffer.from(present.map((name) => `${name}\n${fields[name]}\n`).join(''))
  const hash = fields['SignatureVersion'] === '1' ? 'sha1' : 'sha256'
  return { ...fields, Signature: sign(hash, signed, privateKey).toString('base64') }
}

export function createCertificate(
  { publicKey, privateKey }: KeyPair,
  from = '20200101000000Z',
  to = '20991231000000Z',
): string {
  const algorithm = sequence(sha256WithRsa, nothing)
  const name = sequence(der(0x31, sequence(commonName, der(0x0c, Buffer.from('sns.test.invalid')))))
  const validity = sequence(der(0x18, Buffer.from(from)), der(0x18, Buffer.from(to)))
  const key = publicKey.export({ type: 'spki', format: 'der' })
  const version = der(0xa0, integer(2))
  const content = sequence(version, integer(1), algorithm, name, validity, name, key)
  const signature = der(0x03, Buffer.from([0]), sign('sha256', content, privateKey))
  const base64 = sequence(content, algorithm, signature).toString('base64')
  return `-----BEGIN CERTIFICATE-----\n${base64.replace(/.{64}/g, '$&\n')}\n-----END CERTIFICATE-----\n`
}

/** 1.2.840.113549.1.1.11 */
const sha256WithRsa = Buffer.from('06092a864886f70d01010b', 'hex')
/** 2.5.4.3 */
const commonName = Buffer.from('0603550403', 'hex')
const nothing = Buffer.from('0500', 'hex')

const integer = (value: number) => der(0x02, Buffer.from([value]))
const sequence = (...parts: Buffer[]) => der(0x30, ...parts)

function der(tag: number, ...parts: Buffer[]): Buffer {
  const content = Buffer.concat(parts)
  const { length } = content
  const size = length < 128 ? [length] : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.from([tag, ...size]), content])
}
