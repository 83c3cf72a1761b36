/** Serves the model that the real programs call: a mock on loopback, behind a proxy that records the requests. */

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { LLMock } from '@copilotkit/aimock'

export interface ModelService {
  readonly url: string
  /** The requests to the model, in the vendor's protocol. */
  readonly requests: Readonly<Record<string, unknown>>[]
  /** The bodies of all requests, whatever they ask for. */
  readonly bodies: readonly string[]
  /** From now on, requests get no answer. Resolves when one has come. */
  stall(): Promise<void>
  /** From now on, requests are answered again. */
  resume(): void
  /** From now on, every request is refused. */
  refuse(): void
  close(): Promise<void>
}

export async function createModelService(): Promise<ModelService> {
  const mock = new LLMock({ port: 0 })
  const usage = { input_tokens: 100, output_tokens: 10, prompt_tokens: 100, completion_tokens: 10 }
  mock.onMessage(/.*/s, { content: 'As you say.', usage })
  await mock.start()
  const requests: Record<string, unknown>[] = []
  const bodies: string[] = []
  const stalled = Promise.withResolvers<void>()
  let part: 'answers' | 'stalls' | 'refuses' = 'answers'

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request)
    const isQuestion =
      request.method === 'POST' && /(\/(messages|responses)|[gG]enerateContent)(\?|$)/.test(request.url ?? '')
    bodies.push(body)
    if (isQuestion) requests.push(JSON.parse(body))
    if (isQuestion && part === 'stalls') return stalled.resolve()
    if (isQuestion && part === 'refuses') {
      const error = { type: 'invalid_request_error', message: 'the model is on holiday' }
      response
        .writeHead(400, { 'content-type': 'application/json' })
        .end(JSON.stringify({ type: 'error', error }))
      return
    }
    const { host: _, connection: __, 'content-length': ___, ...headers } = request.headers
    const init = { method: request.method, headers: headers as Record<string, string> }
    const given = await fetch(`${mock.url}${request.url}`, body === '' ? init : { ...init, body })
    response.writeHead(given.status, { 'content-type': given.headers.get('content-type') ?? 'text/plain' })
    response.end(Buffer.from(await given.arrayBuffer()))
  }

  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    bodies,
    stall() {
      part = 'stalls'
      return stalled.promise
    },
    resume() {
      part = 'answers'
    },
    refuse() {
      part = 'refuses'
    },
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      await mock.stop()
    },
  }
}
