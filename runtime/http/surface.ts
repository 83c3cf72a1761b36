/** Takes the requests that no other route of the app takes, and replies to each of them once. */

import type { IncomingMessage, ServerResponse } from 'node:http'
import {
  type CurrentLive,
  realTimers,
  type Timers,
  UnavailableError,
  type VerifyDependencies,
} from '@reveille/engine'
import type { FastifyInstance } from 'fastify'
import type { Counters } from '../observe/counters.ts'
import { type Id, type RequestHead, type RequestRecord, StoreError } from '../store/port.ts'
import { createEndpointAuthTables } from './auth/endpoint-auth.ts'
import { SenderGone } from './body/read-body.ts'
import { clientOf } from './clients/client.ts'
import { createThrottle } from './clients/throttle.ts'
import { type ErrorCode, isErrorCode, RequestError } from './errors.ts'
import { describeFault } from './log/fault.ts'
import { createLogLimiter } from './log/log-limiter.ts'
import { logOutcome, logRequest } from './log/request-log.ts'
import { createRequestPipeline, type RequestPipelineOptions } from './pipeline.ts'
import { composeRecord, reasonToKeep, statusOfOutcome } from './record/entry.ts'
import { searchOf } from './record/replayable-request.ts'
import type { Waiting } from './reply/outcome-waits.ts'
import { reply, replyNotFound, replyWithOutcome } from './reply/reply.ts'
import {
  type Accepted,
  type Duplicate,
  elapsed,
  isRefusedByConfiguration,
  type ReplayTerms,
  type RequestContext,
  type RequestFacts,
  type RequestOutcome,
  refused,
} from './request-context.ts'
import { createInternalPost, type PostInternally } from './sources/internal-request.ts'
import { parseTarget } from './target.ts'

type Required = Pick<
  RequestPipelineOptions,
  'store' | 'log' | 'now' | 'mintId' | 'draining' | 'onWithoutEffect'
>

/**
 * By default no request is caused by the gateway itself, the main session lives here, others than this machine may reach the
 * gateway, verifiers find nothing within reach, handshakes have no effects, no source takes over an endpoint, and time is real.
 */
type Optional = Partial<Omit<RequestPipelineOptions, keyof Required | 'authTableOf'>>

export interface HookSurfaceOptions extends Required, Optional {
  readonly current: CurrentLive
  /**
   * Called for each request once its reply was sent, for a replay once it is over, or while its sender waits for the outcome. `ms` is the time since the head
   * of the request. Must not throw.
   */
  readonly onConcluded?: (facts: RequestFacts, result: RequestOutcome, ms: number) => void
  /** Where requests are counted. Default: nowhere. */
  readonly counters?: Pick<Counters, 'noteRequest' | 'noteOldToken'>
  /** The name of this process, where several share a store. */
  readonly node?: string
}

declare module 'fastify' {
  interface FastifyInstance {
    /** Present once `createHookSurface` was called; requests that Fastify cannot route go there too. */
    hookSurface?: HookSurface
  }
}

export interface HookSurface {
  /** Whether the URL is under the `hooks.path` of the current snapshot. */
  takes(url: string): boolean
  /** `isTunnelled`: whether a tunnel on this machine forwarded the request. Default: false. */
  receive(incoming: IncomingMessage, outgoing: ServerResponse, client: string, isTunnelled?: boolean): void
  /**
   * Makes an internal request, for which no token and no signature is required, whatever the policy of the endpoint
   * says.
   */
  readonly post: PostInternally
  readonly replay: ReplayRequest
}

/** Repeats a stored request as a new one, without asking for a token or a signature. Never rejects. */
export type ReplayRequest = (asked: AskedReplay) => Promise<Replayed>

export interface AskedReplay {
  readonly record: RequestRecord & { readonly head: RequestHead }
  /** The body of the record, or what an operator made of it. */
  readonly body: Buffer
  readonly terms: ReplayTerms
  /** The id of the new request. With the id of one that is stored already nothing is changed. */
  readonly requestId: Id
}

export interface Replayed {
  readonly outcome: RequestRecord['outcome']
  /** The status that a sender would have been answered. */
  readonly status: number
  readonly code?: ErrorCode
  readonly reason?: string
  readonly mapping?: string
  readonly actions: readonly {
    readonly kind: 'wake' | 'agent'
    /** The id of the run or event. */
    readonly id: Id
    /** What the store made of the action, unless it is a run or event of its own. */
    readonly became?: 'joined' | 'busy' | 'duplicate'
    readonly duplicateOf?: Id
  }[]
  /** False: the gateway could take no request at that moment, or this one no more, so that nothing was recorded. */
  readonly isRecorded: boolean
}

