/** Registers the admin API: requests with their effects and outcomes, the live generation, and reloads. */

import type { FastifyInstance } from 'fastify'
import { createAdminAuth } from './auth.ts'
import { registerReplay } from './deliveries.ts'
import { createFaultHandler } from './errors.ts'
import { registerGenerations } from './generations.ts'
import { registerLists } from './lists.ts'
import { exposeMetrics } from './metrics.ts'
import type { AdminOptions } from './options.ts'
import { getRoute } from './routes.ts'
import { registerRuns } from './runs.ts'
import { readStatus } from './status.ts'

export type { AdminOptions } from './options.ts'
export type { BudgetStatus, ChannelStatus, GatewayStatus } from './status.ts'

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
      registerLists(api, options)
      registerReplay(api, options)
      registerRuns(api, options)
      getRoute(api, '/status', {}, () => readStatus(options))
      // The health comes from memory, so that this works although the store cannot be read.
      getRoute(api, '/health', {}, async () => options.store.health())
      registerGenerations(api, options)
    },
    { prefix: '/api' },
  )
}
