/** Tests setup by the plugin's door, against the fake Google, which checks each call. */

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { inspect } from 'node:util'
import { type Connection, type ConnectStep, createPluginFetch, type Facts } from '@reveille/kit'
import { createFakeGoogle, type Fault } from '../../../test/google/index.ts'
import plugin from '../index.ts'

const dayMs = 86_400_000
const project = 'harbour-lights-4711'
const topic = `projects/${project}/topics/reveille-gmail`
const subscription = `projects/${project}/subscriptions/reveille-gmail`
const pushEndpoint = 'https://hooks.example.com/hooks/gmail/push'
const pushServiceAccount = `push@${project}.iam.gserviceaccount.com`
const push = { mode: 'push', pushEndpoint, pushServiceAccount }
const allSteps = ['client', 'consent', 'label', 'topic', 'publisher', 'subscription', 'watch']
const [topics, subscriptions] = ['pubsub.projects.topics', 'pubsub.projects.subscriptions']

async function open(t: TestContext) {
  const google = await createFakeGoogle({ now: Date.UTC(2026, 0, 15, 12) })
  t.after(() => google.close())
  const stored = new Map<string, unknown>()
  const calledOff = new AbortController()
  const { signal } = calledOff
  const setup = {
    google,
    stored,
    calledOff,
    client: google.clientFile as { installed: Record<string, unknown> },
    steps: [] as ConnectStep[],
    /** The short waits, which pass by themselves. */
    slept: [] as number[],
    /** Ends the long wait for a consent. */
    late: () => {},
    /** Acts on the page as the person does. */
    person: (page: string): unknown => google.consent(page),
    /** The answers that the person types, in order; then nothing more. */
    pastes: [] as (string | Promise<string>)[],
    questions: [] as string[],
    /** The number of times that a consent was asked for. */
    asked: 0,
    async run(requested: Facts = { client: google.clientFile }, config: Facts = {}): Promise<Connection> {
      setup.steps = []
      assert.ok(plugin.connect)
      return plugin.connect({
        config: { baseUrls: google.baseUrls, ...config },
        requested,
        storage: {
          read: async (name) => structuredClone(stored.get(name)),
          write: async (name, value) => void stored.set(name, JSON.parse(JSON.stringify(value))),
        },
        fetch: createPluginFetch({ fetch, log: { debug() {} }, owner: { plugin: 'gmail' }, signal }),
        clock: {
          now: google.now,
          sleep(ms, own) {
            if (ms < 120_000) return Promise.resolve(void setup.slept.push(ms))
            return new Promise((resolve, reject) => {
              setup.late = resolve
              own.addEventListener('abort', () => reject(own.reason))
            })
          },
        },
        signal,
        person: {
          async show(page) {
            setup.asked += 1
            void setup.person(page)
          },
          async ask(question) {
            setup.questions.push(question)
            return setup.pastes.shift() ?? new Promise(() => {})
          },
        },
        report: (step) => void setup.steps.push(step),
      })
    },
    /** Lists the calls since `from` that changed something at Google. */
    changes: (from = 0) =>
      google.calls
        .slice(from)
        .filter(
          ({ operation, status }) => status === 200 && /create|setIam|modifyPush|watch$/.test(operation),
        )
        .map(({ operation }) => operation.split('.').slice(-2).join('.')),
    outcomes: () => setup.steps.map(({ step, outcome }) => `${step} ${outcome}`),
    credentials: () => stored.get('credentials') as Record<string, string>,
    cursor: () => stored.get('cursor') as Record<string, unknown> & { watch: { labelId: string } },
  }
  return setup
}

type Setup = Awaited<ReturnType<typeof open>>

function deniedFrom(page: string, error = 'access_denied'): string {
  const { searchParams } = new URL(page)
  const answer = new URLSearchParams({ state: searchParams.get('state') ?? '', error })
  return `${searchParams.get('redirect_uri')}?${answer}`
}

