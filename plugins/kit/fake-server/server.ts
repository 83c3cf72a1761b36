/** Serves a fake vendor over HTTP: it answers by the vendor's rules unless a scripted fault comes first. */

import { EventEmitter, once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { parseJson } from '../record.ts'

export interface FakeServerRequest {
  readonly method: string
  /** The decoded path, without the query. */
  readonly path: string
  readonly query: URLSearchParams
  /** The headers by their names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly text: string
  /** The body parsed as JSON; undefined if it is not JSON. */
  readonly json: unknown
  /** Aborted when the caller no longer waits. */
  readonly signal: AbortSignal
}

export interface FakeServerAnswer {
  /** Default: 200. */
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  /** An object is sent as JSON, a string as it is. */
  readonly body?: object | string
  /** `cut` closes the connection after the body; `hang` leaves it open. Default: the answer ends. */
  readonly end?: 'cut' | 'hang'
}

/**
 * The fault that replaces the answer to one request. "Before" and "after" tell whether the fault strikes before or after the vendor has
 * acted on the request, that is, has stored the message.
 */
export type Fault =
  /** The vendor does not act on the request, and the fake sends this answer. */
  | { readonly kind: 'answer'; readonly answer: FakeServerAnswer }
  /** The vendor acts on the request, and the fake sends this answer all the same. */
  | { readonly kind: 'answer-after'; readonly answer: FakeServerAnswer }
  | { readonly kind: 'cut-before' }
  | { readonly kind: 'cut-after' }
  | { readonly kind: 'hang-before' }
  | { readonly kind: 'hang-after' }
  /** The fake sends half of the answer, and cuts the connection or sends no more. */
  | { readonly kind: 'cut-answer' }
  | { readonly kind: 'hang-answer' }

type Answered = FakeServerAnswer | 'cut' | 'hang'

export interface FakeServerOptions {
  /**
   * Answers as the vendor does, by its rules and the messages that it remembers. A vendor with faults of its own may
   * cut the connection, or let the request hang.
   */
  answer(request: FakeServerRequest): Answered | Promise<Answered>
  /** True if faults affect this request; normally those that would store a message. Default: every request. */
  isSend?(request: FakeServerRequest): boolean
  /** Default: any free port. */
  readonly port?: number
}

export interface FakeServer {
  /** `http://127.0.0.1:PORT`, without a trailing slash. */
  readonly url: string
  /** Every request in order of arrival, including those that met a fault. */
  readonly requests: readonly FakeServerRequest[]
  /** Adds faults, each for one of the next requests that `isSend` accepts. */
  script(...faults: readonly Fault[]): void
  /** Sets the fault for every such request from now on, or removes it with undefined. */
  always(fault: Fault | undefined): void
  /** Settles when a fault has made a request hang. */
  untilHanging(): Promise<void>
  /** Settles when no request is waiting: each has its answer, or its caller has closed the connection. */
  untilIdle(): Promise<void>

  /** May be called more than once. */
  close(): Promise<void>
}

/** Starts a fake server on the loopback interface. */
export async function openFakeServer({
  answer,
  isSend = () => true,
  port = 0,
}: FakeServerOptions): Promise<FakeServer> {
  const requests: FakeServerRequest[] = []
  const scripted: Fault[] = []
  const waiting = new Set<ServerResponse>()
  const hanging = new Set<ServerResponse>()
  const changes = new EventEmitter()
  let permanent: Fault | undefined

  async function until(condition: () => boolean): Promise<void> {
    while (!condition()) await once(changes, 'change')
  }

  /** Returns the answer of the vendor or of the fault that strikes this request. */
  async function answerTo(request: FakeServerRequest): Promise<Answered> {
    const fault = isSend(request) ? (scripted.shift() ?? permanent) : undefined
    if (fault?.kind === 'answer') return fault.answer
    if (fault?.kind === 'cut-before') return 'cut'
    if (fault?.kind === 'hang-before') return 'hang'
    const given = await answer(request)
    if (typeof given === 'string' || fault === undefined) return given
    if (fault.kind === 'answer-after') return fault.answer
    if (fault.kind === 'cut-answer') return { ...halfOf(given), end: 'cut' }
    if (fault.kind === 'hang-answer') return { ...halfOf(given), end: 'hang' }
    return fault.kind === 'cut-after' ? 'cut' : 'hang'
  }

  async function serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const gone = new AbortController()
    waiting.add(response)
    response.on('close', () => {
      gone.abort()
      waiting.delete(response)
      hanging.delete(response)
      changes.emit('change')
    })
    const request = await read(incoming, gone.signal)
    requests.push(request)
    const given = await answerTo(request)
    if (given === 'cut') incoming.socket.destroy()
    else if (given !== 'hang') await write(response, given)
    const hangs = given === 'hang' || (given !== 'cut' && given.end === 'hang')
    if (hangs && waiting.has(response)) hanging.add(response)
    changes.emit('change')
  }

  const server = createServer((incoming, response) => {
    serve(incoming, response).catch((error: unknown) => response.writeHead(599).end(String(error)))
  })
  await once(server.listen(port, '127.0.0.1'), 'listening')
  let closed: Promise<unknown> | undefined
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    script: (...more) => void scripted.push(...more),
    always(fault) {
      permanent = fault
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

async function read(incoming: IncomingMessage, signal: AbortSignal): Promise<FakeServerRequest> {
  const chunks: Buffer[] = []
  for await (const chunk of incoming) chunks.push(chunk as Buffer)
  const text = Buffer.concat(chunks).toString('utf8')
  const url = new URL(incoming.url ?? '/', 'http://fake-server')
  const headers = Object.entries(incoming.headers).map(([name, value]) => [name, String(value)])
  return {
    method: incoming.method ?? 'GET',
    path: decodeURIComponent(url.pathname),
    query: url.searchParams,
    headers: Object.fromEntries(headers),
    text,
    json: parseJson(text),
    signal,
  }
}

function halfOf(answer: FakeServerAnswer): FakeServerAnswer {
  const { body = '' } = answer
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return { ...answer, body: text.slice(0, text.length / 2) || '{' }
}

/** Settles when the answer has been handed to the socket. */
function write(
  response: ServerResponse,
  { status = 200, headers = {}, body = '', end }: FakeServerAnswer,
): Promise<void> {
  const isText = typeof body === 'string'
  const text = isText ? body : JSON.stringify(body)
  response.writeHead(status, { 'content-type': isText ? 'text/plain' : 'application/json', ...headers })
  return new Promise((resolve) => {
    if (end === undefined) return void response.end(text, resolve)
    response.write(text, () => {
      if (end === 'cut') response.destroy()
      resolve()
    })
  })
}
