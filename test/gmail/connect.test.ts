/** Tests setup with the real plugin and Google's libraries, against the fake Google, which checks each call. */

import assert from 'node:assert/strict'
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { inspect } from 'node:util'
import { type ConnectStep, createPluginFetch } from '@reveille/kit'
import plugin from '../../plugins/gmail/index.ts'
import { createSourceStorage } from '../../runtime/sources/index.ts'
import { createFakeGoogle } from '../google/index.ts'

type Values = Readonly<Record<string, unknown>>

const dayMs = 24 * 60 * 60_000
const pushEndpoint = 'https://hooks.example.com/hooks/gmail/push'

async function open() {
  const google = await createFakeGoogle({ now: Date.parse('2026-01-15T12:00:00Z') })
  const folder = await mkdtemp(join(tmpdir(), 'reveille-connect-'))
  const storage = createSourceStorage(folder)
  const { signal } = new AbortController()
  const log = { debug: () => undefined }
  const setup = {
    google,
    storage,
    folder,
    steps: [] as ConnectStep[],
    slept: [] as number[],
    /** What the person does with the page. */
    person: (url: string): Promise<unknown> => google.consent(url),
    pastes: [] as string[],
    errors: [] as string[],
    async run(wanted: Values = { client: google.clientFile }, config: Values = {}) {
      setup.steps = []
      try {
        return await plugin.connect?.({
          config: { baseUrls: google.baseUrls, ...config },
          wanted,
          storage,
          fetch: createPluginFetch({ fetch, log, owner: { plugin: 'gmail' }, signal }),
          clock: {
            now: google.now,
            sleep: (ms, own) =>
              ms < 120_000
                ? Promise.resolve(void setup.slept.push(ms))
                : new Promise((_, reject) => own.addEventListener('abort', () => reject(own.reason))),
          },
          signal,
          person: {
            show: async (url) => void setup.person(url),
            ask: async () => setup.pastes.shift() ?? new Promise(() => {}),
          },
          report: (step) => void setup.steps.push(step),
        })
      } catch (error) {
        setup.errors.push(inspect(error, { depth: 10, showHidden: true }))
        throw error
      }
    },
    /** Lists the calls that change something at Google. */
    changes: () =>
      google.calls
        .filter(
          ({ operation, status }) =>
            status === 200 && /create|setIam|modifyPush|watch$|token/.test(operation),
        )
        .map(({ operation }) => operation.split('.').slice(-2).join('.')),
    async [Symbol.asyncDispose]() {
      await google.close()
      await rm(folder, { recursive: true })
    },
  }
  return setup
}

const outcomes = (steps: readonly ConnectStep[]) =>
  steps.map(({ step, outcome }) => `${step} ${outcome}`).join(', ')

test('setup connects a mailbox without a request that Google would refuse', async () => {
  await using setup = await open()
  const { google } = setup
  const connection = await setup.run()
  const [topic, subscription] = ['topics', 'subscriptions'].map(
    (kind) => `projects/${google.project}/${kind}/reveille-gmail`,
  )
  assert.deepEqual(connection?.config, {
    baseUrls: google.baseUrls,
    account: google.account,
    topic,
    subscription,
  })
  assert.equal(connection?.preset, 'gmail')
  assert.equal(
    outcomes(setup.steps),
    'client done, consent done, label unchanged, topic done, publisher done, subscription done, watch done',
  )
  assert.deepEqual(google.resources, [topic, subscription])
  assert.deepEqual(google.roles, {
    'roles/pubsub.publisher': ['serviceAccount:gmail-api-push@system.gserviceaccount.com'],
  })
  assert.deepEqual(google.watch, { topic, labelIds: ['INBOX'], endsAt: google.now() + 7 * dayMs })
  assert.deepEqual(google.mistakes, [])

  google.deliver({ subject: 'Hello' })
  assert.ok(google.unacknowledged > 0, 'a mail reaches the subscription')
})

