import assert from 'node:assert/strict'
import path from 'node:path'
import { type TestContext, test } from 'node:test'
import { PluginError } from '@reveille/kit'
import { lockSource } from '../../sources/index.ts'
import type { Io } from '../io.ts'
import { assertAnswer, createCommandLine } from '../io-fixture.ts'
import { createPost } from './run-source.ts'
import { mailPlugin } from './test-bed.ts'

const configuration = `plugins: [./mail]
gateway: { port: 4711 }
hooks:
  enabled: true
  token: [newest-hook-token, older-hook-token]
  path: /in
  maxBodyBytes: 5000
  endpoints: { gmail: { maxBodyBytes: 4000 } }
  gmail: { account: ada@example.com, harbour: Brest }
`

async function begin(t: TestContext, overrides: Partial<Io> = {}, text = configuration) {
  const asked: object[] = []
  const fetch: Io['fetch'] = async (url, { headers, body, redirect } = {}) => {
    const authorization = new Headers(headers).get('authorization')
    asked.push({ url: String(url), authorization, body: JSON.parse(String(body)), redirect })
    return Response.json({ ok: true, runId: '1' }, { status: 202 })
  }
  const files = { ...mailPlugin, 'reveille.yaml': text }
  const line = await createCommandLine(t, files, { fetch, ...overrides })
  const start = (...options: readonly string[]) => line.start('webhooks', 'gmail', 'run', ...options)
  return { ...line, start, asked, lock: () => lockSource(path.join(line.cwd, 'data/sources/gmail')) }
}

const posted = {
  url: 'http://127.0.0.1:4711/in/gmail',
  authorization: 'Bearer newest-hook-token',
  body: { messages: [{ id: '1' }], limit: 4000 },
  redirect: 'manual',
}

test('mails are posted to the gateway of the configuration with its newest token, until the command is stopped', async (t) => {
  const { start, asked, lock } = await begin(t)
  const going = start('--json')
  await going.until(/The gateway said 202/)
  assert.deepEqual(asked, [posted])
  assert.equal(lock(), undefined, 'a gateway that comes later finds the mailbox taken')
  const { code, out, err } = await going.stop()
  assert.equal(code, 0, err)
  const states = Array.from(out.trim().split('\n'), (line) => JSON.parse(line))
  assert.deepEqual(
    states.map(({ source, state }) => `${source} ${state}`),
    ['gmail starting', 'gmail working', 'gmail working', 'gmail stopped'],
  )
  assert.deepEqual(states[1].times, { readAt: 1775000000000 })
  assert.ok(!`${out}${err}`.includes('hook-token'))
  const free = lock()
  assert.ok(free, 'the mailbox is free again')
  free.close()
})

test('REVEILLE_URL and its token lead to a gateway elsewhere, unless a configuration is named', async (t) => {
  const env = { REVEILLE_URL: 'https://hooks.example.com/up/', REVEILLE_HOOK_TOKEN: 'theirs' }
  const { start, asked } = await begin(t, { env })
  for (const options of [['--json'], ['--json', '--config', 'reveille.yaml']]) {
    const going = start(...options)
    await going.until(/The gateway said 202/)
    await going.stop()
  }
  const elsewhere = { url: 'https://hooks.example.com/up/in/gmail', authorization: 'Bearer theirs' }
  assert.deepEqual(asked, [{ ...posted, ...elsewhere }, posted])
})

test('the command refuses to run while another process watches the mailbox', async (t) => {
  const { start, lock, asked } = await begin(t)
  const held = lock()
  assert.ok(held)
  t.after(() => held.close())
  const err = /^Another process runs gmail already, on the data folder data: the gateway/m
  assertAnswer(await start().ended, { code: 1, err })
  assert.deepEqual(asked, [])
})

test('obstacles to a run are reported before anything starts', async (t) => {
  const away = { REVEILLE_URL: 'https://hooks.example.com' }
  const cases: readonly (readonly [string, string, number, RegExp, Record<string, string>?])[] = [
    ['  gmail: {', '  # {', 1, /has no hooks\.gmail\. Set it up: `reveille webhooks gmail setup`/],
    ['enabled: true', 'enabled: false', 1, /hooks\.enabled: true is missing/],
    ['harbour: Brest', 'harbor: Brest', 1, /hooks\.gmail\.harbor.*is not a known key/],
    ['', '', 2, /REVEILLE_HOOK_TOKEN is not set/, away],
    ['', '', 2, /REVEILLE_URL must be a URL/, { REVEILLE_URL: 'hooks' }],
  ]
  for (const [good, bad, code, err, env = {}] of cases) {
    const { start } = await begin(t, { env }, configuration.replace(good, bad))
    assertAnswer(await start().ended, { code, err }, bad)
  }
})

