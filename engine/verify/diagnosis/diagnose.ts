/**
 * Owns the diagnosis of one request: whether its endpoint would take it, and if not, what differs. It asks the verifiers
 * that the gateway asks, with one thing changed at a time, so that it can be wrong only where they are. It never tells a
 * signature that would be right: with it anybody could sign.
 */

import { hash } from 'node:crypto'
import type { Auth } from '../../config/configuration.ts'
import { providerRows } from '../../providers/index.ts'
import { rowOf } from '../../providers/material.ts'
import { secretsOf } from '../../providers/secrets.ts'
import type { VerifyPolicy } from '../../providers/verify-policy.ts'
import type { Handshakes } from '../handshakes/handshake.ts'
import { createProvider } from '../provider.ts'
import type { SignedRequest, VerifyDependencies } from '../verifier.ts'
import { type Compared, type Diagnosis, type Finding, finding, findingCodes } from './diagnosis.ts'
import { ask, type DiagnosedRequest, type Ended, explain, findChange } from './explain.ts'
import { findHandshake } from './handshakes.ts'
import { knownHeadersIn, schemesOf } from './places.ts'
import type { OtherPolicy } from './trials.ts'

/** What is known of the endpoint that the request came to. */
export interface DiagnosedEndpoint {
  readonly auth?: Auth
  readonly verify?: VerifyPolicy
  /** What the host says of the token that came. */
  readonly token: 'right' | 'older' | 'wrong' | 'missing'
}

/** @param others what other endpoints are verified with: a sender may have been given the wrong secret or address */
export async function diagnose(
  request: DiagnosedRequest,
  endpoint: DiagnosedEndpoint,
  others: readonly OtherPolicy[],
  means: VerifyDependencies,
): Promise<Diagnosis> {
  const { verify } = endpoint
  const ended = await judge(request, endpoint, others, means)
  const provider = verify?.provider
  return { ...(provider !== undefined && { provider }), ...ended, compared: compare(request, verify) }
}

/** In the order in which the gateway looks. */
async function judge(
  request: DiagnosedRequest,
  endpoint: DiagnosedEndpoint,
  others: readonly OtherPolicy[],
  means: VerifyDependencies,
): Promise<Ended> {
  const { verify } = endpoint
  const { verifier, handshakes } = verify ? createProvider(verify) : {}
  const auth = endpoint.auth ?? (verifier === undefined ? 'token' : 'signature')
  if (request.method !== 'POST') {
    const isKnown = handshakes?.methods.includes(request.method)
    return (isKnown && answered(handshakes, request, false)) || refused('METHOD_NOT_ALLOWED', methodAdvice)
  }

  const asksSignature = auth === 'signature' || auth === 'both'
  const token = auth === 'token' || auth === 'both' ? judgeToken(endpoint.token) : undefined
  const about = asksSignature ? [] : [whyNoSignature(auth, verify, verifier !== undefined)]
  // Whoever guesses is not listened to.
  const isLacking =
    token?.code === 'TOKEN_MISSING' || (asksSignature && !verifier?.isPresent(request.headers))
  if (isLacking && token?.code !== 'TOKEN_WRONG' && handshakes?.unsigned) {
    const unsigned = answered(handshakes, request, false)
    if (unsigned) return unsigned
  }
  if (token?.taken === false) return { ...token, findings: [...about, ...token.findings] }
  if (!asksSignature) {
    const handshake = answered(handshakes, request, auth !== 'none')
    return handshake ?? { ...(token ?? nothingAsked), findings: [...about, ...(token?.findings ?? [])] }
  }
  if (verify === undefined || verifier === undefined) return withoutKey(request, verify, means)

  const verdict = await ask(verifier, request, means)
  if (!verdict.ok) return explain(verdict, request, verify, others, means)
  const handshake = answered(handshakes, request, true)
  if (handshake?.taken === false) return handshake
  const secrets = secretsOf(verify.secret).length || secretsOf(verify.publicKey).length
  const older = verdict.secret > 0 ? [finding('OLDER_SECRET', undefined, olderAdvice)] : []
  return {
    taken: true,
    code: 'TAKEN',
    told: 'the signature is right',
    ...handshake,
    scheme: verdict.scheme,
    ...(secrets > 0 && { secret: verdict.secret + 1, secrets }),
    findings: [...(handshake?.findings ?? []), ...older, ...(token?.findings ?? [])],
  }
}

