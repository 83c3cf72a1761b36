/** Owns the hook surface: it takes whatever no other route of the app takes, and answers every request once. */

import type { IncomingMessage, ServerResponse } from 'node:http'
import {
  type CurrentLive,
  type Handshake,
  type HookRequest,
  realTimers,
  type Snapshot,
  type Timers,
  UnavailableError,
  type VerifyDependencies,
} from '@reveille/engine'
import type { FastifyInstance } from 'fastify'
import type { MintId } from '../store/id.ts'
import { type Id, type Store, StoreError } from '../store/port.ts'
import { createDoors } from './auth/doors.ts'
import { createHandshakes } from './auth/handshakes.ts'
import { createSenderWarnings } from './auth/sender-warnings.ts'
import { createSignatureRung } from './auth/signature.ts'
import { createTurnAway } from './auth/turn-away.ts'
import { SenderGone } from './body/read-body.ts'
import { clientOf } from './clients/client.ts'
import { createThrottle, type Throttle } from './clients/throttle.ts'
import { composeRecord } from './entry.ts'
import { isErrorCode, RequestError } from './errors.ts'
import { type Accepted, type Duplicate, type Ending, type Exchange, refused, waitingIn } from './exchange.ts'
import { describeFault } from './fault.ts'
import { createLadder, hundredths } from './ladder.ts'
import { type HookLog, logEnding, logOutcome } from './log.ts'
import { createOwnPost, type OwnPost } from './own-post.ts'
import { createReceiving, type Receiver } from './receiving.ts'
import { createRefusedLines } from './refused-lines.ts'
import { createOutcomeWaits, type Waiting } from './reply/outcome-waits.ts'
import { reply, replyNotFound, replyWithOutcome } from './reply/reply.ts'
import { parseTarget } from './target.ts'

export interface HookSurfaceOptions {
  readonly current: CurrentLive
  readonly store: Store
  readonly log: HookLog
  /** Milliseconds since the Unix epoch. */
  readonly now: () => number
  readonly mintId: MintId
  /** Aborted when the gateway begins to drain. */
  readonly draining: AbortSignal
  /** Nothing matched a request. */
  readonly onIgnored: (id: Id, snapshot: Snapshot, request: HookRequest) => void
  /** Why a request is the gateway's own doing, in one sentence; such a one is ignored. Default: none is. */
  readonly loopIn?: (request: HookRequest) => string | undefined | Promise<string | undefined>
  /**
   * Whether the main session lives in another system. Then an event that would wait for the next heartbeat is handed
   * on at once, too. Default: it does not.
   */
  readonly relaysEvents?: () => boolean
  /** Whether the gateway listens where only this machine can reach it; `auth: none` rests on it. Default: it does not. */
  readonly isBoundToLoopback?: boolean
  /** What verifiers may ask for. Default: nothing is within reach. */
  readonly means?: VerifyDependencies
  /**
   * Does what a handshake asks for besides its answer, and resolves when that may be sent. `policy`: the name of the
   * policy whose `verify` it came from. Default: nothing is done. @throws UnavailableError
   */
  readonly honour?: (policy: string, handshake: Handshake) => Promise<void>
  /**
   * Who takes over what is posted to an endpoint, at this moment: such a one is known although no mapping covers it, and
   * mappings that do are not asked. Default: nobody.
   */
  readonly receiverOf?: (endpoint: string) => Receiver | undefined
  /** Default: one of this surface's own. */
  readonly throttle?: Throttle
  /** Monotonic, in milliseconds. Default: `performance.now`. */
  readonly clock?: () => number
  /** Default: the real ones. */
  readonly timers?: Timers
}

declare module 'fastify' {
  interface FastifyInstance {
    /** Present once `createHookSurface` was called; what Fastify cannot route goes there too. */
    hookSurface?: HookSurface
  }
}

export interface HookSurface {
  /** Whether the URL is under the `hooks.path` of now. */
  takes(url: string): boolean
  receive(incoming: IncomingMessage, outgoing: ServerResponse, client: string): void
  /** A request of ours: no token and no signature is asked for, whatever the endpoint's policy says. */
  readonly post: OwnPost
}

/**
 * The path is matched here and not by Fastify's router, because `hooks.path` may change with any reload. Other
 * routes of the app come first.
 */
