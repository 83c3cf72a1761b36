/** Tests the commands `webhooks gmail setup` and `webhooks gmail run` against the fake Google. */

import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { type TestContext, test } from 'node:test'
import { parse } from 'yaml'
import type { Io } from '../../runtime/cli/io.ts'
import { createCommandLine } from '../../runtime/cli/io-fixture.ts'
import { person } from '../../runtime/cli/webhooks/test-bed.ts'
import { createFakeGoogle, type FakeGoogle } from '../google/index.ts'
import { createMailbox } from './mailbox.ts'

async function begin(t: TestContext, overrides: Partial<Io> = {}) {
  const google = await createFakeGoogle()
  t.after(() => google.close())
  const line = await createCommandLine(
    t,
    {
      'reveille.yaml': [
        '# Written by hand.',
        'hooks:',
        '  enabled: true # since spring',
        '  token: "${HOOK_TOKEN}"',
        `  gmail: { baseUrls: ${JSON.stringify(google.baseUrls)} }`,
        'agents: { route: { channel: terminal } }',
        'channels: { terminal: {} }',
        '',
      ].join('\n'),
      '.env': 'HOOK_TOKEN=a-token-for-the-hooks\n',
      'client.json': JSON.stringify(google.clientFile),
    },
    {
      now: Date.now,
      // The gateway is not reachable; Google is.
      fetch: (url, init) =>
        String(url).includes(':8787') ? Promise.reject(new TypeError('refused')) : fetch(url, init),
      ...overrides,
    },
  )
  const setup = (...options: readonly string[]) => line.start('webhooks', 'gmail', 'setup', ...options)
  const read = (name: string) => readFile(path.join(line.cwd, name), 'utf8')
  return { ...line, google, setup, read, storage: () => readStored(line.cwd) }
}

async function readStored(cwd: string) {
  const text = await readFile(path.join(cwd, 'data/sources/gmail/credentials.json'), 'utf8')
  return JSON.parse(text) as { readonly refreshToken: string; readonly accessToken: string }
}

const flags = ['--client-file', 'client.json', '--account', 'ada@example.com']

/** Resolves with the address of the consent once it is shown. */
async function addressIn(going: { until(fits: RegExp): Promise<string> }): Promise<string> {
  const all = await going.until(/^http\S+\/auth\?\S+$/m)
  return /^http\S+\/auth\?\S+$/m.exec(all)?.[0] ?? ''
}

function clientSecretOf({ clientFile }: FakeGoogle): string {
  return (clientFile as { readonly installed: { readonly client_secret: string } }).installed.client_secret
}

/** Reads every file but those that hold secrets on purpose. */
async function openFiles(cwd: string): Promise<readonly string[]> {
  const entries = await readdir(cwd, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile()).map((file) => path.join(file.parentPath, file.name))
  const secret = [path.join(cwd, 'client.json'), path.join(cwd, 'data', 'sources')]
  const open = files.filter((file) => !secret.some((each) => file.startsWith(each)))
  assert.ok(open.includes(path.join(cwd, 'reveille.yaml')))
  return Promise.all(open.map((file) => readFile(file, 'utf8')))
}

test('setup works with flags and a consent in the browser alone, and no secret leaves the data folder', async (t) => {
  const { setup, google, read, storage, cwd } = await begin(t)
  const going = setup(...flags, '--json')
  const url = await addressIn(going)
  const redirect = new URL(new URL(url).searchParams.get('redirect_uri') ?? '')
  assert.equal(redirect.hostname, '127.0.0.1')
  assert.ok((await google.consent(url)).ok)
  const { code, out, err } = await going.ended
  assert.equal(code, 0, `${out}${err}`)

  const answer = JSON.parse(out)
  assert.equal(answer.account, 'ada@example.com')
  const text = await read('reveille.yaml')
  assert.match(
    text,
    /^# Written by hand\.\nhooks:\n {2}enabled: true # since spring\n {2}token: "\$\{HOOK_TOKEN\}"\n/,
  )
  const { gmail, presets } = parse(text).hooks
  assert.deepEqual(presets, ['gmail'])
  assert.deepEqual(Object.keys(gmail).sort(), ['account', 'baseUrls'])

  const { refreshToken, accessToken } = await storage()
  const codes = google.callsOf('oauth.token').map(({ body }) => (body as { readonly code?: string }).code)
  const secrets = [clientSecretOf(google), refreshToken, accessToken, ...codes]
  for (const secret of secrets) {
    assert.ok(secret !== undefined && secret.length > 10)
    for (const shown of [out, err, ...(await openFiles(cwd))]) assert.ok(!shown.includes(secret), secret)
  }
  assert.deepEqual(google.mistakes, [])
})

