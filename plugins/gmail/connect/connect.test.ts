import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  account,
  clientFile,
  createSetup,
  dayMs,
  goodCode,
  names,
  outcomes,
  redirectOf,
  refusal,
  secrets,
} from './fixture.ts'

const allSteps = ['client', 'consent', 'label', 'topic', 'publisher', 'subscription', 'watch']

test('a first setup does and reports every step, and returns a complete configuration', async () => {
  const setup = createSetup()
  const connection = await setup.run()
  assert.deepEqual(connection, {
    config: { account, ...names },
    preset: 'gmail',
    subject: account,
    howToTry: `Send a mail to ${account}`,
    facts: { account, project: 'harbour-4711', ...names, label: 'INBOX', mode: 'pull', watchEnds: 7 * dayMs },
  })
  assert.deepEqual(
    outcomes(setup.steps),
    allSteps.map((step) => `${step} ${step === 'label' ? 'unchanged' : 'done'}`),
  )
  assert.deepEqual(setup.google.changes, ['createTopic', 'grant', 'createSubscription', 'watch'])
  assert.deepEqual(
    [...setup.google.members],
    [`${names.topic} roles/pubsub.publisher serviceAccount:gmail-api-push@system.gserviceaccount.com`],
  )
  assert.deepEqual(setup.google.subscriptions.get(names.subscription), {
    name: names.subscription,
    topic: names.topic,
    ackDeadline: 60,
  })
  assert.deepEqual(setup.storage.get('cursor'), {
    account,
    historyId: '1000',
    readAt: 0,
    recent: [],
    refused: [],
    watch: { topic: names.topic, labelId: 'INBOX', begunAt: 0, endsAt: 7 * dayMs },
  })
})

test('a second setup changes nothing, needs no client file and no person, and returns the same configuration', async () => {
  const setup = createSetup()
  const first = await setup.run()
  const before = structuredClone(setup.storage)
  setup.google.changes = []
  setup.show = () => assert.fail('nobody is asked')
  const second = await setup.run({}, { ...first.config })
  assert.deepEqual(second, first)
  assert.deepEqual(
    outcomes(setup.steps),
    allSteps.map((step) => `${step} unchanged`),
  )
  assert.deepEqual(setup.google.changes, [])
  assert.deepEqual(setup.storage, before)
})

test('after a failed step a second setup goes on there without another consent', async () => {
  for (const operation of [
    'labels',
    'topic',
    'createTopic',
    'grant',
    'subscription',
    'createSubscription',
    'watch',
  ]) {
    const setup = createSetup()
    setup.google.faults.set(operation, [refusal('bad-client')])
    await assert.rejects(setup.run(), { code: 'bad-client' }, operation)
    setup.show = () => assert.fail('nobody is asked again')
    const { config } = await setup.run({})
    assert.deepEqual(config, { account, ...names }, operation)
    assert.deepEqual(
      setup.google.changes,
      ['createTopic', 'grant', 'createSubscription', 'watch'],
      `${operation}: each is changed once`,
    )
  }
})

test('a temporary failure is retried, after the wait that Google asks for, but not forever', async () => {
  const setup = createSetup()
  setup.google.faults.set('createTopic', [refusal('unavailable', true), refusal('rate-limited', true, 7)])
  await setup.run()
  assert.deepEqual(setup.slept, [2000, 7000])
  assert.match(
    setup.steps.find(({ step }) => step === 'wait')?.detail ?? '',
    /unavailable.*again in 2 seconds/,
  )

  setup.slept = []
  setup.google.faults.set(
    'labels',
    Array.from({ length: 4 }, () => refusal('network', true)),
  )
  await assert.rejects(setup.run({}), { code: 'network', retryable: true })
  assert.deepEqual(setup.slept, [2000, 4000, 8000])

  setup.slept = []
  setup.google.faults.set('labels', [refusal('rate-limited', true, 3600)])
  await assert.rejects(setup.run({}), { code: 'rate-limited', retryAfter: 3600 })
  assert.deepEqual(setup.slept, [])
})