/** Codes that say something about the gateway at that moment, and nothing about the request. */
const inabilities: ReadonlySet<string> = new Set([
  'NOT_FOUND',
  'DRAINING',
  'BACKLOG',
  'STORE_FULL',
  'STORE_UNAVAILABLE',
])

function isOfGateway(result: RequestOutcome): boolean {
  return 'code' in result && inabilities.has(result.code)
}

function replayedOf(facts: RequestFacts, result: RequestOutcome): Replayed {
  const { outcome, mapping } = result
  const actions = 'actions' in result ? result.actions : []
  const reason =
    result.outcome === 'duplicate' && !('code' in result) ? undefined : reasonToKeep(facts, result)
  return {
    outcome,
    status: statusOfOutcome(result),
    ...('code' in result && { code: result.code }),
    ...(reason !== undefined && { reason }),
    ...(mapping !== undefined && { mapping }),
    actions: actions.map(({ id, action: { kind }, disposition: became, originalRequest }) => ({
      kind,
      id,
      ...(became !== undefined && { became }),
      ...(originalRequest !== undefined && { duplicateOf: originalRequest }),
    })),
    isRecorded: !isOfGateway(result),
  }
}

/**
 * The path is matched here and not by Fastify's router, because `hooks.path` may change with any reload. Other routes of the app
 * come first.
 */
