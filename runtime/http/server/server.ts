/** Creates the app that all surfaces are registered with, its HTTP server, and the listener for tunnels. */

import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { realTimers, type Timers } from '@reveille/engine'
import Fastify, { type FastifyInstance, type FastifyRequest } from 'fastify'
import { addressOf } from '../clients/client.ts'
import { createProxyTrust, type Proxies } from '../clients/proxies.ts'
import type { HookSurface } from '../hooks.ts'
import { isWellFormed, refuseMalformed } from './malformed.ts'

/** An import of the module reads all its exports, and so loads Node's WebSocket: 14 MB, and 60 ms of processor time. */
const { createServer } = process.getBuiltinModule('node:http')

/** The time for a whole request. Any sensible `hooks.bodyTimeoutMs` is shorter, and has the better reply. */
const requestTimeout = 300_000
/** A little longer than the minute that proxies usually keep an idle connection, so that they close it and not the gateway. */
const keepAliveTimeout = 72_000

const httpOptions = {
  requestTimeout,
  keepAliveTimeout,
  headersTimeout: 20_000,
  /** Milliseconds between checks for requests that took too long. */
  connectionsCheckingInterval: 5_000,
  /** For the request line and all headers together. Bytes. */
  maxHeaderSize: 16 * 1024,
  requireHostHeader: true,
  // With this, no flag of Node.js makes the parser accept what smuggles requests past a proxy.
  insecureHTTPParser: false,
} as const

/** The size of headers is bounded already; beyond a count, Node.js would drop headers silently. 0 means no limit. */
const maxHeadersCount = 0
/** A proxy sends everything over a few connections, and each request is checked by itself. 0 means no limit. */
const maxRequestsPerSocket = 0

/**
 * Connections that the kernel has opened and the gateway has not accepted yet. Node.js asks for 511; beyond them a burst of senders is
 * dropped, and tries again after a second at the earliest. The kernel applies its own limit: `net.core.somaxconn`, 4096 on Linux.
 */
const backlog = 4096

/** A silent connection that is older than this was opened for later use. Milliseconds. */
const silentMs = 1000
/** Bodies, commits and turns have shorter limits, so whatever is under way when a close begins ends within this time. Milliseconds. */
const maxUnderWayMs = 30_000

/** createApp creates an app without routes. `trustedProxies` returns the proxies of the current snapshot. */
export function createApp(trustedProxies: () => Proxies, timers: Timers = realTimers): FastifyInstance {
  const sockets = new Set<Socket>()
  const app: FastifyInstance = Fastify({
    // The surface that replies to a request writes its line.
    logger: false,
    // The hook surface replies while the server closes, with `DRAINING` and `Retry-After`.
    return503OnClosing: false,
    requestTimeout,
    keepAliveTimeout,
    clientErrorHandler: refuseMalformed,
    // An address that the router cannot decode is refused by the hook surface like any other that it does not know.
    frameworkErrors: (_error, request, reply) => request.server.receiveUnroutable?.(request, reply),
    // An address may hold a whole session key; the limit on the request line is the only one that it needs.
    routerOptions: { maxParamLength: 65_536 },
    trustProxy: createProxyTrust(trustedProxies),
    serverFactory: (route) => createBoundedServer(sockets, route),
  })
  // A sender that waits to be asked for its body is asked once its head has passed.
  app.server.on('checkContinue', (incoming, outgoing) => app.server.emit('request', incoming, outgoing))
  app.addHook('preParsing', ({ raw }, reply, _body, done) => {
    // HTTP/1.0 has no interim replies: such a sender would take it for the final one.
    if (raw.headers.expect !== undefined && raw.httpVersion !== '1.0') reply.raw.writeContinue()
    done()
  })
  endConnectionsOnClose(app, sockets, timers)
  return app
}

/**
 * A server that closes stops checking its time limits and takes a connection over which nothing came for a busy one, so that a
 * connection which a sender opened and did not use would hold up the end.
 */
function endConnectionsOnClose(app: FastifyInstance, sockets: ReadonlySet<Socket>, timers: Timers): void {
  app.addHook('preClose', async () => {
    if (app.server.listening) endConnectionsInTime(app.server, sockets, timers)
  })
}

