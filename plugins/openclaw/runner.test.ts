import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { PluginError, type Turn } from '@reveille/kit'
import { runnerConformance } from '@reveille/kit/conformance'
import { createTurn, factsOf, failureOf } from '@reveille/kit/fake-server'
import type { OpenClawConfig } from './configuration.ts'
import { type FakeServerOptions, json, openFakeServer, page, plain } from './fake-server.ts'
import { createOpenClawRunner } from './runner.ts'

const token = 'hook-token-0123456789'
const defaults = { token, hooksPath: '/hooks', sessionKey: 'pass', timeout: '30s' } as const
const now = () => Date.UTC(2026, 0, 1)

runnerConformance({
  name: 'the openclaw runner conforms',
  plugin: new URL('./index.ts', import.meta.url),
  secrets: [token],
  async create() {
    const fakeServer = await openFakeServer({ token })
    const textOf = ({ body }: (typeof fakeServer.taken)[number]) => String(body['message'] ?? body['text'])
    return {
      runner: createOpenClawRunner({ config: { ...defaults, url: fakeServer.url }, fetch, now }),
      stall: fakeServer.stall,
      stallMidway: fakeServer.stallMidway,
      fail: () => fakeServer.answer(() => json(500, { ok: false, error: `Error: no model for ${token}` })),
      outages: {
        'token refused': () => fakeServer.answer(() => plain(401, 'Unauthorized')),
        'hooks turned off': () => fakeServer.answer(() => plain(404, 'Not Found')),
        'service down': () => fakeServer.answer(() => json(503, { ok: false })),
        'proxy’s page': () => fakeServer.answer(() => page(502)),
        'network down': fakeServer.close,
      },
      ownFailures: {
        'prompt too long': () =>
          fakeServer.answer(() => json(413, { ok: false, error: 'payload too large' })),
        'request refused': () => fakeServer.answer(() => json(400, { ok: false, error: 'message required' })),
      },
      handed: () => fakeServer.taken.map(textOf),
      close: fakeServer.close,
    }
  },
})

interface Setting {
  readonly openClaw?: Partial<FakeServerOptions>
  readonly config?: Partial<OpenClawConfig>
  readonly fetch?: typeof fetch
}

async function open(t: TestContext, setting: Setting = {}) {
  const fakeServer = await openFakeServer({ token, ...setting.openClaw })
  t.after(() => fakeServer.close())
  const config = { ...defaults, url: fakeServer.url, ...setting.config }
  const runner = createOpenClawRunner({ config, fetch: setting.fetch ?? fetch, now })
  const { signal } = new AbortController()
  return { ...fakeServer, run: (turn: Turn) => runner.run(turn, { signal }) }
}

const run = createTurn({
  sessionKey: 'hook:pr:42',
  prompt: 'Review #42.',
  model: 'openai/gpt-5',
  thinking: 'low',
  systemPrompt: 'Be brief.',
  timeoutSeconds: 119.6,
  action: { name: 'GitHub', wakeMode: 'now', deliver: true, channel: 'slack', to: '#ops' },
})

const sessionKey = 'hook:0192f0c1-7a5e-7cc0-8a3b-5d0d7c3b9e11'
const bare = createTurn({ runId: 'run-2', sessionKey, prompt: 'Hello.' })

function heartbeat(...texts: readonly string[]): Turn {
  const modes = ['now', 'next-heartbeat'] as const
  const events = texts.map((text, index) => {
    return { id: `event-${text}`, text, prompt: `<${text}>`, mode: modes[index % 2] ?? 'now', at: index }
  })
  const { action: _, ...rest } = run
  return { ...rest, runId: 'beat', kind: 'heartbeat', sessionKey: 'main', prompt: 'Events.', events }
}

test('absent fields are left out', async (t) => {
  const { run: ask, received } = await open(t, { config: { sessionKey: 'omit' } })
  await ask(bare)
  await ask({ ...run, runId: 'run-3' })
  assert.deepEqual(received[0]?.body, { message: 'Hello.' })
  assert.equal(received[1]?.body['sessionKey'], undefined)
})

