/** The hook surface: a Fastify plugin for the requests of senders, and functions for those that no sender makes. */

import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { readBody, SenderGone } from './body/read-body.ts'
import { clientOf } from './clients/client.ts'
import {
  createDependencies,
  type HookDependencies,
  type HookSurfaceOptions,
  reportConcluded,
} from './dependencies.ts'
import { describeFault } from './log/fault.ts'
import { logOutcome } from './log/request-log.ts'
import type { Admitted } from './pipeline.ts'
import { isHealthCheck } from './record/recorder.ts'
import { createReplay, type ReplayRequest } from './replay.ts'
import type { Waiting } from './reply/outcome-waits.ts'
import { waitSecondsOf } from './reply/prefer.ts'
import { type ReplyTarget, sendAwaited, sendNotFound, sendReply } from './reply/reply.ts'
import {
  type Accepted,
  type Concluded,
  type Duplicate,
  elapsed,
  outcomeOfError,
  type RequestContext,
  type RequestOutcome,
  refused,
} from './request-context.ts'
import { createInternalPost, type PostInternally } from './sources/internal-request.ts'
import { parseTarget } from './target.ts'

export interface HookSurface {
  /** Registers the surface for every address that no other route has. */
  readonly register: (app: FastifyInstance, listener?: Listener) => void
  /** Makes a request of a source, for which no credentials are required, whatever the policy of the endpoint says. */
  readonly post: PostInternally
  readonly replay: ReplayRequest
}

/** Where requests arrive. Default: at the gateway's own port, from clients behind trusted proxies. */
export interface Listener {
  readonly clientOf: (request: FastifyRequest) => string
  /** True if a tunnel on this machine forwards requests to it, so that none counts as local. */
  readonly isTunnelled: boolean
}

const ownListener: Listener = { clientOf, isTunnelled: false }

declare module 'fastify' {
  interface FastifyInstance {
    /** Handles a request whose address cannot be decoded. */
    receiveUnroutable?: (request: FastifyRequest, reply: FastifyReply) => void
  }
  interface FastifyRequest {
    /** Result of the steps before the body; null for a request that ended there. */
    admitted: Admitted | null
  }
}

/** `app` is the gateway's. */
export function createHookSurface(app: FastifyInstance, options: HookSurfaceOptions): HookSurface {
  const dependencies = createDependencies(options)
  const register: HookSurface['register'] = (to, listener = ownListener) => {
    const admit = createAdmission(dependencies, listener)
    to.decorate('receiveUnroutable', (request: FastifyRequest, reply: FastifyReply) =>
      admit(request, reply, (admitted) => {
        const { facts } = admitted
        return conclude(dependencies, reply, { facts, outcome: refused('INVALID_ADDRESS') })
      }),
    )
    to.register(async (scope) => registerHooks(scope, dependencies, admit))
  }
  register(app)
  app.addHook('onClose', async () => dependencies.logLimiter.close())
  return { register, post: createInternalPost(dependencies), replay: createReplay(dependencies) }
}

/**
 * `hooks.path` may change with any reload and senders may choose any method, so the surface is the handler of what is not found. The
 * head of a request is dealt with before Fastify reads its body, which has one parser whatever its type.
 */
function registerHooks(scope: FastifyInstance, dependencies: HookDependencies, admit: Admission): void {
  const { pipeline, timers } = dependencies
  scope.decorateRequest('admitted', null)
  // A reply that lingers is a stream, which ends the request in a hook only if `done` is not called.
  scope.addHook('onRequest', (request, reply, done) =>
    admit(request, reply, (admitted) => {
      request.admitted = admitted
      done()
    }),
  )
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser('*', ({ admitted }: FastifyRequest, incoming: IncomingMessage) => {
    const { facts, maxBytes } = admitted as Admitted
    const timeoutMs = facts.live.snapshot.settings.hooks.bodyTimeoutMs
    return readBody(incoming, { maxBytes, timeoutMs, timers })
  })
  scope.setErrorHandler((error, request, reply) => {
    const { facts, refusal } = request.admitted as Admitted
    if (error instanceof SenderGone) return abandon(dependencies, reply, facts, error)
    const outcome = outcomeOfError(error)
    // The body of an unauthenticated sender is ignored, unless it is a handshake.
    const isRefused = refusal !== undefined && outcome.code !== 'BODY_TIMEOUT'
    conclude(dependencies, reply, { facts, outcome: isRefused ? refusal : outcome }).catch((fault) =>
      abandon(dependencies, reply, facts, fault),
    )
  })
  scope.setNotFoundHandler((request, reply) => {
    const { body = empty } = request
    const admitted = request.admitted as Admitted
    pipeline
      .receive(admitted, body as Buffer)
      .then((concluded) => conclude(dependencies, reply, concluded))
      .catch((error) => abandon(dependencies, reply, admitted.facts, error))
  })
}

