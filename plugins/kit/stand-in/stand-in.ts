/** Owns the server that stands in for a vendor: it answers as its rules say, or does what the script says first. */

import { EventEmitter, once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface StandInRequest {
  readonly method: string
  /** Decoded, without the query. */
  readonly path: string
  readonly query: URLSearchParams
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly text: string
  /** The body as JSON; undefined where it is none. */
  readonly json: unknown
}

export interface StandInAnswer {
  /** Default: 200. */
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  /** An object goes as JSON, a text as it is. */
  readonly body?: object | string
}

/**
 * What befalls one request instead of its answer. "Before" and "after" say whether the vendor has acted on it (stored
 * the message) when it happens.
 */
export type Fault =
  /** This is answered, and the request is not acted on. */
  | { readonly kind: 'answer'; readonly answer: StandInAnswer }
  /** The request is acted on, and this is answered all the same. */
  | { readonly kind: 'answer-after'; readonly answer: StandInAnswer }
  | { readonly kind: 'cut-before' }
  | { readonly kind: 'cut-after' }
  | { readonly kind: 'hang-before' }
  | { readonly kind: 'hang-after' }
  /** Half of the answer, and then the connection is cut. */
  | { readonly kind: 'cut-answer' }

export interface StandIn {
  /** `http://127.0.0.1:PORT`, without a slash at its end. */
  readonly url: string
  /** Everything that came, in order, faults included. */
  readonly requests: readonly StandInRequest[]
  /** Each fault befalls one of the next requests that `matches` (default: those that would store a message). */
  script(...faults: readonly Fault[]): void
  /** From now on the fault befalls every such request; undefined ends that. */
  always(fault: Fault | undefined): void
  /** Settles when a request hangs, as a fault has it. */
  untilHanging(): Promise<void>
  /** Settles when no request waits for an answer any more: each has one, or its caller has let go of the connection. */
  untilIdle(): Promise<void>
  /** May be called more than once. */
  close(): Promise<void>
}

export interface StandInOptions {
  /** The vendor: its rules, and its memory of messages. */
  answer(request: StandInRequest): StandInAnswer | Promise<StandInAnswer>
  /** Which requests scripted faults befall. Default: all. */
  isSend?(request: StandInRequest): boolean
}

/** Listens on loopback, on a port of its own. */
export async function openStandIn({ answer, isSend = () => true }: StandInOptions): Promise<StandIn> {
  const requests: StandInRequest[] = []
  const faults: Fault[] = []
  const waiting = new Set<ServerResponse>()
  const hanging = new Set<ServerResponse>()
  const changes = new EventEmitter()
  let standing: Fault | undefined

  function hang(response: ServerResponse): void {
    hanging.add(response)
    changes.emit('change')
  }

  async function until(isSo: () => boolean): Promise<void> {
    while (!isSo()) await once(changes, 'change')
  }

  async function serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const request = await read(incoming)
    requests.push(request)
    const fault = isSend(request) ? (faults.shift() ?? standing) : undefined
    switch (fault?.kind) {
      case 'answer':
        return write(response, fault.answer)
      case 'cut-before':
        return void incoming.socket.destroy()
      case 'hang-before':
        return hang(response)
    }
    const given = await answer(request)
    switch (fault?.kind) {
      case undefined:
        return write(response, given)
      case 'answer-after':
        return write(response, fault.answer)
      case 'cut-after':
        return void incoming.socket.destroy()
      case 'hang-after':
        return hang(response)
      case 'cut-answer': {
        response.writeHead(given.status ?? 200, { 'content-length': '1000', ...given.headers })
        return void response.write('{', () => incoming.socket.destroy())
      }
    }
  }

  const server = createServer((incoming, response) => {
    waiting.add(response)
    response.on('close', () => {
      waiting.delete(response)
      hanging.delete(response)
      changes.emit('change')
    })
    serve(incoming, response).catch((error: unknown) => {
      response.writeHead(599).end(String(error))
    })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  let closed: Promise<unknown> | undefined
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    script: (...more) => void faults.push(...more),
    always(fault) {
      standing = fault
    },
    untilHanging: () => until(() => hanging.size > 0),
    untilIdle: () => until(() => waiting.size === 0),
    async close() {
      closed ??= once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

async function read(incoming: IncomingMessage): Promise<StandInRequest> {
  const chunks: Buffer[] = []
  for await (const chunk of incoming) chunks.push(chunk as Buffer)
  const text = Buffer.concat(chunks).toString('utf8')
  const url = new URL(incoming.url ?? '/', 'http://stand-in')
  const headers = Object.entries(incoming.headers).map(([name, value]) => [name, String(value)])
  return {
    method: incoming.method ?? 'GET',
    path: decodeURIComponent(url.pathname),
    query: url.searchParams,
    headers: Object.fromEntries(headers),
    text,
    json: parseJson(text),
  }
}

function write(response: ServerResponse, { status = 200, headers = {}, body = '' }: StandInAnswer): void {
  const isText = typeof body === 'string'
  response.writeHead(status, { 'content-type': isText ? 'text/plain' : 'application/json', ...headers })
  response.end(isText ? body : JSON.stringify(body))
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
