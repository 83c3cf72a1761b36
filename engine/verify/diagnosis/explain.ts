/** Explains why a signature does not match: by one change that makes it match, by its time, or by what is missing. */

import { parseDuration } from '../../config/duration.ts'
import { signsUrl } from '../../providers/material.ts'
import type { Scheme } from '../../providers/scheme.ts'
import type { VerifyPolicy } from '../../providers/verify-policy.ts'
import { otherAddress } from '../families/hmac.ts'
import { headerOf } from '../header.ts'
import { isInBody } from '../signed/signature-place.ts'
import {
  isSignatureRight,
  type SignatureFailure,
  type SignedRequest,
  signatureFailures,
  UnavailableError,
  type Unverified,
  unverified,
  type Verifier,
  type VerifyDependencies,
  type VerifyResult,
} from '../verifier.ts'
import { type ChangeOptions, changesOf, type OtherPolicy } from './changes.ts'
import { type Diagnosis, type Finding, finding } from './diagnosis.ts'

export interface ExplainOptions {
  readonly request: SignedRequest
  readonly verify: VerifyPolicy
  readonly schemes: readonly Scheme[]
  readonly others: readonly OtherPolicy[]
  readonly dependencies: VerifyDependencies
}

export async function explainFailure(
  result: Unverified,
  { request, verify, schemes, others, dependencies }: ExplainOptions,
): Promise<Omit<Diagnosis, 'provider' | 'compared'>> {
  const { code, reason, skewSeconds } = result
  const end = (...findings: readonly (Finding | undefined)[]) => ({
    taken: false,
    code,
    told: reason ?? signatureFailures[code],
    findings: findings.filter((each) => each !== undefined),
  })
  if (skewSeconds !== undefined && code === 'TIMESTAMP_OUTSIDE')
    return { ...end(clockFinding(skewSeconds, verify, schemes)), skewSeconds }

  const length = lengthFinding(request)
  const missing = missingFinding(result, request, schemes)
  if (missing !== undefined) return end(missing, length)
  if (code !== 'SIGNATURE_MISMATCH' && !code.endsWith('_MALFORMED'))
    return end(failureFinding(result), length)
  const options = { request, verify, others, signsUrl: schemes.some(signsUrl) }
  const match = await findChange(options, dependencies)
  if (match !== undefined) {
    const { skewSeconds: skew } = match
    return end(match.finding, skew === undefined ? undefined : clockFinding(skew, verify, schemes), length)
  }
  const isOpen = code === 'SIGNATURE_MISMATCH' && (reason === undefined || reason === otherAddress)
  return isOpen ? end(length, unexplained(schemes)) : end(failureFinding(result), length)
}

/** The bytes that all changes together may have digested, and the bounds of how many changes that is. */
const mostBytes = 256 * 1024 * 1024
const mostChanges = 1000
const fewestChanges = 40

/** Returns the first change that makes the signature match. */
async function findChange(
  options: ChangeOptions,
  dependencies: VerifyDependencies,
): Promise<{ readonly finding: Finding; readonly skewSeconds?: number } | undefined> {
  const affordable = Math.floor(mostBytes / Math.max(1, options.request.rawBody.length))
  let left = Math.min(mostChanges, Math.max(fewestChanges, affordable))
  for (const { verifier, request, finding: found } of changesOf(options)) {
    if (left-- === 0) return undefined
    const result = verifier && (await verifyAsGateway(verifier, request, dependencies))
    if (result?.ok) return { finding: found }
    if (result && isSignatureRight(result)) return { finding: found, skewSeconds: result.skewSeconds }
  }
  return undefined
}

/** Verifies as the gateway does, with a result of its own for keys that cannot be fetched. */
export async function verifyAsGateway(
  verifier: Verifier,
  request: SignedRequest,
  dependencies: VerifyDependencies,
): Promise<VerifyResult> {
  try {
    return await verifier.verify(request, dependencies)
  } catch (error) {
    if (error instanceof UnavailableError) return unverified('KEYS_UNAVAILABLE')
    throw error
  }
}

