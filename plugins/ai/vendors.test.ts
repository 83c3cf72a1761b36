/** Against a mock that others maintain, who replay it against the vendors: our own fake server must not be its own judge. */

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { LLMock } from '@copilotkit/aimock'
import type { Message, Progress } from '@reveille/kit'
import { failureOf } from '@reveille/kit/fake-server'
import { apiKey, protocols } from './fake-server/protocols.ts'
import { createRunner, run, turnTo } from './fake-server/runners.ts'

const long = 'one two three four five six seven eight nine ten '.repeat(20)
const mock = new LLMock({ port: 0, auth: { apiKeys: [apiKey] } })
mock.onMessage(/hello/, {
  content: long,
  model: 'the-one-that-answered',
  // Each vendor's own names for the same counts.
  usage: {
    ...{ prompt_tokens: 11, completion_tokens: 7 },
    ...{ input_tokens: 11, output_tokens: 7 },
    ...{ promptTokenCount: 11, candidatesTokenCount: 7 },
  },
})
mock.onMessage(/ponder/, { content: 'Done.', reasoning: 'Let me see. It is so.' })
mock.onMessage(/turn/, { content: 'Answered.' })
mock.onMessage(/hurry/, {
  error: { message: 'Slow down', type: 'rate_limit_error' },
  status: 429,
  retryAfter: 7,
})
mock.onMessage(/fail/, { error: { message: 'Something broke', type: 'server_error' }, status: 500 })
mock.onMessage(/break/, { content: long }, { truncateAfterChunks: 20, latency: 2 })
mock.onMessage(/flood/, { content: long }, { chaos: { rateLimitRate: 1 } })
mock.onMessage(/lose/, { content: long }, { chaos: { dropRate: 1 } })
mock.onMessage(/garble/, { content: long }, { chaos: { malformedRate: 1 } })
mock.onMessage(/hang up/, { content: long }, { chaos: { disconnectRate: 1 } })

before(() => mock.start())
after(() => mock.stop())

for (const protocol of protocols) {
  const { name } = protocol
  const ask = (
    prompt: string,
    more: { history?: Message[]; onProgress?: (reported: Progress) => void } = {},
  ) => {
    const { history = [], onProgress } = more
    const turn = turnTo(protocol, { prompt, history, systemPrompt: 'Be brief.' })
    return run(createRunner(mock.url), turn, { onProgress })
  }

  test(`${name}: a reply streams in, with usage and the model that answered`, async () => {
    const reported: string[] = []
    const result = await ask('hello', {
      onProgress: ({ text }) => void (text !== undefined && reported.push(text)),
    })
    assert.equal(result.reply, long)
    assert.ok(reported.length > 10, `${reported.length} pieces`)
    assert.equal(reported.join(''), long)
    assert.deepEqual([result.usage?.inputTokens, result.usage?.outputTokens], [11, 7])
    // The mock leaves Gemini's version out.
    const model = name === 'google' ? protocol.model : 'the-one-that-answered'
    assert.equal(result.model, `${name}/${model}`)
  })

  test(`${name}: thinking is reported as progress and is no part of the reply`, async () => {
    const reported: Progress[] = []
    const { reply } = await ask('ponder', { onProgress: (each) => void reported.push(each) })
    assert.equal(reply, 'Done.')
    // OpenAI's chat protocol does not show it.
    if (name !== 'chat') assert.deepEqual(reported[0], { note: 'thinking' })
  })

  test(`${name}: three turns send everything that was said before`, async () => {
    const history: Message[] = []
    for (const number of [1, 2, 3]) {
      const prompt = `turn ${number}`
      const { reply } = await ask(prompt, { history: [...history] })
      const body = mock.getLastRequest()?.body as { messages: { role: string; content: unknown }[] }
      const shown = body.messages.map(({ role, content }) => [role, textOf(content)])
      const before = history.map(({ role, text }) => [role, text])
      // OpenAI's thinking models call it so; the mock shows only the chat protocol as it is.
      const system = name === 'chat' ? 'developer' : 'system'
      assert.deepEqual(shown, [[system, 'Be brief.'], ...before, ['user', prompt]])
      history.push({ role: 'user', text: prompt, at: number }, { role: 'assistant', text: reply, at: number })
    }
  })

  const failures = [
    ['hurry', 'rate-limited', 7],
    ['flood', 'rate-limited', 1],
    ['fail', 'unavailable', undefined],
    ['lose', 'unavailable', undefined],
    ['break', 'dropped', undefined],
    ['garble', 'malformed', undefined],
    ['hang up', 'network', undefined],
  ] as const
  for (const [prompt, code, retryAfter] of failures) {
    test(`${name}: to ${prompt} is ${code}, and may be tried again`, async () => {
      const error = await failureOf(ask(prompt))
      assert.deepEqual(
        [error.code, error.retryable, error.retryAfter],
        [code, true, retryAfter],
        error.message,
      )
    })
  }

  test(`${name}: a wrong key is a bad credential`, async () => {
    const turn = run(createRunner(mock.url, { apiKey: 'another-key-0123456789' }), turnTo(protocol))
    const error = await failureOf(turn)
    assert.deepEqual([error.code, error.retryable], ['bad-credential', false])
  })
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content
  return (content as { text?: string }[]).map(({ text }) => text ?? '').join('')
}
