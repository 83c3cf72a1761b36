/**
 * Takes a request through steps, each of which lets it pass or ends it with an outcome. No step checks again what an earlier one has
 * checked, and nothing before the body costs more than a lookup, as unauthenticated clients get that far.
 */

import {
  type Action,
  type Decision,
  type Fields,
  type Handshake,
  type HookRequest,
  parseFields,
  type Refusal,
  type Snapshot,
  type Timers,
  type VerifyDependencies,
} from '@reveille/engine'
import type { MintId } from '../store/id.ts'
import type { Health } from '../store/port.ts'
import { firstRunOf } from '../store/task-keys.ts'
import { isWrongTry, sentenceOf } from './auth/auth-failure.ts'
import { type AuthResult, authenticate, isOfThisMachine } from './auth/authenticate.ts'
import type { EndpointAuth, EndpointAuthTable, FoundToken } from './auth/endpoint-auth.ts'
import { createHandshakes, maxUnauthenticatedBytes, payloadOf } from './auth/handshakes.ts'
import { presentedToken, withoutToken, withoutTokens } from './auth/presented-token.ts'
import { createRejectUnauthenticated, overRate } from './auth/reject.ts'
import { createSenderWarnings } from './auth/sender-warnings.ts'
import { createSignatureStep } from './auth/signature.ts'
import { type Decoded, decodedIfReadable, decoderFor, maxBytesFor } from './body/decode.ts'
import { decompress } from './body/decompress.ts'
import { declaredBytes, digestOfBody } from './body/read-body.ts'
import type { Throttle } from './clients/throttle.ts'
import { type ErrorCode, isErrorCode } from './errors.ts'
import type { HookLog } from './log/request-log.ts'
import {
  type Concluded,
  elapsed,
  outcomeOfError,
  type Refused,
  type RequestContext,
  type RequestFacts,
  refused,
} from './request-context.ts'
import { isValidAddress } from './target.ts'

export interface RequestPipelineOptions {
  readonly health: () => Pick<Health, 'full' | 'fullOfEvents'>
  readonly log: HookLog
  /** Milliseconds since the Unix epoch. */
  readonly now: () => number
  /** Monotonic, in milliseconds. */
  readonly clock: () => number
  readonly timers: Timers
  readonly mintId: MintId
  /** Aborted when the gateway begins to drain. */
  readonly draining: AbortSignal
  readonly authTableOf: (snapshot: Snapshot) => EndpointAuthTable
  readonly throttle: Throttle
  /** True if only this machine can reach the gateway; `auth: none` relies on it. */
  readonly isBoundToLoopback: boolean
  /** Dependencies of verifiers. */
  readonly verifyDependencies: VerifyDependencies
  /**
   * Does what a handshake asks for besides its reply, and resolves when the reply may be sent. `policy` is the policy whose
   * `verify` answered the handshake. @throws UnavailableError
   */
  readonly performHandshakeEffects: (policy: string, handshake: Handshake, client: string) => Promise<void>
  /** Reason why the gateway itself caused the request, in one sentence; such a request is ignored. */
  readonly loopIn: (request: HookRequest) => string | undefined | Promise<string | undefined>
  /** Called for a request whose token or secret is not the newest of its list, which the configuration names so. */
  readonly onOldToken?: ((list: string) => void) | undefined
  /** Called for each request that the engine has decided about. Must not throw, and costs every sender its time. */
  readonly onResolved?: ((request: HookRequest, snapshot: Snapshot) => void) | undefined
}

/** A request whose body may be read. */
export interface Admitted {
  readonly facts: RequestContext
  readonly endpoint: string
  readonly endpointAuth: EndpointAuth
  readonly query: Readonly<Fields>
  readonly maxBytes: number
  readonly by: Exclude<AuthResult['kind'], 'failed'> | 'handshake'
  /** The refusal of an unauthenticated request whose body is no unsigned handshake. */
  readonly refusal?: Refused
}

interface Admission extends Pick<Admitted, 'facts' | 'by' | 'refusal'> {
  readonly token?: FoundToken | undefined
}

