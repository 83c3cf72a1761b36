/** Registers the two addresses that a supervisor polls; they need no token and hold no secret. */

import type { FastifyInstance } from 'fastify'
import type { Store } from '../store/port.ts'

export function registerProbes(
  app: FastifyInstance,
  options: { readonly store: Store; isDraining(): boolean },
): void {
  app.get('/healthz', async () => ({ ok: true }))

  /** A gateway is ready while it can accept requests. */
  app.get('/readyz', async (_request, reply) => {
    const health = options.store.health()
    const reason = options.isDraining()
      ? 'draining'
      : !health.writable
        ? ['the store cannot write', health.brief].filter(Boolean).join(': ')
        : health.full
          ? 'the backlog is full'
          : undefined
    return reason ? reply.code(503).send({ ok: false, reason }) : { ok: true }
  })
}