test('a subscription that another process made meanwhile is checked and not made again', async () => {
  for (const [topic, outcome] of [
    [names.topic, 'unchanged'],
    ['projects/harbour-4711/topics/other', undefined],
  ]) {
    const setup = createSetup()
    const { subscriptions, faults } = setup.google
    // The subscription was made and its answer was cut off.
    faults.set('createSubscription', [refusal('exists')])
    const running = setup.run()
    const found = subscriptions.get
    let looks = 0
    subscriptions.get = (name) => {
      looks += 1
      if (looks === 2) subscriptions.set(name, { name, topic: String(topic), ackDeadline: 60 })
      return found.call(subscriptions, name)
    }
    if (outcome === undefined) await assert.rejects(running, { code: 'other-topic' })
    else {
      await running
      assert.ok(outcomes(setup.steps).includes(`subscription ${outcome}`))
    }
  }
})

test('no step, result or error contains a secret', async () => {
  const setup = createSetup()
  const output = [await setup.run(), ...setup.steps]
  for (const secret of secrets) assert.ok(!JSON.stringify(output).includes(secret))
})

test('without a valid OAuth client file, setup says which client to create', async () => {
  await assert.rejects(createSetup().run({}), {
    code: 'client-missing',
    message: /"Desktop app".*console\.cloud\.google\.com.*--client-file/,
  })
  const { installed } = clientFile
  for (const [client, message] of [
    [{ web: installed }, /"Web application"/],
    [{ type: 'service_account', private_key: 'p'.repeat(9), client_id: '1' }, /service account/],
    [{ type: 'authorized_user', refresh_token: 'refresh' }, /gcloud/],
    [{ installed: { ...installed, client_id: 'a b' } }, /client_id/],
    [{ installed: [] }, /not what the Google Cloud console gives/],
    ['{"installed":', /no JSON object/],
    [null, /no JSON object/],
    [[], /no JSON object/],
    [{}, /not what/],
  ] as const) {
    const setup = createSetup()
    await assert.rejects(setup.run({ client }), (error: Error & { code: string }) => {
      assert.equal(error.code, 'bad-client-file')
      assert.match(error.message, message)
      assert.match(error.message, /"Desktop app"/)
      assert.doesNotMatch(error.message, /secret-of-client|ppppp|refresh/)
      return true
    })
    assert.equal(setup.storage.size, 0)
  }
})

test('the client file may be given as text', async () => {
  const { config } = await createSetup().run({ client: JSON.stringify(clientFile) })
  assert.equal(config['topic'], names.topic)
})

test("a topic outside the client's project is refused before the person is asked for consent", async () => {
  for (const [wanted, config] of [
    [{ project: 'other-1' }, {}],
    [{ topic: 'projects/other-1/topics/mail' }, {}],
    [{}, { topic: 'projects/other-1/topics/mail' }],
    [{ project: 'harbour-4711', topic: 'projects/other-1/topics/mail' }, {}],
  ]) {
    const setup = createSetup()
    setup.show = () => assert.fail('nobody is asked')
    await assert.rejects(setup.run({ client: clientFile, ...wanted }, config), {
      code: 'other-project',
      message: /other-1.*harbour-4711/,
    })
    assert.deepEqual(setup.google.asked, [])
  }
  const { project_id: _unsaid, ...installed } = clientFile.installed
  await assert.rejects(createSetup().run({ client: { installed } }), {
    code: 'project-missing',
    message: /--project/,
  })
  const { config } = await createSetup().run({ client: { installed }, project: 'example.com:own-1' })
  assert.equal(config['topic'], 'projects/example.com:own-1/topics/reveille-gmail')
})