/** For a right signature at the wrong time; `skewSeconds` is negative in the past. */
function clockFinding(skewSeconds: number, { tolerance }: VerifyPolicy, schemes: readonly Scheme[]): Finding {
  const usual = schemes
    .map((scheme) => ('timestamp' in scheme ? scheme.timestamp?.tolerance : undefined))
    .find((each) => each !== undefined)
  const allowed = tolerance === undefined ? usual : parseDuration(tolerance) / 1000
  const limit = allowed === undefined ? '' : `, where ${inWords(allowed)} are allowed`
  const side = skewSeconds < 0 ? 'past' : 'future'
  const told = `the signature is right, but its time lies ${inWords(Math.abs(skewSeconds))} in the ${side}${limit}`
  return finding('CLOCK', told, clockAdvice(skewSeconds))
}

/** The least number of seconds by which a time in milliseconds is off when it is read as one in seconds. */
const anotherUnit = 1_000_000_000

function clockAdvice(skewSeconds: number): string {
  if (Math.abs(skewSeconds) > anotherUnit)
    return 'So far off is a time in another unit: seconds and milliseconds were mixed up by the sender.'
  if (skewSeconds > 0)
    return 'The clock of the sender is ahead or the one here is behind: compare both with the time of a public server.'
  return 'Of a request that was recorded, say when it arrived (`--now`). If it came just now, the clock of the sender is behind or the one here ahead, or something held the request back; `verify.tolerance` allows more.'
}

/** Names the header that is missing; undefined where none is. */
function missingFinding(
  { code }: Unverified,
  { headers }: SignedRequest,
  schemes: readonly Scheme[],
): Finding | undefined {
  const isAbsent = (name: string) => headerOf(headers, name) === undefined
  const weaker = schemes.flatMap(weakerHeadersOf).filter((name) => !isAbsent(name))
  const wanted = schemes.flatMap(signatureHeadersOf).filter((name) => !weaker.includes(name))
  if (code === 'TIMESTAMP_MISSING')
    return missingHeader(schemes.flatMap(timestampHeadersOf).filter(isAbsent), 'the time of the signature')
  if (code === 'SIGNATURE_MISSING') return missingHeader(wanted, 'the signature')
  if (code !== 'SIGNATURE_WEAKER') return undefined
  const told = `${quoted(weaker, 'and')} came, and ${quoted(wanted, 'or')} did not: the weaker signature is never taken in its place`
  return finding('WEAKER_ONLY', told, weakerAdvice)
}

function missingHeader(names: readonly string[], what: string): Finding | undefined {
  if (names.length === 0) return undefined
  const told = `${quoted(names, 'or')} is missing: that is where ${what} stands`
  return finding('HEADER_MISSING', told, missingAdvice)
}

const missingAdvice =
  'Either the sender does not sign, often because no secret is set on its page, or something on the way dropped the header.'
const weakerAdvice =
  'Have the sender sign with the stronger one too; if it does, something on the way dropped the header.'

/** Returns the headers that a signature may stand in, in lower case; of numbered ones the first. */
function signatureHeadersOf(scheme: Scheme): readonly string[] {
  switch (scheme.family) {
    case 'token':
      return [scheme.header]
    case 'oidc':
      return ['authorization']
    case 'sns':
      return []
    default:
      return isInBody(scheme.signature) ? [] : scheme.signature.headers.map((name) => name.replace('*', '1'))
  }
}

function timestampHeadersOf(scheme: Scheme): readonly string[] {
  const from = 'timestamp' in scheme ? scheme.timestamp?.from : undefined
  return from && 'header' in from ? from.header : []
}

function weakerHeadersOf(scheme: Scheme): readonly string[] {
  return scheme.family === 'hmac' ? (scheme.weaker ?? []) : []
}

/** Returns every header that says something about a signature: its own, those of its time and id, and the weaker ones. */
export function headersOf(scheme: Scheme): readonly string[] {
  const ids = scheme.family === 'hmac' && Array.isArray(scheme.id) ? scheme.id : []
  return [...signatureHeadersOf(scheme), ...ids, ...weakerHeadersOf(scheme), ...timestampHeadersOf(scheme)]
}

