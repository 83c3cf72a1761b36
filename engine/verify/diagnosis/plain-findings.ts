/** Owns the findings that need no trial: the verdict, the headers and the clock say them. */

import { parseDuration } from '../../config/duration.ts'
import { signsUrl } from '../../providers/material.ts'
import type { ProviderRow, Scheme } from '../../providers/scheme.ts'
import type { VerifyPolicy } from '../../providers/verify-policy.ts'
import { headerOf } from '../header.ts'
import { type SignatureFailure, type SignedRequest, signatureFailures, type Unverified } from '../verifier.ts'
import { type Finding, finding } from './diagnosis.ts'
import { signatureHeadersOf, strangersIn, timestampHeadersOf } from './places.ts'

/** A right signature at the wrong time. `skewSeconds`: negative in the past. */
export function clockFinding(skewSeconds: number, verify: VerifyPolicy, schemes: readonly Scheme[]): Finding {
  const tolerance = toleranceOf(verify, schemes)
  const allowed = tolerance === undefined ? '' : `, where ${inWords(tolerance)} are allowed`
  const side = skewSeconds < 0 ? 'past' : 'future'
  const told = `the signature is right, but its time lies ${inWords(Math.abs(skewSeconds))} in the ${side}${allowed}`
  return finding('CLOCK', told, adviceOnClock(skewSeconds))
}

/** Seconds. */
function toleranceOf({ tolerance }: VerifyPolicy, schemes: readonly Scheme[]): number | undefined {
  if (tolerance !== undefined) return parseDuration(tolerance) / 1000
  return schemes
    .map((scheme) => ('timestamp' in scheme ? scheme.timestamp?.tolerance : undefined))
    .find((each) => each !== undefined)
}

/** By which a time in milliseconds that is read as one in seconds is off, at least. */
const anotherUnit = 1_000_000_000

function adviceOnClock(skewSeconds: number): string {
  if (Math.abs(skewSeconds) > anotherUnit)
    return 'So far off is a time in another unit: seconds and milliseconds were mixed up by the sender.'
  if (skewSeconds > 0)
    return 'The clock of the sender is ahead or the one here is behind: compare both with the time of a public server.'
  return 'Of a request that was recorded, say when it arrived (`--now`). If it came just now, the clock of the sender is behind or the one here ahead, or something held the request back; `verify.tolerance` allows more.'
}

/** What is missing by name, and what came in its place. */
export function* headerFindings(
  { code }: Unverified,
  { headers }: SignedRequest,
  schemes: readonly Scheme[],
  providers: readonly ProviderRow[],
): Iterable<Finding> {
  if (code === 'TIMESTAMP_MISSING') {
    const names = schemes.flatMap(timestampHeadersOf).filter((name) => headerOf(headers, name) === undefined)
    if (names.length > 0) yield missing(names, 'the time of the signature')
  }
  if (code !== 'SIGNATURE_MISSING' && code !== 'SIGNATURE_WEAKER') return
  const weaker = schemes
    .flatMap((scheme) => (scheme.family === 'hmac' ? (scheme.weaker ?? []) : []))
    .filter((name) => headerOf(headers, name) !== undefined)
  const wanted = [...new Set(schemes.flatMap(signatureHeadersOf))].filter((name) => !weaker.includes(name))
  if (code === 'SIGNATURE_WEAKER') {
    const told = `${quoted(weaker, 'and')} came, and ${quoted(wanted, 'or')} did not: the weaker signature is never taken in its place`
    yield finding('WEAKER_ONLY', told, weakerAdvice)
  } else if (wanted.length > 0) yield missing(wanted, 'the signature')
  const strangers = Map.groupBy(strangersIn(headers, schemes, providers), ({ header }) => header)
  for (const [header, theirs] of strangers) {
    const titles = theirs.slice(0, mostTitles).map(({ title }) => title)
    const more = theirs.length > mostTitles ? ' and others' : ''
    yield finding(
      'OTHER_HEADERS',
      `\`${header}\` came, with which ${titles.join(', ')}${more} ${theirs.length === 1 ? 'signs' : 'sign'}`,
      'If that is who sends to this endpoint, say so in `verify.provider`.',
    )
  }
}

function missing(names: readonly string[], what: string): Finding {
  return finding(
    'HEADER_MISSING',
    `${quoted(names, 'or')} is missing: that is where ${what} stands`,
    missingAdvice,
  )
}

const mostTitles = 4

const missingAdvice =
  'Either the sender does not sign, often because no secret is set on its page, or something on the way dropped the header.'

const weakerAdvice =
  'Have the sender sign with the stronger one too; if it does, something on the way dropped the header.'

/** Where the sender said how long the body is, and it is not. */
export function lengthFinding({ headers, rawBody }: SignedRequest): Finding | undefined {
  const said = headerOf(headers, 'content-length')
  if (said === undefined || !/^\d{1,15}$/.test(said) || Number(said) === rawBody.length) return undefined
  const told = `\`content-length\` says ${said} bytes, and the body has ${rawBody.length}: it is not the one that was sent`
  return finding(
    'LENGTH',
    told,
    'A recorder that shows a body anew, cuts it or adds a line break is the usual reason.',
  )
}

/** For a verdict that needs no further explanation. */
export function verdictFinding({ code, reason: told }: Unverified): Finding {
  return finding('REFUSED', told ?? signatureFailures[code], adviceByCode[code])
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
  KEY_REFUSED:
    'Whoever sent this wants another key to be believed than those of the provider: it may be an attack.',
  KEYS_UNAVAILABLE:
    'Ask again when the address can be reached; a request that came in the meantime is answered 503, and sent again.',
}

/** Where nothing that was tried fits. */
export function unexplained(schemes: readonly Scheme[]): Finding {
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
  'Compare `verify.publicUrl` with the address on the page of the sender, letter by letter, and copy the secret anew.'
const digestAdvice = 'Compare the digest of the body with that of what was sent.'
const secretAdvice = `Copy it anew from the page of the sender. If that does not help: ${digestAdvice.charAt(0).toLowerCase()}${digestAdvice.slice(1)}`

function quoted(names: readonly string[], word: 'and' | 'or'): string {
  const each = names.map((name) => `\`${name}\``)
  return each.length < 2 ? (each[0] ?? 'a header') : `${each.slice(0, -1).join(', ')} ${word} ${each.at(-1)}`
}

/** The unit that says it best: `301 s`, `75 min`, `26 h`, `12 d`. */
function inWords(seconds: number): string {
  if (seconds < 600 && Math.round(seconds) % 60 !== 0) return `${Math.round(seconds)} s`
  if (seconds < 2 * 3600) return `${Math.round(seconds / 60)} min`
  return seconds < 48 * 3600 ? `${Math.round(seconds / 3600)} h` : `${Math.round(seconds / 86_400)} d`
}
