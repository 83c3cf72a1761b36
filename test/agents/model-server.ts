/** Serves a model over the chat protocol that OpenAI published. Its replies contain the number of messages in the request. */

import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import { atEnd } from '../at-end.ts'

export interface ShownMessage {
  readonly role: string
  readonly content: string
}

export interface ModelServer {
  /** The `baseUrl` for a provider of the kind `openai-compatible`. */
  readonly url: string
  /** The messages of each request so far. */
  readonly shown: readonly (readonly ShownMessage[])[]
}

/** `reply` is the answer to every request. Default: `answer 1` and so on. */
export async function startModelServer(t: TestContext, reply?: string): Promise<ModelServer> {
  const shown: ShownMessage[][] = []
  const server = createServer(async (request, response) => {
    const { messages } = JSON.parse(await readText(request)) as {
      messages: { role: string; content: string | { text?: string }[] }[]
    }
    shown.push(messages.map(({ role, content }) => ({ role, content: textOf(content) })))
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const chunk = (delta: object, finish: string | null = null) =>
      response.write(
        `data: ${JSON.stringify({
          id: 'chatcmpl-1',
          object: 'chat.completion.chunk',
          created: 1,
          model: 'small',
          choices: [{ index: 0, delta, finish_reason: finish }],
        })}\n\n`,
      )
    chunk({ role: 'assistant', content: reply === undefined ? 'answer ' : '' })
    chunk({ content: reply ?? String(shown.length) })
    chunk({}, 'stop')
    response.end('data: [DONE]\n\n')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  atEnd(t, () => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, shown }
}

function textOf(content: string | readonly { readonly text?: string }[]): string {
  return typeof content === 'string' ? content : content.map(({ text = '' }) => text).join('')
}

async function readText(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of request.setEncoding('utf8')) text += chunk
  return text
}
