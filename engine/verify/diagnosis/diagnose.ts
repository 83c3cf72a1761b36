/**
 * Diagnoses the signature of one request: whether its endpoint would accept it, and if not, what differs. It asks the
 * gateway's verifiers, with one thing changed at a time, so that it can be wrong only where they are. It never shows a
 * signature that would be right, because anybody could sign with that.
 */

import { hash } from 'node:crypto'
import { rowOf } from '../../config/rules/material.ts'
import type { VerifyPolicy } from '../../config/schema/policy-schema.ts'
import { parseDuration } from '../../config/values/quantities.ts'
import { providerRows } from '../../providers/index.ts'
import type { Scheme } from '../../providers/scheme.ts'
import { secretsOf } from '../../providers/secrets.ts'
import { otherAddress } from '../families/signature.ts'
import { headerOf } from '../header.ts'
import { createProvider } from '../provider.ts'
import {
  type Headers,
  isSignatureRight,
  type SignatureFailure,
  type SignedRequest,
  signatureFailures,
  UnavailableError,
  unverified,
  type VerifyDependencies,
  type VerifyResult,
} from '../verifier.ts'
import { type OtherPolicy, variantsOf } from './variants.ts'

/** The names of the fields are printed by `doctor signature --json`. No field holds a secret or a part of the request. */
export interface Diagnosis {
  /** True if the gateway would accept the request as one of its sender. */
  readonly taken: boolean
  /** The code that the log and the record of a refused request have; `TAKEN` or `HANDSHAKE` for one that is accepted. */
  readonly code: string
  /** One sentence, without a full stop. */
  readonly message: string
  readonly scheme?: string
  /** The number of the secret that matched, from 1, the newest first. */
  readonly secret?: number
  readonly secrets?: number
  /** By how many seconds the signature's time is off; negative where it lies in the past. */
  readonly skewSeconds?: number
  /** The status of the answer to a handshake. */
  readonly status?: number
  /** Findings beside the code, the most telling one first. */
  readonly findings: readonly Finding[]
}

interface Finding {
  /** The codes are stable, because programs read them. The sentences are not. */
  readonly code: string
  readonly message: string
  /** Advice in one sentence or two. */
  readonly advice?: string
}

const advice = {
  OLDER_SECRET: 'Keep it until the sender signs with the newest one, then take it out of the list.',
  CLOCK:
    'Of a request that was recorded, say when it arrived (`--now`). Else compare both clocks with the time of a public server; `verify.tolerance` allows more. Years are seconds and milliseconds that were mixed up.',
  HEADER_MISSING:
    'Either the sender does not sign, often because no secret is set on its page, or something on the way dropped the header.',
  WEAKER_ONLY:
    'Have the sender sign with the stronger one too; if it does, something on the way dropped the header.',
  OTHER_ENDPOINT:
    'The sender was given that secret: put it here too, or have the sender call the other address. A token that opens endpoints is no secret to sign with.',
  URL: 'Give `verify.publicUrl` the address exactly as it was given to the sender. The query is taken as it came: where that differs, something on the way changed it.',
  BODY_FORM:
    'A signature is made over bytes: have the proxy, function or recorder in between pass the body on as it came.',
  UNEXPLAINED:
    'Copy the secret or key again from the page of the sender, and compare `verify.publicUrl` where there is one. If that does not help: compare the digest of the body with that of what was sent.',
} as const

function finding(code: keyof typeof advice, message: string): Finding {
  return { code, message, advice: advice[code] }
}

/** @param others the values that other endpoints are verified with, because a sender may have been given the wrong secret */
export async function diagnose(
  request: SignedRequest,
  verify: VerifyPolicy,
  others: readonly OtherPolicy[],
  dependencies: VerifyDependencies,
): Promise<Diagnosis> {
  const schemes = rowOf(verify)?.schemes ?? []
  const result = await verifyAsGateway(verify, request, dependencies)
  if (result.ok) {
    const { scheme, secret } = result
    const secrets = secretsOf(verify.secret).length || secretsOf(verify.publicKey).length
    const older = 'an older secret fits: the newest one is not in use at the sender yet'
    return {
      taken: true,
      code: 'TAKEN',
      message: 'the signature is right',
      scheme,
      ...(secrets > 0 && { secret: secret + 1, secrets }),
      findings: secret > 0 ? [finding('OLDER_SECRET', older)] : [],
    }
  }
  const { code, reason, skewSeconds } = result
  const refused = { taken: false, code, message: reason ?? signatureFailures[code] }
  const clock = (skew = 0) => finding('CLOCK', clockSentence(skew, verify, schemes))
  if (code === 'TIMESTAMP_OUTSIDE' || code === 'TOKEN_EXPIRED')
    return { ...refused, skewSeconds, findings: [clock(skewSeconds)] }
  const missing = missingHeader(code, request.headers, schemes)
  if (missing !== undefined) return { ...refused, findings: [missing] }
  if (code !== 'SIGNATURE_MISMATCH' && !code.endsWith('_MALFORMED')) return { ...refused, findings: [] }
  for (const variant of variantsOf(request, verify, schemes, others)) {
    const tried = await verifyAsGateway(variant.verify, variant.request, dependencies)
    if (!isSignatureRight(tried)) continue
    const match = finding(variant.code, variant.message)
    return { ...refused, findings: tried.ok ? [match] : [match, clock(tried.skewSeconds)] }
  }
  const isOpen = code === 'SIGNATURE_MISMATCH' && (reason === undefined || reason === otherAddress)
  const message = unexplained[schemes[0]?.family ?? 'hmac']
  return { ...refused, findings: isOpen ? [finding('UNEXPLAINED', message)] : [] }
}

