/** Owns verifying with public keys what is signed as a template says; a family says which signatures are made how. */

import { verify as isSignedBy, type KeyObject } from 'node:crypto'
import type { VerifyPolicy } from '../../config/configuration.ts'
import { decode } from '../../providers/encoding.ts'
import { readPublicKey } from '../../providers/public-keys.ts'
import { secretsOf } from '../../providers/secrets.ts'
import type { EcdsaScheme, Ed25519Scheme, Encoding } from '../scheme.ts'
import type { BodyFields } from '../signed/body-fields.ts'
import { createSignatureReader } from '../signed/signature-place.ts'
import { compileSigned, signedBytes } from '../signed/signed-bytes.ts'
import { createValuesReader } from '../signed/signed-values.ts'
import { createTimeWindow } from '../signed/timestamp.ts'
import { unverified } from '../signed-request.ts'
import type { SchemeVerifier } from './scheme-verifier.ts'

export interface PublicKeyFamily {
  readonly encoding: Encoding
  /** Of the platform; undefined where the algorithm has its own. */
  readonly hash: string | undefined
  /** Whether a signature can be so long. */
  isLength(bytes: number): boolean
}

/** Everything that these schemes look at stands in headers. */
const noFields: BodyFields = () => undefined

/** Verifying takes fifty times as long as a digest does; a sender that rotates its key sends two. */
const mostSignatures = 4

export function createPublicKeyVerifier(
  scheme: Ed25519Scheme | EcdsaScheme,
  { publicKey, ...policy }: VerifyPolicy,
  { encoding, hash, isLength }: PublicKeyFamily,
): SchemeVerifier | undefined {
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
    verify(request) {
      const written = signatures.read(request.headers, noFields)
      if (written === undefined) return unverified('SIGNATURE_MISSING')
      const given = written.flatMap((text) => {
        const bytes = decode(text, encoding)
        return bytes !== undefined && isLength(bytes.length) ? [bytes] : []
      })
      if (given.length === 0) return unverified('SIGNATURE_MALFORMED')
      const gathered = values.read(request, noFields)
      if ('code' in gathered) return gathered
      const signed = signedBytes(template, { ...gathered.values, url: '' })
      const isRight = (key: KeyObject) =>
        given.slice(0, mostSignatures).some((each) => isSignedBy(hash, signed, key, each))
      const found = keys.find(({ key }) => isRight(key))
      if (found === undefined) return unverified('SIGNATURE_MISMATCH')
      return window?.judge(request, noFields) ?? { ok: true, scheme: name, secret: found.index }
    },
  }
}
