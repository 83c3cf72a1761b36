/** Serves a model over the chat protocol that OpenAI published. Its replies contain the number of messages in the request. */

import type { TestContext } from 'node:test'
import { type FakeServerAnswer, openFakeServer } from '@reveille/kit/fake-server'
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
  const server = await openFakeServer({
    answer({ json }) {
      const { messages } = json as { messages: { role: string; content: string | { text?: string }[] }[] }
      shown.push(messages.map(({ role, content }) => ({ role, content: textOf(content) })))
      return chatAnswer(reply ?? `answer ${shown.length}`)
    },
  })
  atEnd(t, server.close)
  return { url: `${server.url}/v1`, shown }
}

/** A whole answer in the chat protocol. */
export function chatAnswer(content: string): FakeServerAnswer {
  const facts = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'small' }
  const chunk = (delta: object, finish: string | null = null) =>
    `data: ${JSON.stringify({ ...facts, choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`
  const body = `${chunk({ role: 'assistant', content })}${chunk({}, 'stop')}data: [DONE]\n\n`
  return { headers: { 'content-type': 'text/event-stream' }, body }
}

function textOf(content: string | readonly { readonly text?: string }[]): string {
  return typeof content === 'string' ? content : content.map(({ text = '' }) => text).join('')
}