test('topic and subscription may be given by whole name, by last part, or by the earlier configuration', async () => {
  const configured = { topic: 'projects/harbour-4711/topics/old', subscription: 'old-push' }
  for (const [wanted, config, topic, subscription] of [
    [{ topic: 'mail', subscription: 'mail-here' }, {}, 'harbour-4711 mail', 'harbour-4711 mail-here'],
    [{ subscription: 'projects/else-1/subscriptions/one' }, {}, 'harbour-4711 reveille-gmail', 'else-1 one'],
    [{}, configured, 'harbour-4711 old', 'harbour-4711 old-push'],
    [{ topic: 'new' }, configured, 'harbour-4711 new', 'harbour-4711 old-push'],
    [
      { project: 'harbour-4711' },
      { topic: 'projects/gone-1/topics/mail', subscription: 'projects/gone-1/subscriptions/mail' },
      'harbour-4711 mail',
      'harbour-4711 mail',
    ],
    [
      { project: 'harbour-4711' },
      { topic: 'projects/gone-1/topics/mail', subscription: 'projects/else-1/subscriptions/mail' },
      'harbour-4711 mail',
      'else-1 mail',
    ],
  ] as const) {
    const answer = await createSetup().run({ client: clientFile, ...wanted }, config)
    assert.deepEqual(
      [answer.config['topic'], answer.config['subscription']],
      [
        `projects/${topic.replace(' ', '/topics/')}`,
        `projects/${subscription.replace(' ', '/subscriptions/')}`,
      ],
    )
  }
  for (const topic of [
    'goog-mail',
    '1mail',
    'a',
    'a/b',
    'projects/p/subscriptions/mail',
    'projects/p/topics/',
  ])
    await assert.rejects(createSetup().run({ client: clientFile, topic }), { code: 'bad-name' }, topic)
})

test('an option for push without --mode push is refused before anything is changed', async () => {
  const setup = createSetup()
  const pushEndpoint = 'https://hooks.example.com/hooks/gmail/push'
  const refused = { code: 'bad-option', message: /--mode push/ }
  await assert.rejects(setup.run({ client: clientFile, pushEndpoint }), refused)
  assert.equal(setup.storage.size, 0)
})

test('a label is found by name or id, and for a missing label the nearest names are suggested', async () => {
  for (const [label, written, id] of [
    ['Orders', 'Orders', 'Label_1'],
    ['orders', 'Orders', 'Label_1'],
    ['Label_1', 'Label_1', 'Label_1'],
  ] as const) {
    const setup = createSetup()
    const { config } = await setup.run({ client: clientFile, label })
    assert.equal(config['label'], written)
    assert.equal((setup.storage.get('cursor') as { watch: { labelId: string } }).watch.labelId, id)
  }
  const setup = createSetup()
  setup.google.labels = [
    ...setup.google.labels,
    ...Array.from({ length: 20 }, (_, at) => ({ id: `L${at}`, name: `zzzzzz ${at}` })),
  ]
  await assert.rejects(setup.run({ client: clientFile, label: 'Ordres' }), (error: Error) => {
    assert.match(error.message, /no label "Ordres"\. Pass one with --label: Orders, /)
    assert.equal(error.message.match(/zzzzzz \d+|Orders,|INBOX/g)?.length, 10)
    assert.match(error.message, /12 more/)
    return true
  })
  assert.deepEqual(setup.google.changes, [])
})

test('only settings that differ from the defaults are written, and other keys stay', async () => {
  const { config } = await createSetup().run(
    { client: clientFile, includeBody: false, maxBytes: 20_000, mode: 'pull', renewEveryMinutes: 60 },
    { model: 'openai/gpt-5.2', exclude: ['SPAM'], maxBytes: 500, label: 'INBOX' },
  )
  assert.deepEqual(config, {
    model: 'openai/gpt-5.2',
    exclude: ['SPAM'],
    maxBytes: 20_000,
    label: 'INBOX',
    account,
    ...names,
    includeBody: false,
    renewEveryMinutes: 60,
  })
})

