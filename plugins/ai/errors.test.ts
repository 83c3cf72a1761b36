import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { inspect } from 'node:util'
import { failureOf } from '@reveille/kit/fake-server'
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

interface Details {
  readonly headers?: Readonly<Record<string, string>>
  readonly retryAfter?: number
  /** The message, or what it matches. */
  readonly says?: RegExp | string
}
const wait = (value: string, retryAfter: number): Details => ({
  headers: { 'retry-after': value },
  retryAfter,
})

/** The answers by the code that they get: what is special about each, its vendor, its status, its body. */
const cases: Readonly<
  Record<string, readonly (readonly [string, Protocol, number, object | string, Details?])[]>
> = {
  'rate-limited': [
    [
      'with seconds',
      openai,
      429,
      slowDown,
      { ...wait('12', 12), says: 'openai asks to wait (429): Slow down.' },
    ],
    [
      'with milliseconds, which are the finer measure',
      openai,
      429,
      {},
      { headers: { 'retry-after': '2', 'retry-after-ms': '1500' }, retryAfter: 1.5 },
    ],
    ['with a date', anthropic, 429, {}, wait('Sat, 21 Nov 2026 20:00:30 GMT', 30)],
    ['with a date that is over', anthropic, 429, {}, wait('Sat, 21 Nov 2026 19:00:00 GMT', 0)],
    [
      'with the wait in the body',
      google,
      429,
      ofGoogle('RESOURCE_EXHAUSTED', 'Quota exceeded.', ...overQuota),
      { retryAfter: 36.5 },
    ],
  ],
  'out-of-credit': [
    [
      'because nothing is paid for',
      openai,
      429,
      ofOpenAi('You exceeded your current quota.', 'insufficient_quota'),
    ],
    ['because nothing is paid for', anthropic, 400, noCredit],
    ['without a body', local, 402, {}],
  ],
  unavailable: [
    ...[500, 502, 503, 504, 529].map(
      (status) => ['with a page in place of an error', local, status, page, wait('3', 3)] as const,
    ),
    ['without a body', local, 408, {}],
    [
      'of its own',
      anthropic,
      529,
      ofAnthropic('Overloaded', 'overloaded_error'),
      { says: 'anthropic is unavailable (529): Overloaded.' },
    ],
  ],
  'bad-credential': [
    ['without a body', anthropic, 401, {}],
    ['without a body', openai, 403, {}],
    [
      'for a wrong key',
      google,
      400,
      badArgument('API key not valid. Please pass a valid API key.', wrongKey),
      { says: /API key not valid/ },
    ],
  ],
  'unknown-model': [
    ['for a model', openai, 404, noModel('The model `gpt-5.2` does not exist')],
    ['for a model', openai, 403, noModel('Project has no access to it')],
    [
      'that says nothing',
      local,
      404,
      '',
      { says: 'local does not know this model (404); check its name and `baseUrl`.' },
    ],
    [
      'with the error as text',
      local,
      404,
      { error: 'model "qwen3:8b" not found, try pulling it first' },
      { says: /try pulling it first\.$/ },
    ],
  ],
  'too-long': [
    [
      'for length',
      openai,
      400,
      ofOpenAi('Your input exceeds the context window.', 'context_length_exceeded'),
    ],
    ['for length', anthropic, 400, ofAnthropic('prompt is too long: 9 tokens > 8 maximum')],
    ['for length', google, 400, badArgument(tooMany)],
    ['for length', local, 400, ofOpenAi("This model's maximum context length is 8 tokens.")],
    ['without a body', anthropic, 413, {}],
  ],
  refused: [['for the content', openai, 400, ofOpenAi('Filtered.', 'content_filter')]],
  'bad-request': [
    [
      'for anything else',
      openai,
      400,
      ofOpenAi("Unknown parameter: 'x'."),
      { says: "openai refused the request (400): Unknown parameter: 'x'." },
    ],
    ['with a detail', local, 422, { detail: 'No.' }, { says: /: No\.$/ }],
  ],
}

const retryable = new Set(['rate-limited', 'unavailable', 'network', 'dropped', 'malformed'])

function failsWith(
  title: string,
  to: Protocol,
  answer: Script,
  code: string,
  { retryAfter, says = /./ }: Details,
) {
  test(`${title} from ${to.name} is ${code}`, async (t) => {
    const server = await open(t)
    server.play(answer)
    const providers = { [to.name]: { apiKey, ...to.config(server.url) } }
    const { signal } = new AbortController()
    const now = () => Date.parse('2026-11-21T20:00:00Z')
    const runner = createAiRunner({ config: { providers }, fetch, signal, now })
    const error = await failureOf(run(runner, turnTo(to)))
    assert.deepEqual([error.code, error.retryable, error.retryAfter], [code, retryable.has(code), retryAfter])
    if (typeof says === 'string') assert.equal(error.message, says)
    else assert.match(error.message, says)
    assert.equal(server.asked.length, 1, 'it is asked once, whatever comes back')
  })
}

for (const [code, answers] of Object.entries(cases)) {
  for (const [what, to, status, body, details = {}] of answers) {
    failsWith(`${status} ${what}`, to, refuse(status, body, details.headers), code, details)
  }
}
failsWith('a cut before the answer', openai, 'cut', 'network', {
  says: 'openai did not answer, the connection failed (UND_ERR_SOCKET).',
})
const login = { headers: { 'content-type': 'text/html' }, body: '<p>Log in</p>' }
failsWith('a page in place of a stream', openai, login, 'malformed', { says: /text\/html/ })

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
      assert.deepEqual([error.code, error.retryable], [code, retryable.has(code)], error.message)
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