const methodAdvice = 'A right signature changes nothing about that: choose POST at the sender.'

const olderAdvice = 'Keep it until the sender signs with the newest one, then take it out of the list.'

const nothingAsked: Ended = {
  taken: true,
  code: 'TAKEN',
  told: 'nothing is asked of a sender on this machine',
  findings: [],
}

function judgeToken(token: DiagnosedEndpoint['token']): Ended {
  switch (token) {
    case 'missing':
      return refused('TOKEN_MISSING', tokenAdvice)
    case 'wrong':
      return refused('TOKEN_WRONG')
    case 'older':
      return { taken: true, code: 'TAKEN', told: 'the token is right', findings: [finding('OLDER_TOKEN')] }
    case 'right':
      return { taken: true, code: 'TAKEN', told: 'the token is right', findings: [] }
  }
}

const tokenAdvice = 'Send it as `Authorization: Bearer …` or as `x-gateway-token`.'

function whyNoSignature(auth: Auth, verify: VerifyPolicy | undefined, hasVerifier: boolean): Finding {
  if (auth === 'none') return finding('NOTHING_ASKED')
  if (verify === undefined) return finding('NO_VERIFY', undefined, verifyAdvice)
  const signsNothing = verify.provider === undefined || rowOf(verify)?.schemes.length === 0
  if (signsNothing) return finding('SIGNS_NOTHING')
  return hasVerifier ? finding('SIGNATURE_NOT_ASKED') : finding('NO_SECRET', undefined, keyAdvice)
}

const verifyAdvice = 'To have signatures verified, give the endpoint `verify`.'
const keyAdvice =
  'Set what `verify` names, in the environment or in `.env`; `reveille doctor` says what that is.'

function refused(code: 'METHOD_NOT_ALLOWED' | 'TOKEN_MISSING' | 'TOKEN_WRONG', advice?: string): Ended {
  return { taken: false, code, told: findingCodes[code], findings: [finding(code, undefined, advice)] }
}

/** Undefined: it is no handshake. */
function answered(
  handshakes: Handshakes | undefined,
  request: SignedRequest,
  isTrusted: boolean,
): Ended | undefined {
  const handshake = findHandshake(handshakes, request, isTrusted)
  if (handshake === undefined) return undefined
  const { status, reason } = handshake
  const taken = status < 400
  return {
    taken,
    code: taken ? 'HANDSHAKE' : 'HANDSHAKE_WRONG',
    told: reason,
    status,
    findings: [taken ? finding('HANDSHAKE') : finding('HANDSHAKE_WRONG', undefined, handshakeAdvice)],
  }
}

const handshakeAdvice =
  'See that what the provider shows is what is configured: `verify.verifyToken`, `topicArns` or `allowedOrigins`.'

/** A key that stands in the wrong field leaves nothing to verify with. */
async function withoutKey(
  request: SignedRequest,
  verify: VerifyPolicy | undefined,
  means: VerifyDependencies,
): Promise<Ended> {
  const code = verify === undefined ? 'NO_VERIFY' : 'NO_SECRET'
  const suspect = verify && { request, verify, schemes: [], providers: [], others: [] }
  const found = suspect && (await findChange(suspect, means))
  const findings = [
    ...(found ? [found.finding] : []),
    finding(code, undefined, code === 'NO_VERIFY' ? verifyAdvice : keyAdvice),
  ]
  return { taken: false, code: 'SECRET_MISSING', told: 'there is nothing to verify with', findings }
}
function compare({ rawBody, headers, now }: SignedRequest, verify: VerifyPolicy | undefined): Compared {
  return {
    bodyBytes: rawBody.length,
    bodySha256: hash('sha256', rawBody),
    now: new Date(now).toISOString(),
    headers: knownHeadersIn(headers, verify === undefined ? [] : schemesOf(verify), providerRows),
  }
}
