/** Describes the five protocols: how each vendor is configured, how it streams, and where its requests hold the prompt. */

import type { ProviderConfig } from '../providers.ts'
import { type Asked, type Script, stream } from './capture-server.ts'

export interface Protocol {
  /** The provider's name in the tests. */
  readonly name: string
  /** Everything but the key. */
  readonly config: (url: string) => ProviderConfig
  readonly model: string
  /** The path of requests below the server's address. */
  readonly path: string
  /** A whole answer, one event each. */
  readonly events: (pieces: readonly string[], ending?: string) => string[]
  /** An error in the middle of a stream that was answered with 200. */
  readonly error: (kind: 'overloaded' | 'rate' | 'invalid') => string
  /** System prompt, then each message, as role and text. */
  readonly messages: (asked: Asked) => [role: string, text: string][]
}

export const apiKey = 'key-of-the-vendor-0123456789'
/** The usage in every answer below. Vendors count cached and thinking tokens in different places. */
export const usage = { inputTokens: 40, outputTokens: 30, cachedInputTokens: 8, reasoningTokens: 10 }

const sse = (data: unknown, event?: string) =>
  `${event === undefined ? '' : `event: ${event}\n`}data: ${JSON.stringify(data)}\n\n`
const typed = <Data extends { type: string }>(data: Data) => sse(data, data.type)

interface ChatMessage {
  readonly role: string
  readonly content: string | readonly { readonly text: string }[]
}

const textOf = ({ content }: ChatMessage) =>
  typeof content === 'string' ? content : content.map(({ text }) => text).join('')
const pairs = (messages: readonly ChatMessage[]) =>
  messages.map((message): [string, string] => [message.role, textOf(message)])

const responses: Protocol = {
  name: 'openai',
  config: (url) => ({ baseUrl: `${url}/v1` }),
  model: 'gpt-5.2',
  path: '/v1/responses',
  events(pieces, ending = 'completed') {
    const response = {
      id: 'resp_1',
      created_at: 1_700_000_000,
      model: 'gpt-5.2-2025-12-11',
      service_tier: null,
    }
    const item = { type: 'message', id: 'msg_1', role: 'assistant', status: 'in_progress', content: [] }
    const counted = {
      input_tokens: 40,
      input_tokens_details: { cached_tokens: 8 },
      output_tokens: 30,
      output_tokens_details: { reasoning_tokens: 10 },
    }
    const isWhole = ending === 'completed'
    const end = { ...response, usage: counted, incomplete_details: isWhole ? null : { reason: ending } }
    const thought = { type: 'reasoning', id: 'rs_1', summary: [] }
    return [
      typed({ type: 'response.created', response }),
      typed({ type: 'response.output_item.added', output_index: 0, item: thought }),
      typed({ type: 'response.output_item.done', output_index: 0, item: thought }),
      typed({ type: 'response.output_item.added', output_index: 1, item }),
      ...pieces.map((delta) => typed({ type: 'response.output_text.delta', item_id: 'msg_1', delta })),
      typed({ type: 'response.output_item.done', output_index: 1, item: { ...item, status: 'completed' } }),
      typed({ type: isWhole ? 'response.completed' : 'response.incomplete', response: end }),
    ]
  },
  error(kind) {
    const said = {
      overloaded: ['server_is_overloaded', 'Our servers are overloaded.'],
      rate: ['rate_limit_exceeded', 'Rate limit reached.'],
      invalid: ['invalid_prompt', 'Your prompt is invalid.'],
    }[kind]
    return typed({ type: 'error', sequence_number: 9, code: said[0], message: said[1], param: null })
  },
  messages: ({ body }) => pairs(body.input),
}

