/**
 * Handles one request in steps, each of which lets it pass or ends it with an outcome. No step checks again what an
 * earlier one has checked, and nothing before `readBody` costs more than a lookup, as strangers get that far.
 */

import type { ServerResponse } from 'node:http'
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
import type { Id, Store } from '../store/port.ts'
import { firstRunOf } from '../store/task-keys.ts'
import { isWrongTry, sentenceOf } from './auth/auth-failure.ts'
import { type AuthResult, authenticate, isOfThisMachine } from './auth/authenticate.ts'
import type { EndpointAuth, EndpointAuthTable, FoundToken } from './auth/endpoint-auth.ts'
import { createHandshakes, payloadOf } from './auth/handshakes.ts'
import { presentedToken, withoutToken, withoutTokens } from './auth/presented-token.ts'
import { createRejectUnauthenticated, overRate } from './auth/reject.ts'
import { createSenderWarnings } from './auth/sender-warnings.ts'
import { createSignatureStep } from './auth/signature.ts'
import { type Decoded, decodeFor, decodeJson, maxBytesFor } from './body/decode.ts'
import { decompress } from './body/decompress.ts'
import { digestOfBody, readBody } from './body/read-body.ts'
import type { Throttle } from './clients/throttle.ts'
import { isErrorCode } from './errors.ts'
import type { HookLog } from './log/request-log.ts'
import { composeEntry, withDispositions } from './record/entry.ts'
import { createOutcomeWaits, type Waiting } from './reply/outcome-waits.ts'
import { waitSecondsOf } from './reply/prefer.ts'
import {
  type Accepted,
  elapsed,
  type RequestContext,
  type RequestFacts,
  type RequestOutcome,
  refused,
} from './request-context.ts'
import {
  createPushHandling,
  type PushHandler,
  refusedWithoutSource,
  sourceOf,
} from './sources/push-handling.ts'
import { isValidAddress } from './target.ts'

export interface RequestPipelineOptions {
  readonly store: Store
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
  /** Whether only this machine can reach the gateway; `auth: none` rests on it. */
  readonly isBoundToLoopback: boolean
  /** What verifiers may ask for. */
  readonly verifyDependencies: VerifyDependencies
  /**
   * Does what a handshake asks for besides its reply, and resolves when the reply may be sent. `policy` is the policy whose
   * `verify` answered the handshake. @throws UnavailableError
   */
  readonly performHandshakeEffects: (policy: string, handshake: Handshake, client: string) => Promise<void>
  /**
   * The source that handles what is posted to an endpoint at this moment. Such an endpoint is known although no mapping covers
   * it, and mappings that do cover it are not asked.
   */
  readonly pushHandlerOf: (endpoint: string) => PushHandler | undefined
  /** Why the gateway itself caused the request, in one sentence; such a request is ignored. */
  readonly loopIn: (request: HookRequest) => string | undefined | Promise<string | undefined>
  /** Whether the main session lives in another system, which is given every event at once. */
  readonly relaysEvents: () => boolean
  /** Called for a request whose token or secret is not the newest of its list, which the configuration names so. */
  readonly onOldToken?: ((list: string) => void) | undefined
  /** Called before the reply to a request that is ignored or fails, so that its record can be noted with the reason. */
  readonly onWithoutEffect: (id: Id, snapshot: Snapshot, request: HookRequest, decision: Decision) => void
  /** Called for each request that the engine has decided about. Must not throw, and costs every sender its time. */
  readonly onResolved?: ((request: HookRequest, snapshot: Snapshot) => void) | undefined
}

/** How a request was authenticated, or that it is internal and need not be. */
type Authenticated =
  | Exclude<AuthResult, { kind: 'failed' }>
  | { readonly kind: 'internal'; readonly token?: never }

/** Each method throws RequestError, StoreError, UnavailableError, SenderGone; any other error is a fault of the gateway. */
export interface RequestPipeline {
  handle(context: RequestContext): Promise<RequestOutcome>
  /**
   * Takes a stored request through the steps that follow authentication. No rate counts it, as an operator asked for it, and its
   * body was decompressed when it came.
   */
  replay(facts: RequestFacts, body: Buffer): Promise<RequestOutcome>
}