/** Destroys the connections over which nothing came soon, and all that are left when whatever was under way must have ended. */
function endConnectionsInTime(server: Server, sockets: ReadonlySet<Socket>, timers: Timers): void {
  const silent = timers.setTimeout(() => {
    for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy()
  }, silentMs)
  const all = timers.setTimeout(() => {
    for (const socket of sockets) socket.destroy()
  }, maxUnderWayMs)
  server.once('close', () => {
    timers.clearTimeout(silent)
    timers.clearTimeout(all)
  })
}

type Route = (incoming: IncomingMessage, outgoing: ServerResponse) => void

function createBoundedServer(sockets: Set<Socket>, route: Route): Server {
  const server = createServer(httpOptions, (incoming, outgoing) => {
    if (isWellFormed(incoming, outgoing)) route(incoming, outgoing)
  })
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  return Object.assign(server, { maxHeadersCount, maxRequestsPerSocket })
}

export interface TunnelListener {
  /** Where a tunnel has to lead: `http://127.0.0.1:41234`. */
  readonly address: string
  close(): Promise<void>
}

/**
 * Listens on a port of the loopback address for a tunnel that runs on this machine. Whatever comes there is from outside, and hooks
 * are all that is served. `clientHeader` is the header to whose list the tunnel appends the address of its client. Port 0 takes
 * a free one. @throws ListenError
 */
export async function openTunnelListener(
  hooks: Pick<HookSurface, 'register'>,
  { port, clientHeader }: { readonly port: number; readonly clientHeader: string },
  timers: Timers = realTimers,
): Promise<TunnelListener> {
  const app = createApp(() => [], timers)
  const clientOf = ({ headers }: FastifyRequest) =>
    addressOf(
      String(headers[clientHeader] ?? '')
        .split(',')
        .at(-1) ?? '',
    ) ?? ''
  hooks.register(app, { clientOf, isTunnelled: true })
  try {
    const address = await app.listen({ port, host: '127.0.0.1', backlog })
    return { address, close: () => app.close() }
  } catch (error) {
    throw listenError(error, { host: '127.0.0.1', port }, '--tunnel-port')
  }
}

export type ListenErrorCode = 'PORT_IN_USE' | 'ADDRESS_UNAVAILABLE'

/** Says in one line why a gateway cannot listen. */
export class ListenError extends Error {
  readonly code: ListenErrorCode

  constructor(code: ListenErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'ListenError'
    this.code = code
  }
}

/**
 * listen resolves with the address, such as `http://127.0.0.1:8787`. `fd`: a socket that a supervisor has opened at this address.
 * @throws ListenError
 */
export async function listen(
  app: FastifyInstance,
  { host, port, fd }: { readonly host: string; readonly port: number; readonly fd?: number | undefined },
): Promise<string> {
  try {
    // Node.js prefers the descriptor to the address.
    const url = await app.listen({ host, port, backlog, ...(fd !== undefined && { fd }) })
    const opened = app.server.address() as AddressInfo
    if (fd === undefined || (opened.address === host && (opened.port === port || port === 0))) return url
    const message = `The socket of the supervisor is at ${url}, and the gateway at ${host}:${port}. Set gateway.host and gateway.port.`
    throw new ListenError('ADDRESS_UNAVAILABLE', message)
  } catch (error) {
    throw listenError(error, { host, port }, 'gateway.port')
  }
}

function listenError(
  cause: unknown,
  { host, port }: { readonly host: string; readonly port: number },
  setting: 'gateway.port' | '--tunnel-port',
): unknown {
  const { code } = cause as NodeJS.ErrnoException
  if (code === 'EADDRINUSE') {
    const way =
      setting === 'gateway.port'
        ? 'Set gateway.port to a free one, or start with --port.'
        : `Give ${setting} a free one.`
    const message = `Port ${port} on ${host} is in use: another gateway may be running. ${way}`
    return new ListenError('PORT_IN_USE', message, { cause })
  }
  if (code === 'EADDRNOTAVAIL' || code === 'EACCES') {
    const way =
      setting === 'gateway.port' ? 'Set gateway.host and gateway.port.' : `Give ${setting} another port.`
    const message = `The gateway cannot listen on ${host}:${port} (${code}). ${way}`
    return new ListenError('ADDRESS_UNAVAILABLE', message, { cause })
  }
  return cause
}