export function createHookSurface(app: FastifyInstance, options: HookSurfaceOptions): HookSurface {
  const { current, store, log, now, mintId, draining } = options
  const clock = options.clock ?? performance.now.bind(performance)
  const timers = options.timers ?? realTimers
  const throttle = options.throttle ?? createThrottle()
  const doorOf = createDoors()
  const warnings = createSenderWarnings(log, now)
  const refusedLines = createRefusedLines({ log, clock, timers })
  const turnAway = createTurnAway(throttle)
  const { means = nothingWithinReach, honour = async () => {} } = options
  const climb = createLadder({
    loopIn: () => undefined,
    relaysEvents: () => false,
    receiverOf: () => undefined,
    isBoundToLoopback: false,
    ...options,
    clock,
    timers,
    throttle,
    doorOf,
    warnings,
    turnAway,
    handshakes: createHandshakes({ throttle, turnAway, honour, timers }),
    verifySignature: createSignatureRung({ means, throttle, warnings, turnAway }),
    receive: createReceiving({ timers, draining }),
    isDraining: () => draining.aborted,
    waits: createOutcomeWaits({ store, timers, draining }),
  })

  function takes(url: string): boolean {
    return parseTarget(url, doorOf(current().snapshot).prefix) !== undefined
  }

  function receive(incoming: IncomingMessage, outgoing: ServerResponse, client: string) {
    const live = current()
    if (draining.aborted) outgoing.setHeader('connection', 'close')
    const requestId = mintId()
    const target = parseTarget(incoming.url ?? '', doorOf(live.snapshot).prefix)
    if (target === undefined) return replyNotFound(incoming, outgoing, requestId, timers)
    const { endpoint, query } = target
    take({ incoming, outgoing, client, isOurs: false, requestId, live, endpoint, query })
  }

  const post = createOwnPost(({ endpoint, by }, incoming, outgoing) => {
    const requestId = mintId()
    take({ incoming, outgoing, client: by, isOurs: true, requestId, live: current(), endpoint, query: '' })
  })

  function take(head: Omit<Exchange, 'receivedAt' | 'startedAt' | 'timings' | 'body' | 'deprecated'>): void {
    void answer({
      ...head,
      receivedAt: now(),
      startedAt: clock(),
      timings: {},
      body: undefined,
      deprecated: false,
    })
  }

  /** Never rejects. */
  async function answer(exchange: Exchange): Promise<void> {
    let ending: Ending | undefined
    try {
      ending = await climb(exchange)
    } catch (error) {
      ending = endingOf(error)
    }
    try {
      conclude(exchange, ending)
      if (ending && 'placed' in ending && ending.waiting) await answerLater(exchange, ending, ending.waiting)
    } catch (error) {
      log.error({ event: 'reply-failed', requestId: exchange.requestId, err: describeFault(error) })
      exchange.outgoing.destroy()
    }
  }

  /** What was accepted, or was there before, is in the store already. */
  function conclude(exchange: Exchange, ending: Ending | undefined): void {
    if (ending === undefined) {
      logSenderGone(exchange)
      return
    }
    if (waitingIn(ending) === undefined) {
      closeAfterwards(exchange)
      reply(exchange, ending, timers)
    }
    if (isProbe(exchange, ending)) return
    if (ending.outcome !== 'accepted' && ending.outcome !== 'duplicate')
      store.note(composeRecord(exchange, ending))
    logEnding(refusedLines.logFor(exchange, ending), exchange, ending, millisecondsOf(exchange))
  }

  /** The log told of the acceptance already; now its sender hears of it, and of the outcome if there is one. */
  async function answerLater(
    exchange: Exchange,
    ending: Accepted | Duplicate,
    waiting: Waiting,
  ): Promise<void> {
    const end = await waiting.end
    const { outgoing } = exchange
    if (outgoing.destroyed) return logSenderGone(exchange)
    closeAfterwards(exchange)
    replyWithOutcome(exchange, ending, waiting.seconds, end, timers)
    logOutcome(log, exchange, end, millisecondsOf(exchange))
  }

  /** What came before the drain began is answered on a connection that nothing else is to come over. */
  function closeAfterwards({ outgoing }: Exchange): void {
    if (draining.aborted && !outgoing.headersSent) outgoing.setHeader('connection', 'close')
  }

  function logSenderGone({ requestId, endpoint }: Exchange): void {
    log.debug({ event: 'sender-gone', requestId, endpoint })
  }

  function millisecondsOf({ startedAt }: Exchange): number {
    return hundredths(clock() - startedAt)
  }

  const surface = { takes, receive, post }
  app.decorate('hookSurface', surface)
  app.addHook('onClose', async () => refusedLines.close())
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

/** It asks whether there are hooks, and for none of them: nothing happened that is worth a record. */
function isProbe({ endpoint }: Exchange, ending: Ending): boolean {
  return endpoint === undefined && 'code' in ending && ending.code === 'METHOD_NOT_ALLOWED'
}

/** How a throw on the ladder ends the request; undefined: nobody is left to be answered. */
function endingOf(error: unknown): Ending | undefined {
  if (error instanceof SenderGone) return undefined
  if (error instanceof RequestError) return { ...refused(error.code), details: error.details }
  if (error instanceof UnavailableError) return { ...refused('VERIFIER_UNAVAILABLE'), fault: error }
  if (error instanceof StoreError && isErrorCode(error.code)) {
    const expected = error.code === 'BACKLOG' || error.code === 'DRAINING'
    return { ...refused(error.code), ...(!expected && { told: error.message, fault: error }) }
  }
  return { outcome: 'failed', code: 'INTERNAL', fault: error }
}

const nothingWithinReach: VerifyDependencies = {
  download: () => Promise.reject(new UnavailableError('This host downloads nothing.')),
}