/** Has a setup fail before anything is stored or asked. */
async function refused(setup: Setup, wanted: Facts, config: Facts, error: object): Promise<void> {
  await assert.rejects(setup.run(wanted, config), error, JSON.stringify([wanted, config]))
  assert.deepEqual([setup.asked, setup.stored.has('credentials')], [0, false])
}

test('a first setup does and reports every step, and returns a complete configuration', async (t) => {
  const setup = await open(t)
  const { google } = setup
  const { account } = google
  const watchEnds = google.now() + 7 * dayMs
  const names = { topic, subscription }
  assert.deepEqual(await setup.run(), {
    config: { baseUrls: google.baseUrls, account, ...names },
    preset: 'gmail',
    subject: account,
    howToTry: `Send a mail to ${account}`,
    facts: { account, project, ...names, label: 'INBOX', mode: 'pull', watchEnds },
  })
  assert.deepEqual(
    setup.outcomes(),
    allSteps.map((step) => `${step} ${step === 'label' ? 'unchanged' : 'done'}`),
  )
  const changes = ['topics.create', 'topics.setIamPolicy', 'subscriptions.create', 'users.watch']
  assert.deepEqual(setup.changes(), changes)
  const members = ['serviceAccount:gmail-api-push@system.gserviceaccount.com']
  assert.deepEqual(google.roles, { 'roles/pubsub.publisher': members })
  assert.deepEqual(google.callsOf(`${subscriptions}.create`)[0]?.body, {
    topic,
    ackDeadlineSeconds: 60,
    expirationPolicy: {},
  })
  const { historyId, ...cursor } = setup.cursor()
  assert.match(String(historyId), /^\d+$/)
  const watch = { topic, labelId: 'INBOX', begunAt: google.now(), endsAt: watchEnds }
  assert.deepEqual(cursor, { account, readAt: google.now(), recent: [], refused: [], watch })
  const { clientSecret, refreshToken, accessToken } = setup.credentials()
  const shown = inspect([setup.steps, await setup.run({})], { depth: 10 })
  for (const secret of [clientSecret, refreshToken, accessToken])
    assert.ok(secret && !shown.includes(secret), 'no step or result has a secret')
  google.deliver()
  assert.ok(google.unacknowledged > 0, 'a mail reaches the subscription')
  assert.deepEqual(google.mistakes, [])
})

test('after a failure of any Google call, a second setup goes on with the first consent', async (t) => {
  for (const operation of [
    'gmail.users.labels.list',
    `${topics}.get`,
    `${topics}.create`,
    `${topics}.getIamPolicy`,
    `${topics}.setIamPolicy`,
    `${subscriptions}.get`,
    `${subscriptions}.create`,
    'gmail.users.watch',
  ]) {
    const setup = await open(t)
    setup.google.fail(operation, { status: 400, reason: 'invalidArgument' })
    await assert.rejects(setup.run(), (error: Error & { code: string }) => {
      const { clientSecret = '?' } = setup.credentials()
      return error.code === 'bad-request' && !inspect(error, { showHidden: true }).includes(clientSecret)
    })
    await setup.run({})
    assert.equal(setup.asked, 1, operation)
    assert.equal(setup.changes().length, 4, `${operation}: each is changed once`)
    assert.deepEqual(setup.google.mistakes, [])
  }
})

