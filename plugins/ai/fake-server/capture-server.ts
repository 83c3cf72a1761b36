/** Starts a server that records its requests and answers as a test's script says. */

import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'

export interface Asked {
  /** The path with the query. */
  readonly path: string
  readonly headers: IncomingHttpHeaders
  // biome-ignore lint/suspicious/noExplicitAny: a body is what the tests are about, and they say what it must be.
  readonly body: any
}

export type Script = (response: ServerResponse, asked: Asked) => void

export interface CaptureServer {
  readonly url: string
  readonly asked: readonly Asked[]
  /** Sets the script that answers every request from now on. */
  play(script: Script): void
  /** Settles when one more request has been read and its script has been played. */
  next(): Promise<ServerResponse>
  close(): Promise<void>
}

export async function startCaptureServer(first: Script): Promise<CaptureServer> {
  const asked: Asked[] = []
  let script = first
  let arrived = Promise.withResolvers<ServerResponse>()
  const server = createServer(async (request, response) => {
    const { url: path = '', headers } = request
    const each = { path, headers, body: await json(request) }
    asked.push(each)
    script(response, each)
    arrived.resolve(response)
    arrived = Promise.withResolvers()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    asked,
    play(next) {
      script = next
    },
    next: () => arrived.promise,
    async close() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

export function openStream(response: ServerResponse): ServerResponse {
  return response.writeHead(200, { 'content-type': 'text/event-stream' })
}

/** Answers with these events and ends the stream. */
export function stream(...events: readonly string[]): Script {
  return (response) => void openStream(response).end(events.join(''))
}

/** Answers with a status and a JSON body. */
export function refuse(status: number, body: unknown, headers: Record<string, string> = {}): Script {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return (response) =>
    void response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(text)
}