test('the base URLs are used for every call and written into the configuration', async () => {
  const setup = createSetup()
  const baseUrls = { accounts: 'http://127.0.0.1:9/accounts' }
  const { config } = await setup.run(
    { client: clientFile, baseUrls },
    { baseUrls: { gmail: 'http://127.0.0.1:9' } },
  )
  assert.deepEqual(config['baseUrls'], { gmail: 'http://127.0.0.1:9', ...baseUrls })
  assert.deepEqual(setup.google.asked[0]?.baseUrls, {
    accounts: 'http://127.0.0.1:9/accounts',
    oauth: 'https://oauth2.googleapis.com',
    gmail: 'http://127.0.0.1:9',
    pubsub: 'https://pubsub.googleapis.com',
  })
})

const pushEndpoint = 'https://hooks.example.com/hooks/gmail/push'
const pushServiceAccount = 'push@harbour-4711.iam.gserviceaccount.com'
const push = { endpoint: pushEndpoint, serviceAccount: pushServiceAccount, audience: pushEndpoint }

test('in mode push the subscription posts with signed tokens, and the endpoint verifies them', async () => {
  const setup = createSetup()
  const connection = await setup.run({ client: clientFile, mode: 'push', pushEndpoint, pushServiceAccount })
  assert.deepEqual(connection.config['mode'], 'push')
  assert.deepEqual(connection.endpoints, {
    'gmail/push': {
      verify: { provider: 'google-pubsub', audience: pushEndpoint, serviceAccount: pushServiceAccount },
    },
  })
  assert.deepEqual(setup.google.subscriptions.get(names.subscription)?.push, push)

  setup.google.changes = []
  assert.deepEqual(
    await setup.run({}, { ...connection.config }),
    connection,
    'what is there need not be said again',
  )
  assert.deepEqual(setup.google.changes, [])
})

test('a subscription changes from pull to push and back, and nothing else changes', async () => {
  const setup = createSetup()
  const pull = await setup.run()
  setup.google.changes = []
  const pushed = await setup.run({ mode: 'push', pushEndpoint, pushServiceAccount }, { ...pull.config })
  assert.deepEqual(setup.google.changes, ['changePush'])
  const pulled = await setup.run({ mode: 'pull' }, { ...pushed.config })
  assert.deepEqual(setup.google.changes, ['changePush', 'changePush'])
  assert.equal(setup.google.subscriptions.get(names.subscription)?.push, undefined)
  assert.equal(pulled.config['mode'], 'pull', 'it is written where it was')
  assert.deepEqual(pulled.endpoints, { 'gmail/push': {} }, 'nobody posts there any more')
  assert.equal((await setup.run({}, { ...pulled.config })).endpoints, undefined, 'it is said once')
})

test('push without an address or a service account is refused before the person is asked for consent', async () => {
  const first = createSetup()
  await assert.rejects(first.run({ client: clientFile, mode: 'push', pushServiceAccount }), {
    code: 'push-endpoint-missing',
    message: /--push-endpoint https:/,
  })
  await assert.rejects(first.run({ client: clientFile, mode: 'push', pushEndpoint }), {
    code: 'push-account-missing',
    message: /serviceaccounts.*Service Account Token Creator/,
  })
  assert.equal(first.storage.size, 0)
  for (const bad of [
    'http://hooks.example.com/hooks/gmail/push',
    'https://user:word@hooks.example.com/hooks/gmail/push',
    'https://hooks.example.com',
    'https://hooks.example.com/hooks/gmail/push#x',
    'hooks.example.com/hooks/gmail/push',
  ]) {
    const setup = createSetup()
    const running = setup.run({ client: clientFile, mode: 'push', pushEndpoint: bad, pushServiceAccount })
    await assert.rejects(running, { code: 'bad-option', message: /--push-endpoint/ }, bad)
    assert.equal(setup.storage.size, 0)
  }
  const here = 'http://127.0.0.1:8787/hooks/gmail/push'
  await createSetup().run({ client: clientFile, mode: 'push', pushEndpoint: here, pushServiceAccount })
})

