import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Ask, type Asking, openAsking } from './client.ts'
import { checkAnswer } from './description/check.ts'
import { describeGoogle } from './description/operations.ts'

const users = 'gmail/gmail/v1/users/me'

interface Good extends Ask {
  readonly operation: string
  readonly path: string
}

/** One valid request for each implemented operation, in an order in which all of them succeed. */
function goodRequests({ topic, subscription, google }: Asking): readonly Good[] {
  const id = google.deliver()
  const historyId = '1204551'
  const { project } = google
  const other = `projects/${project}/topics/other`
  const listener = `projects/${project}/subscriptions/listener`
  const made = { operation: 'pubsub.projects.topics', path: `pubsub/v1/${other}` }
  const listening = { operation: 'pubsub.projects.subscriptions', path: `pubsub/v1/${listener}` }
  const oidcToken = { serviceAccountEmail: `push@${project}.iam.gserviceaccount.com`, audience: 'us' }
  const pushConfig = { pushEndpoint: 'https://hooks.example.com/hooks/gmail/push', oidcToken }
  const bindings = [{ role: 'roles/pubsub.publisher', members: ['user:ada@example.com'] }]
  const messages = [{ data: 'e30=', attributes: { a: 'b' } }]
  const ackId = Buffer.from(JSON.stringify([subscription, '1', 1])).toString('base64url')
  const own = { operation: 'pubsub.projects.subscriptions', path: `pubsub/v1/${subscription}` }
  return [
    { operation: 'gmail.users.getProfile', path: `${users}/profile`, query: { prettyPrint: 'false' } },
    { operation: 'gmail.users.labels.list', path: `${users}/labels` },
    { operation: 'gmail.users.labels.get', path: `${users}/labels/INBOX` },
    {
      operation: 'gmail.users.watch',
      path: `${users}/watch`,
      body: { topicName: topic, labelIds: ['INBOX', 'STARRED'], labelFilterBehavior: 'include' },
    },
    {
      operation: 'gmail.users.history.list',
      path: `${users}/history`,
      query: {
        startHistoryId: historyId,
        labelId: 'INBOX',
        historyTypes: ['messageAdded', 'labelAdded'],
        maxResults: '500',
      },
    },
    {
      operation: 'gmail.users.messages.list',
      path: `${users}/messages`,
      query: {
        labelIds: ['INBOX', 'UNREAD'],
        q: 'after:1700000000 -in:spam',
        includeSpamTrash: 'true',
        maxResults: '1',
      },
    },
    {
      operation: 'gmail.users.messages.get',
      path: `${users}/messages/${id}`,
      query: { format: 'metadata', metadataHeaders: ['Subject', 'To'], alt: 'json' },
    },
    {
      operation: 'gmail.users.messages.get',
      path: `${users}/messages/${id}`,
      query: { fields: 'id,payload/headers' },
    },
    { operation: 'gmail.users.messages.get', path: `${users}/messages/${id}` },
    { operation: 'gmail.users.messages.get', path: `${users}/messages/${id}`, query: { format: 'raw' } },
    { operation: 'gmail.users.stop', path: `${users}/stop`, method: 'POST' },
    { ...made, operation: `${made.operation}.create`, method: 'PUT', body: { labels: { used: 'here' } } },
    { ...made, operation: `${made.operation}.get` },
    {
      ...made,
      operation: `${made.operation}.list`,
      path: `pubsub/v1/projects/${project}/topics`,
      query: { pageSize: '5' },
    },
    {
      operation: `${made.operation}.getIamPolicy`,
      path: `${made.path}:getIamPolicy`,
      query: { 'options.requestedPolicyVersion': '1' },
    },
    {
      operation: `${made.operation}.setIamPolicy`,
      path: `${made.path}:setIamPolicy`,
      body: { policy: { bindings, version: 1 } },
    },
    {
      ...listening,
      operation: `${listening.operation}.create`,
      method: 'PUT',
      body: { topic: other, ackDeadlineSeconds: 60, pushConfig, enableMessageOrdering: false },
    },
    { ...listening, operation: `${listening.operation}.get` },
    { operation: `${made.operation}.publish`, path: `${made.path}:publish`, body: { messages } },
    {
      operation: `${listening.operation}.modifyPushConfig`,
      path: `${listening.path}:modifyPushConfig`,
      body: { pushConfig },
    },
    { ...listening, operation: `${listening.operation}.delete`, method: 'DELETE' },
    { ...made, operation: `${made.operation}.delete`, method: 'DELETE' },
    {
      operation: `${own.operation}.pull`,
      path: `${own.path}:pull`,
      body: { maxMessages: 2, returnImmediately: true },
    },
    { operation: `${own.operation}.acknowledge`, path: `${own.path}:acknowledge`, body: { ackIds: [ackId] } },
    {
      operation: `${own.operation}.modifyAckDeadline`,
      path: `${own.path}:modifyAckDeadline`,
      body: { ackIds: [ackId], ackDeadlineSeconds: 30 },
    },
  ]
}

