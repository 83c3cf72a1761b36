/** Owns the HTTP server: hook requests go straight to their surface, all others to Fastify. */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import Fastify, { type FastifyInstance } from 'fastify'
import { clientOf } from '../clients/client.ts'
import { createProxyTrust, type Proxies, type ProxyTrust } from '../clients/proxies.ts'
import { isWellFormed } from './malformed.ts'
import { httpOptions, maxHeadersCount, maxRequestsPerSocket, serverOptions } from './server-options.ts'

/**
 * An app for all surfaces. `trustedProxies` answers those of the current snapshot: behind them the client's address
 * stands in a header that Fastify knows how to read, so there hook requests take the road through its router, as
 * injected ones do.
 */
export function createApp(trustedProxies: () => Proxies): FastifyInstance {
  const trust = createProxyTrust(trustedProxies)
  // A query that a route does not know is an error, not something to take out in silence.
  const app: FastifyInstance = Fastify({
    ...serverOptions,
    ajv: { customOptions: { removeAdditional: false as const, ...quickStart } },
    // A session key stands in an address whole; the limit on the request line is the only one it needs.
    routerOptions: { maxParamLength: 65_536 },
    trustProxy: trust.believes,
    serverFactory: (route) => createFork(route, () => app, trust),
  })
  return app
}

/** At each start, the few schemas of ours would be made shorter and checked for longer than they are used. */
const quickStart = { code: { optimize: false }, validateSchema: false, meta: false }

type Route = (incoming: IncomingMessage, outgoing: ServerResponse) => void

function createFork(route: Route, app: () => FastifyInstance, trust: ProxyTrust): Server {
  const { requestTimeout, keepAliveTimeout } = serverOptions
  const server = createServer({ ...httpOptions, requestTimeout, keepAliveTimeout }, (incoming, outgoing) => {
    if (!isWellFormed(incoming, outgoing)) return
    const { hookSurface } = app()
    if (!trust.isGiven() && hookSurface?.takes(incoming.url ?? '')) {
      hookSurface.receive(incoming, outgoing, clientOf({ ips: [incoming.socket.remoteAddress] }))
    } else {
      route(incoming, outgoing)
    }
  })
  return Object.assign(server, { maxHeadersCount, maxRequestsPerSocket })
}
