/** Registers the two addresses that a supervisor polls; they need no token, and hold no secret unless one is given. */

import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Store } from '../store/port.ts'

export function registerProbes(
  app: FastifyInstance,
  options: {
    readonly store: Pick<Store, 'health'>
    isDraining(): boolean
    /** True if the request has the token of the gateway or of the metrics; or the seconds to wait after too many wrong ones. */
    isKnown(request: FastifyRequest): boolean | number
  },
): void {
  app.get('/healthz', async () => ({ ok: true }))

  app.get('/readyz', async (request, reply) => {
    const isKnown = options.isKnown(request)
    if (typeof isKnown === 'number') {
      reply.code(429).header('retry-after', String(isKnown))
      return { ok: false, reason: 'too many wrong tokens' }
    }
    const reason = readinessOf(options.store, options.isDraining())
    if (reason !== undefined) reply.code(503)
    const details = isKnown ? { details: options.store.health() } : {}
    return { ok: reason === undefined, ...(reason !== undefined && { reason }), ...details }
  })
}

/** A gateway is ready while it can accept requests. Returns why it cannot, in a few words, or undefined. */
export function readinessOf({ health }: Pick<Store, 'health'>, isDraining: boolean): string | undefined {
  const { writable, brief, full } = health()
  if (isDraining) return 'draining'
  if (!writable) return ['the store cannot write', brief].filter(Boolean).join(': ')
  return full ? 'the backlog is full' : undefined
}
