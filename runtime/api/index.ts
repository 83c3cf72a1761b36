/** Owns the admin surface: what was received, what it caused and how it ended; what is live, and changing that. */

import type { CurrentLive } from '@reveille/engine'
import type { FastifyInstance } from 'fastify'
import type { MintId } from '../store/id.ts'
import type { Id, Store } from '../store/port.ts'
import { type ApiLog, createFaultHandler } from './fault.ts'
import { createAdminGate } from './gate.ts'
import { type GenerationsOptions, registerGenerations } from './generations.ts'
import { registerLists } from './lists.ts'

export interface AdminOptions {
  readonly current: CurrentLive
  readonly store: Store
  readonly mintId: MintId
  readonly log: ApiLog
  /** Why a request was ignored, where that is still known. */
  readonly traceOf: (id: Id) => object | undefined
  readonly generations: GenerationsOptions
}

/** Everything under `/api` wants the gateway token; without one in the configuration there is no `/api`. */
export function registerAdminSurface(app: FastifyInstance, options: AdminOptions): void {
  app.register(
    async (api) => {
      api.addHook('onRequest', createAdminGate(options))
      api.setErrorHandler(createFaultHandler(options.log))
      // The gate has answered before Fastify comes here; without a handler of its own it would not be asked.
      api.setNotFoundHandler(() => {})
      registerLists(api, options.store, options.traceOf)
      registerGenerations(api, options.generations)
    },
    { prefix: '/api' },
  )
}