export function createRequestPipeline(options: RequestPipelineOptions): RequestPipeline {
  const { store, log, now, clock, mintId, timers, draining, throttle } = options
  const { verifyDependencies, performHandshakeEffects } = options
  const warnings = createSenderWarnings(log, now, options.onOldToken)
  const rejectUnauthenticated = createRejectUnauthenticated(throttle)
  const handshakes = createHandshakes({ throttle, rejectUnauthenticated, performHandshakeEffects, timers })
  const verifySignature = createSignatureStep({
    verifyDependencies,
    throttle,
    warnings,
    rejectUnauthenticated,
  })
  const handlePush = createPushHandling({ timers, draining })
  const waits = createOutcomeWaits({ store, timers, draining })

  async function handle(context: RequestContext): Promise<RequestOutcome> {
    const { incoming, outgoing, headers, endpoint, isInternal } = context
    const { snapshot } = context.live
    const { hooks } = snapshot.settings

    if (!hooks.enabled) return refused('NOT_FOUND')
    const endpointAuth = options.authTableOf(snapshot).authFor(endpoint)
    const { rate, verify } = endpointAuth
    const query = parseFields(context.query)
    const auth: Authenticated | RequestOutcome = isInternal
      ? { kind: 'internal' }
      : await authenticateSender(context, endpointAuth, query)
    if ('outcome' in auth) return auth
    if (!isInternal && !isValidAddress(incoming.url ?? '')) return refused('INVALID_ADDRESS')
    const pushHandler = endpoint === undefined || isInternal ? undefined : options.pushHandlerOf(endpoint)
    if (endpoint === undefined || !(pushHandler || snapshot.covers(endpoint))) return refused('NOT_FOUND')
    if (auth.token) warnOfToken(context, auth.token)
    // Whether a signature is good is only known once the body is read, and its request counts then.
    const isSigned = auth.kind === 'signature'
    if (!isSigned) context.isAuthenticated = true
    const counted = isSigned ? undefined : overRate(throttle.takeOfEndpoint(rate), 'endpoint', rate)
    const limited = counted && (await counted)
    if (limited) return limited
    const unable = inabilityToTake(endpoint)
    if (unable) return unable

    const maxBytes = maxBytesFor(snapshot, endpoint)
    const sent = await readBody(incoming, outgoing, { maxBytes, timeoutMs: hooks.bodyTimeoutMs, timers })
    context.body = sent
    if (isSigned && verify) {
      const refusal =
        (await verifySignature(context, verify, sent)) ??
        (await overRate(throttle.takeOfEndpoint(rate), 'endpoint', rate))
      if (refusal) return refusal
      context.isAuthenticated = true
    }
    const encoding = headers['content-encoding']
    const body = encoding === undefined ? sent : await decompress(sent, encoding, maxBytes)
    context.body = body
    context.timings.read = elapsed(context, clock)

    let decoded: Decoded | undefined
    const decode = () => {
      decoded ??= decodeFor(endpoint, body, headers['content-type'])
      return decoded
    }
    if (verify?.value.handshakes && !isInternal) {
      const payload = payloadOf(body, decode)
      const received = { query, payload, isTrusted: auth.kind !== 'open' }
      const result = await handshakes.ofSender(context, endpointAuth, received)
      if (result) return result
    }
    if (pushHandler) return handlePush(context, pushHandler, decodeJson(body))
    return decide(context, endpointAuth, query, body, decode())
  }

  async function replay(facts: RequestFacts, body: Buffer): Promise<RequestOutcome> {
    const { endpoint, headers, live } = facts
    const { snapshot } = live
    if (endpoint === undefined || !snapshot.settings.hooks.enabled || !snapshot.covers(endpoint))
      return refused('NOT_FOUND')
    const unable = inabilityToTake(endpoint)
    if (unable) return unable
    if (body.length > maxBytesFor(snapshot, endpoint)) return refused('BODY_TOO_LARGE')
    facts.body = body
    const endpointAuth = options.authTableOf(snapshot).authFor(endpoint)
    const decoded = decodeFor(endpoint, body, headers['content-type'])
    return decide(facts, endpointAuth, parseFields(facts.query), body, decoded)
  }

  /** Why no request is taken at this moment. */
  function inabilityToTake(endpoint: string): RequestOutcome | undefined {
    if (draining.aborted) return refused('DRAINING')
    const { full, fullOfEvents } = store.health()
    return full || (fullOfEvents && endpoint === 'wake') ? refused('BACKLOG') : undefined
  }

  /** The steps that every request takes: the engine decides, and the store commits. */
  async function decide(
    context: RequestFacts,
    { verify }: EndpointAuth,
    query: Readonly<Fields>,
    body: Buffer,
    decoded: Decoded,
  ): Promise<RequestOutcome> {
    const { endpoint = '', isInternal } = context
    const { snapshot } = context.live
    const { hooks, sources } = snapshot.settings
    const request: HookRequest = {
      endpoint,
      headers: withoutTokens(context.headers, verify?.value.tokenHeaders ?? []),
      query: hooks.allowQueryToken ? withoutToken(query) : query,
      ...decoded,
      rawBody: body,
      now: context.receivedAt,
      id: context.requestId,
      sender: context.client,
    }
    context.deliveryId = verify?.value.deliveryIdOf(request)?.trim() || undefined
    const caused = options.loopIn(request)
    const loop = caused && (await caused)
    if (loop !== undefined) return { outcome: 'ignored', reason: loop, isLoop: true }
    const decision = await snapshot.resolve(request)
    context.timings.resolve = elapsed(context, clock)
    options.onResolved?.(request, snapshot)
    const source = decision.outcome === 'ignored' && !isInternal ? sourceOf(endpoint, sources) : undefined
    if (source !== undefined) return refusedWithoutSource(source)
    if (hasTrace(decision)) options.onWithoutEffect(context.requestId, snapshot, request, decision)
    if ('code' in decision) return refusedByEngine(decision)
    if (decision.outcome !== 'accepted') return decision

    const { actions, mapping, reply } = decision
    if (decision.warnings) warnings.ofUnknownFields(context, decision.warnings)
    if (actions.some(({ dedupe }) => dedupe && isChosenKey(dedupe, context)))
      context.bodyDigest = await digestOfBody(body)
    // Not awaited here: this function and with it the payload would live until the commit.
    return accept(context, {
      outcome: 'accepted',
      actions: actions.map((action) => ({ id: firstRunIn(action) ?? mintId(), action })),
      mapping,
      ...(decision.warnings && { warnings: decision.warnings }),
      ...(reply && { reply }),
    })
  }

  /** Authenticates the sender before a byte of its body is read, or ends the request. */
  async function authenticateSender(
    context: RequestContext,
    endpointAuth: EndpointAuth,
    query: Readonly<Fields>,
  ): Promise<Authenticated | RequestOutcome> {
    const { incoming, headers, client, isTunnelled } = context
    const { auth, rate, verify } = endpointAuth
    if (auth === 'none' && isTunnelled) return refusedInTunnel
    const { hooks } = context.live.snapshot.settings
    if (incoming.method !== 'POST') return handshakes.ofMethod(context, endpointAuth)
    const counted = overRate(throttle.takeOfClient(client, rate), 'client', rate)
    const limited = counted && (await counted)
    if (limited) return limited

    const taken = auth === 'both' ? verify?.value.tokenHeaders : undefined
    const presented = presentedToken(headers, query, hooks.allowQueryToken, taken)
    context.deprecated = presented?.deprecated === true && auth !== 'signature'
    const isLocal = () => options.isBoundToLoopback && isOfThisMachine(incoming, client)
    const result = authenticate(endpointAuth, headers, presented, isLocal)
    if (result.kind === 'failed') {
      const refusal = await rejectUnauthenticated(context, result)
      // No handshake is looked for where the sender guesses, or has guessed too often.
      const mayBeHandshake = refusal.code === 'UNAUTHORIZED' && !isWrongTry(result)
      return mayBeHandshake ? handshakes.ofStranger(context, endpointAuth, query, refusal) : refusal
    }
    if (result.kind === 'token') throttle.right(client)
    return result
  }

  /** @throws StoreError */
  async function accept(context: RequestFacts, accepted: Accepted): Promise<RequestOutcome> {
    const outgoing = hasSender(context) ? context.outgoing : undefined
    const waiting = outgoing && beginWaiting(context, outgoing, accepted)
    const accepting = store.accept(composeEntry(context, accepted, now(), options.relaysEvents))
    if (waiting) accepting.catch(waiting.cut)
    const result = withDispositions(await accepting, accepted)
    if (waiting === undefined || outgoing === undefined) return result
    if (result.outcome === 'accepted') return { ...result, waiting }
    waiting.cut()
    const original = 'actions' in result ? result.actions[0] : undefined
    // The original may be over by now, or may have been for days.
    return original ? { ...result, waiting: waits.join(original.id, waiting.seconds, outgoing) } : result
  }

  /** Waiting begins before the commit, because the run may be over at any moment after it. */
  function beginWaiting(
    { endpoint, headers: { prefer } }: RequestFacts,
    outgoing: ServerResponse,
    { actions: [first] }: Accepted,
  ): Waiting | undefined {
    if (prefer === undefined || endpoint !== 'agent' || first === undefined) return undefined
    const seconds = waitSecondsOf(prefer)
    return seconds === undefined ? undefined : waits.begin(first.id, seconds, outgoing)
  }

  function warnOfToken(context: RequestContext, { list, index }: FoundToken): void {
    if (context.deprecated) warnings.ofQueryToken(context)
    if (index > 0) warnings.ofOldToken(context, list, index)
  }

  return { handle, replay }
}

