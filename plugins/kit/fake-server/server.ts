/** Serves a fake vendor over HTTP: it answers by the vendor's rules unless a scripted fault comes first. */

import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { parseJson } from '../record.ts'
import {
  createFaults,
  type FakeServerAnswer,
  type FakeServerRequest,
  type Faults,
  type FaultyVendor,
} from './faults.ts'

export interface FakeServer extends Faults {
  /** `http://127.0.0.1:PORT`, without a trailing slash. */
  readonly url: string
  /** May be called more than once. */
  close(): Promise<void>
}

export type FakeServerOptions = FaultyVendor

/** Starts a fake server on a free port of the loopback interface. */
export async function openFakeServer(options: FakeServerOptions): Promise<FakeServer> {
  const { faults, expect, meet, release } = createFaults<ServerResponse>(options)

  async function serve(
    incoming: IncomingMessage,
    response: ServerResponse,
    signal: AbortSignal,
  ): Promise<void> {
    const outcome = await meet(response, { ...(await read(incoming)), signal })
    switch (outcome.end) {
      case 'answer':
        return write(response, outcome.answer)
      case 'cut':
        return void incoming.socket.destroy()
      case 'cut-answer': {
        const { status = 200, headers } = outcome.answer
        response.writeHead(status, { 'content-length': '1000', ...headers })
        return void response.write('{', () => incoming.socket.destroy())
      }
      case 'hang':
        return
    }
  }

  const server = createServer((incoming, response) => {
    const gone = new AbortController()
    expect(response)
    response.on('close', () => {
      gone.abort()
      release(response)
    })
    serve(incoming, response, gone.signal).catch((error: unknown) => {
      response.writeHead(599).end(String(error))
    })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  let closed: Promise<unknown> | undefined
  return {
    ...faults,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      closed ??= once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

async function read(incoming: IncomingMessage): Promise<FakeServerRequest> {
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
  }
}

function write(response: ServerResponse, { status = 200, headers = {}, body = '' }: FakeServerAnswer): void {
  const isText = typeof body === 'string'
  response.writeHead(status, { 'content-type': isText ? 'text/plain' : 'application/json', ...headers })
  response.end(isText ? body : JSON.stringify(body))
}