test('a second setup asks for no consent and changes nothing', async () => {
  await using setup = await open()
  const first = await setup.run()
  const before = await contentOf(setup.folder)
  const changes = setup.changes()
  setup.person = () => assert.fail('no consent is requested')
  assert.deepEqual(await setup.run({}, { ...first?.config }), first)
  assert.equal(
    outcomes(setup.steps).replaceAll(' unchanged', ''),
    'client, consent, label, topic, publisher, subscription, watch',
  )
  assert.deepEqual(setup.changes(), changes)
  assert.deepEqual(await contentOf(setup.folder), before)
  assert.deepEqual(setup.google.mistakes, [])
})

test('the stored files are readable for their owner alone, and no step or result contains a secret', async () => {
  await using setup = await open()
  const { google } = setup
  google.fail('pubsub.projects.topics.create', { status: 403 })
  await assert.rejects(setup.run(), { code: 'forbidden', message: /Pub\/Sub Admin/ })
  google.fail('gmail.users.watch', { status: 400, reason: 'invalidArgument' })
  await assert.rejects(setup.run({}), { code: 'bad-request' })
  const answers = JSON.stringify([await setup.run({}), setup.steps, setup.errors])
  assert.equal(setup.errors.length, 2)
  const { clientSecret, refreshToken, accessToken } = (await setup.storage.read('credentials')) as Record<
    string,
    string
  >
  for (const secret of [clientSecret, refreshToken, accessToken]) {
    assert.ok(secret !== undefined && secret.length > 10)
    assert.ok(!answers.includes(secret))
  }
  for (const file of await readdir(setup.folder))
    assert.equal((await stat(join(setup.folder, file))).mode & 0o777, 0o600, file)
})

test('after a failure of any Google call, a second setup goes on with the first consent', async () => {
  const operations = [
    'gmail.users.getProfile',
    'gmail.users.labels.list',
    'pubsub.projects.topics.get',
    'pubsub.projects.topics.create',
    'pubsub.projects.topics.getIamPolicy',
    'pubsub.projects.topics.setIamPolicy',
    'pubsub.projects.subscriptions.get',
    'pubsub.projects.subscriptions.create',
    'gmail.users.watch',
  ]
  for (const operation of operations) {
    await using setup = await open()
    const { google } = setup
    google.fail(operation, { status: 400, reason: 'invalidArgument' })
    await assert.rejects(setup.run(), { code: 'bad-request' }, operation)
    let asked = 0
    setup.person = (url) => {
      asked += 1
      return google.consent(url)
    }
    await setup.run({})
    assert.equal(asked, operation === 'gmail.users.getProfile' ? 1 : 0, operation)
    assert.equal(google.resources.length, 2)
    assert.deepEqual(google.mistakes, [], operation)
  }
})

test('a cut answer, a quota and an outage are retried', async () => {
  await using setup = await open()
  const { google } = setup
  google.fail('pubsub.projects.subscriptions.create', { cut: 'after' })
  google.fail('pubsub.projects.topics.create', { cut: 'after' }, { status: 503 })
  google.fail('gmail.users.labels.list', { status: 429, reason: 'rateLimitExceeded', retryAfter: 5 })
  google.fail('gmail.users.watch', { status: 500 })
  await setup.run()
  assert.deepEqual(setup.slept, [5000, 2000, 4000, 2000, 2000])
  assert.equal(google.resources.length, 2)
  assert.ok(google.watch)
})

test('setup waits for a role that is not in force yet', async () => {
  await using setup = await open()
  const no = { status: 403, reason: 'forbidden' }
  setup.google.fail('gmail.users.watch', no, no)
  await setup.run()
  assert.deepEqual(setup.slept, [2000, 4000])
  assert.ok(setup.google.watch)
})

test('without a browser, the person pastes the address where the browser ended', async () => {
  await using setup = await open()
  const { google } = setup
  const pasted = Promise.withResolvers<string>()
  setup.person = async (url) => pasted.resolve(` "${await google.consentByHand(url)}" `)
  setup.pastes = [pasted.promise as unknown as string]
  await setup.run()
  assert.ok(google.watch)

  setup.pastes = ['4/0AWrongCodeWrongCode']
  await setup.storage.write('credentials', null)
  const second = Promise.withResolvers<string>()
  setup.pastes.push(second.promise as unknown as string)
  setup.person = async (url) =>
    second.resolve(new URL(await google.consentByHand(url)).searchParams.get('code') ?? '')
  await setup.run({})
  assert.ok(outcomes(setup.steps).includes('consent done'), 'after a wrong code, the right one alone')
})

