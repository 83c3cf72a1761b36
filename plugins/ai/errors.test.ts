import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { inspect } from 'node:util'
import { atEnd } from '../../test/at-end.ts'
import { errorFrom } from './errors.ts'
import {
  type CaptureServer,
  openStream,
  refuse,
  type Script,
  startCaptureServer,
  stream,
} from './fake-server/capture-server.ts'
import { apiKey, type Protocol, protocols } from './fake-server/protocols.ts'
import { createRunner, failureOf, run, turnTo } from './fake-server/runners.ts'
import { createAiRunner } from './runner.ts'

const byName = Object.fromEntries(protocols.map((each) => [each.name, each])) as Record<string, Protocol>
const { openai, anthropic, google, local } = byName as Record<
  'openai' | 'anthropic' | 'google' | 'local',
  Protocol
>

async function open(t: TestContext): Promise<CaptureServer> {
  const server = await startCaptureServer(() => {})
  atEnd(t, () => server.close())
  return server
}

interface Case {
  readonly title: string
  readonly to: Protocol
  readonly answer: Script
  readonly code: string
  readonly retryAfter?: number
  readonly says?: RegExp
}

const retryable = new Set(['rate-limited', 'unavailable', 'network', 'dropped', 'malformed'])

const cases: readonly Case[] = [
  {
    title: '429 with seconds',
    to: openai,
    answer: refuse(
      429,
      { error: { message: 'Slow down', code: 'rate_limit_exceeded' } },
      { 'retry-after': '12' },
    ),
    code: 'rate-limited',
    retryAfter: 12,
    says: /^openai asks to wait \(429\): Slow down\.$/,
  },
  {
    title: '429 with milliseconds, which are the finer measure',
    to: openai,
    answer: refuse(429, {}, { 'retry-after': '2', 'retry-after-ms': '1500' }),
    code: 'rate-limited',
    retryAfter: 1.5,
  },
  {
    title: '429 with a date',
    to: anthropic,
    answer: refuse(429, {}, { 'retry-after': 'Sat, 21 Nov 2026 20:00:30 GMT' }),
    code: 'rate-limited',
    retryAfter: 30,
  },
  {
    title: '429 with a date that is over',
    to: anthropic,
    answer: refuse(429, {}, { 'retry-after': 'Sat, 21 Nov 2026 19:00:00 GMT' }),
    code: 'rate-limited',
    retryAfter: 0,
  },
  {
    title: '429 with the wait in the body',
    to: google,
    answer: refuse(429, {
      error: {
        code: 429,
        status: 'RESOURCE_EXHAUSTED',
        message: 'Quota exceeded.',
        details: [
          { '@type': 'type.googleapis.com/google.rpc.QuotaFailure' },
          { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '36.5s' },
        ],
      },
    }),
    code: 'rate-limited',
    retryAfter: 36.5,
  },
  {
    title: '429 because nothing is paid for',
    to: openai,
    answer: refuse(429, {
      error: { message: 'You exceeded your current quota.', code: 'insufficient_quota' },
    }),
    code: 'out-of-credit',
  },
  {
    title: '400 because nothing is paid for',
    to: anthropic,
    answer: refuse(400, {
      type: 'error',
      error: { type: 'invalid_request_error', message: 'Your credit balance is too low to access the API.' },
    }),
    code: 'out-of-credit',
  },
  { title: '402', to: local, answer: refuse(402, {}), code: 'out-of-credit' },
  ...[500, 502, 503, 504, 529].map((status) => ({
    title: `${status} with a page in place of an error`,
    to: local,
    answer: refuse(status, '<html><body>Bad gateway</body></html>', { 'retry-after': '3' }),
    code: 'unavailable',
    retryAfter: 3,
  })),
  { title: '408', to: local, answer: refuse(408, {}), code: 'unavailable' },
  {
    title: '529 of its own',
    to: anthropic,
    answer: refuse(529, { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }),
    code: 'unavailable',
    says: /^anthropic is unavailable \(529\): Overloaded\.$/,
  },
  { title: '401', to: anthropic, answer: refuse(401, {}), code: 'bad-credential' },
  { title: '403', to: openai, answer: refuse(403, {}), code: 'bad-credential' },
  {
    title: '400 for a wrong key',
    to: google,
    answer: refuse(400, {
      error: {
        code: 400,
        status: 'INVALID_ARGUMENT',
        message: 'API key not valid. Please pass a valid API key.',
        details: [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'API_KEY_INVALID' }],
      },
    }),
    code: 'bad-credential',
    says: /API key not valid/,
  },
  {
    title: '404 for a model',
    to: openai,
    answer: refuse(404, {
      error: { message: 'The model `gpt-5.2` does not exist', code: 'model_not_found' },
    }),
    code: 'unknown-model',
  },
  {
    title: '403 for a model',
    to: openai,
    answer: refuse(403, { error: { message: 'Project has no access to it', code: 'model_not_found' } }),
    code: 'unknown-model',
  },
  {
    title: '404 that says nothing',
    to: local,
    answer: refuse(404, ''),
    code: 'unknown-model',
    says: /^local does not know this model \(404\); check its name and `baseUrl`\.$/,
  },
  {
    title: '404 with the error as text',
    to: local,
    answer: refuse(404, { error: 'model "qwen3:8b" not found, try pulling it first' }),
    code: 'unknown-model',
    says: /try pulling it first\.$/,
  },
  ...(
    [
      [
        openai,
        { error: { message: 'Your input exceeds the context window.', code: 'context_length_exceeded' } },
      ],
      [
        anthropic,
        {
          type: 'error',
          error: { type: 'invalid_request_error', message: 'prompt is too long: 9 tokens > 8 maximum' },
        },
      ],
      [
        google,
        {
          error: {
            code: 400,
            status: 'INVALID_ARGUMENT',
            message: 'The input token count (9) exceeds the maximum number of tokens allowed (8).',
          },
        },
      ],
      [
        local,
        { error: { message: "This model's maximum context length is 8 tokens.", type: 'BadRequestError' } },
      ],
    ] as const
  ).map(([to, body]) => ({ title: '400 for length', to, answer: refuse(400, body), code: 'too-long' })),
  { title: '413', to: anthropic, answer: refuse(413, {}), code: 'too-long' },
  {
    title: '400 for the content',
    to: openai,
    answer: refuse(400, { error: { message: 'Filtered.', code: 'content_filter' } }),
    code: 'refused',
  },
  {
    title: '400 for anything else',
    to: openai,
    answer: refuse(400, { error: { message: "Unknown parameter: 'x'.", type: 'invalid_request_error' } }),
    code: 'bad-request',
    says: /^openai refused the request \(400\): Unknown parameter: 'x'\.$/,
  },
  { title: '422', to: local, answer: refuse(422, { detail: 'No.' }), code: 'bad-request', says: /: No\.$/ },
  {
    title: 'a cut before the answer',
    to: openai,
    answer: (response) => void response.socket?.destroy(),
    code: 'network',
    says: /^openai did not answer, the connection failed \(UND_ERR_SOCKET\)\.$/,
  },
  {
    title: 'a page in place of a stream',
    to: openai,
    answer: (response) => void response.writeHead(200, { 'content-type': 'text/html' }).end('<p>Log in</p>'),
    code: 'malformed',
    says: /text\/html/,
  },
]

