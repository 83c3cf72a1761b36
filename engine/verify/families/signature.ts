/**
 * Verifies signatures over parts of a request, as the provider's row says what is signed and where the signature is: keyed digests
 * (HMAC), and signatures made with a private key (Ed25519, and ECDSA on P-256).
 */

import { createHmac, verify as isSignedBy, type KeyObject } from 'node:crypto'
import type { VerifyPolicy } from '../../config/schema/policy-schema.ts'
import { decode } from '../../providers/encoding.ts'
import { readPublicKey } from '../../providers/public-keys.ts'
import type { EcdsaScheme, Ed25519Scheme, HmacScheme } from '../../providers/scheme.ts'
import { readKey, secretsFor, secretsOf } from '../../providers/secrets.ts'
import { isSameSecret } from '../compare.ts'
import { isPacked, noFields, packedBody, readBodyFields } from '../signed/body-fields.ts'
import { createSignatureReader, isInBody } from '../signed/signature-place.ts'
import { compileSigned, hasSlot, signedParts } from '../signed/signed-bytes.ts'
import { isCovered } from '../signed/signed-form.ts'
import { createUrlWriter } from '../signed/signed-url.ts'
import { createValuesReader, type Gathered } from '../signed/signed-values.ts'
import { createTimeWindow } from '../signed/timestamp.ts'
import { type Unverified, unverified, type Verifier } from '../verifier.ts'

/** The difference between a digest and a signature made with a private key. */
interface Signing {
  /** Returns undefined for a text that is not written as the provider writes its keys. */
  readKey(text: string): KeyObject | undefined
  /** Returns undefined for a text that is not such a signature. */
  readSignature(text: string): Buffer | undefined
  /** True if one of the given signatures is that of the parts. */
  isRight(key: KeyObject, parts: readonly (string | Uint8Array)[], given: readonly Buffer[]): boolean
}

const digestLengths = { sha1: 20, sha256: 32, sha384: 48, sha512: 64 } as const

function digests({ hash, encoding, key: form }: HmacScheme): Signing {
  return {
    readKey: (text) => readKey(text, form),
    readSignature(text) {
      const bytes = decode(text, encoding)
      const { length = 0 } = bytes ?? {}
      return length === digestLengths[hash] ? bytes : undefined
    },
    isRight(key, parts, given) {
      const hmac = createHmac(hash, key)
      for (const part of parts) hmac.update(part)
      const right = hmac.digest()
      return given.some((each) => isSameSecret(each, right))
    },
  }
}

/** https://www.rfc-editor.org/rfc/rfc8032 */
const ed25519Bytes = 64
/**
 * The platform reads DER (https://www.rfc-editor.org/rfc/rfc3279#section-2.2.3) and nothing else, so that the two bare
 * numbers that JOSE writes match nothing. DER takes 72 bytes at most: two numbers of 32 bytes, their signs and frames.
 */
const maxEcdsaBytes = 72
/** A public-key verification takes fifty times as long as a digest, and a sender that rotates its key sends two. */
const maxSignatures = 4

function publicKeys(scheme: Ed25519Scheme | EcdsaScheme): Signing {
  const isEcdsa = scheme.family === 'ecdsa'
  return {
    readKey: (text) => readPublicKey(text, scheme),
    readSignature(text) {
      const bytes = decode(text, scheme.family === 'ecdsa' ? 'base64' : scheme.encoding)
      const { length = 0 } = bytes ?? {}
      return (isEcdsa ? length <= maxEcdsaBytes : length === ed25519Bytes) ? bytes : undefined
    },
    isRight(key, parts, given) {
      const signed = Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : part)))
      return given
        .slice(0, maxSignatures)
        .some((each) => isSignedBy(isEcdsa ? 'sha256' : undefined, signed, key, each))
    },
  }
}

const noAddress: readonly string[] = ['']

export function createSignatureVerifier(
  scheme: HmacScheme | Ed25519Scheme | EcdsaScheme,
  policy: VerifyPolicy,
): Verifier | undefined {
  const isDigest = scheme.family === 'hmac'
  const configured = isDigest ? secretsFor(scheme, policy.secret) : secretsOf(policy.publicKey)
  if (configured.length === 0) return undefined
  const signing = isDigest ? digests(scheme) : publicKeys(scheme)
  const keys = configured.flatMap(({ index, text }) => {
    const key = signing.readKey(text)
    return key === undefined ? [] : [{ index, key }]
  })
  const { name = 'default' } = scheme
  const template = compileSigned(scheme.signed)
  const signatures = createSignatureReader(scheme.signature)
  const values = createValuesReader(scheme, template)
  const window = createTimeWindow(scheme, policy)
  const style = isDigest ? scheme.url : undefined
  const writeUrl = policy.publicUrl === undefined ? undefined : createUrlWriter(policy.publicUrl, style)
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
      const signaturesSent = readSignatures(signatures.read(request.headers, body), signing)
      if ('code' in signaturesSent) return signaturesSent
      if (keys.length === 0) return unverified('SIGNATURE_MISMATCH', { reason: unreadableKey })
      const gathered = values.read(request, body)
      if ('code' in gathered) return gathered
      const urls = urlsOf?.(request.target)
      if (urls === undefined) return unverified('SIGNATURE_MISMATCH', { reason: unknownAddress })

      const secret = findKey(signaturesSent, gathered, urls)
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

  /** One match is enough, of all signatures and all keys. */
  function findKey(given: readonly Buffer[], gathered: Gathered, urls: readonly string[]) {
    const texts = urls.map((url) => signedParts(template, { ...gathered.values, url }))
    return keys.find(({ key }) => texts.some((parts) => signing.isRight(key, parts, given)))?.index
  }
}

function readSignatures(
  written: readonly string[] | undefined,
  { readSignature }: Signing,
): readonly Buffer[] | Unverified {
  if (written === undefined) return unverified('SIGNATURE_MISSING')
  const read = written.flatMap((text) => readSignature(text) ?? [])
  return read.length === 0 ? unverified('SIGNATURE_MALFORMED') : read
}

const unreadableKey = 'none of the configured secrets is written as the provider writes them'
const unknownAddress = 'the signature covers the address that was called: `verify.publicUrl` has to name it'
/** This sentence explains nothing: the secret may be the wrong one as well, or the body. */
export const otherAddress =
  'the signature does not match: wrong secret or `publicUrl`, or the body was changed on the way'
const otherBody = 'the signature fits the address, and the body is not the one whose digest the address holds'