test('a valid request of each kind is accepted and answered as the discovery document describes', async () => {
  await using asking = await openAsking()
  const { operations, schemas } = describeGoogle()
  for (const { operation: id, path, ...request } of goodRequests(asking)) {
    const { status, body } = await asking.ask(path, request)
    const operation = operations.find((each) => each.id === id)
    assert.ok(operation, id)
    assert.equal(asking.google.calls.at(-1)?.operation, id)
    assert.equal(status, operation.answer.kind === 'nothing' ? 204 : 200, `${id}: ${JSON.stringify(body)}`)
    if (status === 200) assert.deepEqual(checkAnswer(operation, body, schemas[operation.service]), [], id)
  }
  assert.deepEqual(asking.google.mistakes, [])
})

/** Each mutation makes a valid request invalid, or returns undefined if it does not apply. */
type Change = (request: Good, pick: number) => Good | undefined

const changes: Readonly<Record<string, Change>> = {
  'a parameter that nobody knows': ({ query = {}, ...request }) => ({
    ...request,
    query: { ...query, labelid: 'INBOX' },
  }),
  'a parameter of another name': ({ query = {}, ...request }, pick) => {
    const name = pickOf(Object.keys(query), pick)
    if (name === undefined) return undefined
    const { [name]: value, ...others } = query
    return { ...request, query: { ...others, [`${name}s`]: value ?? '' } }
  },
  'a parameter of another type': ({ query = {}, ...request }, pick) => {
    const typed = [
      'maxResults',
      'includeSpamTrash',
      'historyTypes',
      'format',
      'pageSize',
      'prettyPrint',
      'alt',
      'fields',
    ]
    const name = pickOf(
      Object.keys(query).filter((each) => typed.includes(each)),
      pick,
    )
    return name === undefined ? undefined : { ...request, query: { ...query, [name]: 'many' } }
  },
  'a parameter that may be there once, twice': ({ query = {}, ...request }, pick) => {
    const name = pickOf(
      Object.keys(query).filter((each) => typeof query[each] === 'string'),
      pick,
    )
    return name === undefined
      ? undefined
      : { ...request, query: { ...query, [name]: [query[name] as string, 'x'] } }
  },
  'a field that nobody knows': (request, pick) => {
    const place = pickOf(
      placesIn(request.body).filter(({ value }) => isObject(value)),
      pick,
    )
    if (place === undefined || place.path.includes('labels') || place.path.includes('attributes'))
      return undefined
    return { ...request, body: put(request.body, place.path, { ...(place.value as object), topicname: 'x' }) }
  },
  'a field of another type': (request, pick) => {
    const place = pickOf(placesIn(request.body), pick)
    if (place === undefined) return undefined
    const others = [[['x']], true, 'many', { x: 1 }, 7].filter(
      (other) => kindOf(other) !== kindOf(place.value),
    )
    return { ...request, body: put(request.body, place.path, pickOf(others, pick)) }
  },
  'a field that has to be there, gone': (request) => {
    const required = [
      'topicName',
      'policy',
      'topic',
      'messages',
      'pushConfig',
      'maxMessages',
      'ackIds',
      'ackDeadlineSeconds',
    ]
    const isOf = Object.keys((request.body ?? {}) as object).filter((name) => required.includes(name))
    const [name] = request.operation.endsWith('subscriptions.create') ? ['topic'] : isOf
    if (name === undefined) return undefined
    const { [name]: _, ...others } = request.body as Record<string, unknown>
    return { ...request, body: others }
  },
  'another method': (request, pick) => {
    const { operations } = describeGoogle()
    const [, prefix = '', path = ''] = /^(\w+)(\/.*)$/.exec(request.path) ?? []
    const taken = operations
      .filter((each) => each.service === prefix && each.pattern.test(path))
      .map((each) => each.method)
    const method = pickOf(
      ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].filter((each) => !taken.includes(each)),
      pick,
    )
    const { body, ...others } = request
    return { ...others, method }
  },
  'another path': (request, pick) => ({
    ...request,
    method: request.method ?? (request.body === undefined ? 'GET' : 'POST'),
    path:
      pickOf(
        [
          `${request.path}/x/y/z`,
          request.path.replace('/v1/', '/v2/'),
          `${request.path}:x`,
          request.path.toUpperCase(),
          request.path.replace(/^\w+/, (service) => (service === 'gmail' ? 'pubsub' : 'gmail')),
        ],
        pick,
      ) ?? '',
  }),
  'no token': (request) => ({ ...request, headers: { authorization: '' } }),
  'a token that nobody gave': (request, pick) => ({
    ...request,
    headers: { authorization: pickOf(['Bearer ya29.void', 'Basic YTpi', 'ya29.x', 'Bearer'], pick) ?? '' },
  }),
  'no JSON': (request, pick) =>
    request.body === undefined
      ? undefined
      : {
          ...request,
          text: pickOf(['{', '[]', '"x"', '{"a":1,}', 'null,'], pick),
          body: undefined,
          method: request.method ?? 'POST',
        },
  'a body of another type': (request) =>
    request.body === undefined ? undefined : { ...request, headers: { 'content-type': 'text/plain' } },
  'a body where none belongs': (request) =>
    request.body !== undefined || (request.method ?? 'GET') === 'GET'
      ? undefined
      : { ...request, body: { x: 1 } },
}