test('a temporary failure is retried, after the wait that Google asks for, but not forever', async (t) => {
  const cases: readonly (readonly [string, readonly Fault[], slept: number[], code?: string])[] = [
    [`${topics}.create`, [{ status: 503 }, { status: 429, retryAfter: 7 }], [2000, 7000]],
    [`${topics}.create`, [{ cut: 'after' }, { status: 503 }], [2000, 4000]],
    [`${subscriptions}.create`, [{ cut: 'after' }], [2000]],
    ['gmail.users.labels.list', Array(4).fill({ cut: 'before' }), [2000, 4000, 8000], 'network'],
    ['gmail.users.labels.list', [{ status: 429, retryAfter: 3600 }], [], 'rate-limited'],
    // A role that was just granted may not be in force yet.
    ['gmail.users.watch', Array(3).fill({ status: 403 }), [2000, 4000, 8000]],
    ['gmail.users.watch', Array(5).fill({ status: 403 }), [2000, 4000, 8000, 16_000], 'forbidden'],
  ]
  for (const [operation, faults, slept, code] of cases) {
    const setup = await open(t)
    setup.google.fail(operation, ...faults)
    if (code === undefined) await setup.run()
    else await assert.rejects(setup.run(), { code })
    assert.deepEqual(setup.slept, slept, operation)
    assert.equal(setup.steps.filter(({ step }) => step === 'wait').length, slept.length)
  }
  const setup = await open(t)
  const { config } = await setup.run()
  setup.google.fail('gmail.users.watch', { status: 403 })
  const running = setup.run({ label: 'UNREAD' }, config)
  await assert.rejects(running, { code: 'forbidden', message: /run the setup again in a while/ })
  assert.deepEqual(setup.slept, [], 'a role that was there before is not waited for')
})

test('a request that Google forbids is reported with the role, project or policy to look at', async (t) => {
  const cases: readonly (readonly [string, Fault, code: string, RegExp])[] = [
    [`${topics}.create`, { status: 403 }, 'forbidden', /Pub\/Sub Admin in the project harbour-lights-4711/],
    [`${topics}.create`, { status: 404 }, 'not-found', /Is there a project harbour-lights-4711/],
    [`${topics}.setIamPolicy`, { status: 403 }, 'forbidden', /Pub\/Sub Admin/],
    [
      `${topics}.setIamPolicy`,
      { status: 400, reason: 'failedPrecondition' },
      'policy-forbids',
      /iam\.allowedPolicyMemberDomains.*restricting-domains/,
    ],
    [`${subscriptions}.create`, { status: 403 }, 'forbidden', /Pub\/Sub Admin/],
    [
      `${subscriptions}.get`,
      { garbage: JSON.stringify({ name: subscription, topic: '_deleted-topic_', ackDeadlineSeconds: 10 }) },
      'other-topic',
      /was deleted/,
    ],
  ]
  for (const [operation, fault, code, message] of cases) {
    const setup = await open(t)
    setup.google.fail(operation, fault)
    await assert.rejects(setup.run(), { code, retryable: false, message })
  }
})

test('without a valid OAuth client file, setup says which client to create', async (t) => {
  const setup = await open(t)
  const { installed } = setup.client
  const missing = /"Desktop app".*console\.cloud\.google\.com.*--client-file/
  await refused(setup, {}, {}, { code: 'client-missing', message: missing })
  for (const [client, message] of [
    [{ web: installed }, /"Web application".*"Desktop app"/],
    [{ type: 'service_account', private_key: 'private', client_id: '1' }, /service account/],
    [{ type: 'authorized_user', refresh_token: 'private' }, /gcloud/],
    [{ installed: { ...installed, client_id: 'a b' } }, /client_id/],
    [{ installed: [] }, /not what the Google Cloud console gives/],
    ['{"installed":', /no JSON object/],
    [null, /no JSON object/],
    [[], /no JSON object/],
    [{}, /not what/],
  ] as const) {
    await refused(setup, { client }, {}, (error: Error & { code: string }) => {
      assert.match(error.message, message)
      assert.doesNotMatch(error.message, /GOCSPX|private/)
      return error.code === 'bad-client-file'
    })
  }
})

