/** Registers the admin surface: what was received, what it caused and how it ended; what is live, and changing that. */

import type { CurrentLive } from '@reveille/engine'
import type { FastifyInstance } from 'fastify'
import type { AdminDeliveries, ChannelState, HeartbeatState } from '../dispatch/index.ts'
import type { ServedLastGood } from '../reload/last-good.ts'
import type { SourceState } from '../sources/index.ts'
import type { MintId } from '../store/id.ts'
import type { Id, Store } from '../store/port.ts'
import { createAdminAuth } from './auth.ts'
import { adminSend, registerReplay, setRoute } from './deliveries.ts'
import { type ApiLog, createFaultHandler } from './errors.ts'
import { type GenerationsOptions, registerGenerations } from './generations.ts'
import { registerLists } from './lists.ts'
import { exposeMetrics } from './metrics.ts'
import { getRoute } from './routes.ts'
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
  /** Why a request was ignored, while that is remembered. */
  readonly traceOf: (id: Id) => object | undefined
  /** How far the turn of a run is, while one is under way. Default: it is not known. */
  readonly progressOf?: (id: Id) => object | undefined
  /** The state of the main session. Default: it is not known. */
  readonly heartbeat?: () => HeartbeatState
  /** The states of the configured channels. Default: none. */
  readonly channels?: () => readonly ChannelState[]
  /** The states of the configured sources. Default: none. */
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

/** `/metrics` and everything under `/api` need the gateway token; without one in the configuration there is neither. */
export function registerAdminSurface(app: FastifyInstance, options: AdminOptions): void {
  const authenticate = createAdminAuth(options)
  app.register(async (scope) => {
    scope.addHook('onRequest', authenticate)
    scope.setErrorHandler(createFaultHandler(options.log))
    getRoute(scope, '/metrics', {}, async (_request, reply) => {
      const { contentType, text } = await exposeMetrics(options)
      return reply.type(contentType).send(text)
    })
  })
  app.register(
    async (api) => {
      api.addHook('onRequest', authenticate)
      api.setErrorHandler(createFaultHandler(options.log))
      // `authenticate` has refused the request by then, and without this handler it would not be called.
      api.setNotFoundHandler(() => {})
      registerLists(api, { ...options, adminSend: adminSend(options), setRoute: setRoute(options) })
      registerReplay(api, options)
      registerRuns(api, { progressOf: () => undefined, ...options })
      getRoute(api, '/status', {}, () => readStatus(options))
      // The health comes from memory, so that this works although the store cannot be read.
      getRoute(api, '/health', {}, async () => options.store.health())
      registerGenerations(api, options.generations)
    },
    { prefix: '/api' },
  )
}
