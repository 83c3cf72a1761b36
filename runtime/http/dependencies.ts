/** Dependencies of all ways into the hook surface: the pipeline, the recorder, and the reports of concluded requests. */

import {
  type CurrentLive,
  realTimers,
  type Timers,
  UnavailableError,
  type VerifyDependencies,
} from '@reveille/engine'
import type { Counters } from '../observe/counters.ts'
import type { Store } from '../store/port.ts'
import { createEndpointAuthTables } from './auth/endpoint-auth.ts'
import { createThrottle } from './clients/throttle.ts'
import { createLogLimiter } from './log/log-limiter.ts'
import { logRequest } from './log/request-log.ts'
import { createRequestPipeline, type RequestPipelineOptions } from './pipeline.ts'
import { statusOfOutcome } from './record/entry.ts'
import { isOfGateway, type Recorder } from './record/recorder.ts'
import { createOutcomeWaits } from './reply/outcome-waits.ts'
import { elapsed, type RequestFacts, type RequestOutcome } from './request-context.ts'

type Required = Pick<RequestPipelineOptions, 'log' | 'now' | 'mintId' | 'draining'>

/**
 * By default no request is caused by the gateway itself, others than this machine may reach the gateway, verifiers find nothing within
 * reach, handshakes have no effects, no source takes over an endpoint, and time is real.
 */
type Optional = Partial<Omit<RequestPipelineOptions, keyof Required | 'authTableOf' | 'health' | 'throttle'>>

export interface HookSurfaceOptions extends Required, Optional {
  readonly current: CurrentLive
  readonly store: Pick<Store, 'health' | 'changes' | 'read' | 'cluster'>
  readonly recorder: Pick<Recorder, 'keep'>
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

export type HookDependencies = ReturnType<typeof createDependencies>

export function createDependencies(options: HookSurfaceOptions) {
  const { store, log, draining, counters } = options
  const clock = options.clock ?? performance.now.bind(performance)
  const timers: Timers = options.timers ?? realTimers
  const authTableOf = createEndpointAuthTables()
  return {
    ...options,
    clock,
    timers,
    authTableOf,
    logLimiter: createLogLimiter({ log, clock, timers }),
    waits: createOutcomeWaits({ store, timers, draining }),
    pipeline: createRequestPipeline({
      loopIn: () => undefined,
      isBoundToLoopback: false,
      verifyDependencies: nothingWithinReach,
      performHandshakeEffects: async () => {},
      ...options,
      throttle: createThrottle(clock),
      health: store.health,
      clock,
      timers,
      authTableOf,
      onOldToken: counters?.noteOldToken,
    }),
  }
}

const nothingWithinReach: VerifyDependencies = {
  download: () => Promise.reject(new UnavailableError('This host downloads nothing.')),
}

/** Counts and logs a request that a sender or a source made. */
export function reportConcluded(
  { clock, counters, log, logLimiter, onConcluded }: HookDependencies,
  facts: RequestFacts,
  result: RequestOutcome,
): void {
  const ms = elapsed(facts, clock)
  onConcluded?.(facts, result, ms)
  if (facts.replay !== undefined) {
    logRequest(log, facts, result, ms)
    return
  }
  counters?.noteRequest({
    snapshot: facts.live.snapshot,
    endpoint: facts.endpoint,
    outcome: result.outcome,
    status: statusOfOutcome(result),
    mapping: result.mapping,
    ms,
    resolveMs: facts.timings.resolve,
    at: facts.receivedAt,
  })
  logRequest(logLimiter.logFor(result), facts, result, ms)
}

type InternalFacts = Pick<RequestFacts, 'headers' | 'client' | 'requestId' | 'endpoint' | 'query'> &
  Pick<RequestFacts, 'authenticatedBy' | 'replay'>

/**
 * Takes a request that no sender makes through the pipeline after authentication, and keeps and reports it. A replay that the gateway could
 * not take is neither recorded nor reported.
 */
export async function receiveInternally(
  dependencies: HookDependencies,
  request: InternalFacts,
  body: Buffer,
): Promise<{ readonly facts: RequestFacts; readonly result: RequestOutcome; readonly isRecorded: boolean }> {
  const { current, now, clock, node, pipeline, recorder } = dependencies
  const own = { isInternal: true, node, live: current(), receivedAt: now(), startedAt: clock(), timings: {} }
  const concluded = await pipeline.internal({ ...request, ...own }, body)
  const result = await recorder.keep(concluded)
  const { facts } = concluded
  const isRecorded = facts.replay === undefined || !isOfGateway(result)
  if (isRecorded) reportConcluded(dependencies, facts, result)
  return { facts, result, isRecorded }
}