test('a consent that is denied, partial, or of another account leaves no credentials stored', async () => {
  await using setup = await open()
  const { google } = setup
  // Renewed tokens of another account must not be stored either.
  google.fail('gmail.users.getProfile', { status: 401, reason: 'authError' })
  for (const [answer, wanted, code] of [
    ['deny', {}, 'consent-denied'],
    [{ only: ['https://www.googleapis.com/auth/pubsub'] }, {}, 'missing-scope'],
    [{ as: 'grace@example.com' }, { account: google.account }, 'other-account'],
  ] as const) {
    setup.person = async (url) => {
      const page = await google.consent(url, answer)
      assert.equal(page.headers.get('referrer-policy'), 'no-referrer')
    }
    await assert.rejects(setup.run({ client: google.clientFile, ...wanted }), { code })
    assert.equal(await setup.storage.read('credentials'), undefined, code)
  }
})

test('a withdrawn consent is asked for again, and setup completes', async () => {
  await using setup = await open()
  const { google } = setup
  const first = await setup.run()
  google.revoke()
  await setup.run({}, { ...first?.config })
  assert.equal(
    outcomes(setup.steps),
    'client unchanged, consent done, label unchanged, topic unchanged, publisher unchanged, subscription unchanged, watch done',
  )
})

test('the subscription changes to push and back', async () => {
  await using setup = await open()
  const { google } = setup
  const first = await setup.run()
  const pushServiceAccount = `push@${google.project}.iam.gserviceaccount.com`
  const pushed = await setup.run({ mode: 'push', pushEndpoint, pushServiceAccount }, { ...first?.config })
  assert.deepEqual(pushed?.endpoints, {
    'gmail/push': {
      verify: { provider: 'google-pubsub', audience: pushEndpoint, serviceAccount: pushServiceAccount },
    },
  })
  assert.match(outcomes(setup.steps), /subscription done, watch unchanged$/)
  assert.deepEqual(await setup.run({}, { ...pushed?.config }), pushed, 'Google remembers address and account')
  const pulled = await setup.run({ mode: 'pull' }, { ...pushed?.config })
  assert.deepEqual(pulled?.endpoints, { 'gmail/push': {} })
  assert.equal(google.callsOf('pubsub.projects.subscriptions.modifyPushConfig').length, 2)
  assert.deepEqual(google.mistakes, [])
})

test('a new topic replaces the earlier one, because Gmail serves only one', async () => {
  await using setup = await open()
  const { google } = setup
  const first = await setup.run()
  await setup.run({ topic: 'another', subscription: 'another' }, { ...first?.config })
  assert.equal(google.watch?.topic, `projects/${google.project}/topics/another`)
  assert.equal(google.callsOf('gmail.users.stop').length, 1)
  assert.deepEqual(google.mistakes, [])
})

test('a missing right in the project is reported with the role to grant', async () => {
  await using setup = await open()
  const { google } = setup
  const { project_id: _unsaid, ...installed } = (google.clientFile as { installed: Record<string, unknown> })
    .installed
  await assert.rejects(setup.run({ client: { installed }, project: 'somebody-elses' }), {
    code: 'forbidden',
    message: /Pub\/Sub Admin in the project somebody-elses/,
  })
})

test('a client that Google no longer knows is reported, without asking for consent', async () => {
  await using setup = await open()
  await setup.run()
  const { google } = setup
  setup.person = () => assert.fail('no consent is requested')
  google.expireAccessTokens()
  google.fail('oauth.token', { status: 401, reason: 'invalid_client' })
  await assert.rejects(setup.run({}), { code: 'bad-client' })
})

async function contentOf(folder: string): Promise<unknown> {
  const files = (await readdir(folder)).sort()
  return Promise.all(files.map(async (file) => [file, await readFile(join(folder, file), 'utf8')]))
}
