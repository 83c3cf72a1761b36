/** Reads public keys as providers show them: raw bytes of Ed25519, or the DER of a key on P-256. */

import { createPublicKey, type KeyObject } from 'node:crypto'
import { decode } from './encoding.ts'
import type { EcdsaScheme, Ed25519Scheme } from './scheme.ts'

const rawBytes = 32
const whpk = 'whpk_'

/** Returns undefined where the text is not a key of the scheme. */
export function readPublicKey(text: string, scheme: Ed25519Scheme | EcdsaScheme): KeyObject | undefined {
  if (scheme.family === 'ecdsa') return readP256Key(text)
  return readEd25519Key(
    scheme.key === 'hex'
      ? decode(text, 'hex')
      : text.startsWith(whpk) && decode(text.slice(whpk.length), 'base64'),
  )
}

function readEd25519Key(bytes: Buffer | false | undefined): KeyObject | undefined {
  if (!bytes || bytes.length !== rawBytes) return undefined
  const key = { kty: 'OKP', crv: 'Ed25519', x: bytes.toString('base64url') }
  return createPublicKey({ key, format: 'jwk' })
}

function readP256Key(text: string): KeyObject | undefined {
  const der = decode(text, 'base64')
  if (der === undefined) return undefined
  try {
    const key = createPublicKey({ key: der, format: 'der', type: 'spki' })
    return key.asymmetricKeyDetails?.namedCurve === 'prime256v1' ? key : undefined
  } catch {
    return undefined
  }
}
