import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { inspect } from 'node:util'
import { factsOf, failureOf } from '@reveille/kit/fake-server'
import { atEnd } from '../../test/at-end.ts'
import { errorFrom } from './errors.ts'
import {
  type CaptureServer,
  refuse,
  type Script,
  startCaptureServer,
  stream,
} from './fake-server/capture-server.ts'
import { apiKey, type Protocol, protocols } from './fake-server/protocols.ts'
import { createRunner, run, turnTo } from './fake-server/runners.ts'
import { createAiRunner } from './runner.ts'

const byName = Object.fromEntries(protocols.map((each) => [each.name, each])) as Record<string, Protocol>
const { openai, anthropic, google, local } = byName as Record<
  'openai' | 'anthropic' | 'google' | 'local',
  Protocol
>

async function open(t: TestContext): Promise<CaptureServer> {
  const server = await startCaptureServer('hang')
  atEnd(t, () => server.close())
  return server
}

/** An error as OpenAI, Anthropic and Google write it. */
const ofOpenAi = (message: string, code?: string) => ({ error: { message, code } })
const ofAnthropic = (message: string, type = 'invalid_request_error') => ({
  type: 'error',
  error: { type, message },
})
const ofGoogle = (status: string, message: string, ...details: readonly object[]) => ({
  error: { status, message, details },
})
const rpc = (name: string, more?: object) => ({ '@type': `type.googleapis.com/google.rpc.${name}`, ...more })

const page = '<html><body>Bad gateway</body></html>'
const slowDown = ofOpenAi('Slow down', 'rate_limit_exceeded')
const noCredit = ofAnthropic('Your credit balance is too low to access the API.')
const overQuota = [rpc('QuotaFailure'), rpc('RetryInfo', { retryDelay: '36.5s' })]
const wrongKey = rpc('ErrorInfo', { reason: 'API_KEY_INVALID' })
const tooMany = 'The input token count (9) exceeds the maximum number of tokens allowed (8).'
const badArgument = (message: string, ...details: object[]) =>
  ofGoogle('INVALID_ARGUMENT', message, ...details)
const noModel = (message: string) => ofOpenAi(message, 'model_not_found')

const after = (wait: string) => ({ 'retry-after': wait })
const inMs = { 'retry-after': '2', 'retry-after-ms': '1500' }
const unpaid = ofOpenAi('You exceeded your current quota.', 'insufficient_quota')
const tooLong = ofOpenAi('Your input exceeds the context window.', 'context_length_exceeded')
const missing = { error: 'model "qwen3:8b" not found, try pulling it first' }

/** The answers: what is special about each, its vendor, status, body and headers, and the error's facts and message. */
const cases: readonly (readonly [string, Protocol, Script, string, (RegExp | string)?])[] = [
  [
    '429 with seconds',
    openai,
    refuse(429, slowDown, after('12')),
    'rate-limited retryable after 12 s',
    'openai asks to wait (429): Slow down.',
  ],
  ['429 with finer milliseconds', openai, refuse(429, {}, inMs), 'rate-limited retryable after 1.5 s'],
  [
    '429 with a date',
    anthropic,
    refuse(429, {}, after('Sat, 21 Nov 2026 20:00:30 GMT')),
    'rate-limited retryable after 30 s',
  ],
  [
    '429 with a date that is over',
    anthropic,
    refuse(429, {}, after('Sat, 21 Nov 2026 19:00:00 GMT')),
    'rate-limited retryable after 0 s',
  ],
  [
    '429 with the wait in the body',
    google,
    refuse(429, ofGoogle('RESOURCE_EXHAUSTED', 'Quota exceeded.', ...overQuota)),
    'rate-limited retryable after 36.5 s',
  ],
  ['429 because nothing is paid for', openai, refuse(429, unpaid), 'out-of-credit wholeService'],
  ['400 because nothing is paid for', anthropic, refuse(400, noCredit), 'out-of-credit wholeService'],
  ['402 without a body', local, refuse(402, {}), 'out-of-credit wholeService'],
  ...[500, 502, 503, 504, 529].map(
    (status) =>
      [
        `${status} with a page in place of an error`,
        local,
        refuse(status, page, after('3')),
        'unavailable retryable after 3 s',
      ] as const,
  ),
  ['408 without a body', local, refuse(408, {}), 'unavailable retryable'],
  [
    '529 of its own',
    anthropic,
    refuse(529, ofAnthropic('Overloaded', 'overloaded_error')),
    'unavailable retryable',
    'anthropic is unavailable (529): Overloaded.',
  ],
  ['401 without a body', anthropic, refuse(401, {}), 'bad-credential wholeService'],
  ['403 without a body', openai, refuse(403, {}), 'bad-credential wholeService'],
  [
    '400 for a wrong key',
    google,
    refuse(400, badArgument('API key not valid. Please pass a valid API key.', wrongKey)),
    'bad-credential wholeService',
    /API key not valid/,
  ],
  ['404 for a model', openai, refuse(404, noModel('The model `gpt-5.2` does not exist')), 'unknown-model'],
  ['403 for a model', openai, refuse(403, noModel('Project has no access to it')), 'unknown-model'],
  [
    '404 that says nothing',
    local,
    refuse(404, ''),
    'unknown-model',
    'local does not know this model (404); check its name and `baseUrl`.',
  ],
  ['404 with the error as text', local, refuse(404, missing), 'unknown-model', /try pulling it first\.$/],
  ['400 for length', openai, refuse(400, tooLong), 'too-long'],
  [
    '400 for length',
    anthropic,
    refuse(400, ofAnthropic('prompt is too long: 9 tokens > 8 maximum')),
    'too-long',
  ],
  ['400 for length', google, refuse(400, badArgument(tooMany)), 'too-long'],
  [
    '400 for length',
    local,
    refuse(400, ofOpenAi("This model's maximum context length is 8 tokens.")),
    'too-long',
  ],
  ['413 without a body', anthropic, refuse(413, {}), 'too-long'],
  ['400 for the content', openai, refuse(400, ofOpenAi('Filtered.', 'content_filter')), 'refused'],
  [
    '400 for anything else',
    openai,
    refuse(400, ofOpenAi("Unknown parameter: 'x'.")),
    'bad-request',
    "openai refused the request (400): Unknown parameter: 'x'.",
  ],
  ['422 with a detail', local, refuse(422, { detail: 'No.' }), 'bad-request', /: No\.$/],
  [
    'a cut before the answer',
    openai,
    'cut',
    'network retryable',
    'openai did not answer, the connection failed (UND_ERR_SOCKET).',
  ],
  [
    'a page in place of a stream',
    openai,
    { headers: { 'content-type': 'text/html' }, body: '<p>Log in</p>' },
    'malformed retryable',
    /text\/html/,
  ],
]