test('options that do not fit are refused before the person is asked for consent', async (t) => {
  const setup = await open(t)
  const { project_id: _, ...installed } = setup.client.installed
  const other = { code: 'other-project', message: /other-1.*harbour-lights-4711/ }
  const elsewhere = 'projects/other-1/topics/mail'
  const account = /serviceaccounts.*Service Account Token Creator/
  const option = { code: 'bad-option', message: /--push-endpoint|--mode push/ }
  const cases: readonly (readonly [wanted: Facts, config: Facts, error: object])[] = [
    [{ project: 'other-1' }, {}, other],
    [{ topic: elsewhere }, {}, other],
    [{}, { topic: elsewhere }, other],
    [{ project, topic: elsewhere }, {}, other],
    [{ client: { installed } }, {}, { code: 'project-missing', message: /--project/ }],
    ...['goog-mail', '1mail', 'a', 'a/b', 'projects/p/subscriptions/mail', 'projects/p/topics/'].map(
      (name) => [{ topic: name }, {}, { code: 'bad-name' }] as const,
    ),
    [{ pushEndpoint }, {}, option],
    [{ ...push, pushEndpoint: undefined }, {}, { code: 'push-endpoint-missing', message: /--push-endpoint/ }],
    [{ ...push, pushServiceAccount: undefined }, {}, { code: 'push-account-missing', message: account }],
    ...[
      pushEndpoint.replace('https', 'http'),
      pushEndpoint.replace('hooks.', 'user:word@hooks.'),
      pushEndpoint.replace('/hooks/gmail/push', ''),
      pushEndpoint.replace('https://', ''),
      `${pushEndpoint}#x`,
    ].map((bad) => [{ ...push, pushEndpoint: bad }, {}, option] as const),
  ]
  for (const [wanted, config, error] of cases)
    await refused(setup, { client: setup.client, ...wanted }, config, error)
})

test('topic and subscription may be given by whole name, by last part, or by the earlier configuration', async (t) => {
  const before = { topic: `projects/${project}/topics/old`, subscription: 'old-push' }
  const gone = { topic: 'projects/gone-1/topics/mail', subscription: 'projects/gone-1/subscriptions/mail' }
  for (const [wanted, config, topicId, subscriptionId] of [
    [{ topic: 'mail', subscription: 'mail-here' }, {}, 'mail', 'mail-here'],
    [{ subscription: `projects/${project}/subscriptions/one` }, {}, 'reveille-gmail', 'one'],
    [{}, before, 'old', 'old-push'],
    [{ topic: 'new' }, before, 'new', 'old-push'],
    [{ project }, gone, 'mail', 'mail'],
  ] as const) {
    const setup = await open(t)
    const { config: found } = await setup.run({ client: setup.client, ...wanted }, config)
    assert.deepEqual(
      [found['topic'], found['subscription']],
      [`projects/${project}/topics/${topicId}`, `projects/${project}/subscriptions/${subscriptionId}`],
    )
  }
  // A project of others is asked, and says no.
  const setup = await open(t)
  const { project_id: _, ...installed } = setup.client.installed
  for (const [wanted, config, owner] of [
    [{ client: { installed }, project: 'example.com:own-1' }, {}, 'example.com:own-1'],
    [{ subscription: 'projects/else-1/subscriptions/one' }, {}, 'else-1'],
    [{ project }, { ...gone, subscription: 'projects/else-1/subscriptions/mail' }, 'else-1'],
  ] as const) {
    const error = { code: 'forbidden', message: new RegExp(`Pub/Sub Admin in the project ${owner}`) }
    await assert.rejects(setup.run({ client: setup.client, ...wanted }, config), error)
  }
})

test('a label is found by name or id, and for a missing label the nearest names are suggested', async (t) => {
  const setup = await open(t)
  const id = setup.google.addLabel('Orders')
  for (const label of ['Orders', 'orders', id]) {
    const { config } = await setup.run({ client: JSON.stringify(setup.client), label })
    const written = label === id ? id : 'Orders'
    assert.deepEqual([config['label'], setup.cursor().watch.labelId], [written, id])
  }
  const known = setup.google.calls.length
  await assert.rejects(setup.run({ label: 'Ordres' }), (error: Error) => {
    const [, names = '', more] =
      /no label "Ordres"\. Pass one with --label: (.*), or one of (\d+) more/.exec(error.message) ?? []
    assert.deepEqual([names.split(', ')[0], names.split(', ').length, more], ['Orders', 10, '5'])
    return true
  })
  assert.deepEqual(setup.changes(known), [])
})