test('url and path are joined whatever slashes they have', async (t) => {
  const paths: string[] = []
  const asked = async (input: unknown) => {
    paths.push(String(input))
    return Response.json({ ok: true, runId: 'odd name' })
  }
  for (const [url, hooksPath] of [
    ['http://claw:18789', '/hooks'],
    ['https://example.org/claw//', '/in/hooks'],
  ] as const) {
    const { run: ask } = await open(t, { config: { url, hooksPath }, fetch: asked as typeof fetch })
    assert.equal((await ask(run)).handedOver, 'OpenClaw', 'an id that is none is not repeated')
  }
  assert.deepEqual(paths, ['http://claw:18789/hooks/agent', 'https://example.org/claw/in/hooks/agent'])
})

test('a retried run is the same request, so that OpenClaw takes it once', async (t) => {
  const { run: ask, received, taken, answer } = await open(t)
  answer(() => json(503, { ok: false }))
  await failureOf(ask(run))
  answer(undefined)
  await ask({ ...run, attempt: 2, timeoutSeconds: 60 })
  await ask({ ...run, attempt: 3, timeoutSeconds: 119 })
  assert.deepEqual(received[1]?.body, received[0]?.body)
  for (const { headers } of received) assert.equal(headers['idempotency-key'], 'run-1')
  assert.equal(taken.length, 1)
})

test('a heartbeat hands each event to /hooks/wake, in order and with its mode', async (t) => {
  const { run: ask, received } = await open(t)
  const result = await ask(heartbeat('a', 'b', 'c'))
  assert.deepEqual(result, { reply: '', handedOver: 'OpenClaw, 3 events', warnings: [] })
  assert.deepEqual(
    received.map(({ path, body }) => [path, body]),
    [
      ['/hooks/wake', { text: '<a>', mode: 'now' }],
      ['/hooks/wake', { text: '<b>', mode: 'next-heartbeat' }],
      ['/hooks/wake', { text: '<c>', mode: 'now' }],
    ],
  )
  const plainEvent = { id: 'x', text: 'Just a text.', at: 1 }
  await ask({ ...heartbeat(), events: [plainEvent] })
  assert.deepEqual(received[3]?.body, { text: 'Just a text.' })
  assert.equal((await ask(heartbeat())).handedOver, 'OpenClaw, 0 events')
})

test('after a heartbeat that failed halfway, no event that OpenClaw took is sent again', async (t) => {
  const { run: ask, taken, answer } = await open(t)
  answer(({ body }) => (body['text'] === '<b>' ? json(503, {}) : undefined))
  assert.equal((await failureOf(ask(heartbeat('a', 'b', 'c')))).retryable, true)
  answer(undefined)
  await ask(heartbeat('a', 'b', 'c'))
  await ask(heartbeat('a', 'b', 'c', 'd'))
  const texts = taken.map(({ body }) => body['text'])
  assert.deepEqual(texts, ['<a>', '<b>', '<c>', '<d>'])
})

test('an event that is too large is sent in part, with a warning', async (t) => {
  const { run: ask, taken } = await open(t)
  const large = { id: 'large', text: '', prompt: `${'é'.repeat(150_000)}!`, mode: 'now', at: 1 } as const
  const result = await ask({ ...heartbeat(), events: [large, { id: 'small', text: 'Small.', at: 2 }] })
  assert.deepEqual(result.warnings, [
    'OpenClaw took only the beginning of the event large, which is too large for it.',
  ])
  const [first, second] = taken.map(({ body }) => String(body['text']))
  assert.equal(first, `${'é'.repeat(16_000)}\n[cut: the event large of Reveille holds all 150001 characters]`)
  assert.equal(second, 'Small.')
})