test('a refused token is reported, and posting is tried again while the command keeps running', async (t) => {
  const { start } = await begin(t, {
    fetch: async () => Response.json({ ok: false, error: 'Wrong.', code: 'UNAUTHORIZED' }, { status: 401 }),
  })
  const going = start()
  await going.until(/The gateway said 401/)
  assert.equal((await going.stop()).code, 0)
})

test('a run that throws is started again later, and can be stopped meanwhile', async (t) => {
  const { start } = await begin(t, {}, configuration.replace('harbour: Brest', 'harbour: Brest, says: throw'))
  const going = start('--json')
  const output = await going.until(/"state":"failing"/)
  assert.match(output, /It cannot\. It restarts in/)
  assert.equal((await going.stop()).code, 0)
})

const target = { address: 'http://127.0.0.1:8787', path: '/hooks', token: 'secret-token' }

function posting(answer: () => Response | Promise<Response>) {
  const post = createPost(target, async () => answer())
  return post({ endpoint: 'gmail', body: '{}' })
}

test("the gateway's answer is passed on: status, code, sentence and how long to wait; so is a proxy's refusal", async () => {
  const refusal = { ok: false, error: 'Too much.', code: 'BACKLOG' }
  const refused = Response.json(refusal, { status: 503, headers: { 'retry-after': '7' } })
  for (const [answer, expected] of [
    [Response.json({ ok: true, outcome: 'ignored' }), { status: 200, isIgnored: true }],
    [Response.json({ ok: true }), { status: 200 }],
    [refused, { status: 503, code: 'BACKLOG', message: 'Too much.', retryAfter: 7 }],
    ...[401, 403, 404, 413, 429, 502, 503].map(
      (status) => [new Response('<html></html>', { status }), { status }] as const,
    ),
  ] as const)
    assert.deepEqual(await posting(() => answer), expected)
})

test('a success that another program answers counts as no answer', async () => {
  for (const outsider of [
    new Response('<html>Sign in</html>', { status: 200 }),
    Response.json({ ok: false }),
    Response.json(null),
    new Response(null, { status: 204 }),
    new Response('<html>Bad request</html>', { status: 400 }),
    new Response('', { status: 409 }),
  ])
    await assert.rejects(
      posting(() => outsider),
      (error) => {
        assert.ok(error instanceof PluginError)
        assert.deepEqual([error.code, error.retryable], ['network', true])
        return /is no gateway/.test(error.message)
      },
    )
})

test('a missing answer is a retryable failure that names a fault of the certificate, and not the token; a redirect is none', async () => {
  const failing = (code?: string) => () => Promise.reject(new TypeError('fetch failed', { cause: { code } }))
  const location = 'https://elsewhere.example'
  for (const [answer, reason] of [
    [failing(), 'could not be reached.'],
    [failing('DEPTH_ZERO_SELF_SIGNED_CERT'), 'could not be reached (DEPTH_ZERO_SELF_SIGNED_CERT).'],
    [
      () => new Response(null, { status: 302, headers: { location } }),
      'answered with a redirect, which is not followed.',
    ],
  ] as const)
    await assert.rejects(posting(answer), {
      message: `No gateway answers at http://127.0.0.1:8787: 127.0.0.1:8787 ${reason}`,
      code: 'network',
      retryable: true,
    })
})

test('a cancelled post rejects with the reason of its signal', async () => {
  const abort = new AbortController()
  const reason = new Error('over')
  const post = createPost(target, (_url, init) => {
    const { promise, reject } = Promise.withResolvers<Response>()
    init?.signal?.addEventListener('abort', () => reject(init.signal?.reason))
    return promise
  })
  const posted = post({ endpoint: 'gmail', body: '{}', signal: abort.signal })
  abort.abort(reason)
  await assert.rejects(posted, (error) => error === reason)
})