export function createRequestPipeline(options: RequestPipelineOptions) {
  const steps = createSteps(options)
  return {
    /** The steps before the body: nothing of it has been read where they end a request. */
    admit: (arrived: RequestContext): Promise<Concluded<RequestContext> | Admitted> =>
      admit(steps, arrived).catch((error) => ({ facts: arrived, outcome: outcomeOfError(error) })),
    /** The steps once the body is read. @throws SenderGone */
    receive: (admitted: Admitted, sent: Buffer) => receive(steps, admitted, sent),
    /** The steps after authentication, for a request that no sender makes. No rate counts a replay, which an operator asked for. */
    internal: (begun: RequestFacts, body: Buffer): Promise<Concluded> =>
      internal(steps, begun, body).catch((error) => ({ facts: begun, outcome: outcomeOfError(error) })),
  }
}

type Steps = ReturnType<typeof createSteps>

function createSteps(options: RequestPipelineOptions) {
  const { log, now, throttle, performHandshakeEffects, verifyDependencies } = options
  const warnings = createSenderWarnings(log, now, options.onOldToken)
  const rejectUnauthenticated = createRejectUnauthenticated(throttle)
  return {
    ...options,
    warnings,
    rejectUnauthenticated,
    handshakes: createHandshakes({ throttle, rejectUnauthenticated, performHandshakeEffects }),
    verifySignature: createSignatureStep({ verifyDependencies, throttle, warnings, rejectUnauthenticated }),
  }
}

async function admit(steps: Steps, arrived: RequestContext): Promise<Concluded<RequestContext> | Admitted> {
  const { endpoint, incoming, live } = arrived
  const { snapshot } = live
  if (!snapshot.settings.hooks.enabled) return refusedWith(arrived, 'NOT_FOUND')
  const endpointAuth = steps.authTableOf(snapshot).authFor(endpoint)
  const query = parseFields(arrived.query)
  const admission = await authenticateSender(steps, arrived, endpointAuth, query)
  if ('outcome' in admission) return admission
  const { facts, by, refusal, token } = admission
  const limit = endpoint === undefined ? 0 : maxBytesFor(snapshot, endpoint)
  if (refusal !== undefined && endpoint !== undefined) {
    const maxBytes = Math.min(maxUnauthenticatedBytes, limit)
    return declaredBytes(incoming) > maxBytes
      ? { facts, outcome: refusal }
      : { facts, by, refusal, endpoint, endpointAuth, query, maxBytes }
  }
  if (!isValidAddress(incoming.url ?? '')) return refusedWith(facts, 'INVALID_ADDRESS')
  if (endpoint === undefined || !snapshot.covers(endpoint)) return refusedWith(facts, 'NOT_FOUND')
  if (token !== undefined) steps.warnings.ofToken(facts, token)
  // A signature is verified once the body is read, and its request counts then.
  const limited = by === 'signature' ? undefined : overEndpointRate(steps, endpointAuth)
  const unable = limited ?? inability(steps, endpoint)
  if (unable) return { facts, outcome: unable }
  if (declaredBytes(incoming) > limit) return refusedWith(facts, 'BODY_TOO_LARGE')
  return { facts, by, endpoint, endpointAuth, query, maxBytes: limit }
}

/** Authenticates the sender by the head of its request, or ends the request. */
async function authenticateSender(
  { throttle, handshakes, rejectUnauthenticated, isBoundToLoopback }: Steps,
  arrived: RequestContext,
  endpointAuth: EndpointAuth,
  query: Readonly<Fields>,
): Promise<Concluded<RequestContext> | Admission> {
  const { incoming, headers, client, isTunnelled } = arrived
  const { auth, rate, verify } = endpointAuth
  if (auth === 'none' && isTunnelled) return { facts: arrived, outcome: refusedInTunnel }
  const { hooks } = arrived.live.snapshot.settings
  if (incoming.method !== 'POST')
    return { facts: arrived, outcome: await handshakes.ofMethod(arrived, endpointAuth) }
  const limited = overRate(throttle.takeOfClient(client, rate), 'client', rate)
  if (limited) return { facts: arrived, outcome: limited }

  const taken = auth === 'both' ? verify?.value.tokenHeaders : undefined
  const presented = presentedToken(headers, query, hooks.allowQueryToken, taken)
  const isDeprecated = presented?.deprecated === true && auth !== 'signature'
  const facts: RequestContext = isDeprecated ? { ...arrived, deprecated: true } : arrived
  const isLocal = () => isBoundToLoopback && isOfThisMachine(incoming, client)
  const result = authenticate(endpointAuth, headers, presented, isLocal)
  if (result.kind === 'failed') {
    const refusal = rejectUnauthenticated(facts, result)
    // No handshake is looked for where the sender guesses, or has guessed too often.
    const mayBeHandshake = refusal.code === 'UNAUTHORIZED' && !isWrongTry(result)
    return mayBeHandshake && verify?.value.handshakes?.unsigned && facts.endpoint !== undefined
      ? { facts, by: 'handshake', refusal }
      : { facts, outcome: refusal }
  }
  const { kind: by, token } = result
  if (by === 'token') throttle.right(client)
  return { facts: by === 'signature' ? facts : { ...facts, isAuthenticated: true }, by, token }
}