test('only settings that differ from the defaults are written, and other keys stay', async (t) => {
  const setup = await open(t)
  const { gmail, ...others } = setup.google.baseUrls
  const { config } = await setup.run(
    {
      client: setup.client,
      includeBody: false,
      maxBytes: 20_000,
      mode: 'pull',
      renewEveryMinutes: 60,
      baseUrls: { gmail },
    },
    { model: 'openai/gpt-5.2', exclude: ['SPAM'], maxBytes: 500, label: 'INBOX', baseUrls: others },
  )
  assert.deepEqual(config, {
    model: 'openai/gpt-5.2',
    exclude: ['SPAM'],
    maxBytes: 20_000,
    label: 'INBOX',
    baseUrls: setup.google.baseUrls,
    account: setup.google.account,
    topic,
    subscription,
    includeBody: false,
    renewEveryMinutes: 60,
  })
})

test('a subscription changes from pull to push and back, with an endpoint that verifies the signed tokens', async (t) => {
  const setup = await open(t)
  const { google } = setup
  const first = await setup.run()
  const known = google.calls.length
  const pushed = await setup.run(push, { ...first.config })
  const verify = { provider: 'google-pubsub', audience: pushEndpoint, serviceAccount: pushServiceAccount }
  assert.deepEqual([pushed.config['mode'], pushed.endpoints], ['push', { 'gmail/push': { verify } }])
  const oidcToken = { serviceAccountEmail: pushServiceAccount, audience: pushEndpoint }
  assert.deepEqual(await setup.run({}, { ...pushed.config }), pushed, 'Google remembers address and account')
  const pulled = await setup.run({ mode: 'pull' }, { ...pushed.config })
  assert.deepEqual([pulled.config['mode'], pulled.endpoints], ['pull', { 'gmail/push': {} }])
  assert.equal((await setup.run({}, { ...pulled.config })).endpoints, undefined, 'it is said once')
  assert.deepEqual(setup.changes(known), ['subscriptions.modifyPushConfig', 'subscriptions.modifyPushConfig'])
  const bodies = google.callsOf(`${subscriptions}.modifyPushConfig`).map(({ body }) => body)
  assert.deepEqual(bodies, [{ pushConfig: { pushEndpoint, oidcToken } }, { pushConfig: {} }])

  const pushing = await open(t)
  await pushing.run({ client: pushing.client, ...push })
  const [made] = pushing.google.callsOf(`${subscriptions}.create`)
  assert.partialDeepStrictEqual(made?.body, { pushConfig: { pushEndpoint, oidcToken } })
  assert.deepEqual(google.mistakes, [])
})

test('a new topic replaces the earlier one, because Gmail serves only one, and not under its subscription', async (t) => {
  const setup = await open(t)
  const { google } = setup
  const { config } = await setup.run()
  const message = /another topic, .*reveille-gmail.*--subscription/
  await assert.rejects(setup.run({ topic: 'another' }, { ...config }), { code: 'other-topic', message })
  await setup.run({ topic: 'another', subscription: 'another' }, { ...config })
  assert.equal(google.watch?.topic, `projects/${project}/topics/another`)
  assert.equal(google.callsOf('gmail.users.stop').length, 1)
  assert.deepEqual(google.mistakes, [])
})