test('a cut event stays inside its boundary, and the text after it does not', async (t) => {
  const { run: ask, taken } = await open(t)
  const prompt = `Look.\n\n<outside-data id="id7">\n${'é'.repeat(150_000)}\n</outside-data id="id7">`
  await ask({ ...heartbeat(), events: [{ id: 'large', text: '', prompt, at: 1 }] })
  assert.match(String(taken[0]?.body['text']), /é\n<\/outside-data id="id7">\n\[cut: the event large of/)
})

test('a compaction is refused: OpenClaw keeps its own conversations', async (t) => {
  const { run: ask, received } = await open(t)
  const { code, retryable } = await failureOf(ask({ ...bare, kind: 'compaction' }))
  assert.deepEqual([code, retryable, received.length], ['unsupported', false, 0])
})

test('a generated session key is left out once OpenClaw has refused it', async (t) => {
  const { run: ask, received } = await open(t, { openClaw: { allowRequestSessionKey: false } })
  const first = await ask(bare)
  assert.equal(first.handedOver, 'OpenClaw run claw-1')
  assert.match(first.warnings?.join() ?? '', /chooses its own/)
  assert.deepEqual((await ask({ ...bare, runId: 'run-3' })).warnings, [])
  const keys = received.map(({ body }) => body['sessionKey'])
  assert.deepEqual(keys, [bare.sessionKey, undefined, undefined])
})

const hourLater = new Date(now() + 3_600_000).toUTCString()

for (const [what, reply, facts, says] of [
  [
    'a wrong token',
    plain(401, 'Unauthorized'),
    'bad-credential wholeService',
    /\(401\); the token .* `hooks\.token`/,
  ],
  ['a forbidden one', plain(403, 'Forbidden'), 'bad-credential wholeService', /\(403\)/],
  ['a wrong path', plain(404, 'Not Found'), 'not-found wholeService', /\/hooks\/agent \(404\).*hooksPath/],
  ['disabled hooks', plain(405, 'Method Not Allowed'), 'not-found wholeService', /hooks\.enabled: true/],
  ['a long message', json(413, { ok: false }), 'too-large', /hooks\.maxBodyBytes/],
  [
    'a refusal',
    json(400, { ok: false, error: `channel must be\n last|slack, not ${token}!` }),
    'bad-request',
    /refused the request \(400\): channel must be last\|slack, not \[redacted\]\.$/,
  ],
  ['a long refusal', json(400, { error: { message: 'no '.repeat(1000) } }), 'bad-request', /…\.$/],
  ['a refusal that is well', json(200, { ok: false, error: 'no agent' }), 'bad-request', /no agent/],
  [
    'too many tries',
    plain(429, 'Slow down', { 'retry-after': '7' }),
    'rate-limited retryable after 7 s',
    /Slow down/,
  ],
  ['a rest', json(503, {}, { 'retry-after': hourLater }), 'unavailable retryable after 3600 s', /\(503\)\.$/],
  ['a slow body', json(408, { ok: false, error: 'body timeout' }), 'unavailable retryable', /timeout/],
  ['a failure', page(502), 'unavailable retryable maybeDelivered', /\(502\)\.$/],
  ['a page', page(200), 'malformed retryable', /not OpenClaw's hooks/],
  ['a list', json(200, []), 'malformed retryable', /not OpenClaw's hooks/],
] as const)
  test(`${what} is reported with its meaning`, async (t) => {
    const { run: ask, answer } = await open(t)
    answer(() => reply)
    const error = await failureOf(ask(run))
    const { message } = error
    assert.equal(factsOf(error), facts, message)
    assert.match(message, says)
    assert.ok(message.length < 500 && !message.includes('\n') && !message.includes(token), message)
  })

test('a request whose answer is late may have arrived', async (t) => {
  const { run: ask, stall } = await open(t, { config: { timeout: '20ms' } })
  stall()
  const error = await failureOf(ask(run))
  assert.equal(factsOf(error), 'timeout retryable maybeDelivered')
  assert.equal(error.message, 'OpenClaw did not answer within 20ms.')
})

test('a run that was taken is handed over even if the rest of the answer never comes', async (t) => {
  const broken = new ReadableStream({
    pull(controller) {
      controller.error(new TypeError('terminated'))
    },
  })
  const { run: ask } = await open(t, { fetch: async () => new Response(broken) })
  assert.equal((await ask(run)).handedOver, 'OpenClaw')
})

test('the error of the host’s fetch is passed on', async (t) => {
  const lost = new PluginError('claw could not be reached (ECONNREFUSED).', {
    code: 'network',
    retryable: true,
  })
  const { run: ask } = await open(t, { fetch: () => Promise.reject(lost) })
  await assert.rejects(ask(run), (error) => error === lost)
  const { run: other } = await open(t, { fetch: () => Promise.reject(new TypeError(`fetch ${token}`)) })
  const error = await failureOf(other(run))
  assert.equal(factsOf(error), 'network retryable maybeDelivered')
  assert.equal(error.message, 'The connection to OpenClaw failed before it had answered.')
})
