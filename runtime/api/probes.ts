/** Registers the two addresses that a supervisor polls; they need no token, and hold no secret unless one is given. */

import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Store } from '../store/port.ts'

export function registerProbes(
  app: FastifyInstance,
  options: {
    readonly store: Store
    isDraining(): boolean
    /** Whether the request has the token of the gateway or of the metrics. */
    isKnown(request: FastifyRequest): Promise<boolean>
  },
): void {
  app.get('/healthz', async () => ({ ok: true }))

  /** A gateway is ready while it can accept requests. */
  app.get('/readyz', async (request, reply) => {
    const health = options.store.health()
    const reason = options.isDraining()
      ? 'draining'
      : !health.writable
        ? ['the store cannot write', health.brief].filter(Boolean).join(': ')
        : health.full
          ? 'the backlog is full'
          : undefined
    if (reason !== undefined) reply.code(503)
    const details = (await options.isKnown(request)) ? { details: health } : {}
    return { ok: reason === undefined, ...(reason !== undefined && { reason }), ...details }
  })
}
