/** Verifies keyed digests (HMAC), as the provider's row says what is digested and where the digest is. */

import { createHmac } from 'node:crypto'
import type { VerifyPolicy } from '../../config/schema/policy-schema.ts'
import { decode } from '../../providers/encoding.ts'
import type { HmacScheme } from '../../providers/scheme.ts'
import { readKey, secretsFor } from '../../providers/secrets.ts'
import { isSameSecret } from '../compare.ts'
import { isPacked, noFields, packedBody, readBodyFields } from '../signed/body-fields.ts'
import { createSignatureReader, isInBody } from '../signed/signature-place.ts'
import { compileSigned, hasSlot, signedParts } from '../signed/signed-bytes.ts'
import { isCovered } from '../signed/signed-form.ts'
import { createUrlWriter } from '../signed/signed-url.ts'
import { createValuesReader, type Gathered } from '../signed/signed-values.ts'
import { createTimeWindow } from '../signed/timestamp.ts'
import { type Unverified, unverified, type Verifier } from '../verifier.ts'

const digestLengths = { sha1: 20, sha256: 32, sha384: 48, sha512: 64 } as const

const noAddress: readonly string[] = ['']

export function createHmacVerifier(scheme: HmacScheme, policy: VerifyPolicy): Verifier | undefined {
  const secrets = secretsFor(scheme, policy.secret)
  if (secrets.length === 0) return undefined
  const keys = secrets.flatMap(({ index, text }) => {
    const key = readKey(text, scheme.key)
    return key === undefined ? [] : [{ index, key }]
  })
  const { hash, name = 'default' } = scheme
  const template = compileSigned(scheme.signed)
  const signatures = createSignatureReader(scheme.signature)
  const values = createValuesReader(scheme, template)
  const window = createTimeWindow(scheme, policy)
  const writeUrl = policy.publicUrl === undefined ? undefined : createUrlWriter(policy.publicUrl, scheme.url)
  const signsUrl = hasSlot(template, 'url')
  const urlsOf = signsUrl ? writeUrl : () => noAddress
  // A body that is not authenticated yet is parsed only if the signature, or a value that it covers, is inside of it.
  const readsBodyFirst = isInBody(scheme.signature) || values.readsBody
  const readsBodyLater = !readsBodyFirst && window?.readsBody === true

  return {
    isPresent: signatures.isPresent,
    verify(request) {
      if (readsBodyFirst && isPacked(request.headers)) return packedBody
      const body = readsBodyFirst ? readBodyFields(request) : noFields
      if (body === undefined) return unverified('BODY_MALFORMED')
      const signaturesSent = decodeSignatures(signatures.read(request.headers, body), scheme)
      if ('code' in signaturesSent) return signaturesSent
      if (keys.length === 0) return unverified('SIGNATURE_MISMATCH', { reason: unreadableSecret })
      const gathered = values.read(request, body)
      if ('code' in gathered) return gathered
      const urls = urlsOf?.(request.target)
      if (urls === undefined) return unverified('SIGNATURE_MISMATCH', { reason: unknownAddress })

      const secret = findSecret(signaturesSent, gathered, urls)
      if (secret === undefined)
        return unverified('SIGNATURE_MISMATCH', signsUrl ? { reason: otherAddress } : {})
      if (!isCovered(gathered.coverage, request.rawBody))
        return unverified('SIGNATURE_MISMATCH', { reason: otherBody })
      // The time comes last, so that a right signature at the wrong time differs from a wrong signature.
      const timed = readsBodyLater ? readBodyFields(request) : body
      if (timed === undefined) return unverified('BODY_MALFORMED')
      return window?.check(request, timed) ?? { ok: true, scheme: name, secret }
    },
  }

  /** One match is enough, of all signatures and all secrets. There is one digest to make for each secret. */
  function findSecret(given: readonly Buffer[], gathered: Gathered, urls: readonly string[]) {
    for (const { index, key } of keys) {
      for (const url of urls) {
        const hmac = createHmac(hash, key)
        for (const part of signedParts(template, { ...gathered.values, url })) hmac.update(part)
        const right = hmac.digest()
        if (given.some((each) => isSameSecret(each, right))) return index
      }
    }
    return undefined
  }
}

function decodeSignatures(
  written: readonly string[] | undefined,
  { encoding, hash }: HmacScheme,
): readonly Buffer[] | Unverified {
  if (written === undefined) return unverified('SIGNATURE_MISSING')
  const decoded = written.flatMap((text) => decode(text, encoding) ?? [])
  const right = decoded.filter(({ length }) => length === digestLengths[hash])
  return right.length === 0 ? unverified('SIGNATURE_MALFORMED') : right
}

const unreadableSecret = 'none of the configured secrets is written as the provider writes them'
const unknownAddress = 'the signature covers the address that was called: `verify.publicUrl` has to name it'
/** This sentence explains nothing: the secret may be the wrong one as well, or the body. */
export const otherAddress =
  'the signature does not match: wrong secret or `publicUrl`, or the body was changed on the way'
const otherBody = 'the signature fits the address, and the body is not the one whose digest the address holds'
