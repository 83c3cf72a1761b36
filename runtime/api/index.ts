/** Registers the admin surface: the API as it is declared in `routes/`, and the metrics. */

import type { FastifyInstance } from 'fastify'
import { createAdminAuth } from './auth.ts'
import { createDeliveryHandlers } from './deliveries.ts'
import { createFaultHandler } from './errors.ts'
import { createGenerationHandlers } from './generations.ts'
import type { Handlers } from './handlers.ts'
import { exposeMetrics } from './metrics.ts'
import { readOpenapi } from './openapi.ts'
import type { AdminOptions } from './options.ts'
import { createRecordHandlers } from './records.ts'
import { refuseOtherMethods, registerRoutes } from './register.ts'
import { createRequestHandlers } from './requests.ts'
import { routes } from './routes/index.ts'
import { createRunHandlers } from './runs.ts'
import { readStatus } from './status.ts'

export type { AdminOptions } from './options.ts'
export type { BudgetStatus, ChannelStatus, GatewayStatus } from './status.ts'

/** `/metrics` and everything under `/api` need the gateway token; without one in the configuration there is neither. */
export function registerAdminSurface(app: FastifyInstance, options: AdminOptions): void {
  const authenticate = createAdminAuth(options)
  app.register(async (scope) => {
    scope.addHook('onRequest', authenticate)
    scope.setErrorHandler(createFaultHandler(options.log))
    scope.get('/metrics', async (_request, reply) => {
      const { contentType, text } = await exposeMetrics(options)
      return reply.type(contentType).send(text)
    })
    refuseOtherMethods(scope, '/metrics', ['GET', 'HEAD'])
  })
  app.register(
    async (api) => {
      api.addHook('onRequest', authenticate)
      api.setErrorHandler(createFaultHandler(options.log))
      // `authenticate` has refused the request by then, and without this handler it would not be called.
      api.setNotFoundHandler(() => {})
      registerRoutes(api, routes, createHandlers(options))
    },
    { prefix: '/api' },
  )
}

/** The compiler names a route without a handler. */
function createHandlers(options: AdminOptions): Handlers<typeof routes> {
  return {
    ...createRequestHandlers(options),
    ...createRecordHandlers(options),
    ...createRunHandlers(options),
    ...createDeliveryHandlers(options),
    ...createGenerationHandlers(options),
    readStatus: () => readStatus(options),
    // The health comes from memory, so that this works although the store cannot be read.
    readHealth: async () => options.store.health(),
    readOpenapi,
  }
}
