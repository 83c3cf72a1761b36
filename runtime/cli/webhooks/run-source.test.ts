import assert from 'node:assert/strict'
import path from 'node:path'
import { type TestContext, test } from 'node:test'
import { lockSource } from '../../sources/index.ts'
import type { Io } from '../io.ts'
import { createCommandLine } from '../io-fixture.ts'
import { mailPlugin } from './test-bed.ts'

const configuration = `plugins: [./mail]
gateway: { port: 4711 }
hooks:
  enabled: true
  token: [newest-hook-token, older-hook-token]
  path: /in
  maxBodyBytes: 5000
  endpoints: { gmail: { maxBodyBytes: 4000 } }
  gmail: { account: ada@example.com, topic: t, subscription: s }
`

interface Asked {
  readonly url: string
  readonly authorization: string | null
  readonly body: unknown
  readonly redirect: RequestInit['redirect']
}

async function begin(t: TestContext, overrides: Partial<Io> = {}, text = configuration) {
  const asked: Asked[] = []
  const line = await createCommandLine(
    t,
    { ...mailPlugin, 'reveille.yaml': text },
    {
      fetch: async (url, init = {}) => {
        const authorization = new Headers(init.headers).get('authorization')
        asked.push({
          url: String(url),
          authorization,
          body: JSON.parse(String(init.body)),
          redirect: init.redirect,
        })
        return Response.json({ ok: true, runId: '1' }, { status: 202 })
      },
      ...overrides,
    },
  )
  const start = (...options: readonly string[]) => line.start('webhooks', 'gmail', 'run', ...options)
  return { ...line, start, asked, lock: () => lockSource(path.join(line.cwd, 'data/sources/gmail')) }
}

test('mails are posted to the gateway of the configuration with its newest token, until the command is stopped', async (t) => {
  const { start, asked, lock } = await begin(t)
  const going = start('--json')
  await going.until(/The gateway said 202/)
  assert.deepEqual(asked, [
    {
      url: 'http://127.0.0.1:4711/in/gmail',
      authorization: 'Bearer newest-hook-token',
      body: { messages: [{ id: '1' }], limit: 4000 },
      redirect: 'manual',
    },
  ])
  assert.equal(lock(), undefined, 'a gateway that comes later finds the mailbox taken')
  const { code, out, err } = await going.stop()
  assert.equal(code, 0, err)
  const states = out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  assert.deepEqual(
    states.map(({ source, state }) => `${source} ${state}`),
    ['gmail starting', 'gmail working', 'gmail working', 'gmail stopped'],
  )
  assert.deepEqual(states[1].times, { watchEnds: 1775000000000 })
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
  assert.deepEqual(
    asked.map(({ url, authorization }) => [url, authorization]),
    [
      ['https://hooks.example.com/up/in/gmail', 'Bearer theirs'],
      ['http://127.0.0.1:4711/in/gmail', 'Bearer newest-hook-token'],
    ],
  )
})

test('the command refuses to run while another process watches the mailbox', async (t) => {
  const { start, lock, asked } = await begin(t)
  const held = lock()
  assert.ok(held)
  t.after(() => held.close())
  const { code, err } = await start().ended
  assert.equal(code, 1)
  assert.match(err, /^Another process runs gmail already, on the data folder data: the gateway/m)
  assert.deepEqual(asked, [])
})

test('obstacles to a run are reported before anything starts', async (t) => {
  const without = configuration.replace(/ {2}gmail: .*\n/, '')
  const cases: readonly (readonly [string, Partial<Io>, number, RegExp])[] = [
    [without, {}, 1, /has no hooks\.gmail\. Set it up: `reveille webhooks gmail setup`/],
    [
      configuration.replace('topic: t', 'topic: t, mode: push'),
      {},
      2,
      /the service posts to the gateway itself: start that/,
    ],
    [configuration.replace('enabled: true', 'enabled: false'), {}, 1, /hooks\.enabled: true is missing/],
    [
      configuration,
      { env: { REVEILLE_URL: 'https://hooks.example.com' } },
      2,
      /REVEILLE_HOOK_TOKEN is not set/,
    ],
    [configuration, { env: { REVEILLE_URL: 'hooks' } }, 2, /REVEILLE_URL must be a URL/],
    [configuration.replace('topic: t', 'topik: t'), {}, 1, /hooks\.gmail\.topik.*is not a known key/],
  ]
  for (const [text, overrides, expected, problem] of cases) {
    const { start } = await begin(t, overrides, text)
    const { code, err } = await start().ended
    assert.match(err, problem)
    assert.equal(code, expected, err)
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
  const { start } = await begin(t, {}, configuration.replace('topic: t', 'topic: t, says: throw'))
  const going = start('--json')
  const output = await going.until(/"state":"failing"/)
  assert.match(output, /It cannot\. It restarts in/)
  assert.equal((await going.stop()).code, 0)
})