/** Verifies as the gateway does, with a result of its own for keys that cannot be fetched. */
async function verifyAsGateway(
  verify: VerifyPolicy,
  request: SignedRequest,
  dependencies: VerifyDependencies,
): Promise<VerifyResult> {
  try {
    const result = await createProvider(verify).verifier?.verify(request, dependencies)
    return result ?? unverified('SIGNATURE_MISMATCH')
  } catch (error) {
    if (error instanceof UnavailableError) return unverified('KEYS_UNAVAILABLE')
    throw error
  }
}

const otherSecret = 'nothing matches: wrong secret, changed body, or the sender calls another address'
const otherKey = 'wrong public key, or the request was changed'
const forged = 'the request was changed on its way, or is forged'
const unexplained = {
  hmac: otherSecret,
  token: otherSecret,
  ed25519: otherKey,
  ecdsa: otherKey,
  oidc: forged,
  sns: forged,
}

function clockSentence(skewSeconds: number, verify: VerifyPolicy, schemes: readonly Scheme[]): string {
  const usual = schemes.map((scheme) => ('timestamp' in scheme ? scheme.timestamp?.tolerance : undefined))
  const allowed =
    verify.tolerance === undefined ? usual.find(Boolean) : parseDuration(verify.tolerance) / 1000
  const limit = allowed === undefined ? '' : `, where ${inWords(allowed)} are allowed`
  const side = skewSeconds < 0 ? 'past' : 'future'
  return `the signature is right, but its time lies ${inWords(Math.abs(skewSeconds))} in the ${side}${limit}`
}

/** Writes a time in the unit that says it best: `301 s`, `75 min`, `26 h`, `12 d`. */
function inWords(seconds: number): string {
  if (seconds < 600 && Math.round(seconds) % 60 !== 0) return `${Math.round(seconds)} s`
  if (seconds < 2 * 3600) return `${Math.round(seconds / 60)} min`
  return seconds < 48 * 3600 ? `${Math.round(seconds / 3600)} h` : `${Math.round(seconds / 86_400)} d`
}

function missingHeader(
  code: SignatureFailure,
  headers: Headers,
  schemes: readonly Scheme[],
): Finding | undefined {
  const came = (name: string) => headerOf(headers, name) !== undefined
  const places = schemes.map(headersOf)
  const what = code === 'TIMESTAMP_MISSING' ? 'time' : 'signature'
  const absent = quoted(places.flatMap((place) => place[what].filter((name) => !came(name))))
  const weaker = quoted(places.flatMap((place) => place.weaker.filter(came)))
  if (code === 'SIGNATURE_WEAKER')
    return finding(
      'WEAKER_ONLY',
      `${weaker} came, and ${absent} did not: the weaker one is never taken alone`,
    )
  if (!code.endsWith('_MISSING') || absent === '') return undefined
  return finding('HEADER_MISSING', `${absent} is missing: that is where the ${what} is looked for`)
}

function quoted(names: readonly string[]): string {
  return [...new Set(names)].map((name) => `\`${name}\``).join(' or ')
}

/** Returns the headers, in lower case, that carry a signature of the scheme; of numbered ones the first. */
function headersOf(scheme: Scheme): Readonly<Record<'signature' | 'time' | 'weaker', readonly string[]>> {
  const { family } = scheme
  const place = 'signature' in scheme && 'headers' in scheme.signature ? scheme.signature.headers : []
  const time = 'timestamp' in scheme ? scheme.timestamp?.from : undefined
  const alone = family === 'token' ? [scheme.header] : family === 'oidc' ? ['authorization'] : []
  return {
    signature: [...place.map((name) => name.replace('*', '1')), ...alone],
    time: time && 'header' in time ? time.header : [],
    weaker: family === 'hmac' ? (scheme.weaker ?? []) : [],
  }
}

/**
 * Lists what was compared, so that the operator can compare it with what the sender sent. Only headers that some
 * provider signs with are named, because a sender can choose any other name.
 */
export function comparedOf({ rawBody, headers, now }: SignedRequest, verify: VerifyPolicy = {}) {
  const schemes = [...(rowOf(verify)?.schemes ?? []), ...providerRows.flatMap((row) => row.schemes)]
  const names = new Set(schemes.flatMap((scheme) => Object.values(headersOf(scheme)).flat()))
  return {
    bodyBytes: rawBody.length,
    bodySha256: hash('sha256', rawBody),
    now: new Date(now).toISOString(),
    headers: [...names].filter((name) => headerOf(headers, name) !== undefined),
  }
}
