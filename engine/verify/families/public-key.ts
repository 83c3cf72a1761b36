/** Verifies signatures that are made with a private key: Ed25519, and ECDSA on P-256. */

import { verify as isSignedBy, type KeyObject } from 'node:crypto'
import type { VerifyPolicy } from '../../config/schema/policy-schema.ts'
import { decode } from '../../providers/encoding.ts'
import { readPublicKey } from '../../providers/public-keys.ts'
import type { EcdsaScheme, Ed25519Scheme } from '../../providers/scheme.ts'
import { secretsOf } from '../../providers/secrets.ts'
import { noFields } from '../signed/body-fields.ts'
import { createSignatureReader } from '../signed/signature-place.ts'
import { compileSigned, signedParts } from '../signed/signed-bytes.ts'
import { createValuesReader } from '../signed/signed-values.ts'
import { createTimeWindow } from '../signed/timestamp.ts'
import { unverified, type Verifier } from '../verifier.ts'

/** https://www.rfc-editor.org/rfc/rfc8032 */
const ed25519Bytes = 64
/**
 * The platform reads DER (https://www.rfc-editor.org/rfc/rfc3279#section-2.2.3) and nothing else, so that the two bare
 * numbers that JOSE writes match nothing. DER takes 72 bytes at most: two numbers of 32 bytes, their signs and frames.
 */
const maxEcdsaBytes = 72
/** A public-key verification takes fifty times as long as a digest, and a sender that rotates its key sends two. */
const maxSignatures = 4

export function createPublicKeyVerifier(
  scheme: Ed25519Scheme | EcdsaScheme,
  { publicKey, ...policy }: VerifyPolicy,
): Verifier | undefined {
  const configured = secretsOf(publicKey)
  if (configured.length === 0) return undefined
  const keys = configured.flatMap(({ index, text }) => {
    const key = readPublicKey(text, scheme)
    return key === undefined ? [] : [{ index, key }]
  })
  const { name = 'default' } = scheme
  const template = compileSigned(scheme.signed)
  const signatures = createSignatureReader(scheme.signature)
  const values = createValuesReader(scheme, template)
  const window = createTimeWindow(scheme, policy)

  return {
    isPresent: signatures.isPresent,
    // Everything that these schemes read is in headers.
    verify(request) {
      const written = signatures.read(request.headers, noFields)
      if (written === undefined) return unverified('SIGNATURE_MISSING')
      const signaturesSent = written
        .map((text) => readSignature(text, scheme))
        .filter((bytes) => bytes !== undefined)
      if (signaturesSent.length === 0) return unverified('SIGNATURE_MALFORMED')
      const gathered = values.read(request, noFields)
      if ('code' in gathered) return gathered
      const parts = signedParts(template, { ...gathered.values, url: '' })
      const signed = Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : part)))
      const hash = scheme.family === 'ecdsa' ? 'sha256' : undefined
      const isRight = (key: KeyObject) =>
        signaturesSent.slice(0, maxSignatures).some((each) => isSignedBy(hash, signed, key, each))
      const match = keys.find(({ key }) => isRight(key))
      if (match === undefined) return unverified('SIGNATURE_MISMATCH')
      return window?.check(request, noFields) ?? { ok: true, scheme: name, secret: match.index }
    },
  }
}

function readSignature(text: string, scheme: Ed25519Scheme | EcdsaScheme): Buffer | undefined {
  const bytes = decode(text, scheme.family === 'ecdsa' ? 'base64' : scheme.encoding)
  const { length = 0 } = bytes ?? {}
  return (scheme.family === 'ecdsa' ? length <= maxEcdsaBytes : length === ed25519Bytes) ? bytes : undefined
}
