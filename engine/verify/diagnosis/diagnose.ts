/**
 * Diagnoses one request: whether its endpoint would accept it, and if not, what differs. It asks the gateway's verifiers,
 * with one thing changed at a time, so that it can be wrong only where they are. It never shows a signature that would be
 * right, because anybody could sign with that.
 */

import { hash } from 'node:crypto'
import type { Auth } from '../../config/configuration.ts'
import { providerRows } from '../../providers/index.ts'
import { rowOf } from '../../providers/material.ts'
import { secretsOf } from '../../providers/secrets.ts'
import type { VerifyPolicy } from '../../providers/verify-policy.ts'
import type { Handshakes } from '../handshakes/handshake.ts'
import { headerOf } from '../header.ts'
import { createProvider } from '../provider.ts'
import type { SignedRequest, VerifyDependencies } from '../verifier.ts'
import type { OtherPolicy } from './changes.ts'
import { type Compared, type Diagnosis, type Finding, finding, findingCodes } from './diagnosis.ts'
import { explainFailure, headersOf, verifyAsGateway } from './explain.ts'

/** What is known of the endpoint that the request came to. */
export interface DiagnosedEndpoint {
  readonly auth?: Auth
  readonly verify?: VerifyPolicy
  /** What the host says of the token that came. */
  readonly token: 'right' | 'older' | 'wrong' | 'missing'
}

type Result = Omit<Diagnosis, 'provider' | 'compared'>

/** @param others what other endpoints are verified with, because a sender may have been given the wrong secret */
export async function diagnose(
  request: SignedRequest,
  endpoint: DiagnosedEndpoint,
  others: readonly OtherPolicy[],
  dependencies: VerifyDependencies,
): Promise<Diagnosis> {
  const { verify } = endpoint
  const result = await judge(request, endpoint, others, dependencies)
  const provider = verify?.provider
  return { ...(provider !== undefined && { provider }), ...result, compared: compare(request, verify) }
}

/** Looks at the same things as the gateway, in the same order. */
async function judge(
  request: SignedRequest,
  endpoint: DiagnosedEndpoint,
  others: readonly OtherPolicy[],
  dependencies: VerifyDependencies,
): Promise<Result> {
  const { verify } = endpoint
  const { verifier, handshakes } = verify ? createProvider(verify) : {}
  const auth = endpoint.auth ?? (verifier === undefined ? 'token' : 'signature')
  if (request.method !== 'POST') {
    const isKnown = handshakes?.methods.includes(request.method)
    return (
      (isKnown && answerHandshake(handshakes, request, false)) || refused('METHOD_NOT_ALLOWED', methodAdvice)
    )
  }

  const asksSignature = auth === 'signature' || auth === 'both'
  const token = auth === 'token' || auth === 'both' ? judgeToken(endpoint.token) : undefined
  const about = asksSignature ? [] : [whyNoSignature(auth, verify, verifier !== undefined)]
  const isLacking =
    token?.code === 'TOKEN_MISSING' || (asksSignature && !verifier?.isPresent(request.headers))
  // A sender that shows a wrong token is guessing, and gets no answer to a handshake.
  if (isLacking && token?.code !== 'TOKEN_WRONG' && handshakes?.unsigned) {
    const unsigned = answerHandshake(handshakes, request, false)
    if (unsigned) return unsigned
  }
  if (token?.taken === false) return { ...token, findings: [...about, ...token.findings] }
  if (!asksSignature) {
    const handshake = answerHandshake(handshakes, request, auth !== 'none')
    return handshake ?? { ...(token ?? nothingAsked), findings: [...about, ...(token?.findings ?? [])] }
  }
  if (verify === undefined || verifier === undefined) return withoutKey(verify)

  const verified = await verifyAsGateway(verifier, request, dependencies)
  if (!verified.ok) {
    const schemes = rowOf(verify)?.schemes ?? []
    return explainFailure(verified, { request, verify, schemes, others, dependencies })
  }
  const handshake = answerHandshake(handshakes, request, true)
  if (handshake?.taken === false) return handshake
  const secrets = secretsOf(verify.secret).length || secretsOf(verify.publicKey).length
  const older = verified.secret > 0 ? [finding('OLDER_SECRET', undefined, olderAdvice)] : []
  return {
    taken: true,
    code: 'TAKEN',
    told: 'the signature is right',
    ...handshake,
    scheme: verified.scheme,
    ...(secrets > 0 && { secret: verified.secret + 1, secrets }),
    findings: [...(handshake?.findings ?? []), ...older, ...(token?.findings ?? [])],
  }
}