test('a setup that Google refuses goes on from there, and one after it changes nothing and asks no question', async (t) => {
  const { setup, google, read } = await begin(t)
  google.fail('gmail.users.labels.list', { status: 403, reason: 'accessNotConfigured' })
  const refused = setup(...flags, '--json')
  await google.consent(await addressIn(refused))
  const { code, out } = await refused.ended
  assert.equal(code, 1)
  const failure = JSON.parse(out)
  assert.equal(failure.ok, false)
  assert.ok(failure.steps.some(({ step }: { readonly step: string }) => step === 'consent'))

  const second = await setup('--account', 'ada@example.com').ended
  assert.equal(second.code, 0, second.err)
  assert.match(second.err, /^· consent/m)

  const before = await read('reveille.yaml')
  const third = await setup().ended
  assert.equal(third.code, 0, third.err)
  assert.equal(await read('reveille.yaml'), before)
  assert.doesNotMatch(third.err, /^✓/m, 'no step was to be done')
  assert.deepEqual(google.mistakes, [])
})

test('a person at a terminal answers three questions and consents in the browser that opens', async (t) => {
  const { output, prompts, isAnswered } = person({
    'The OAuth client': ['client.json'],
    'The mailbox': ['ada@example.com'],
    'Which label': [''],
  })
  const waiting: Partial<Io> = {
    columns: 100,
    env: { DISPLAY: ':0' },
    prompts: async () => ({
      ...(await prompts()),
      // The person pastes nothing, because the browser reaches the loopback address.
      secret: (_question, signal) =>
        new Promise((_resolve, reject) => signal?.addEventListener('abort', () => reject(signal.reason))),
    }),
    browse: async (url) => (await google.consent(url)).ok,
  }
  const { setup, google } = await begin(t, waiting)
  const { code, err } = await setup().ended
  assert.equal(code, 0, err)
  assert.ok(isAnswered())
  assert.ok(output.some((text) => /configuration {2}Wrote hooks\.gmail/.test(text)))
  assert.deepEqual(google.mistakes, [])
})

test('gmail run posts arriving mails to the gateway, and stops on a signal', async (t) => {
  const { google, hooks, consent } = await createMailbox(t, { settings: { pollSeconds: 5 } })
  const posted: unknown[] = []
  const taken = Promise.withResolvers<void>()
  const { start, cwd } = await createCommandLine(
    t,
    { 'reveille.yaml': `hooks:\n  enabled: true\n  token: a-token-for-the-hooks\n${hooks}` },
    {
      now: Date.now,
      async fetch(url, init) {
        if (!String(url).startsWith('http://127.0.0.1:8787/hooks/gmail')) return fetch(url, init)
        posted.push(JSON.parse(String(init?.body)))
        taken.resolve()
        return Response.json({ ok: true, runId: '1' }, { status: 202 })
      },
    },
  )
  await consent(path.join(cwd, 'data'))

  const going = start('webhooks', 'gmail', 'run', '--json')
  await going.until(/"state":"working"/)
  const id = google.deliver({ subject: 'Lunch?', text: 'At noon' })
  await taken.promise
  const { code, err } = await going.stop()
  assert.equal(code, 0, err)
  const messages = [{ id, subject: 'Lunch?', body: 'At noon' }]
  assert.partialDeepStrictEqual(posted, [{ source: 'gmail', account: google.account, messages }])
  assert.equal(posted.length, 1)
  assert.deepEqual(google.mistakes, [])
})