/** For a body that is not as long as its `content-length` says. */
function lengthFinding({ headers, rawBody }: SignedRequest): Finding | undefined {
  const said = headerOf(headers, 'content-length')
  if (said === undefined || !/^\d{1,15}$/.test(said) || Number(said) === rawBody.length) return undefined
  return finding(
    'LENGTH',
    `\`content-length\` says ${said} bytes, and the body has ${rawBody.length}: it is not the one that was sent`,
    'The usual reason is a recorder that writes the body again, cuts it or adds a line break.',
  )
}

/** For a result that needs no further explanation. */
function failureFinding({ code, reason }: Unverified): Finding {
  return finding('REFUSED', reason ?? signatureFailures[code], adviceByCode[code])
}

const adviceByCode: Partial<Record<SignatureFailure, string>> = {
  SIGNATURE_MALFORMED: 'Something on the way changed the header, or the sender is another one.',
  TIMESTAMP_MISSING: 'The sender is another one, or something on the way dropped the header.',
  TIMESTAMP_MALFORMED:
    'Only decimal digits are a time: the sender is another one, or wrote it in another form.',
  BODY_MALFORMED: 'The sender is another one, or the body was changed on its way.',
  BODY_NOT_COVERED:
    'Have the sender send what its signature covers: a form, or the digest of the body in the address.',
  TOKEN_EXPIRED: 'Of a request that was recorded, say when it arrived (`--now`). Else compare both clocks.',
  WRONG_AUDIENCE: 'Set `verify.audience` to what the sender is configured with, or the other way round.',
  WRONG_SENDER: 'Set `verify.serviceAccount` to the account that pushes, if you trust it.',
  WRONG_TOPIC: 'Add the topic to `verify.topicArns`, if it is yours.',
  KEY_UNKNOWN: 'The sender has taken the key out of use, or is another one.',
  KEY_REFUSED: 'The request names a key that is not one of the provider: it may be an attack.',
  KEYS_UNAVAILABLE:
    'Ask again when the address can be reached; a request that came in the meantime is answered 503, and sent again.',
}

/** For a signature that no change makes match. */
function unexplained(schemes: readonly Scheme[]): Finding {
  const families = new Set(schemes.map(({ family }) => family))
  if (schemes.some(signsUrl)) return finding('UNEXPLAINED', unexplainedUrl, urlAdvice)
  if (families.has('hmac') || families.has('token')) return finding('UNEXPLAINED', undefined, secretAdvice)
  const isConfigured = families.has('ed25519') || families.has('ecdsa')
  return isConfigured
    ? finding('UNEXPLAINED', 'the public key is another one, or the request was changed', secretAdvice)
    : finding('UNEXPLAINED', 'the request was changed on its way, or is forged', digestAdvice)
}

const unexplainedUrl =
  'nothing that was tried fits: the secret is another one, the sender calls another address, or the body was changed'
const urlAdvice =
  'Compare `verify.publicUrl` with the address on the page of the sender, letter by letter, and copy the secret again.'
const digestAdvice = 'Compare the digest of the body with that of what was sent.'
const secretAdvice =
  'Copy it again from the page of the sender. If that does not help: compare the digest of the body with that of what was sent.'

function quoted(names: readonly string[], word: 'and' | 'or'): string {
  const each = [...new Set(names)].map((name) => `\`${name}\``)
  return each.length < 2 ? (each[0] ?? 'a header') : `${each.slice(0, -1).join(', ')} ${word} ${each.at(-1)}`
}

/** Writes a time in the unit that says it best: `301 s`, `75 min`, `26 h`, `12 d`. */
function inWords(seconds: number): string {
  if (seconds < 600 && Math.round(seconds) % 60 !== 0) return `${Math.round(seconds)} s`
  if (seconds < 2 * 3600) return `${Math.round(seconds / 60)} min`
  return seconds < 48 * 3600 ? `${Math.round(seconds / 3600)} h` : `${Math.round(seconds / 86_400)} d`
}
