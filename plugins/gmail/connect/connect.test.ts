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

test('a first run does every step and says so, and its answer is all that a configuration needs', async () => {
  const setup = createSetup()
  const connection = await setup.run()
  assert.deepEqual(connection, { config: { account, ...names } })
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

test('a second run changes nothing, needs no client file and no person, and answers the same', async () => {
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

test('whatever fails, a second run continues there without another consent', async () => {
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

test('what passes by itself is asked for again, as long as Google says, and not forever', async () => {
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

test('a subscription that is there after all is looked at, not made', async () => {
  for (const [topic, outcome] of [
    [names.topic, 'unchanged'],
    ['projects/harbour-4711/topics/other', undefined],
  ]) {
    const setup = createSetup()
    const { subscriptions, faults } = setup.google
    // As after a cut: made, and no answer came.
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

test('no step, answer or error holds a secret', async () => {
  const setup = createSetup()
  const told = [await setup.run(), ...setup.steps]
  for (const secret of secrets) assert.ok(!JSON.stringify(told).includes(secret))
})

test('without a client, or with another thing in its place, it says what to create', async () => {
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

test('a client file may come as text', async () => {
  const { config } = await createSetup().run({ client: JSON.stringify(clientFile) })
  assert.equal(config['topic'], names.topic)
})

test('the topic is in the project of the client, or setup refuses before anybody is asked', async () => {
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

test('topic and subscription go by whole names, last parts, and what was configured', async () => {
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

test('an option that cannot be is refused by its name before anything is done', async () => {
  for (const [wanted, config, message] of [
    [{ mode: 'pushy' }, {}, /`mode` must be pull or push/],
    [{ maxBytes: 0 }, {}, /`maxBytes` must be a whole number/],
    [{ renewEveryMinutes: 8641 }, {}, /`renewEveryMinutes`/],
    [{ includeBody: 'yes' }, {}, /`includeBody` must be true or false/],
    [{ account: 'ada' }, {}, /`account` must be an address/],
    [{ baseUrls: { gmail: 'ftp://mail' } }, {}, /`baseUrls`/],
    [{ pushEndpoint: 'https://hooks.example.com/hooks/gmail/push' }, {}, /--mode push/],
    [{}, { maxBytes: 'many' }, /`hooks\.gmail\.maxBytes`/],
  ] as const) {
    const setup = createSetup()
    await assert.rejects(setup.run({ client: clientFile, ...wanted }, config), {
      code: 'bad-option',
      message,
    })
    assert.equal(setup.storage.size, 0)
  }
})

test('a label is found by name or id, and one that is not there is answered with the nearest', async () => {
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

test('only what differs from the defaults is written, and what others wrote stays', async () => {
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

test('where Google is goes to every call and into the configuration', async () => {
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

test('in mode push the subscription posts with tokens, and the endpoint asks for them', async () => {
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

test('a subscription turns from pull to push and back, and nothing else is changed', async () => {
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

test('push without an address or an account is refused with what to give, before anybody consents', async () => {
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

test('a subscription of another topic is left alone', async () => {
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

test('what Google forbids is told with the role or the policy that helps', async () => {
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

test('a role that does not hold yet is waited for, and told of', async () => {
  const setup = createSetup()
  setup.google.faults.set('watch', [refusal('forbidden'), refusal('forbidden'), refusal('forbidden')])
  await setup.run()
  assert.deepEqual(setup.slept, [2000, 4000, 8000])
  assert.equal(setup.steps.filter(({ step }) => step === 'wait').length, 3)
  assert.equal(setup.steps.at(-1)?.step, 'watch')
})

test('a role that never holds ends the wait, and one that was there before is not waited for', async () => {
  const setup = createSetup()
  const never = () => Array.from({ length: 5 }, () => refusal('forbidden'))
  setup.google.faults.set('watch', never())
  await assert.rejects(setup.run(), { code: 'forbidden', message: /run the setup again in a while/ })
  assert.deepEqual(setup.slept, [2000, 4000, 8000, 16_000])
  setup.google.faults.set('watch', never())
  await assert.rejects(setup.run({}), { code: 'forbidden' })
  assert.equal(setup.slept.length, 4)
})

test('a watch is begun again when it is old, for another label, or its topic was made anew', async () => {
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

test('a cursor of the same mailbox counts however its address is written, and a damaged one is listed from', async () => {
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

test('mails since the cursor are not forgotten by a new watch; another mailbox begins anew', async () => {
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

test('a consent that ended, is partial, of another client or asked for again is asked for anew', async () => {
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

test('what another consent would not mend is no reason to ask for one', async () => {
  for (const code of ['network', 'unavailable', 'rate-limited', 'api-disabled', 'bad-client']) {
    const setup = createSetup()
    await setup.run()
    setup.google.faults.set('profile', [refusal(code)])
    await assert.rejects(setup.run({}), { code })
    assert.equal(setup.google.asked.length, 1)
  }
})

test('a consent that is not whole names the box, and the one of before stays', async () => {
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

test('the account that consents is the one that was asked for, dots aside', async () => {
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

test('a denied consent says so, and nothing is kept but the client', async () => {
  const setup = createSetup()
  setup.show = (url) => fetch(redirectOf(url, { code: undefined, error: 'access_denied' }))
  await assert.rejects(setup.run(), { code: 'consent-denied', message: /test users/ })
  assert.deepEqual([...setup.storage.keys()], ['client'])
  setup.show = (url) => fetch(redirectOf(url, { code: undefined, error: '<script>' }))
  await assert.rejects(setup.run({}), { code: 'consent-failed', message: /\(unknown\)/ })
})

test('nobody waits longer than ten minutes', async () => {
  const setup = createSetup()
  setup.show = () => {}
  const running = setup.run()
  const shown = await setup.shown
  assert.equal(setup.sleeps[0]?.ms, 600_000)
  setup.sleeps[0]?.wake()
  await assert.rejects(running, { code: 'consent-timeout', message: /10 minutes/ })
  await assert.rejects(fetch(redirectOf(shown)), 'the server is gone')
})

test('who calls it off ends the wait and the server', async () => {
  const setup = createSetup()
  setup.show = () => {}
  const running = setup.run()
  const shown = await setup.shown
  setup.calledOff.abort(new Error('called off'))
  await assert.rejects(running, /called off/)
  await assert.rejects(fetch(redirectOf(shown)), 'the server is gone')
})

test('headless, the address is pasted, or the code alone, in whatever dress', async () => {
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

test('a wrong paste is told and asked again, as often as a person would err', async () => {
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
  const told = setup.questions.map((question) => question.split('If the browser')[0]?.trim())
  const nothing = 'That holds no code of Google.'
  assert.deepEqual(told, [
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

test('an answer that comes both ways is redeemed once', async () => {
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

test('a client secret that was replaced is tried, and nobody is asked for it', async () => {
  const setup = createSetup()
  await setup.run()
  const client = { installed: { ...clientFile.installed, client_secret: 'another-secret' } }
  await setup.run({ client })
  assert.equal(setup.google.asked.length, 1)
  assert.equal((setup.storage.get('credentials') as { clientSecret: string }).clientSecret, 'another-secret')
})