test('a subscription of another topic is not changed', async () => {
  for (const [topic, message] of [
    ['projects/harbour-4711/topics/other', /another topic, .*other.*--subscription/],
    ['_deleted-topic_', /was deleted/],
  ] as const) {
    const setup = createSetup()
    const foreign = { name: names.subscription, topic, ackDeadline: 10 }
    setup.google.subscriptions.set(names.subscription, foreign)
    await assert.rejects(setup.run(), { code: 'other-topic', message })
    assert.deepEqual(setup.google.subscriptions.get(names.subscription), foreign)
  }
})

test('when Google forbids a step, the error names the role or policy that allows it', async () => {
  for (const [operation, code, message] of [
    ['createTopic', 'forbidden', /Pub\/Sub Admin in the project harbour-4711/],
    ['createTopic', 'not-found', /Is there a project harbour-4711/],
    ['grant', 'forbidden', /Pub\/Sub Admin/],
    ['grant', 'policy-forbids', /iam\.allowedPolicyMemberDomains.*restricting-domains/],
    ['createSubscription', 'forbidden', /Pub\/Sub Admin/],
  ] as const) {
    const setup = createSetup()
    setup.google.faults.set(operation, [refusal(code)])
    await assert.rejects(setup.run(), { code, retryable: false, message })
  }
})

test('setup waits for a role that is not in force yet, and reports the wait', async () => {
  const setup = createSetup()
  setup.google.faults.set('watch', [refusal('forbidden'), refusal('forbidden'), refusal('forbidden')])
  await setup.run()
  assert.deepEqual(setup.slept, [2000, 4000, 8000])
  assert.equal(setup.steps.filter(({ step }) => step === 'wait').length, 3)
  assert.equal(setup.steps.at(-1)?.step, 'watch')
})

test('setup gives up on a role that never comes into force, and does not wait for a role that was there before', async () => {
  const setup = createSetup()
  const never = () => Array.from({ length: 5 }, () => refusal('forbidden'))
  setup.google.faults.set('watch', never())
  await assert.rejects(setup.run(), { code: 'forbidden', message: /run the setup again in a while/ })
  assert.deepEqual(setup.slept, [2000, 4000, 8000, 16_000])
  setup.google.faults.set('watch', never())
  await assert.rejects(setup.run({}), { code: 'forbidden' })
  assert.equal(setup.slept.length, 4)
})

test('a watch is begun again when it is old, for another label, or when its topic was made again', async () => {
  const setup = createSetup()
  const { config } = await setup.run()
  const begun = async (wanted = {}) => {
    setup.google.changes = []
    await setup.run(wanted, { ...config })
    return setup.google.changes.includes('watch')
  }
  assert.equal(await begun(), false)
  setup.google.now = dayMs
  assert.equal(await begun(), true, 'it has six days left, no more')
  assert.equal(await begun(), false)
  assert.equal(await begun({ label: 'Orders' }), true)
  assert.equal(await begun({ label: 'Orders' }), false)
  setup.google.topics.clear()
  assert.equal(await begun({ label: 'Orders' }), true)
})

test('the cursor of the same mailbox is used however the address is written, and a damaged cursor leads to a listing', async () => {
  const setup = createSetup()
  const { config } = await setup.run()
  const cursor = { historyId: '700', readAt: 5, recent: ['m0'], refused: [] }
  setup.storage.set('cursor', { ...cursor, account: account.toUpperCase() })
  await setup.run({}, { ...config, account: account.toUpperCase() })
  const { watch: _watch, ...rest } = setup.storage.get('cursor') as Record<string, unknown>
  assert.deepEqual(rest, { ...cursor, account })

  for (const damaged of ['no cursor', {}]) {
    setup.storage.set('cursor', damaged)
    await setup.run({}, { ...config })
    const { historyId, watch } = setup.storage.get('cursor') as Record<string, unknown>
    assert.equal(historyId, '0', 'what came since is not forgotten')
    assert.ok(watch)
  }
})