const methodAdvice = 'A right signature changes nothing about that: choose POST at the sender.'
const olderAdvice = 'Keep it until the sender signs with the newest one, then take it out of the list.'
const tokenAdvice = 'Send it as `Authorization: Bearer …` or as `x-gateway-token`.'
const verifyAdvice = 'To have signatures verified, give the endpoint `verify`.'
const keyAdvice =
  'Set what `verify` names, in the environment or in `.env`; `reveille doctor` says what that is.'
const handshakeAdvice =
  'See that what the provider shows is what is configured: `verify.verifyToken`, `topicArns` or `allowedOrigins`.'

const nothingAsked: Result = {
  taken: true,
  code: 'TAKEN',
  told: 'nothing is asked of a sender on this machine',
  findings: [],
}

function judgeToken(token: DiagnosedEndpoint['token']): Result {
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

function whyNoSignature(auth: Auth, verify: VerifyPolicy | undefined, hasVerifier: boolean): Finding {
  if (auth === 'none') return finding('NOTHING_ASKED')
  if (verify === undefined) return finding('NO_VERIFY', undefined, verifyAdvice)
  const signsNothing = verify.provider === undefined || rowOf(verify)?.schemes.length === 0
  if (signsNothing) return finding('SIGNS_NOTHING')
  return hasVerifier ? finding('SIGNATURE_NOT_ASKED') : finding('NO_SECRET', undefined, keyAdvice)
}

function refused(code: 'METHOD_NOT_ALLOWED' | 'TOKEN_MISSING' | 'TOKEN_WRONG', advice?: string): Result {
  return { taken: false, code, told: findingCodes[code], findings: [finding(code, undefined, advice)] }
}

function withoutKey(verify: VerifyPolicy | undefined): Result {
  const found =
    verify === undefined
      ? finding('NO_VERIFY', undefined, verifyAdvice)
      : finding('NO_SECRET', undefined, keyAdvice)
  return { taken: false, code: 'SECRET_MISSING', told: 'there is nothing to verify with', findings: [found] }
}

/** Answers as the gateway does. Returns undefined where the request is not a handshake. */
function answerHandshake(
  handshakes: Handshakes | undefined,
  { method, target, headers, rawBody }: SignedRequest,
  isTrusted: boolean,
): Result | undefined {
  const query = queryOf(target)
  const handshake = handshakes?.answer({ method, headers, query, payload: payloadOf(rawBody), isTrusted })
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

/** A name that comes more than once gives a list, as everywhere in the gateway. */
function queryOf(target: string): Record<string, string | string[]> {
  const query: Record<string, string | string[]> = Object.create(null)
  const mark = target.indexOf('?')
  for (const [name, value] of mark === -1 ? [] : new URLSearchParams(target.slice(mark + 1))) {
    const earlier = query[name]
    query[name] = earlier === undefined ? value : [earlier, value].flat()
  }
  return query
}

/** No handshake is longer, and the gateway reads no more of an unauthenticated request. */
const longestHandshake = 16_384

function payloadOf(body: Uint8Array): unknown {
  if (body.length === 0 || body.length > longestHandshake) return undefined
  try {
    return JSON.parse(Buffer.from(body).toString())
  } catch {
    return undefined
  }
}

/** Only headers that some provider signs with are named, because a sender can choose any other name. */
function compare({ rawBody, headers, now }: SignedRequest, verify: VerifyPolicy | undefined): Compared {
  const schemes = [
    ...((verify && rowOf(verify)?.schemes) ?? []),
    ...providerRows.flatMap((row) => row.schemes),
  ]
  const names = [...new Set(schemes.flatMap(headersOf))]
  return {
    bodyBytes: rawBody.length,
    bodySha256: hash('sha256', rawBody),
    now: new Date(now).toISOString(),
    headers: names.filter((name) => headerOf(headers, name) !== undefined),
  }
}
