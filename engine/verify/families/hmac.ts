/** Owns verifying keyed digests: whatever a provider digests and wherever it writes the digest, its row says so. */

import type { VerifyPolicy } from '../../config/configuration.ts'
import { decode } from '../../providers/encoding.ts'
import { readKey, type Secret, secretsFor } from '../../providers/secrets.ts'
import { isSameSecret } from '../compare.ts'
import type { HmacScheme } from '../scheme.ts'
import { type BodyFields, isPacked, packedBody, readBodyFields, unreadable } from '../signed/body-fields.ts'
import { createSignatureReader, isInBody } from '../signed/signature-place.ts'
import { compileSigned, feedSigned, hasSlot } from '../signed/signed-bytes.ts'
import { isCovered } from '../signed/signed-form.ts'
import { createUrlWriter } from '../signed/signed-url.ts'
import { createValuesReader, type Gathered } from '../signed/signed-values.ts'
import { createTimeWindow } from '../signed/timestamp.ts'
import { type SignedRequest, type Unverified, unverified, type Verdict } from '../signed-request.ts'
import { createKeyedDigest, type Feed } from './keyed-digest.ts'
import type { SchemeVerifier } from './scheme-verifier.ts'

const digestLengths = { sha1: 20, sha256: 32, sha384: 48, sha512: 64 } as const

interface Key {
  /** Of the secret among all that are configured. */
  readonly index: number
  readonly digest: (feed: Feed) => Buffer
}

const noFields: BodyFields = () => undefined
const noAddress: readonly string[] = ['']

export function createHmacVerifier(scheme: HmacScheme, policy: VerifyPolicy): SchemeVerifier | undefined {
  const secrets = secretsFor(scheme, policy.secret)
  if (secrets.length === 0) return undefined
  const keys = readKeys(secrets, scheme)

  const { hash, encoding, name = 'default' } = scheme
  const template = compileSigned(scheme.signed)
  const signatures = createSignatureReader(scheme.signature)
  const values = createValuesReader(scheme, template)
  const window = createTimeWindow(scheme, policy)
  const writeUrl = policy.publicUrl === undefined ? undefined : createUrlWriter(policy.publicUrl, scheme.url)
  const signsUrl = hasSlot(template, 'url')
  const urlsOf = signsUrl ? writeUrl : () => noAddress
  // Nobody knows yet who sent the body: it is read before the signature is right only where the signature stands in it.
  const readsBodyFirst = isInBody(scheme.signature) || values.readsBody
  const readsBodyLater = !readsBodyFirst && window?.readsBody === true

  return {
    isPresent: signatures.isPresent,
    verify(request) {
      if (!readsBodyFirst) return judge(request, noFields)
      return isPacked(request.headers) ? packedBody : withBody(request, judge)
    },
  }

  function judge(request: SignedRequest, body: BodyFields): Verdict | Promise<Verdict> {
    const given = readSignatures(request, body)
    if ('code' in given) return given
    if (keys.length === 0) return unverified('SIGNATURE_MISMATCH', { told: unreadableSecret })
    const gathered = values.read(request, body)
    if ('code' in gathered) return gathered
    const urls = urlsOf?.(request.target)
    if (urls === undefined) return unverified('SIGNATURE_MISMATCH', { told: unknownAddress })

    const secret = findSecret(given, gathered, urls)
    if (secret === undefined) return unverified('SIGNATURE_MISMATCH', signsUrl ? { told: otherAddress } : {})
    if (!isCovered(gathered.coverage, request.rawBody)) {
      return unverified('SIGNATURE_MISMATCH', { told: otherBody })
    }
    // The time comes last, so that a right signature at the wrong time can be told from a wrong one.
    const judgeTime = (_: SignedRequest, fields: BodyFields): Verdict =>
      window?.judge(request, fields) ?? { ok: true, scheme: name, secret }
    return readsBodyLater ? withBody(request, judgeTime) : judgeTime(request, body)
  }

  function readSignatures(request: SignedRequest, body: BodyFields): readonly Buffer[] | Unverified {
    const written = signatures.read(request.headers, body)
    if (written === undefined) return unverified('SIGNATURE_MISSING')
    const decoded: Buffer[] = []
    for (const text of written) {
      const bytes = decode(text, encoding)
      if (bytes?.length === digestLengths[hash]) decoded.push(bytes)
    }
    return decoded.length === 0 ? unverified('SIGNATURE_MALFORMED') : decoded
  }

  /** One that fits is enough, of the signatures and of the secrets. For each secret there is one digest to make. */
  function findSecret(given: readonly Buffer[], gathered: Gathered, urls: readonly string[]) {
    for (const { index, digest } of keys) {
      for (const url of urls) {
        const right = digest((take) => feedSigned(template, { ...gathered.values, url }, take))
        if (given.some((each) => isSameSecret(each, right))) return index
      }
    }
    return undefined
  }
}

function readKeys(secrets: readonly Secret[], { hash, key: form }: HmacScheme): readonly Key[] {
  return secrets.flatMap(({ index, text }) => {
    const key = readKey(text, form)
    return key === undefined ? [] : [{ index, digest: createKeyedDigest(hash, key) }]
  })
}

function withBody(
  request: SignedRequest,
  judge: (request: SignedRequest, body: BodyFields) => Verdict | Promise<Verdict>,
): Verdict | Promise<Verdict> {
  const judgeRead = (body: BodyFields) =>
    body === unreadable ? unverified('BODY_MALFORMED') : judge(request, body)
  const body = readBodyFields(request)
  return body instanceof Promise ? body.then(judgeRead) : judgeRead(body)
}

const unreadableSecret = 'none of the configured secrets is written as the provider writes them'
const unknownAddress = 'the signature covers the address that was called: `verify.publicUrl` has to name it'
/** It may be the secret as well, or the body: nothing is explained by it. */
export const otherAddress =
  'the signature does not fit: the secret or `publicUrl` is another one, or the body was changed on its way'
const otherBody = 'the signature fits the address, and the body is not the one whose digest the address holds'