for (const { title, to, answer, code, retryAfter, says = /./ } of cases) {
  test(`${title} from ${to.name} is ${code}`, async (t) => {
    const server = await open(t)
    server.play(answer)
    const providers = { [to.name]: { apiKey, ...to.config(server.url) } }
    const { signal } = new AbortController()
    const now = () => Date.parse('2026-11-21T20:00:00Z')
    const runner = createAiRunner({ config: { providers }, fetch, signal, now })
    const error = await failureOf(run(runner, turnTo(to)))
    assert.deepEqual([error.code, error.retryable, error.retryAfter], [code, retryable.has(code), retryAfter])
    assert.match(error.message, says)
    assert.equal(server.asked.length, 1, 'it is asked once, whatever comes back')
  })
}

for (const protocol of protocols) {
  const { name } = protocol
  const half = () => {
    const events = protocol.events(['Half', ' of it'])
    return events.slice(
      0,
      events.findIndex((event) => event.includes(' of it')),
    )
  }

  const broken: readonly (readonly [string, Script, string])[] = [
    ['a stream that ends before its end', stream(...half()), 'dropped'],
    ['a stream that ends before it began', stream(), 'dropped'],
    [
      'a chunk that is no JSON',
      stream(...half(), 'data: {"broken\n\n', ...protocol.events([]).slice(-2)),
      'malformed',
    ],
    ['a first chunk that is no JSON', stream('data: {"broken\n\n'), 'malformed'],
    [
      'a chunk of another protocol',
      stream(...half(), 'data: {"candidates": 7, "choices": 7, "type": 7}\n\n'),
      'malformed',
    ],
    ['an overload in the stream', stream(...half(), protocol.error('overloaded')), 'unavailable'],
    ['an overload in place of the stream', stream(protocol.error('overloaded')), 'unavailable'],
    ['a rate limit in the stream', stream(...half(), protocol.error('rate')), 'rate-limited'],
    ['a refusal in the stream', stream(...half(), protocol.error('invalid')), 'bad-request'],
  ]
  for (const [title, script, code] of broken) {
    test(`${name}: ${title} is ${code}`, async (t) => {
      const server = await open(t)
      server.play(script)
      const error = await failureOf(run(createRunner(server.url), turnTo(protocol)))
      assert.deepEqual([error.code, error.retryable], [code, retryable.has(code)], error.message)
    })
  }

  test(`${name}: a failure in a stream that goes on closes the socket`, async (t) => {
    const server = await open(t)
    server.play((response) => void openStream(response).write('data: {"broken\n\n'))
    const failing = failureOf(run(createRunner(server.url), turnTo(protocol)))
    const closed = once(await server.next(), 'close')
    assert.equal((await failing).code, 'malformed')
    await closed
  })

  test(`${name}: a connection that breaks in the middle of an answer is dropped`, async (t) => {
    const server = await open(t)
    server.play((response) => void openStream(response).write(half().join('')))
    const begun = Promise.withResolvers<void>()
    const call = { onProgress: ({ text }: { text?: string }) => text === 'Half' && begun.resolve() }
    const failing = failureOf(run(createRunner(server.url), turnTo(protocol), call))
    const response = await server.next()
    await begun.promise
    response.socket?.destroy()
    const error = await failing
    assert.deepEqual([error.code, error.retryable], ['dropped', true], error.message)
  })

  const endings = {
    openai: ['max_output_tokens', 'content_filter'],
    chat: ['length', 'content_filter'],
    anthropic: ['max_tokens', 'refusal'],
    google: ['MAX_TOKENS', 'SAFETY'],
    local: ['length', 'content_filter'],
  }[name] as [string, string]

  test(`${name}: an answer that was cut for its length or content is kept, with a warning`, async (t) => {
    const server = await open(t)
    for (const ending of endings) {
      server.play(stream(...protocol.events(['As far as'], ending)))
      const { reply, warnings } = await run(createRunner(server.url), turnTo(protocol))
      assert.equal(reply, 'As far as')
      assert.equal(warnings?.length, 1)
      assert.ok(warnings[0]?.includes(ending), warnings[0])
    }
  })

  test(`${name}: a refusal without text is final, and a blank answer is an answer`, async (t) => {
    const server = await open(t)
    server.play(stream(...protocol.events([], endings[1])))
    const error = await failureOf(run(createRunner(server.url), turnTo(protocol)))
    assert.deepEqual([error.code, error.retryable], ['refused', false])
    server.play(stream(...protocol.events([])))
    assert.equal((await run(createRunner(server.url), turnTo(protocol))).reply, '')
  })
}