test("a valid request with one mistake is refused in Google's words and recorded", async () => {
  await using asking = await openAsking()
  const { google } = asking
  for (const [name, change] of Object.entries(changes)) {
    let count = 0
    for (const request of goodRequests(asking)) {
      // The parameter or field is another one in each run. A failure shows it.
      const changed = change(request, Math.floor(Math.random() * 50))
      if (changed === undefined) continue
      count += 1
      const mistakes = google.mistakes.length
      const { path, ...ask } = changed
      const { status, body } = await asking.ask(path, ask)
      assert.ok(status >= 400 && status < 500, `${status} ${JSON.stringify(changed)}`)
      assert.equal(body.error.code, status)
      assert.ok(typeof body.error.message === 'string' && typeof body.error.status === 'string')
      assert.equal(google.mistakes.length, mistakes + 1, `${name}: ${JSON.stringify(changed)}`)
    }
    assert.ok(count > 0, name)
  }
})

function pickOf<Item>(items: readonly Item[], pick: number): Item | undefined {
  return items[pick % Math.max(1, items.length)]
}

interface Place {
  readonly path: readonly (string | number)[]
  readonly value: unknown
}

function placesIn(value: unknown, path: readonly (string | number)[] = []): Place[] {
  if (typeof value !== 'object' || value === null) return path.length === 0 ? [] : [{ path, value }]
  const inner = Array.isArray(value)
    ? value.map((each, index) => [index, each] as const)
    : Object.entries(value)
  const own = path.length === 0 && Array.isArray(value) ? [] : [{ path, value }]
  return [...own, ...inner.flatMap(([key, each]) => placesIn(each, [...path, key]))]
}

