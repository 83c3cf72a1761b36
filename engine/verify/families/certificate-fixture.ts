/** Makes self-signed certificates for tests, with the key and the validity that a test needs. */

import { type KeyObject, sign } from 'node:crypto'

export interface KeyPair {
  readonly publicKey: KeyObject
  readonly privateKey: KeyObject
}

export function createCertificate(
  { publicKey, privateKey }: KeyPair,
  from = '20200101000000Z',
  to = '20991231000000Z',
): string {
  const algorithm = sequence(sha256WithRsa, nothing)
  const name = sequence(der(0x31, sequence(commonName, der(0x0c, Buffer.from('sns.test.invalid')))))
  const content = sequence(
    der(0xa0, integer(2)),
    integer(1),
    algorithm,
    name,
    sequence(der(0x18, Buffer.from(from)), der(0x18, Buffer.from(to))),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
  )
  const signature = der(0x03, Buffer.from([0]), sign('sha256', content, privateKey))
  const base64 = sequence(content, algorithm, signature).toString('base64')
  return `-----BEGIN CERTIFICATE-----\n${base64.replace(/.{64}/g, '$&\n')}\n-----END CERTIFICATE-----\n`
}

/** 1.2.840.113549.1.1.11 */
const sha256WithRsa = Buffer.from('06092a864886f70d01010b', 'hex')
/** 2.5.4.3 */
const commonName = Buffer.from('0603550403', 'hex')
const nothing = Buffer.from('0500', 'hex')

function integer(value: number): Buffer {
  return der(0x02, Buffer.from([value]))
}

function sequence(...parts: Buffer[]): Buffer {
  return der(0x30, ...parts)
}

function der(tag: number, ...parts: Buffer[]): Buffer {
  const content = Buffer.concat(parts)
  const { length } = content
  const size = length < 128 ? [length] : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.from([tag, ...size]), content])
}
