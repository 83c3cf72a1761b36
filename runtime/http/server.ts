/** Owns the HTTP server: hook requests go straight to their surface, all others to Fastify. */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import Fastify, { type FastifyInstance } from 'fastify'
import { httpOptions, serverOptions } from './server-options.ts'

/**
 * An app for all surfaces. Behind trusted proxies the client's address stands in a header that Fastify knows how to
 * read, so there hook requests take the road through its router, as injected ones do.
 */
export function createApp(trustedProxies: readonly string[]): FastifyInstance {
  // A query that a route does not know is an error, not something to take out in silence.
  const options = {
    ...serverOptions,
    ajv: { customOptions: { removeAdditional: false as const } },
    // A session key stands in an address whole; the limit on the request line is the only one it needs.
    routerOptions: { maxParamLength: 65_536 },
  }
  if (trustedProxies.length > 0) {
    return Fastify({ ...options, http: httpOptions, trustProxy: [...trustedProxies] })
  }
  const app: FastifyInstance = Fastify({ ...options, serverFactory: (route) => createFork(route, () => app) })
  return app
}

type Route = (incoming: IncomingMessage, outgoing: ServerResponse) => void

function createFork(route: Route, app: () => FastifyInstance): Server {
  const { requestTimeout, keepAliveTimeout } = serverOptions
  return createServer({ ...httpOptions, requestTimeout, keepAliveTimeout }, (incoming, outgoing) => {
    const { hookSurface } = app()
    if (hookSurface?.takes(incoming.url ?? '')) {
      hookSurface.receive(incoming, outgoing, incoming.socket.remoteAddress ?? '')
    } else {
      route(incoming, outgoing)
    }
  })
}
