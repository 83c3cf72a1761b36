/** Owns the admin surface's read side: what was received, what it caused, and how it ended. */

import type { CurrentLive } from '@reveille/engine'
import type { FastifyInstance } from 'fastify'
import type { MintId } from '../store/id.ts'
import type { Id, Store } from '../store/port.ts'
import { type ApiLog, createFaultHandler } from './fault.ts'
import { createAdminGate } from './gate.ts'
import { registerLists } from './lists.ts'

export interface AdminOptions {
  readonly current: CurrentLive
  readonly store: Store
  readonly mintId: MintId
  readonly log: ApiLog
  /** Why a request was ignored, where that is still known. */
  readonly traceOf: (id: Id) => object | undefined
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
    },
    { prefix: '/api' },
  )
}
