/** Registers the admin surface: the API as it is declared in `routes/`, the console, the metrics and the probes. */

import cookie from '@fastify/cookie'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { type AdminAuth, createAdminAuth } from './auth.ts'
import { registerConsole } from './console.ts'
import { createDeliveryHandlers } from './deliveries.ts'
import { createDryRunHandlers } from './dry-runs.ts'
import { createFaultHandler } from './errors.ts'
import { createGenerationHandlers } from './generations.ts'
import type { Handlers } from './handlers.ts'
import { protectAnswers } from './headers.ts'
import { createIssueHandlers } from './issues.ts'
import { createMappingFileHandlers } from './mapping-files.ts'
import { exposeMetrics, metricsType } from './metrics.ts'
import { readOpenapi } from './openapi.ts'
import type { AdminOptions } from './options.ts'
import { createOverviewHandlers } from './overview.ts'
import { registerProbes } from './probes.ts'
import { createRecordHandlers } from './records.ts'
import { refuseOtherMethods, registerRoutes } from './register.ts'
import { createReplayHandlers } from './replays.ts'
import { createRequestBodyHandlers } from './request-bodies.ts'
import { createRequestHandlers } from './requests.ts'
import { routes } from './routes/index.ts'
import { createRunHandlers } from './runs.ts'
import { readSpend } from './spend.ts'
import { readStatus } from './status.ts'
import { createStream, type Stream } from './stream.ts'

export type { AdminOptions } from './options.ts'
export type { GatewayStatus } from './status.ts'

/**
 * Everything under `/api` needs the gateway token, and `/metrics` that or a token of its own; without one in the configuration they are not
 * there. The probes are open.
 */
export function registerAdminSurface(app: FastifyInstance, options: AdminOptions): void {
  const auth = createAdminAuth(options)
  const stream = createStream({
    ...options,
    generation: () => options.current().generation,
    admissionOf: auth.admissionOf,
  })
  options.reloader.subscribe(stream.noteReload)
  // A stream would hold up the end, as it never ends by itself.
  app.addHook('preClose', async () => stream.close())
  app.register((admin) => registerAdmin(admin, options, auth, stream))
}

async function registerAdmin(
  app: FastifyInstance,
  options: AdminOptions,
  auth: AdminAuth,
  stream: Stream,
): Promise<void> {
  await protectAnswers(app)
  await app.register(cookie)
  app.decorateRequest('admission', null)
  app.setErrorHandler(createFaultHandler(options.log))
  app.addHook('onSend', async (_request, reply, payload) => masked(options.mask, reply, payload))
  registerProbes(app, { ...options, isKnown: auth.isKnownProbe })
  app.register(async (scope) => {
    scope.addHook('onRequest', auth.authenticateMetrics)
    scope.get('/metrics', async (_request, reply) =>
      reply.type(metricsType).send(await exposeMetrics(options)),
    )
    refuseOtherMethods(scope, '/metrics', ['GET', 'HEAD'])
  })
  registerConsole(app, options)
  app.register(
    async (api) => {
      api.addHook('onRequest', auth.authenticate)
      // `authenticate` has refused the request by then, and without this handler it would not be called.
      api.setNotFoundHandler(() => {})
      const handlers = { ...createHandlers(options), ...auth.handlers, ...stream.handlers }
      registerRoutes(api, routes, handlers, options.log)
    },
    { prefix: '/api' },
  )
}

/** A body of a request is bytes, and its handler hides what it has to. */
function masked(mask: AdminOptions['mask'], reply: FastifyReply, payload: unknown): unknown {
  if (typeof payload !== 'string') return payload
  const isJson = String(reply.getHeader('content-type')).startsWith('application/json')
  return isJson ? mask.json(payload) : mask.text(payload)
}

function createHandlers(options: AdminOptions) {
  return {
    ...createRequestHandlers(options),
    ...createRequestBodyHandlers(options),
    ...createReplayHandlers(options),
    ...createRecordHandlers(options),
    ...createRunHandlers(options),
    ...createDeliveryHandlers(options),
    ...createGenerationHandlers(options),
    ...createOverviewHandlers(options),
    ...createIssueHandlers(options),
    ...createDryRunHandlers(options),
    ...createMappingFileHandlers(options),
    readStatus: () => readStatus(options),
    readSeries: async ({ query: { minutes = 60 } }) => options.counters.series(minutes),
    readSpend: ({ query }) => readSpend(options, query),
    // The health comes from memory, so that this works although the store cannot be read.
    readHealth: async () => options.store.health(),
    readOpenapi,
  } satisfies Partial<Handlers<typeof routes>>
}