test('a watch is begun again when it is old or for another label, and keeps the cursor of its mailbox', async (t) => {
  const setup = await open(t)
  const { google, stored } = setup
  const { config } = await setup.run()
  const label = google.addLabel('Orders')
  const begun = async (wanted: Facts = {}) => {
    const known = google.calls.length
    await setup.run(wanted, { ...config })
    return setup.changes(known).includes('users.watch')
  }
  assert.equal(await begun(), false)
  google.advance(dayMs)
  assert.equal(await begun(), true, 'it has six days left, no more')
  assert.equal(await begun({ label }), true)
  assert.equal(await begun({ label }), false)

  const { watch: _, ...before } = setup.cursor()
  const kept = { ...before, historyId: '1200', recent: ['m0'] }
  stored.set('cursor', { ...kept, account: google.account.toUpperCase() })
  await setup.run({}, { ...config, account: google.account.toUpperCase() })
  const { watch, ...rest } = setup.cursor()
  assert.deepEqual(rest, kept, 'however the address is written')
  assert.ok(watch)
  for (const damaged of ['no cursor', {}]) {
    stored.set('cursor', damaged)
    await setup.run({}, { ...config })
    assert.equal(setup.cursor()['historyId'], '0', 'what came since is not forgotten')
  }
  setup.person = (page) => google.consent(page, { as: 'grace@example.com' })
  const moved = await setup.run({ account: 'grace@example.com' }, { ...config })
  assert.equal(moved.config['account'], 'grace@example.com')
  assert.notEqual(setup.cursor()['historyId'], '0', 'another mailbox has another cursor')
})

test('a consent that ended, is partial, is of another client or is to be replaced is asked for again', async (t) => {
  const spoilt = (change: object) => (setup: Setup) => {
    setup.stored.set('credentials', { ...setup.credentials(), ...change })
  }
  const cases: readonly (readonly [spoil: (setup: Setup) => void, asked: number, wanted?: Facts])[] = [
    [({ google }) => google.revoke(), 2],
    [spoilt({ scopes: [] }), 2],
    [spoilt({ clientId: 'other' }), 2],
    [({ stored }) => stored.set('credentials', 'garbage'), 2],
    [() => {}, 2, { again: true }],
    // A replaced secret is tried with the stored consent.
    [spoilt({ clientSecret: 'the-one-before' }), 1, { client: true }],
  ]
  for (const [spoil, asked, wanted = {}] of cases) {
    const setup = await open(t)
    const { client } = setup
    await setup.run()
    spoil(setup)
    await setup.run('client' in wanted ? { client } : wanted)
    assert.equal(setup.asked, asked)
    assert.equal(setup.outcomes().includes('consent done'), asked === 2)
    assert.equal(setup.credentials()['clientSecret'], client.installed['client_secret'])
  }
})

test('a failure that another consent would not fix does not lead to a new consent', async (t) => {
  const always = (fault: Fault) => Array<Fault>(4).fill(fault)
  for (const [operation, faults, code] of [
    ['gmail.users.getProfile', always({ cut: 'before' }), 'network'],
    ['gmail.users.getProfile', always({ status: 503 }), 'unavailable'],
    ['gmail.users.getProfile', always({ status: 429 }), 'rate-limited'],
    ['gmail.users.getProfile', always({ status: 403, reason: 'accessNotConfigured' }), 'api-disabled'],
    ['oauth.token', always({ status: 401, reason: 'invalid_client' }), 'bad-client'],
  ] as const) {
    const setup = await open(t)
    await setup.run()
    setup.google.expireAccessTokens()
    setup.google.fail(operation, ...faults)
    await assert.rejects(setup.run({}), { code })
    assert.equal(setup.asked, 1)
  }
})