async function receive(steps: Steps, admitted: Admitted, sent: Buffer): Promise<Concluded<RequestContext>> {
  const { facts: head, endpoint, endpointAuth, query, refusal, by, maxBytes } = admitted
  let body = sent
  let { timings, isAuthenticated } = head
  const facts = () => ({ ...head, body, timings, ...(isAuthenticated && { isAuthenticated }) })
  const ended = (outcome: Concluded['outcome']) => ({ facts: facts(), outcome })
  try {
    if (refusal !== undefined)
      return ended((await steps.handshakes.ofUnauthenticated(admitted, sent)) ?? refusal)
    if (by === 'signature') {
      const refused =
        (await steps.verifySignature(head, endpointAuth, sent)) ?? overEndpointRate(steps, endpointAuth)
      if (refused) return ended(refused)
      isAuthenticated = true
    }
    const { 'content-encoding': encoding, 'content-type': type } = head.headers
    if (encoding !== undefined) body = await decompress(sent, encoding, maxBytes)
    timings = { read: elapsed(head, steps.clock) }
    const decode = decoderFor(endpoint, body, type)
    if (endpointAuth.verify?.value.handshakes) {
      const received = { query, payload: payloadOf(body, decode), isTrusted: by !== 'open' }
      const handshake = await steps.handshakes.ofSender(head, endpointAuth, received)
      if (handshake) return ended(handshake)
    }
    return await decide(steps, facts(), endpointAuth, query, body, decode)
  } catch (error) {
    return ended(outcomeOfError(error))
  }
}

async function internal(steps: Steps, begun: RequestFacts, body: Buffer): Promise<Concluded> {
  const { endpoint, headers, live, replay } = begun
  const { snapshot } = live
  if (endpoint === undefined || !snapshot.settings.hooks.enabled || !snapshot.covers(endpoint))
    return refusedWith(begun, 'NOT_FOUND')
  const endpointAuth = steps.authTableOf(snapshot).authFor(endpoint)
  const unable = (replay ? undefined : overEndpointRate(steps, endpointAuth)) ?? inability(steps, endpoint)
  if (unable) return { facts: begun, outcome: unable }
  if (body.length > maxBytesFor(snapshot, endpoint)) return refusedWith(begun, 'BODY_TOO_LARGE')
  const facts = { ...begun, body }
  try {
    const decode = decoderFor(endpoint, body, headers['content-type'])
    return await decide(steps, facts, endpointAuth, parseFields(facts.query), body, decode)
  } catch (error) {
    return { facts, outcome: outcomeOfError(error) }
  }
}

/** Reason why no request is accepted at this moment. */
function inability({ draining, health }: Steps, endpoint: string): Refused | undefined {
  if (draining.aborted) return refused('DRAINING')
  const { full, fullOfEvents } = health()
  return full || (fullOfEvents && endpoint === 'wake') ? refused('BACKLOG') : undefined
}

function overEndpointRate({ throttle }: Steps, { rate }: EndpointAuth): Refused | undefined {
  return overRate(throttle.takeOfEndpoint(rate), 'endpoint', rate)
}