test('a new watch keeps the cursor of the same mailbox, and another mailbox gets a new cursor', async () => {
  const setup = createSetup()
  const { config } = await setup.run()
  const refused = [{ id: 'm1', code: 'X', tries: 1, since: 1, nextTryAt: 2 }]
  setup.storage.set('cursor', { account, historyId: '1200', readAt: 5, recent: ['m0'], refused })
  setup.google.historyId = '2000'
  setup.google.now = 3 * dayMs
  await setup.run({}, { ...config })
  assert.deepEqual(setup.storage.get('cursor'), {
    account,
    historyId: '1200',
    readAt: 5,
    recent: ['m0'],
    refused,
    watch: { topic: names.topic, labelId: 'INBOX', begunAt: 3 * dayMs, endsAt: 10 * dayMs },
  })

  setup.google.emailAddress = 'grace@example.com'
  const moved = await setup.run({ account: 'grace@example.com' }, { ...config })
  assert.equal(moved.config['account'], 'grace@example.com')
  const { historyId, recent } = setup.storage.get('cursor') as { historyId: string; recent: unknown }
  assert.deepEqual([historyId, recent], ['2000', []])
})

test('a consent that ended, is partial, is of another client or is to be replaced is asked for again', async () => {
  for (const spoil of [
    ({ google }: ReturnType<typeof createSetup>) => {
      google.isRevoked = true
    },
    ({ storage }: ReturnType<typeof createSetup>) => {
      storage.set('credentials', { ...(storage.get('credentials') as object), scopes: [] })
    },
    ({ storage }: ReturnType<typeof createSetup>) => {
      storage.set('credentials', { ...(storage.get('credentials') as object), clientId: 'other' })
    },
    ({ storage }: ReturnType<typeof createSetup>) => {
      storage.set('credentials', 'garbage')
    },
  ]) {
    const setup = createSetup()
    await setup.run()
    spoil(setup)
    await setup.run({})
    assert.equal(setup.google.asked.length, 2)
    assert.ok(outcomes(setup.steps).includes('consent done'))
  }
  const setup = createSetup()
  await setup.run()
  await setup.run({ again: true })
  assert.equal(setup.google.asked.length, 2)
})

test('a failure that another consent would not fix does not lead to a new consent', async () => {
  for (const code of ['network', 'unavailable', 'rate-limited', 'api-disabled', 'bad-client']) {
    const setup = createSetup()
    await setup.run()
    setup.google.faults.set('profile', [refusal(code)])
    await assert.rejects(setup.run({}), { code })
    assert.equal(setup.google.asked.length, 1)
  }
})

test('a partial consent is refused with the names of the missing boxes, and the earlier consent stays', async () => {
  const setup = createSetup()
  await setup.run()
  const before = setup.storage.get('credentials')
  setup.google.granted = ['https://www.googleapis.com/auth/pubsub', 'openid']
  await assert.rejects(setup.run({ again: true }), {
    code: 'missing-scope',
    message: /tick "View your email messages and settings" on/,
  })
  assert.deepEqual(setup.storage.get('credentials'), before)
})

test('a consent from another account is refused, but dots in a Gmail address do not matter', async () => {
  const setup = createSetup()
  await assert.rejects(setup.run({ client: clientFile, account: 'grace@example.com' }), {
    code: 'other-account',
    message: /ada@example\.com consented, and grace@example\.com was asked for/,
  })
  assert.equal(setup.google.asked[0]?.loginHint, 'grace@example.com')
  assert.equal(setup.storage.has('credentials'), false)

  const dotted = createSetup()
  dotted.google.emailAddress = 'adalovelace@gmail.com'
  const { config } = await dotted.run({ client: clientFile, account: 'Ada.Lovelace@googlemail.com' })
  assert.equal(config['account'], 'adalovelace@gmail.com')
})

test('when the person denies consent, setup says so and stores nothing but the client', async () => {
  const setup = createSetup()
  setup.show = (url) => fetch(redirectOf(url, { code: undefined, error: 'access_denied' }))
  await assert.rejects(setup.run(), { code: 'consent-denied', message: /test users/ })
  assert.deepEqual([...setup.storage.keys()], ['client'])
  setup.show = (url) => fetch(redirectOf(url, { code: undefined, error: '<script>' }))
  await assert.rejects(setup.run({}), { code: 'consent-failed', message: /\(unknown\)/ })
})