test('a consent that is denied, partial, or of another account is refused, and the earlier one stays', async (t) => {
  const setup = await open(t)
  const { google, client } = setup
  const only = ['https://www.googleapis.com/auth/pubsub']
  // Renewed tokens of another account must not be stored either.
  google.fail('gmail.users.getProfile', { status: 401, reason: 'authError' })
  const cases: readonly (readonly [Setup['person'], code: string, message: RegExp, wanted?: Facts])[] = [
    [(page) => google.consent(page, 'deny'), 'consent-denied', /test users/],
    [(page) => fetch(deniedFrom(page, '<script>')), 'consent-failed', /\(unknown\)/],
    [
      (page) => google.consent(page, { only }),
      'missing-scope',
      /tick "View your email messages and settings" on/,
    ],
    [
      (page) => google.consent(page, { as: 'grace@example.com' }),
      'other-account',
      /grace@example\.com consented, and ada@example\.com was asked for/,
      { account: google.account },
    ],
  ]
  for (const earlier of [undefined, { refreshToken: 'of the earlier consent' }]) {
    if (earlier !== undefined) setup.stored.set('credentials', earlier)
    for (const [person, code, message, wanted] of cases) {
      setup.person = person
      await assert.rejects(setup.run({ client, again: true, ...wanted }), { code, message })
      assert.deepEqual(setup.stored.get('credentials'), earlier, code)
    }
  }
  setup.person = (page) => google.consent(page, { as: 'adalovelace@gmail.com' })
  const { config } = await setup.run({ client, account: 'Ada.Lovelace@googlemail.com' })
  assert.equal(config['account'], 'adalovelace@gmail.com', 'dots in a Gmail address do not matter')
})

test('setup that waits for a consent ends after ten minutes or when it is cancelled, and its server is gone', async (t) => {
  for (const [end, error] of [
    [({ late }: Setup) => late(), { code: 'consent-timeout', message: /10 minutes/ }],
    [({ calledOff }: Setup) => calledOff.abort(new Error('called off')), /called off/],
  ] as const) {
    const setup = await open(t)
    const shown = Promise.withResolvers<string>()
    setup.person = shown.resolve
    const running = setup.run()
    const page = await shown.promise
    await new Promise(setImmediate)
    end(setup)
    await assert.rejects(running, error)
    await assert.rejects(fetch(deniedFrom(page)), 'the server is gone')
  }
})

test('a wrong paste is explained and asked for again, up to ten times', async (t) => {
  const setup = await open(t)
  const pasted = Array.from({ length: 6 }, () => Promise.withResolvers<string>())
  setup.pastes = pasted.map(({ promise }) => promise)
  setup.person = async (page) => {
    const good = await setup.google.consentByHand(page)
    const other = new URL(await setup.google.consentByHand(page))
    other.searchParams.set('state', 'x')
    for (const [index, text] of ['', 'what?', page, other.href, '4/0WrongCodeWrongCode', good].entries())
      pasted[index]?.resolve(text)
  }
  await setup.run()
  const asks = setup.questions.map((question) => question.split('If the browser'))
  const mistakes = asks.map(([mistake = '']) => mistake.trim())
  const [first, ...nothing] = mistakes.slice(0, 4)
  assert.deepEqual([first, ...new Set(nothing)], ['', 'That holds no code of Google.'])
  assert.deepEqual(mistakes.slice(4), [
    'That is the answer to another run of the setup.',
    'Google does not know that code: it may be incomplete or used.',
  ])
  for (const [, ask] of asks)
    assert.match(ask ?? '', /cannot be reached, paste its address.*http:\/\/127\.0\.0\.1:\d+\//)
  const stubborn = await open(t)
  stubborn.person = () => {}
  stubborn.pastes = Array(50).fill('no')
  await assert.rejects(stubborn.run(), { code: 'consent-failed' })
  assert.equal(stubborn.pastes.length, 40)

  const denied = Promise.withResolvers<string>()
  stubborn.pastes = [denied.promise]
  stubborn.person = (page) => denied.resolve(deniedFrom(page))
  await assert.rejects(stubborn.run({}), { code: 'consent-denied' })
})

test('a code that is both redirected and pasted is redeemed once', async (t) => {
  const setup = await open(t)
  const { google } = setup
  const both = Promise.withResolvers<void>()
  google.fail('oauth.token', { until: both.promise })
  const pasted = Promise.withResolvers<string>()
  setup.pastes = [pasted.promise]
  setup.person = async (page) => {
    const url = await google.consentByHand(page)
    pasted.resolve(url)
    await (await fetch(url)).text()
    both.resolve()
  }
  await setup.run()
  assert.equal(google.callsOf('oauth.token').length, 1)
})
