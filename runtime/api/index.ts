/** Owns the admin surface: what was received, what it caused and how it ended; what is live, and changing that. */

import type { CurrentLive } from '@reveille/engine'
import type { FastifyInstance } from 'fastify'
import type { AdminDeliveries, ChannelState, HeartbeatState } from '../dispatch/index.ts'
import type { ServedLastGood } from '../reload/last-good.ts'
import type { SourceState } from '../sources/index.ts'
import type { MintId } from '../store/id.ts'
import type { Id, Store } from '../store/port.ts'
import { readable } from './address.ts'
import { registerReplay, routing, sending } from './deliveries.ts'
import { type ApiLog, createFaultHandler } from './fault.ts'
import { createAdminGate } from './gate.ts'
import { type GenerationsOptions, registerGenerations } from './generations.ts'
import { registerLists } from './lists.ts'
import { exposeMetrics } from './metrics.ts'
import { registerRuns } from './runs.ts'
import { type FilesStatus, readStatus } from './status.ts'

export type { BudgetStatus, ChannelStatus, GatewayStatus } from './status.ts'

export interface AdminOptions {
  readonly current: CurrentLive
  readonly store: Store
  readonly mintId: MintId
  readonly log: ApiLog
  /** Milliseconds since the Unix epoch. */
  readonly now: () => number
  /** Why a request was ignored, where that is still known. */
  readonly traceOf: (id: Id) => object | undefined
  /** How far the turn of a run has got, where one is under way. Default: nobody knows. */
  readonly progressOf?: (id: Id) => object | undefined
  /** How the main session fares. Default: nobody knows. */
  readonly heartbeat?: () => HeartbeatState
  /** How the configured channels fare. Default: nobody knows of any. */
  readonly channels?: () => readonly ChannelState[]
  /** How the configured sources fare. Default: nobody knows of any. */
  readonly sources?: () => readonly SourceState[]
  /** How changes of the files are noticed. Default: by watching. */
  readonly files?: () => FilesStatus
  /** Files that were broken at the start, and what serves in their place. Default: there are none. */
  readonly lastGood?: () => ServedLastGood | undefined
  /** How many log lines were dropped since the start. Default: none. */
  readonly droppedLogLines?: () => number
  readonly deliveries: AdminDeliveries
  /** Whether a channel of that name exists, configured or not. */
  readonly isChannel: (name: string) => boolean
  readonly generations: GenerationsOptions
}

/** `/metrics` and everything under `/api` want the gateway token; without one in the configuration there is neither. */
export function registerAdminSurface(app: FastifyInstance, options: AdminOptions): void {
  const gate = createAdminGate(options)
  app.register(async (scope) => {
    scope.addHook('onRequest', gate)
    scope.setErrorHandler(createFaultHandler(options.log))
    readable(scope, '/metrics', {}, async (_request, reply) => {
      const { contentType, text } = await exposeMetrics(options)
      return reply.type(contentType).send(text)
    })
  })
  app.register(
    async (api) => {
      api.addHook('onRequest', gate)
      api.setErrorHandler(createFaultHandler(options.log))
      // The gate has answered before Fastify comes here; without a handler of its own it would not be asked.
      api.setNotFoundHandler(() => {})
      registerLists(api, { ...options, sending: sending(options), routing: routing(options) })
      registerReplay(api, options)
      registerRuns(api, { progressOf: () => undefined, ...options })
      readable(api, '/status', {}, () => readStatus(options))
      // From memory: it answers where nothing can be read.
      readable(api, '/health', {}, async () => options.store.health())
      registerGenerations(api, options.generations)
    },
    { prefix: '/api' },
  )
}