function put(value: unknown, [key, ...rest]: readonly (string | number)[], to: unknown): unknown {
  if (key === undefined) return to
  if (Array.isArray(value)) return value.map((each, index) => (index === key ? put(each, rest, to) : each))
  const record = value as Record<string, unknown>
  return { ...record, [key]: put(record[key], rest, to) }
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function kindOf(value: unknown): string {
  return Array.isArray(value) ? 'list' : typeof value
}

test('each refusal has the body that Google sends', async () => {
  await using asking = await openAsking()
  const { ask, google, topic } = asking
  const unknownField = await ask(`${users}/watch`, { body: { topicName: topic, labelIDs: [] } })
  const sentence = 'Invalid JSON payload received. Unknown name "labelIDs": Cannot find field.'
  assert.deepEqual(unknownField.body, {
    error: {
      code: 400,
      message: sentence,
      errors: [{ message: sentence, domain: 'global', reason: 'invalid' }],
      status: 'INVALID_ARGUMENT',
      details: [
        {
          '@type': 'type.googleapis.com/google.rpc.BadRequest',
          fieldViolations: [{ description: sentence }],
        },
      ],
    },
  })
  const nested = await ask(`pubsub/v1/projects/${google.project}/subscriptions/sub`, {
    method: 'PUT',
    body: { topic, pushConfig: { oidctoken: {} }, ackDeadlineSeconds: 'ten' },
  })
  assert.equal(
    nested.body.error.message,
    `Invalid JSON payload received. Unknown name "oidctoken" at 'push_config': Cannot find field.\nInvalid value at 'ack_deadline_seconds' (TYPE_INT32), "ten"`,
  )
  assert.equal(nested.body.error.errors, undefined, 'Pub/Sub has no list of errors')
  const parameter = await ask(`${users}/history`, { query: { startHistoryId: '1', since: '1' } })
  assert.match(parameter.body.error.message, /Unknown name "since": Cannot bind query parameter\./)
  const missing = await ask(`${users}/history`)
  assert.deepEqual(
    [missing.status, missing.body.error.message],
    [400, 'Missing required field: startHistoryId'],
  )

  const nobody = await ask(`${users}/profile`, { headers: { authorization: '' } })
  assert.deepEqual([nobody.status, nobody.body.error.status], [401, 'UNAUTHENTICATED'])
  assert.deepEqual(
    [nobody.body.error.errors[0].reason, nobody.body.error.errors[0].message],
    ['required', 'Login Required.'],
  )
  const somebody = await ask('gmail/gmail/v1/users/grace@example.com/profile')
  assert.deepEqual(
    [somebody.status, somebody.body.error.message],
    [403, 'Delegation denied for ada@example.com'],
  )
  assert.equal(google.mistakes.length, 6)
})

test('a fault that a test injects is not recorded as a mistake of the client', async () => {
  await using asking = await openAsking()
  const { ask, google, topic } = asking
  google.expireAccessTokens()
  assert.equal((await ask(`${users}/profile`)).body.error.errors[0].reason, 'authError')
  google.revoke()
  assert.equal((await ask(`pubsub/v1/${topic}`)).body.error.status, 'UNAUTHENTICATED')
  assert.deepEqual(google.mistakes, [])
})

test('an access token expires after an hour', async () => {
  await using asking = await openAsking()
  const { ask, google } = asking
  google.advance(3_599_999)
  assert.equal((await ask(`${users}/profile`)).status, 200)
  google.advance(1)
  assert.equal((await ask(`${users}/profile`)).status, 401)
})

test('a call of an operation that is not implemented is recorded as a mistake', async () => {
  await using asking = await openAsking()
  assert.equal((await asking.ask(`${users}/threads`)).status, 501)
  assert.match(asking.google.mistakes[0] ?? '', /gmail\.users\.threads\.list: The fake Google does not know/)
})
