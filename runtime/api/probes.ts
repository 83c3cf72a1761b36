/** Owns the two answers that a supervisor polls; they need no token and tell no secret. */

import type { FastifyInstance } from 'fastify'
import type { Store } from '../store/port.ts'

export function registerProbes(
  app: FastifyInstance,
  options: { readonly store: Store; isDraining(): boolean },
): void {
  app.get('/healthz', async () => ({ ok: true }))

  /** Ready means: able to accept. */
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