/** Whether the sender or the mapping chose the key. The id of a delivery is the provider's, whose body may differ from try to try. */
function isChosenKey({ key, isGiven }: NonNullable<Action['dedupe']>, { deliveryId }: RequestFacts): boolean {
  return isGiven || deliveryId === undefined || !key.includes(deliveryId)
}

function hasSender(context: RequestFacts): context is RequestContext {
  return 'outgoing' in context
}

/** A token would not help here: the endpoint is for programs on this machine, which a tunnel is not. */
const refusedInTunnel: RequestOutcome = {
  ...refused('NOT_THROUGH_TUNNEL'),
  failure: 'NOT_LOCAL',
  reason: sentenceOf({ failure: 'NOT_LOCAL' }),
}

/** A generated session key holds the id of the session's first run, so that the next run can wait for it. */
function firstRunIn(action: Action): string | undefined {
  return action.kind === 'agent' && !action.sessionKeyGiven ? firstRunOf(action.sessionKey) : undefined
}

/** Whether the record is to say how each mapping was tried. */
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

/** Whether an edited configuration could accept the same request. A mapping that refuses has been asked, and is the operator's. */
function isRefusedByConfiguration({ outcome, mapping, code }: Refusal): boolean {
  return outcome === 'refused' && (mapping !== undefined || configurable.has(code))
}

function refusedByEngine(refusal: Refusal): RequestOutcome {
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