const chat: Protocol = {
  name: 'chat',
  config: (url) => ({ kind: 'openai', api: 'chat', baseUrl: `${url}/v1` }),
  model: 'gpt-5.2',
  path: '/v1/chat/completions',
  events(pieces, ending = 'stop') {
    const chunk = {
      id: 'c1',
      object: 'chat.completion.chunk',
      created: 1_700_000_000,
      model: 'gpt-5.2-2025-12-11',
    }
    const choice = (delta: object, finish_reason: string | null = null) => ({
      ...chunk,
      choices: [{ index: 0, delta, finish_reason }],
    })
    const counted = {
      prompt_tokens: 40,
      prompt_tokens_details: { cached_tokens: 8 },
      completion_tokens: 30,
      completion_tokens_details: { reasoning_tokens: 10 },
    }
    return [
      sse(choice({ role: 'assistant', content: '' })),
      ...pieces.map((content) => sse(choice({ content }))),
      sse(choice({}, ending)),
      sse({ ...chunk, choices: [], usage: counted }),
      'data: [DONE]\n\n',
    ]
  },
  error(kind) {
    const said = {
      overloaded: ['overloaded_error', 'The engine is overloaded.'],
      rate: ['rate_limit_error', 'Rate limit reached.'],
      invalid: ['invalid_request_error', 'Your prompt is invalid.'],
    }[kind]
    return sse({ error: { type: said[0], message: said[1], param: null, code: null } })
  },
  messages: ({ body }) => pairs(body.messages),
}

const compatible: Protocol = {
  ...chat,
  name: 'local',
  config: (url) => ({ kind: 'openai-compatible', baseUrl: `${url}/v1` }),
  model: 'qwen/qwen3:8b',
}

const anthropic: Protocol = {
  name: 'anthropic',
  config: (url) => ({ baseUrl: `${url}/v1` }),
  model: 'claude-sonnet-4-6',
  path: '/v1/messages',
  events(pieces, ending = 'end_turn') {
    const message = {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'claude-sonnet-4-6-20260217',
      content: [],
      stop_reason: null,
      usage: {
        input_tokens: 32,
        cache_read_input_tokens: 8,
        cache_creation_input_tokens: 0,
        output_tokens: 1,
      },
    }
    const delta = (text: string) => ({ type: 'text_delta', text })
    return [
      typed({ type: 'message_start', message }),
      typed({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
      ...pieces.map((text) => typed({ type: 'content_block_delta', index: 0, delta: delta(text) })),
      typed({ type: 'content_block_stop', index: 0 }),
      typed({ type: 'message_delta', delta: { stop_reason: ending }, usage: { output_tokens: 30 } }),
      typed({ type: 'message_stop' }),
    ]
  },
  error(kind) {
    const said = {
      overloaded: ['overloaded_error', 'Overloaded'],
      rate: ['rate_limit_error', 'Number of requests has exceeded your rate limit.'],
      invalid: ['invalid_request_error', 'messages: invalid.'],
    }[kind]
    return typed({ type: 'error', error: { type: said[0], message: said[1] } })
  },
  messages: ({ body }) => [
    ['system', textOf({ role: 'system', content: body.system ?? '' })],
    ...pairs(body.messages),
  ],
}

const google: Protocol = {
  name: 'google',
  config: (url) => ({ baseUrl: `${url}/v1beta` }),
  model: 'gemini-2.5-flash',
  path: '/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse',
  events(pieces, ending = 'STOP') {
    const counted = {
      promptTokenCount: 40,
      cachedContentTokenCount: 8,
      candidatesTokenCount: 20,
      thoughtsTokenCount: 10,
      totalTokenCount: 70,
    }
    const facts = { modelVersion: 'gemini-2.5-flash-002', responseId: 'r1' }
    const part = (text: string) => ({ content: { role: 'model', parts: [{ text }] }, index: 0 })
    return [
      ...pieces.map((text) => sse({ ...facts, candidates: [part(text)] })),
      sse({ ...facts, candidates: [{ index: 0, finishReason: ending }], usageMetadata: counted }),
    ]
  },
  error(kind) {
    const said = {
      overloaded: [503, 'UNAVAILABLE', 'The model is overloaded.'],
      rate: [429, 'RESOURCE_EXHAUSTED', 'Quota exceeded.'],
      invalid: [400, 'INVALID_ARGUMENT', 'Request contains an invalid argument.'],
    }[kind]
    return sse({ error: { code: said[0], status: said[1], message: said[2] } })
  },
  messages: ({ body }) => {
    const read = ({ role, parts }: { role?: string; parts: { text: string }[] }): [string, string] => [
      role ?? 'system',
      parts.map(({ text }) => text).join(''),
    ]
    return [
      ...(body.systemInstruction === undefined ? [] : [read(body.systemInstruction)]),
      ...body.contents.map(read),
    ]
  },
}

export const protocols: readonly Protocol[] = [responses, chat, anthropic, google, compatible]

/** A server that says after the user. */
export function repeat(protocol: Protocol): Script {
  return (asked) => stream(protocol.events([protocol.messages(asked).at(-1)?.[1] ?? '']))
}
