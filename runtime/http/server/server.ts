/** Owns the HTTP server: hook requests go straight to their surface, all others to Fastify. */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { realTimers, type Timers } from '@reveille/engine'
import Fastify, { type FastifyInstance } from 'fastify'
import { clientOf } from '../clients/client.ts'
import { createProxyTrust, type Proxies, type ProxyTrust } from '../clients/proxies.ts'
import { isWellFormed } from './malformed.ts'
import { httpOptions, maxHeadersCount, maxRequestsPerSocket, serverOptions } from './server-options.ts'

/** A connection that is as old brings its first request, or none: a sender opened it for later. Milliseconds. */
const silentMs = 1000
/** What is under way when a close begins is over within this time: bodies, commits and turns have shorter limits. Milliseconds. */
const mostUnderWayMs = 30_000

/**
 * An app for all surfaces. `trustedProxies` answers those of the current snapshot: behind them the client's address
 * stands in a header that Fastify knows how to read, so there hook requests take the road through its router, as
 * injected ones do.
 */
export function createApp(trustedProxies: () => Proxies, timers: Timers = realTimers): FastifyInstance {
  const trust = createProxyTrust(trustedProxies)
  const sockets = new Set<Socket>()
  // A query that a route does not know is an error, not something to take out in silence.
  const app: FastifyInstance = Fastify({
    ...serverOptions,
    ajv: { customOptions: { removeAdditional: false as const, ...quickStart } },
    // A session key stands in an address whole; the limit on the request line is the only one it needs.
    routerOptions: { maxParamLength: 65_536 },
    trustProxy: trust.believes,
    serverFactory: (route) => createFork(route, () => app, trust, sockets),
  })
  endConnections(app, sockets, timers)
  return app
}

/**
 * A server that closes looks at its time limits no more, and takes a connection over which nothing came for a busy one:
 * without this, one that a sender opened and did not use would hold up the end.
 */
function endConnections(app: FastifyInstance, sockets: ReadonlySet<Socket>, timers: Timers): void {
  const endThose = (isOver: (socket: Socket) => boolean) => () => {
    for (const socket of sockets) if (isOver(socket)) socket.destroy()
  }
  app.addHook('preClose', async () => {
    if (!app.server.listening) return
    const armed = [
      timers.setTimeout(
        endThose(({ bytesRead }) => bytesRead === 0),
        silentMs,
      ),
      timers.setTimeout(
        endThose(() => true),
        mostUnderWayMs,
      ),
    ]
    app.server.once('close', () => {
      for (const timer of armed) timers.clearTimeout(timer)
    })
  })
}

/** At each start, the few schemas of ours would be made shorter and checked for longer than they are used. */
const quickStart = { code: { optimize: false }, validateSchema: false, meta: false }

type Route = (incoming: IncomingMessage, outgoing: ServerResponse) => void

function createFork(
  route: Route,
  app: () => FastifyInstance,
  trust: ProxyTrust,
  sockets: Set<Socket>,
): Server {
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
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  return Object.assign(server, { maxHeadersCount, maxRequestsPerSocket })
}