test('setup gives up ten minutes after it asked for consent', async () => {
  const setup = createSetup()
  setup.show = () => {}
  const running = setup.run()
  const shown = await setup.shown
  assert.equal(setup.sleeps[0]?.ms, 600_000)
  setup.sleeps[0]?.wake()
  await assert.rejects(running, { code: 'consent-timeout', message: /10 minutes/ })
  await assert.rejects(fetch(redirectOf(shown)), 'the server is gone')
})

test('cancelling setup ends the wait for consent and closes the server', async () => {
  const setup = createSetup()
  setup.show = () => {}
  const running = setup.run()
  const shown = await setup.shown
  setup.calledOff.abort(new Error('called off'))
  await assert.rejects(running, /called off/)
  await assert.rejects(fetch(redirectOf(shown)), 'the server is gone')
})

test('without a browser the person pastes the address or the code, with or without quotes around it', async () => {
  for (const dress of [
    (url: string) => redirectOf(url),
    (url: string) => `  "${redirectOf(url)}"  `,
    (url: string) => `<${redirectOf(url).slice(0, 60)}\n${redirectOf(url).slice(60)}>`,
    () => goodCode,
    () => `'${encodeURIComponent(goodCode)}' `,
    () => `code=${goodCode}&scope=x`,
    (url: string) => redirectOf(url).replace(/^[^?]*/, ''),
  ]) {
    const setup = createSetup()
    const pasted = Promise.withResolvers<string>()
    setup.show = (url) => pasted.resolve(dress(url))
    setup.pastes = [pasted.promise as unknown as string]
    await setup.run()
    assert.deepEqual(setup.google.exchanged, [goodCode])
    assert.match(
      setup.questions[0] ?? '',
      /cannot be reached, paste its address.*http:\/\/127\.0\.0\.1:\d+\//,
    )
  }
})

test('a wrong paste is explained and asked for again, up to ten times', async () => {
  const setup = createSetup()
  setup.show = (url) => {
    setup.pastes = [
      '',
      'what?',
      url,
      redirectOf(url, { state: 'other' }),
      '4/0WrongCodeWrongCode',
      redirectOf(url),
    ]
  }
  await setup.run()
  const reasons = setup.questions.map((question) => question.split('If the browser')[0]?.trim())
  const nothing = 'That holds no code of Google.'
  assert.deepEqual(reasons, [
    '',
    nothing,
    nothing,
    nothing,
    'That is the answer to another run of the setup.',
    'Google does not know that code: it may be incomplete or used.',
  ])

  const stubborn = createSetup()
  stubborn.show = () => {}
  stubborn.pastes = Array.from({ length: 50 }, () => 'no')
  await assert.rejects(stubborn.run(), { code: 'consent-failed' })
  assert.equal(stubborn.pastes.length, 40)
})

test('a denial can be pasted too', async () => {
  const setup = createSetup()
  setup.show = (url) => {
    setup.pastes = [redirectOf(url, { code: undefined, error: 'access_denied' })]
  }
  await assert.rejects(setup.run(), { code: 'consent-denied' })
})

test('a code that is both redirected and pasted is redeemed once', async () => {
  const setup = createSetup()
  const both = Promise.withResolvers<void>()
  setup.google.untilExchanged = both.promise
  setup.show = async (url) => {
    setup.pastes = [redirectOf(url)]
    await (await fetch(redirectOf(url))).text()
    both.resolve()
  }
  await setup.run()
  assert.deepEqual(setup.google.exchanged, [goodCode])
})

test('a replaced client secret is tried with the stored consent, without asking the person', async () => {
  const setup = createSetup()
  await setup.run()
  const client = { installed: { ...clientFile.installed, client_secret: 'another-secret' } }
  await setup.run({ client })
  assert.equal(setup.google.asked.length, 1)
  assert.equal((setup.storage.get('credentials') as { clientSecret: string }).clientSecret, 'another-secret')
})
