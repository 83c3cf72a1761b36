/** Answers as a model does over the chat protocol that OpenAI published. */

import type { FakeServerAnswer } from '@reveille/kit/fake-server'

/** A whole answer in the chat protocol. */
export function chatAnswer(content: string): FakeServerAnswer {
  const facts = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'small' }
  const chunk = (delta: object, finish: string | null = null) =>
    `data: ${JSON.stringify({ ...facts, choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`
  const body = `${chunk({ role: 'assistant', content })}${chunk({}, 'stop')}data: [DONE]\n\n`
  return { headers: { 'content-type': 'text/event-stream' }, body }
}
