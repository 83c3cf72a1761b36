/** Serves the model that the real programs call: a mock on loopback, behind a proxy that records the requests. */

import { LLMock } from '@copilotkit/aimock'
import { openFakeServer } from '@reveille/kit/fake-server'

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

  const server = await openFakeServer({
    async answer({ method, path, query, headers: sent, text }) {
      const isQuestion = method === 'POST' && /(\/(messages|responses)|[gG]enerateContent)$/.test(path)
      bodies.push(text)
      if (isQuestion) requests.push(JSON.parse(text))
      if (isQuestion && part === 'stalls') {
        stalled.resolve()
        return 'hang'
      }
      if (isQuestion && part === 'refuses') {
        const error = { type: 'invalid_request_error', message: 'the model is on holiday' }
        return { status: 400, body: { type: 'error', error } }
      }
      const { host: _, connection: __, 'content-length': ___, ...headers } = sent as Record<string, string>
      const init = { method, headers, ...(text !== '' && { body: text }) }
      const given = await fetch(`${mock.url}${path}?${query}`, init)
      const type = given.headers.get('content-type') ?? 'text/plain'
      return { status: given.status, headers: { 'content-type': type }, body: await given.text() }
    },
  })
  return {
    url: server.url,
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
      await server.close()
      await mock.stop()
    },
  }
}
