/** Tests setup by the plugin's door, against the fake Google, which checks each call. */

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { inspect } from 'node:util'
import { type Connection, type ConnectStep, createPluginFetch, type Facts } from '@reveille/kit'
import { createFakeGoogle, type Fault } from '../../../test/google/index.ts'
import plugin from '../index.ts'

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
    outcomes: () => setup.steps.map(({ step, outcome }) => `${step} ${outcome}`),
    credentials: () => stored.get('credentials') as Record<string, string>,
    cursor: () => stored.get('cursor') as Record<string, unknown> | undefined,
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
async function refused(setup: Setup, wanted: Facts, error: object): Promise<void> {
  await assert.rejects(setup.run(wanted), error, JSON.stringify(wanted))
  assert.deepEqual([setup.asked, setup.stored.has('credentials')], [0, false])
}

test('a first setup does and reports every step, and returns a complete configuration', async (t) => {
  const setup = await open(t)
  const { google } = setup
  const { account } = google
  assert.deepEqual(await setup.run(), {
    config: { baseUrls: google.baseUrls, account },
    preset: 'gmail',
    subject: account,
    howToTry: `Send a mail to ${account}`,
    facts: { account, label: 'INBOX' },
  })
  assert.deepEqual(setup.outcomes(), ['client done', 'consent done', 'label unchanged'])
  const { historyId, ...cursor } = setup.cursor() ?? {}
  assert.match(String(historyId), /^\d+$/, 'mails count from now on')
  assert.deepEqual(cursor, { account, readAt: google.now(), recent: [], refused: [] })
  const { clientSecret, refreshToken, accessToken } = setup.credentials()
  const shown = inspect([setup.steps, await setup.run({})], { depth: 10 })
  for (const secret of [clientSecret, refreshToken, accessToken])
    assert.ok(secret && !shown.includes(secret), 'no step or result has a secret')
  assert.deepEqual(google.mistakes, [])
})

test('after a failure of a Google call, a second setup goes on with the first consent', async (t) => {
  for (const [operation, wasAsked] of [
    ['gmail.users.labels.list', 1],
    ['gmail.users.getProfile', 2],
  ] as const) {
    const setup = await open(t)
    setup.google.fail(operation, { status: 400, reason: 'invalidArgument' })
    await assert.rejects(setup.run(), (error: Error & { code: string }) => {
      const { client_secret: secret } = setup.client.installed
      return error.code === 'bad-request' && !inspect(error, { showHidden: true }).includes(String(secret))
    })
    await setup.run({})
    assert.equal(setup.asked, wasAsked, `${operation}: a consent of an unknown account is not stored`)
    assert.deepEqual(setup.google.mistakes, [])
  }
})

test('a temporary failure is retried, after the wait that Google asks for, but not forever', async (t) => {
  const cases: readonly (readonly [readonly Fault[], slept: number[], code?: string])[] = [
    [
      [{ status: 503 }, { status: 429, retryAfter: 7 }],
      [2000, 7000],
    ],
    [
      [{ cut: 'after' }, { status: 503 }],
      [2000, 4000],
    ],
    [Array(4).fill({ cut: 'before' }), [2000, 4000, 8000], 'network'],
    [[{ status: 429, retryAfter: 3600 }], [], 'rate-limited'],
  ]
  for (const [faults, slept, code] of cases) {
    const setup = await open(t)
    setup.google.fail('gmail.users.labels.list', ...faults)
    if (code === undefined) await setup.run()
    else await assert.rejects(setup.run(), { code })
    assert.deepEqual(setup.slept, slept)
    assert.equal(setup.steps.filter(({ step }) => step === 'wait').length, slept.length)
  }
})

test('without a valid OAuth client file, setup says which client to create', async (t) => {
  const setup = await open(t)
  const { installed } = setup.client
  const missing = /"Desktop app".*console\.cloud\.google\.com.*--client-file/
  await refused(setup, {}, { code: 'client-missing', message: missing })
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
    await refused(setup, { client }, (error: Error & { code: string }) => {
      assert.match(error.message, message)
      assert.doesNotMatch(error.message, /GOCSPX|private/)
      return error.code === 'bad-client-file'
    })
  }
})

test('a label is found by name or id, and for a missing label the nearest names are suggested', async (t) => {
  const setup = await open(t)
  const id = setup.google.addLabel('Orders')
  for (const label of ['Orders', 'orders', id]) {
    const { config } = await setup.run({ client: JSON.stringify(setup.client), label })
    assert.equal(config['label'], label === id ? id : 'Orders')
  }
  await assert.rejects(setup.run({ label: 'Ordres' }), (error: Error) => {
    const [, names = '', more] =
      /no label "Ordres"\. Pass one with --label: (.*), or one of (\d+) more/.exec(error.message) ?? []
    assert.deepEqual([names.split(', ')[0], names.split(', ').length, more], ['Orders', 10, '5'])
    return true
  })
})

test('only settings that differ from the defaults are written, and other keys stay', async (t) => {
  const setup = await open(t)
  const { config } = await setup.run(
    { client: setup.client, includeBody: false, maxBytes: 20_000 },
    { model: 'openai/gpt-5.2', exclude: ['SPAM'], maxBytes: 500, label: 'INBOX', pollSeconds: 60 },
  )
  assert.deepEqual(config, {
    model: 'openai/gpt-5.2',
    exclude: ['SPAM'],
    maxBytes: 20_000,
    label: 'INBOX',
    pollSeconds: 60,
    baseUrls: setup.google.baseUrls,
    account: setup.google.account,
    includeBody: false,
  })
})

test('a further setup keeps the cursor of its mailbox, and another mailbox gets its own', async (t) => {
  const setup = await open(t)
  const { google, stored } = setup
  const { config } = await setup.run()
  const kept = { ...setup.cursor(), account: google.account.toUpperCase(), historyId: '1200', recent: ['m0'] }
  for (const value of [kept, 'no cursor', {}]) {
    stored.set('cursor', value)
    await setup.run({}, { ...config })
    assert.deepEqual(setup.cursor(), value, 'the source lists the mailbox of a damaged cursor')
  }
  stored.set('cursor', kept)
  setup.person = (page) => google.consent(page, { as: 'grace@example.com' })
  const moved = await setup.run({ account: 'grace@example.com' }, { ...config })
  assert.equal(moved.config['account'], 'grace@example.com')
  assert.equal(setup.cursor()?.['account'], 'grace@example.com')
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
  // Renewed tokens of another account must not be stored either.
  google.fail('gmail.users.getProfile', { status: 401, reason: 'authError' })
  const cases: readonly (readonly [Setup['person'], code: string, message: RegExp, wanted?: Facts])[] = [
    [(page) => google.consent(page, 'deny'), 'consent-denied', /test users/],
    [(page) => fetch(deniedFrom(page, '<script>')), 'consent-failed', /\(unknown\)/],
    [
      (page) => google.consent(page, { only: [] }),
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
