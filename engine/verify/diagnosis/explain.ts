/** Owns why a signature does not fit: which one change makes it fit, and what else is wrong with the request. */

import { providerRows } from '../../providers/index.ts'
import type { VerifyPolicy } from '../../providers/verify-policy.ts'
import { otherAddress } from '../families/hmac.ts'
import type { Verifier } from '../verifier.ts'
import {
  isSignatureRight,
  type SignatureFailure,
  type SignedRequest,
  signatureFailures,
  UnavailableError,
  type Unverified,
  unverified,
  type Verdict,
  type VerifyDependencies,
} from '../verifier.ts'
import { type Diagnosis, type Finding, finding } from './diagnosis.ts'
import { schemesOf } from './places.ts'
import { clockFinding, headerFindings, lengthFinding, unexplained, verdictFinding } from './plain-findings.ts'
import { type OtherPolicy, type Suspect, trialsOf } from './trials.ts'

export interface DiagnosedRequest extends SignedRequest {
  /** The address that was called, where whoever recorded the request says it. */
  readonly url?: string
  /** Whoever recorded the request kept its body as a value: the bytes are a guess. */
  readonly isBodyGuessed?: boolean
}

/** A diagnosis before it is said of what. */
export type Ended = Omit<Diagnosis, 'provider' | 'compared'>

/** With whatever else would be wrong of the request; the verdict alone often says it. */
export async function explain(
  verdict: Unverified,
  request: DiagnosedRequest,
  verify: VerifyPolicy,
  others: readonly OtherPolicy[],
  means: VerifyDependencies,
): Promise<Ended> {
  const { code, reason: told, skewSeconds } = verdict
  const schemes = schemesOf(verify)
  const end = (findings: readonly (Finding | undefined)[], more: Partial<Diagnosis> = {}): Ended => ({
    taken: false,
    code,
    told: told ?? signatureFailures[code],
    ...more,
    findings: findings.filter((each) => each !== undefined),
  })
  if (code === 'TIMESTAMP_OUTSIDE' && skewSeconds !== undefined)
    return end([clockFinding(skewSeconds, verify, schemes)], { skewSeconds })

  const suspect: Suspect = {
    request,
    ...(request.url !== undefined && { recordedUrl: request.url }),
    verify,
    schemes,
    providers: providerRows,
    others,
    verdict: code,
  }
  const found = isExplained.has(code) ? undefined : await findChange(suspect, means)
  const guessed = request.isBodyGuessed ? finding('BODY_GUESSED', undefined, guessedAdvice) : undefined
  const plain = [...headerFindings(verdict, request, schemes, providerRows)]
  const length = lengthFinding(request)
  if (found !== undefined) {
    const clock =
      found.skewSeconds === undefined ? undefined : clockFinding(found.skewSeconds, verify, schemes)
    return end([found.finding, clock, ...plain, length])
  }
  if (code !== 'SIGNATURE_MISMATCH')
    return end([...(plain.length > 0 ? plain : [verdictFinding(verdict)]), length])
  const isOpen = told === undefined || told === otherAddress
  return end([length, guessed, isOpen ? unexplained(schemes) : verdictFinding(verdict)])
}

const guessedAdvice = 'Record the body as it came: `rawBody` takes its text, `rawBodyBase64` its bytes.'

/** Verdicts over which no change of secret, body or address would have any power. */
const isExplained = new Set<SignatureFailure>([
  'TOKEN_EXPIRED',
  'WRONG_AUDIENCE',
  'WRONG_SENDER',
  'WRONG_TOPIC',
  'KEYS_UNAVAILABLE',
])

export interface Found {
  readonly finding: Finding
  /** The time would be wrong too. */
  readonly skewSeconds?: number
}

/** What all trials together may read, and how many there are however short the body is. */
const mostBytes = 256 * 1024 * 1024
const mostTrials = 1000
const fewestTrials = 40

/** The first change that makes the signature fit. */
export async function findChange(suspect: Suspect, means: VerifyDependencies): Promise<Found | undefined> {
  const affordable = Math.floor(mostBytes / Math.max(1, suspect.request.rawBody.length))
  let left = Math.min(mostTrials, Math.max(fewestTrials, affordable))
  for (const { verifier, request, finding: found } of trialsOf(suspect)) {
    if (left-- === 0) return undefined
    if (verifier === undefined) continue
    const verdict = await ask(verifier, request, means)
    if (verdict.ok) return { finding: found }
    if (isSignatureRight(verdict)) return { finding: found, skewSeconds: verdict.skewSeconds }
  }
  return undefined
}

/** As the gateway asks: what is out of reach is a verdict here. */
export async function ask(
  verifier: Pick<Verifier, 'verify'>,
  request: SignedRequest,
  means: VerifyDependencies,
): Promise<Verdict> {
  try {
    return await verifier.verify(request, means)
  } catch (error) {
    if (error instanceof UnavailableError) return unverified('KEYS_UNAVAILABLE')
    throw error
  }
}