for (const [what, to, answer, facts, says = /./] of cases)
  test(`${what} from ${to.name} is ${facts}`, async (t) => {
    const server = await open(t)
    server.play(answer)
    const providers = { [to.name]: { apiKey, ...to.config(server.url) } }
    const { signal } = new AbortController()
    const now = () => Date.parse('2026-11-21T20:00:00Z')
    const runner = createAiRunner({ config: { providers }, fetch, signal, now })
    const error = await failureOf(run(runner, turnTo(to)))
    assert.equal(factsOf(error), facts)
    if (typeof says === 'string') assert.equal(error.message, says)
    else assert.match(error.message, says)
    assert.equal(server.asked.length, 1, 'it is asked once, whatever comes back')
  })

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
    ['a stream that ends before its end', stream(half()), 'dropped'],
    ['a stream that ends before it began', stream([]), 'dropped'],
    ['a connection that breaks in the middle of an answer', stream(half(), 'cut'), 'dropped'],
    [
      'a chunk that is no JSON',
      stream([...half(), 'data: {"broken\n\n', ...protocol.events([]).slice(-2)]),
      'malformed',
    ],
    ['a first chunk that is no JSON', stream(['data: {"broken\n\n']), 'malformed'],
    ['a failure in a stream that goes on', stream(['data: {"broken\n\n'], 'hang'), 'malformed'],
    [
      'a chunk of another protocol',
      stream([...half(), 'data: {"candidates": 7, "choices": 7, "type": 7}\n\n']),
      'malformed',
    ],
    ['an overload in the stream', stream([...half(), protocol.error('overloaded')]), 'unavailable'],
    ['an overload in place of the stream', stream([protocol.error('overloaded')]), 'unavailable'],
    ['a rate limit in the stream', stream([...half(), protocol.error('rate')]), 'rate-limited'],
    ['a refusal in the stream', stream([...half(), protocol.error('invalid')]), 'bad-request'],
  ]
  for (const [title, script, code] of broken) {
    test(`${name}: ${title} is ${code}`, async (t) => {
      const server = await open(t)
      server.play(script)
      const error = await failureOf(run(createRunner(server.url), turnTo(protocol)))
      assert.equal(factsOf(error), code === 'bad-request' ? code : `${code} retryable`, error.message)
      await server.untilIdle()
    })
  }

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
      server.play(stream(protocol.events(['As far as'], ending)))
      const { reply, warnings } = await run(createRunner(server.url), turnTo(protocol))
      assert.equal(reply, 'As far as')
      assert.equal(warnings?.length, 1)
      assert.ok(warnings[0]?.includes(ending), warnings[0])
    }
  })

  test(`${name}: a refusal without text is final, and a blank answer is an answer`, async (t) => {
    const server = await open(t)
    server.play(stream(protocol.events([], endings[1])))
    const error = await failureOf(run(createRunner(server.url), turnTo(protocol)))
    assert.deepEqual([error.code, error.retryable], ['refused', false])
    server.play(stream(protocol.events([])))
    assert.equal((await run(createRunner(server.url), turnTo(protocol))).reply, '')
  })
}

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