test('an address without a server is a network failure', async () => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  const error = await failureOf(run(createRunner(`http://127.0.0.1:${port}`), turnTo(openai)))
  assert.deepEqual([error.code, error.retryable], ['network', true])
  assert.match(error.message, /ECONNREFUSED/)
})

test('a package that is not installed is named with the command that installs it, and holds the runner', async () => {
  const wanted: string = '@ai-sdk/not-there/v1'
  const missing = await import(wanted).catch((error: unknown) => error)
  const provider = { name: 'openai', kind: 'openai', baseUrl: 'https://api.openai.com/v1' } as const
  const { code, retryable, wholeService, message } = errorFrom(missing, { provider, now: 0 })
  assert.deepEqual([code, retryable, wholeService], ['not-installed', false, true])
  assert.match(
    message,
    /^openai cannot be asked, .*: run `npm install @ai-sdk\/not-there` beside reveille\.yaml\.$/,
  )
})

test('an error is short and shows no key, header or part of the request', async (t) => {
  const server = await open(t)
  const quoted = `Incorrect API key provided: ${apiKey}, ${apiKey.slice(0, 10)}..., key-of-t****6789, sk-proj-abcdefgh12345, sk-…xyz. `
  const more = { headers: { 'x-team': 'header-secret' } }
  for (const status of [400, 401, 429, 500]) {
    server.play(refuse(status, { error: { message: `${quoted}${'header-secret\n long '.repeat(60)}` } }))
    const turn = turnTo(openai, { prompt: 'Words of the prompt.', systemPrompt: 'Words of the system.' })
    const error = await failureOf(run(createRunner(server.url, more), turn))
    const whole = inspect(error, { depth: 10 })
    assert.ok(error.message.length <= 300)
    assert.doesNotMatch(error.message, /\n/)
    assert.doesNotMatch(whole, /key-of-t|6789|abcdefgh|xyz|header-secret|Words of/)
    assert.match(error.message, /Incorrect API key provided: \[redacted\]/)
  }
})