export function createHookSurface(app: FastifyInstance, options: HookSurfaceOptions): HookSurface {
  const { current, store, log, now, mintId, draining, counters, node } = options
  const clock = options.clock ?? performance.now.bind(performance)
  const timers: Timers = options.timers ?? realTimers
  const authTableOf = createEndpointAuthTables()
  const logLimiter = createLogLimiter({ log, clock, timers })
  const pipeline = createRequestPipeline({
    throttle: createThrottle(),
    loopIn: () => undefined,
    relaysEvents: () => false,
    pushHandlerOf: () => undefined,
    isBoundToLoopback: false,
    verifyDependencies: nothingWithinReach,
    performHandshakeEffects: async () => {},
    ...options,
    clock,
    timers,
    authTableOf,
    onOldToken: counters?.noteOldToken,
  })

  function takes(url: string): boolean {
    return parseTarget(url, authTableOf(current().snapshot).prefix) !== undefined
  }

  function receive(
    incoming: IncomingMessage,
    outgoing: ServerResponse,
    client: string,
    isTunnelled = false,
  ): void {
    const live = current()
    if (draining.aborted) outgoing.setHeader('connection', 'close')
    const requestId = mintId()
    const target = parseTarget(incoming.url ?? '', authTableOf(live.snapshot).prefix)
    if (target === undefined) {
      replyNotFound(incoming, outgoing, requestId, timers)
      return
    }
    const { endpoint, query } = target
    const { headers } = incoming
    const whence = { client, isTunnelled, isInternal: false }
    begin({ incoming, outgoing, headers, ...whence, requestId, live, endpoint, query })
  }

  const post = createInternalPost(({ endpoint, by, authenticatedBy }, incoming, outgoing) => {
    const { headers } = incoming
    const whence = {
      client: by,
      isTunnelled: false,
      isInternal: true,
      ...(authenticatedBy && { authenticatedBy }),
    }
    const head = { headers, ...whence, requestId: mintId(), live: current() }
    begin({ incoming, outgoing, ...head, endpoint, query: '' })
  })

  function begin(
    head: Omit<RequestContext, 'receivedAt' | 'startedAt' | 'timings' | 'body' | 'deprecated' | 'node'>,
  ): void {
    void answer({
      ...head,
      node,
      receivedAt: now(),
      startedAt: clock(),
      timings: {},
      body: undefined,
      deprecated: false,
    })
  }

  /** Never rejects. */
  async function answer(context: RequestContext): Promise<void> {
    let result: RequestOutcome | undefined
    try {
      result = await pipeline.handle(context)
      if (result?.outcome === 'refused' && isRefusedByConfiguration(result))
        await store.accept({ request: composeRecord(context, result), actions: [] })
    } catch (error) {
      result = outcomeOfError(error)
    }
    try {
      if (result === undefined) return logSenderGone(context)
      conclude(context, result)
      if ('actions' in result && result.waiting) await replyLater(context, result, result.waiting)
    } catch (error) {
      log.error({ event: 'reply-failed', requestId: context.requestId, err: describeFault(error) })
      context.outgoing.destroy()
    }
  }

  const replay: ReplayRequest = async ({ record, body, terms, requestId }) => {
    const { endpoint, head, client = '' } = record
    const facts: RequestFacts = {
      headers: { ...head.headers } as RequestFacts['headers'],
      client,
      isInternal: true,
      replay: terms,
      requestId,
      node,
      live: current(),
      endpoint,
      query: searchOf(head.query),
      receivedAt: now(),
      startedAt: clock(),
      timings: {},
      body: undefined,
    }
    const outcomeOf = (error: unknown) => outcomeOfError(error) ?? refused('INTERNAL')
    const outcome = await pipeline.replay(facts, body).catch(outcomeOf)
    const result = await keepReplay(facts, outcome).catch(outcomeOf)
    const replayed = replayedOf(facts, result)
    if (!replayed.isRecorded) return replayed
    const ms = elapsed(facts, clock)
    options.onConcluded?.(facts, result, ms)
    logRequest(log, facts, result, ms)
    return replayed
  }

  /** Commits the record of a replay that made no action. The record of a sender's request may be lost in a flood. */
  async function keepReplay(facts: RequestFacts, result: RequestOutcome): Promise<RequestOutcome> {
    if (result.outcome === 'accepted' || result.outcome === 'duplicate' || isOfGateway(result)) return result
    await store.accept({ request: composeRecord(facts, result), actions: [] })
    return result
  }

  /** Replies unless the sender waits, and notes what the store has no record of yet. */
  function conclude(context: RequestContext, result: RequestOutcome): void {
    const isWaiting = 'actions' in result && result.waiting !== undefined
    if (!isWaiting) {
      closeConnectionInDrain(context)
      reply(context, result, timers)
    }
    if (isProbe(context, result)) return
    if (result.outcome !== 'accepted' && result.outcome !== 'duplicate' && !isRefusedByConfiguration(result))
      store.note(composeRecord(context, result))
    const ms = elapsed(context, clock)
    options.onConcluded?.(context, result, ms)
    counters?.noteRequest({
      snapshot: context.live.snapshot,
      endpoint: context.endpoint,
      outcome: result.outcome,
      status: statusOfOutcome(result),
      mapping: result.mapping,
      ms,
      resolveMs: context.timings.resolve,
      at: context.receivedAt,
    })
    logRequest(logLimiter.logFor(context, result), context, result, ms)
  }

  /** The acceptance is logged already; the sender gets its reply once there is an outcome, or the wait ends without one. */
  async function replyLater(
    context: RequestContext,
    result: Accepted | Duplicate,
    waiting: Waiting,
  ): Promise<void> {
    const end = await waiting.end
    if (context.outgoing.destroyed) return logSenderGone(context)
    closeConnectionInDrain(context)
    replyWithOutcome(context, result, waiting.seconds, end, timers)
    logOutcome(log, context, end, elapsed(context, clock))
  }

  /** A request that came before the drain began is replied to on a connection that takes no further request. */
  function closeConnectionInDrain({ outgoing }: RequestContext): void {
    if (draining.aborted && !outgoing.headersSent) outgoing.setHeader('connection', 'close')
  }

  function logSenderGone({ requestId, endpoint }: RequestContext): void {
    log.debug({ event: 'sender-gone', requestId, endpoint })
  }

  const surface = { takes, receive, post, replay }
  app.decorate('hookSurface', surface)
  app.addHook('onClose', async () => logLimiter.close())
  app.server.on('checkContinue', (incoming: IncomingMessage, outgoing: ServerResponse) => {
    if (!takes(incoming.url ?? '')) outgoing.writeContinue()
    app.server.emit('request', incoming, outgoing)
  })
  app.register(async (rest) => {
    rest.addHook('onRequest', (request, response) => {
      response.hijack()
      receive(request.raw, response.raw, clientOf(request))
    })
    rest.setNotFoundHandler(() => {})
  })
  return surface
}

/** A probe asks whether there are hooks at all, without naming one, and is not worth a record. */
function isProbe({ endpoint }: RequestContext, result: RequestOutcome): boolean {
  return endpoint === undefined && 'code' in result && result.code === 'METHOD_NOT_ALLOWED'
}

/** How an error in the pipeline ends the request; undefined if there is no sender left to reply to. */
function outcomeOfError(error: unknown): RequestOutcome | undefined {
  if (error instanceof SenderGone) return undefined
  if (error instanceof RequestError)
    return { ...refused(error.code), sentence: error.message, details: error.details }
  if (error instanceof UnavailableError) return { ...refused('VERIFIER_UNAVAILABLE'), fault: error }
  if (error instanceof StoreError && isErrorCode(error.code)) {
    const isExpected = error.code === 'BACKLOG' || error.code === 'DRAINING'
    return { ...refused(error.code), ...(!isExpected && { reason: error.message, fault: error }) }
  }
  return { outcome: 'failed', code: 'INTERNAL', fault: error }
}

const nothingWithinReach: VerifyDependencies = {
  download: () => Promise.reject(new UnavailableError('This host downloads nothing.')),
}