const empty = Buffer.alloc(0)

type Admission = ReturnType<typeof createAdmission>

/** Takes a request through the steps before its body. It either replies or calls `goOn`. */
function createAdmission(dependencies: HookDependencies, listener: Listener) {
  return (
    request: FastifyRequest,
    reply: FastifyReply,
    goOn: (admitted: Admitted) => Promise<void> | void,
  ): void => {
    const context = contextOf(dependencies, request, reply, listener)
    if (context === undefined) {
      sendNotFound(targetOf(dependencies, reply, dependencies.mintId()))
      return
    }
    dependencies.pipeline
      .admit(context)
      .then((result) => ('outcome' in result ? conclude(dependencies, reply, result) : goOn(result)))
      .catch((error) => abandon(dependencies, reply, context, error))
  }
}

/** Returns undefined for an address that is not under `hooks.path`. */
function contextOf(
  { current, now, clock, mintId, node, authTableOf }: HookDependencies,
  request: FastifyRequest,
  { raw: outgoing }: FastifyReply,
  listener: Listener,
): RequestContext | undefined {
  const { raw: incoming } = request
  const live = current()
  const target = parseTarget(incoming.url ?? '', authTableOf(live.snapshot).prefix)
  if (target === undefined) return undefined
  const headers = { ...incoming.headers }
  // Fastify would refuse an invalid type before it asks the parser, and senders write anything here. Undefined costs less than `delete`.
  if (headers['content-type'] !== undefined) incoming.headers['content-type'] = undefined
  return {
    incoming,
    outgoing,
    headers,
    client: listener.clientOf(request),
    isTunnelled: listener.isTunnelled,
    isInternal: false,
    requestId: mintId(),
    node,
    live,
    ...target,
    endpoint: target.endpoint,
    receivedAt: now(),
    startedAt: clock(),
    timings: {},
    deprecated: false,
  }
}

function targetOf(
  { timers, draining }: HookDependencies,
  reply: FastifyReply,
  requestId: string,
): ReplyTarget {
  return { reply, requestId, timers, isLast: draining.aborted }
}

/** Keeps the request and replies, at once or when its sender has waited for the outcome. */
async function conclude(
  dependencies: HookDependencies,
  reply: FastifyReply,
  concluded: Concluded<RequestContext>,
): Promise<void> {
  const { facts, outcome } = concluded
  const waiting = outcome.outcome === 'accepted' ? beginWaiting(dependencies, facts, outcome) : undefined
  const result = await dependencies.recorder.keep(concluded)
  const wait = waiting && waitFor(dependencies, facts, result, waiting)
  if (wait === undefined) sendReply(targetOf(dependencies, reply, facts.requestId), facts, result)
  if (!isHealthCheck(facts, result)) reportConcluded(dependencies, facts, result)
  if (wait) await replyLater(dependencies, reply, facts, result as Accepted | Duplicate, wait)
}

/** Waiting begins before the commit, because the run may be over at any moment after it. */
function beginWaiting(
  { waits }: HookDependencies,
  { endpoint, headers: { prefer }, outgoing }: RequestContext,
  { actions: [first] }: Accepted,
): Waiting | undefined {
  if (prefer === undefined || endpoint !== 'agent' || first === undefined) return undefined
  const seconds = waitSecondsOf(prefer)
  return seconds === undefined ? undefined : waits.begin(first.id, seconds, outgoing)
}

/** Waits for the run of a kept request, or for the one that it repeats. */
function waitFor(
  { waits }: HookDependencies,
  { outgoing }: RequestContext,
  result: RequestOutcome,
  begun: Waiting,
): Waiting | undefined {
  if (result.outcome === 'accepted') return begun
  begun.cut()
  const original = 'actions' in result ? result.actions[0] : undefined
  // The original may be over by now, or may have been for days.
  return original && waits.join(original.id, begun.seconds, outgoing)
}

/** The acceptance is logged already; the sender gets its reply once there is an outcome, or the wait ends without one. */
async function replyLater(
  dependencies: HookDependencies,
  reply: FastifyReply,
  context: RequestContext,
  result: Accepted | Duplicate,
  { seconds, end }: Waiting,
): Promise<void> {
  const ended = await end
  if (context.outgoing.destroyed) throw new SenderGone()
  sendAwaited(targetOf(dependencies, reply, context.requestId), context, result, seconds, ended)
  logOutcome(dependencies.log, context, ended, elapsed(context, dependencies.clock))
}

/** Ends a request that nobody waits for any more, or that cannot be replied to. */
function abandon(
  { log }: HookDependencies,
  reply: FastifyReply,
  { requestId, endpoint }: RequestContext,
  error: unknown,
): void {
  if (error instanceof SenderGone) log.debug({ event: 'sender-gone', requestId, endpoint })
  else log.error({ event: 'reply-failed', requestId, err: describeFault(error) })
  reply.hijack().raw.destroy()
}