/** The step that every request takes: the engine decides. */
async function decide<Facts extends RequestFacts>(
  steps: Steps,
  begun: Facts,
  { verify }: EndpointAuth,
  query: Readonly<Fields>,
  body: Buffer,
  decode: () => Decoded,
): Promise<Concluded<Facts>> {
  const { endpoint = '' } = begun
  const { snapshot } = begun.live
  const { hooks } = snapshot.settings
  const received = {
    endpoint,
    headers: withoutTokens(begun.headers, verify?.value.tokenHeaders ?? []),
    query: hooks.allowQueryToken ? withoutToken(query) : query,
    rawBody: body,
    now: begun.receivedAt,
    id: begun.requestId,
    sender: begun.client,
  }
  const request: HookRequest = snapshot.readsPayload(endpoint)
    ? { ...received, ...decode() }
    : {
        ...received,
        get payload() {
          return decodedIfReadable(decode)?.payload
        },
        get isForm() {
          return decodedIfReadable(decode)?.isForm ?? false
        },
      }
  const deliveryId = verify?.value.deliveryIdOf(request)?.trim() || undefined
  let { timings } = begun
  let bodyDigest: string | undefined
  const ended = (outcome: Concluded['outcome']): Concluded<Facts> => ({
    facts: { ...begun, deliveryId, timings, ...(bodyDigest && { bodyDigest }) },
    outcome,
  })
  try {
    const caused = steps.loopIn(request)
    const loop = caused && (await caused)
    if (loop !== undefined) return ended({ outcome: 'ignored', reason: loop, isLoop: true })
    const decision = await snapshot.resolve(request)
    timings = { ...timings, resolve: elapsed(begun, steps.clock) }
    steps.onResolved?.(request, snapshot)
    if (decision.outcome !== 'accepted') {
      const outcome = 'code' in decision ? refusedByEngine(decision) : decision
      return { ...ended(outcome), ...(hasTrace(decision) && { decided: { request, decision } }) }
    }
    const { actions, mapping, reply, warnings } = decision
    if (warnings) steps.warnings.ofUnknownFields(begun, warnings)
    if (actions.some(({ dedupe }) => dedupe && isChosenKey(dedupe, deliveryId)))
      bodyDigest = await digestOfBody(body)
    const persisted = actions.map((action) => ({ id: firstRunIn(action) ?? steps.mintId(), action }))
    const more = { ...(warnings && { warnings }), ...(reply && { reply }) }
    return ended({ outcome: 'accepted', actions: persisted, mapping, ...more })
  } catch (error) {
    return ended(outcomeOfError(error))
  }
}

function refusedWith<Facts extends RequestFacts>(facts: Facts, code: ErrorCode): Concluded<Facts> {
  return { facts, outcome: refused(code) }
}

/** True if the sender or the mapping chose the key. The id of a delivery is the provider's, whose body may differ from try to try. */
function isChosenKey(
  { key, isGiven }: NonNullable<Action['dedupe']>,
  deliveryId: string | undefined,
): boolean {
  return isGiven || deliveryId === undefined || !key.includes(deliveryId)
}

/** A token would not help here: the endpoint is for programs on this machine, which a tunnel is not. */
const refusedInTunnel: Refused = {
  ...refused('NOT_THROUGH_TUNNEL'),
  failure: 'NOT_LOCAL',
  reason: sentenceOf({ failure: 'NOT_LOCAL' }),
}

/** A generated session key holds the id of the session's first run, so that the next run can wait for it. */
function firstRunIn(action: Action): string | undefined {
  return action.kind === 'agent' && !action.sessionKeyGiven ? firstRunOf(action.sessionKey) : undefined
}

/** True if the record is to show how each mapping was tried. */
function hasTrace(decision: Decision): boolean {
  if (decision.outcome === 'refused') return isRefusedByConfiguration(decision)
  return decision.outcome === 'ignored' || decision.outcome === 'failed'
}

/** Refusals of bodies of `/wake` and `/agent`, which have no mapping, that another configuration would not refuse. */
const configurable: ReadonlySet<string> = new Set([
  'UNKNOWN_CHANNEL',
  'CHANNEL_NOT_CONFIGURED',
  'MODEL_NOT_ALLOWED',
  'SESSION_KEY_NOT_ALLOWED',
  'TOO_LARGE_RENDERED',
])

/** True if an edited configuration could accept the same request. A mapping that refuses has been asked, and is the operator's. */
function isRefusedByConfiguration({ outcome, mapping, code }: Refusal): boolean {
  return outcome === 'refused' && (mapping !== undefined || configurable.has(code))
}

function refusedByEngine(refusal: Refusal): Refused {
  const { outcome, code, status, message, details, mapping, reason, cause } = refusal
  if (!isErrorCode(code)) {
    const fault = new Error('The engine refused with a code that the table of errors lacks.', { cause })
    return { outcome: 'failed', code: 'INTERNAL', mapping, reason, fault }
  }
  const result = { outcome, code, sentence: message, details, mapping, reason }
  if (outcome === 'failed') return { ...result, fault: cause }
  return {
    ...result,
    ...(status && { status }),
    ...(isRefusedByConfiguration(refusal) && { isByConfiguration: true }),
  }
}
