import assert from 'node:assert/strict'
import { test } from 'node:test'
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib'
import { type Decision, type HookRequest, TransformError } from '@reveille/engine'
import { StoreError } from '../store/port.ts'
import { agent, bearer, createSnapshot, openSurface, token, wake } from './surface-fixture.ts'

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

function answering(decision: Decision) {
  return { resolve: () => decision }
}

test('an accepted request answers with what its actions became: 200, or 202 with an agent among them', async (t) => {
  const woken = { mode: 'next-heartbeat' }
  const asked = { sessionKey: 'hook:"quoted"' }
  const ids = { wake: 'eventId', agent: 'runId' } as const
  for (const [actions, status] of [
    [[wake], 200],
    [[agent], 202],
    [[wake, wake], 200],
    [[wake, agent], 202],
  ] as const) {
    const { post, entries } = await openSurface(t, answering({ outcome: 'accepted', actions }))
    const { headers, body, status: answered } = await post('github', {})
    const [entry] = entries
    const made = actions.map(({ kind }, index) => ({
      ...(actions.length > 1 && { kind }),
      ...(kind === 'wake' ? woken : asked),
      [ids[kind]]: entry?.actions[index]?.record.id,
    }))
    const requestId = entry?.request.id
    const expected =
      made.length === 1 ? { ok: true, requestId, ...made[0] } : { ok: true, requestId, actions: made }
    assert.deepEqual([answered, body], [status, expected])
    assert.match(String(requestId), uuid)
    assert.equal(headers['x-request-id'], requestId)
    assert.equal(headers['content-type'], 'application/json; charset=utf-8')
  }
})

const reason = 'mapping "m": review.ts: title is undefined (transforms/review.ts:3:7)'
const message = 'mapping "m": The transform failed; the cause is in the log.'
const details = [{ pointer: '/mode', message: 'must be now or next-heartbeat' }]
const failed = (code: string) =>
  ({
    outcome: 'failed',
    code,
    message,
    reason,
    details: [],
    mapping: 'm',
    cause: new TypeError('canary'),
  }) as const

/** A decision without effect, the answer to it, and what is on record of it. */
const effectless: readonly (readonly [Decision, status: number, answer: object, record: object])[] = [
  [
    { outcome: 'ignored', reason: 'none' },
    200,
    { ok: true, outcome: 'ignored', reason: 'none' },
    { reason: 'none' },
  ],
  [
    { outcome: 'skipped', reason: 'null', mapping: 'm' },
    200,
    { ok: true, outcome: 'skipped', reason: 'null' },
    { reason: 'null', mapping: 'm' },
  ],
  [
    { outcome: 'refused', code: 'INVALID_FIELD', message: 'A field is wrong.', details },
    400,
    { ok: false, error: 'A field is wrong.', code: 'INVALID_FIELD', details },
    { code: 'INVALID_FIELD' },
  ],
  ...(
    [
      ['TRANSFORM_FAILED', 500],
      ['TRANSFORM_TIMEOUT', 500],
      ['TRANSFORM_BUSY', 503],
      ['ENGINE_FAILED', 500],
    ] as const
  ).map(
    ([code, status]) =>
      [failed(code), status, { ok: false, error: message, code }, { code, reason, mapping: 'm' }] as const,
  ),
]

for (const [decision, status, answer, record] of effectless)
  test(`a decision that is ${decision.outcome} (${status}) is answered, recorded and logged, and its cause goes to the log alone`, async (t) => {
    const { post, noted, entries, ignored, lines } = await openSurface(t, answering(decision))
    const { body, headers, ...answered } = await post('github', { a: 1 })
    const requestId = headers['x-request-id']
    assert.deepEqual([answered.status, body], [status, { ...answer, requestId }])
    assert.equal(headers['retry-after'], status === 503 ? '5' : undefined)
    assert.doesNotMatch(answered.text, /canary|title/)
    const [note] = noted
    assert.partialDeepStrictEqual(note, { id: requestId, outcome: decision.outcome, status, ...record })
    assert.deepEqual([entries.length, noted.length], [0, 1])
    const isExplained = decision.outcome === 'ignored' || decision.outcome === 'failed'
    assert.deepEqual(ignored, isExplained ? [requestId] : [], 'why is asked for')
    const line = await lines.line(`request-${decision.outcome}`)
    if (decision.outcome !== 'failed') return
    assert.equal(Buffer.from(note?.body ?? []).toString(), '{"a":1}')
    const { level, reason: logged, err } = line
    assert.deepEqual([level, logged, (err as { type: string }).type], ['error', reason, 'TypeError'])
  })

test('a request that the gateway caused itself is ignored with the reason, before it is resolved', async (t) => {
  const loopIn = ({ payload }: HookRequest) =>
    (payload as { echo?: boolean }).echo ? 'it repeats us' : undefined
  const { post, noted, resolved, ignored } = await openSurface(t, { loopIn })
  const { status, body, headers } = await post('github', { echo: true })
  const requestId = headers['x-request-id']
  assert.deepEqual(
    { status, body },
    { status: 200, body: { ok: true, outcome: 'ignored', reason: 'it repeats us', requestId } },
  )
  assert.deepEqual([noted[0]?.outcome, noted[0]?.reason], ['ignored', 'it repeats us'])
  assert.deepEqual([resolved.length, ignored.length], [0, 0], 'no mapping is to blame')
  await post('github', { echo: false })
  assert.equal(resolved.length, 1)
})

test('the log has the stack of an error in a transform, and none for a limit that was reached', async (t) => {
  const { post, lines, state } = await openSurface(t)
  const { snapshot } = state.live
  const loggedError = async (cause: Error) => {
    const resolve = () => ({ ...failed('TRANSFORM_TIMEOUT'), cause }) as const
    state.live = { generation: 1, snapshot: { ...snapshot, resolve } }
    await post('github', {})
    return lines.all.at(-1)?.['err']
  }
  assert.ok(await loggedError(new TypeError('of the author')))
  assert.equal(await loggedError(new TransformError('TRANSFORM_TIMEOUT', 'took longer than 5 s')), undefined)
})

test('an engine that throws, or refuses with an unknown code, is answered with a bare 500', async (t) => {
  const fixture = await openSurface(t, {
    resolve: () => {
      throw new Error('canary')
    },
  })
  const thrown = await fixture.post('github', {})
  assert.equal(thrown.status, 500)
  assert.deepEqual(thrown.body, {
    ok: false,
    error: 'The gateway failed; find the cause in its log by the request id.',
    code: 'INTERNAL',
    requestId: thrown.headers['x-request-id'],
  })
  const unknown = { outcome: 'refused', code: 'toString', message: 'canary', details: [] } as const
  fixture.state.live = { generation: 2, snapshot: createSnapshot(answering(unknown)) }
  assert.equal((await fixture.post('github', {})).body['code'], 'INTERNAL')
})

test('while hooks are disabled every request is answered 404', async (t) => {
  const { app } = await openSurface(t, { hooks: { enabled: false } })
  for (const method of ['GET', 'POST'] as const) {
    for (const headers of [{}, bearer]) {
      const answer = await app.inject({ method, url: '/hooks/wake', headers })
      assert.equal(answer.statusCode, 404)
      assert.equal(answer.json().code, 'NOT_FOUND')
    }
  }
})

test('every method but POST is 405 with Allow, before the token is checked', async (t) => {
  const { app } = await openSurface(t)
  for (const method of ['GET', 'PUT', 'DELETE', 'OPTIONS', 'PATCH', 'PROPFIND'] as const) {
    const answer = await app.inject({ method: method as 'GET', url: '/hooks/nowhere' })
    assert.equal(answer.statusCode, 405, method)
    assert.equal(answer.headers['allow'], 'POST')
    assert.equal(answer.json().code, 'METHOD_NOT_ALLOWED')
  }
  assert.equal((await app.inject({ method: 'HEAD', url: '/hooks/wake' })).statusCode, 405)
})

test('a GET of the hooks path itself leaves no record and no line', async (t) => {
  const { app, noted, lines } = await openSurface(t)
  for (const url of ['/hooks', '/hooks/', '/hooks?x=1'])
    assert.equal((await app.inject({ method: 'GET', url })).statusCode, 405, url)
  assert.deepEqual([noted, lines.all], [[], []])
  await app.inject({ method: 'POST', url: '/hooks' })
  await app.inject({ method: 'GET', url: '/hooks/wake' })
  assert.deepEqual([noted.length, lines.all.length], [2, 2])
})

test('each form of the token is accepted, and a right token does not make up for a wrong one in an earlier form', async (t) => {
  const { post } = await openSurface(t)
  const blank = ['Basic x', 'Bearer', 'Bearer  '].map((authorization) => ({
    authorization,
    'x-gateway-token': token,
  }))
  const forms: Record<string, string>[] = [
    bearer,
    { authorization: `bEARER   ${token}  ` },
    { 'x-gateway-token': token },
    { 'x-openclaw-token': token },
    ...blank,
  ]
  for (const headers of forms) assert.equal((await post('wake', {}, headers)).status, 200)
  assert.equal((await post(`wake?token=${token}`, {}, {})).status, 200)
  const wrong = { authorization: 'Bearer wrong', 'x-gateway-token': token }
  assert.equal((await post('wake', {}, wrong)).status, 401)
  assert.equal((await post('wake', {}, { authorization: `Bearer a ${token}` })).status, 401)
  assert.equal((await post(`wake?token=${token}`, {}, { 'x-openclaw-token': 'wrong' })).status, 401)
})

test('a token in the query gets a Deprecation header and a warning once a minute for each endpoint', async (t) => {
  const { post, lines, state } = await openSurface(t)
  const warnings = () => lines.all.filter(({ event }) => event === 'query-token-used')
  const first = await post(`wake?token=${token}`, {}, {})
  assert.match(String(first.headers['deprecation']), /^@\d+$/)
  await post(`wake?token=${token}`, {}, {})
  assert.equal(warnings().length, 1)
  await post(`github?token=${token}`, {}, {})
  assert.equal(warnings().length, 2)
  state.now += 60_000
  await post(`wake?token=${token}`, {}, {})
  assert.deepEqual(
    warnings().map(({ level, endpoint }) => [level, endpoint]),
    [
      ['warn', 'wake'],
      ['warn', 'github'],
      ['warn', 'wake'],
    ],
  )
  assert.equal((await post('wake', {})).headers['deprecation'], undefined)
  await post('wake?token=wrong', {}, {})
  assert.equal(warnings().length, 3)
})

test('fields without effect are named in the reply, and logged once a minute for each endpoint', async (t) => {
  const warnings = [{ pointer: '/sesionKey', message: 'is not a field' }]
  const { post, lines, state } = await openSurface(t, {
    resolve: async ({ endpoint }) => ({
      outcome: 'accepted',
      actions: [endpoint === 'agent' ? agent : wake],
      warnings,
    }),
  })
  const warned = () => lines.all.filter(({ event }) => event === 'unknown-fields')
  for (const endpoint of ['agent', 'wake', 'agent']) {
    const { body } = await post(endpoint, {})
    assert.deepEqual(body['warnings'], warnings)
  }
  assert.deepEqual(
    warned().map(({ level, endpoint, fields, problems }) => [level, endpoint, fields, problems]),
    [
      ['warn', 'agent', 1, ['is not a field']],
      ['warn', 'wake', 1, ['is not a field']],
    ],
  )
  state.now += 60_000
  const seen = { original: '019c5b1e-0000-7000-8000-0000000000ba', outcome: 'duplicate' as const }
  state.acceptance = { actions: [{ ...seen, request: '019c5b1e-0000-7000-8000-0000000000aa' }] }
  const again = await post('agent', {})
  assert.deepEqual([again.body['outcome'], again.body['warnings']], ['duplicate', warnings])
  assert.equal(warned().length, 3)
})

test('hooks.allowQueryToken: false refuses tokens in the query', async (t) => {
  const { post, lines } = await openSurface(t, { hooks: { allowQueryToken: false } })
  assert.equal((await post(`wake?token=${token}`, {}, {})).status, 401)
  assert.equal(lines.all.filter(({ event }) => event === 'query-token-used').length, 0)
})

test('an unknown endpoint is 404 for those with a token and 401 for all others', async (t) => {
  const { post, app } = await openSurface(t)
  for (const name of ['nowhere', 'Wake', 'wake/x', '%zz', 'constructor', '__proto__']) {
    assert.equal((await post(name, {})).status, 404, name)
    assert.equal((await post(name, {}, {})).status, 401, name)
  }
  for (const url of ['/hooks', '/hooks/']) {
    const known = await app.inject({ method: 'POST', url, headers: bearer })
    assert.equal(known.statusCode, 404)
    assert.equal((await app.inject({ method: 'POST', url })).statusCode, 401)
  }
})

test('names are decoded once, and one trailing slash is ignored', async (t) => {
  const { post, resolved } = await openSurface(t)
  for (const name of ['wake/', '%77ake', 'a/b', 'a%2Fb', 'a%2fb/']) await post(name, {})
  assert.deepEqual(
    resolved.map(({ endpoint }) => endpoint),
    ['wake', 'wake', 'a/b', 'a/b', 'a/b'],
  )
})

test('other routes of the app keep working, and unknown addresses are 404', async (t) => {
  const { app } = await openSurface(t)
  assert.deepEqual((await app.inject('/healthz')).json(), { ok: true })
  const echoed = await app.inject({ method: 'POST', url: '/other', payload: { a: 1 } })
  assert.deepEqual(echoed.json(), { a: 1 })
  for (const url of ['/', '/nowhere', '/nowhere/%zz', '/hooksome']) {
    const answer = await app.inject({ method: 'POST', url, headers: bearer, payload: {} })
    assert.equal(answer.statusCode, 404, url)
    assert.equal(answer.json().code, 'NOT_FOUND')
    assert.equal(answer.json().requestId, answer.headers['x-request-id'])
  }
})

test('over the backlog, while draining and without a store a known endpoint is answered 503 with Retry-After', async (t) => {
  const { post, state, resolved, noted, draining } = await openSurface(t)
  const refusal = async () => {
    const { status, headers, body, text } = await post('wake', {})
    assert.doesNotMatch(text, /disk/)
    return [status, headers['retry-after'], body['code']]
  }
  for (const [code, retryAfter] of [
    ['STORE_FULL', '60'],
    ['STORE_UNAVAILABLE', '5'],
    ['BACKLOG', '30'],
    ['DRAINING', '5'],
  ] as const) {
    state.accept = () => Promise.reject(new StoreError(code, 'the disk said no'))
    assert.deepEqual(await refusal(), [503, retryAfter, code])
    assert.deepEqual([noted.at(-1)?.outcome, noted.at(-1)?.code], ['refused', code])
  }
  const reached = resolved.length
  state.full = true
  assert.deepEqual(await refusal(), [503, '30', 'BACKLOG'])
  draining.abort()
  assert.deepEqual(await refusal(), [503, '5', 'DRAINING'])
  assert.equal((await post('nowhere', {})).status, 404)
  assert.equal((await post('wake', {}, {})).status, 401)
  assert.equal(resolved.length, reached)
})

test('when too many events wait, a wake is refused before its body, and nothing else is', async (t) => {
  const { post, dial, state } = await openSurface(t)
  state.fullOfEvents = true
  const sender = await dial()
  sender.send(
    'POST /hooks/wake HTTP/1.1',
    'host: x',
    `authorization: Bearer ${token}`,
    'content-length: 9',
    '',
    '',
  )
  assert.match(await sender.received('BACKLOG'), /^HTTP\/1\.1 503 /)
  for (const endpoint of ['agent', 'github']) assert.equal((await post(endpoint, {})).status, 200)
})

test('the reason of a store failure is in the log', async (t) => {
  const { post, state, lines } = await openSurface(t)
  const cause = new Error('SQLITE_IOERR')
  state.accept = () => Promise.reject(new StoreError('STORE_UNAVAILABLE', 'cannot write', { cause }))
  await post('wake', {})
  const line = await lines.line('request-refused')
  const err = line['err'] as { message: string; cause: { message: string } }
  assert.deepEqual([line['level'], err.message, err.cause.message], ['error', 'cannot write', 'SQLITE_IOERR'])
})

test('any other error of the store is answered with a bare 500', async (t) => {
  const { post, state } = await openSurface(t)
  for (const error of [new StoreError('LOCKED', 'x'), new Error('x'), 'x']) {
    state.accept = () => Promise.reject(error)
    const { status, body } = await post('wake', {})
    assert.deepEqual([status, body['code']], [500, 'INTERNAL'])
  }
})

test('a reply waits for the commit', async (t) => {
  const { post, state } = await openSurface(t)
  const { promise: commit, resolve: letCommit } = Promise.withResolvers<void>()
  const { promise: asked, resolve: wasAsked } = Promise.withResolvers<void>()
  state.accept = () => {
    wasAsked()
    return commit
  }
  let answered = false
  const answer = post('wake', {}).then((result) => {
    answered = true
    return result
  })
  await asked
  await new Promise((resolve) => setImmediate(resolve))
  assert.equal(answered, false)
  letCommit()
  assert.equal((await answer).status, 200)
})

const form = { ...bearer, 'content-type': 'application/x-www-form-urlencoded' }
const multipart = { ...bearer, 'content-type': 'multipart/form-data; boundary=x' }
const encodedAs = (encoding: string) => ({ ...bearer, 'content-encoding': encoding })
const small = Buffer.from('{"a":1}')
const long = { text: 'x'.repeat(2000) }

/** A body and its endpoint, and the engine's payload or the code of the refusal. */
const bodies: readonly (readonly [
  endpoint: string,
  body: unknown,
  expected: { payload: unknown } | readonly [status: number, code: string],
  headers?: Record<string, string>,
])[] = [
  ['agent', long, [413, 'BODY_TOO_LARGE']],
  ['wake', long, { payload: long }],
  ['a/b', '{"a":1234}', { payload: { a: 1234 } }],
  ['a/b', '{"a":12345}', [413, 'BODY_TOO_LARGE']],
  ...['zstd', 'gzip, br', 'constructor'].map(
    (name) => ['github', 'canary', [415, 'UNSUPPORTED_ENCODING'], encodedAs(name)] as const,
  ),
  ...Object.entries({
    gzip: gzipSync,
    'X-GZip': gzipSync,
    ' deflate ': deflateSync,
    deflate: deflateRawSync,
    br: brotliCompressSync,
  }).flatMap(([name, encode]) =>
    (
      [
        [encode(small), { payload: { a: 1 } }],
        [encode(Buffer.alloc(100_000, ' ')), [413, 'BODY_TOO_LARGE']],
        [encode(Buffer.from('{"a":1}'.padEnd(1024))), { payload: { a: 1 } }],
        [encode(small).subarray(0, 6), [400, 'BAD_ENCODING']],
        ['canary', [400, 'BAD_ENCODING']],
        ['', { payload: {} }],
      ] as const
    ).map(([body, expected]) => ['github', body, expected, encodedAs(name)] as const),
  ),
  ['github', small, { payload: { a: 1 } }, encodedAs('identity')],
  ...['wake', 'agent', 'github'].map((name) => [name, 'canary {', [400, 'INVALID_JSON']] as const),
  ['github', Buffer.from([0xc3, 0x28]), [400, 'INVALID_TEXT']],
  ['github?name=Jos%E9', '{}', [400, 'INVALID_ADDRESS']],
  ['github/Jos%E9', '{}', [400, 'INVALID_ADDRESS']],
  ['github', '--canary--', [415, 'MULTIPART_BODY'], multipart],
  ['github', undefined, { payload: {} }],
  ['wake', undefined, [400, 'INVALID_JSON']],
  ['github', 'a=1&a=2', { payload: { a: ['1', '2'] } }, form],
  ['wake', 'text=x', [400, 'INVALID_JSON'], form],
  ['wake', '{"text":"x"}', { payload: { text: 'x' } }, form],
]

test('a body is decoded under the limit of its endpoint, or refused with a code and not quoted', async (t) => {
  const endpoints = { 'a/b': { maxBodyBytes: 10 }, wake: { maxBodyBytes: 4096 } }
  const { post, resolved } = await openSurface(t, { endpoints })
  for (const [endpoint, body, expected, headers = bearer] of bodies) {
    const { status, text, body: answer } = await post(endpoint, body, headers)
    const shown = `${endpoint} ${JSON.stringify([headers, body]).slice(0, 100)}`
    const [request, ...others] = resolved.splice(0)
    if ('payload' in expected) {
      assert.deepEqual([status, others], [200, []], shown)
      assert.deepEqual(structuredClone(request?.payload), expected.payload, shown)
      if (body instanceof Buffer) assert.equal(String(Buffer.from(request?.rawBody ?? [])).trim(), '{"a":1}')
    } else assert.deepEqual([status, answer['code'], request], [...expected, undefined], shown)
    assert.doesNotMatch(text, /canary/)
  }
})

test("the engine gets the request without the gateway's tokens", async (t) => {
  const { post, resolved, state } = await openSurface(t)
  await post(
    `github?token=${token}&a=1&a=2`,
    { b: 1 },
    { 'X-GitHub-Event': 'push', 'x-gateway-token': token },
  )
  const [request] = resolved
  assert.equal(request?.endpoint, 'github')
  assert.equal(request?.headers['x-github-event'], 'push')
  assert.deepEqual({ ...request?.query }, { a: ['1', '2'] })
  assert.equal(request?.now, state.now)
  assert.doesNotMatch(JSON.stringify([request?.headers, request?.query]), /right-token/)
})

test('an event is kept with its origin, and schedules a heartbeat only if its mode is now', async (t) => {
  const now = { ...wake, mode: 'now', trusted: true, mapping: 'm' } as const
  const { post, entries, state } = await openSurface(
    t,
    answering({ outcome: 'accepted', actions: [wake, now] }),
  )
  await post('github', {})
  const { request, actions } = entries[0] ?? assert.fail()
  const [later, atOnce] = actions
  assert.deepEqual(later?.tasks, [])
  assert.deepEqual(atOnce?.tasks, [
    { key: 'heartbeat:main', kind: 'heartbeat', lane: 'session:main', dueAt: state.now + 250 },
  ])
  assert.equal(atOnce?.type, 'event')
  assert.deepEqual(atOnce?.record, {
    id: atOnce?.record.id,
    session: 'main',
    state: 'pending',
    text: 'text',
    prompt: 'prompt',
    mode: 'now',
    trusted: true,
    origin: { requestId: request.id },
    endpoint: 'github',
    mapping: 'm',
    generation: 1,
    createdAt: state.now,
  })
})

test('a run is kept whole, and has a lane only if its session key was given', async (t) => {
  const own = { ...agent, sessionKey: 'hook:own', sessionKeyGiven: false, mapping: 'm', name: 'n', to: 'C1' }
  const { post, entries, state } = await openSurface(
    t,
    answering({ outcome: 'accepted', actions: [agent, own] }),
  )
  await post('github', {})
  const { request, actions } = entries[0] ?? assert.fail()
  const [given, minted] = actions
  assert.equal(given?.tasks[0]?.lane, 'session:hook:"quoted"')
  assert.deepEqual(minted?.tasks, [
    { key: `run:${minted?.record.id}`, kind: 'run', dueAt: state.now, subject: minted?.record.id },
  ])
  assert.equal(minted?.type, 'run')
  assert.deepEqual(minted?.record, {
    id: minted?.record.id,
    kind: 'run',
    requestId: request.id,
    endpoint: 'github',
    mapping: 'm',
    generation: 1,
    name: 'n',
    sessionKey: 'hook:own',
    state: 'queued',
    stage: 'accepted',
    runner: 'echo',
    timeoutSeconds: 600,
    wakeMode: 'now',
    deliver: true,
    channel: 'last',
    to: 'C1',
    message: 'message',
    prompt: 'prompt',
    attempts: [],
    createdAt: state.now,
    deliveryIds: [],
  })
})

test('the request record names its client, generation with its digest, timings and actions', async (t) => {
  const { post, entries, state } = await openSurface(t)
  await post('wake', { text: 'x' })
  const { request, actions } = entries[0] ?? assert.fail()
  const { timings, ...rest } = request
  assert.deepEqual(rest, {
    id: request.id,
    endpoint: 'wake',
    generation: 1,
    outcome: 'accepted',
    status: 200,
    mapping: undefined,
    client: '127.0.0.1',
    generationDigest: 'digest',
    bodyBytes: 12,
    receivedAt: state.now,
    actions: [{ kind: 'wake', id: actions[0]?.record.id }],
  })
  assert.ok((timings.read ?? -1) >= 0 && (timings.resolve ?? -1) >= (timings.read ?? 0))
})

for (const [bodies, kept] of [
  ['none', { accepted: false, ignored: false, failed: false, refused: false }],
  ['failed', { accepted: false, ignored: true, failed: true, refused: false }],
  ['all', { accepted: true, ignored: true, failed: true, refused: false }],
] as const) {
  test(`history.bodies: ${bodies} decides which bodies are kept`, async (t) => {
    const decisions: Record<string, Decision> = {
      accepted: { outcome: 'accepted', actions: [wake] },
      ignored: { outcome: 'ignored', reason: 'x' },
      failed: { outcome: 'failed', code: 'ENGINE_FAILED', message: 'x', details: [] },
      refused: { outcome: 'refused', code: 'INVALID_FIELD', message: 'x', details: [] },
    }
    const { post, entries, noted } = await openSurface(t, {
      bodies,
      resolve: ({ payload }) => decisions[String((payload as { as: string }).as)] ?? assert.fail(),
    })
    for (const as of Object.keys(decisions)) await post('github', { as })
    const found = [...entries.map(({ request }) => request), ...noted].map((record) => [
      record.outcome,
      record.body !== undefined && record.head !== undefined,
    ])
    assert.deepEqual(Object.fromEntries(found), kept)
  })
}

test('each request gets one line with its facts', async (t) => {
  const { post, lines, state } = await openSurface(t, {
    resolve: () => ({ outcome: 'accepted', actions: [agent], mapping: 'm' }),
  })
  state.live = { ...state.live, generation: 7 }
  const { body } = await post('github', {})
  await post('github', {}, {})
  const [accepted, refused] = lines.all
  const { ms, ...facts } = accepted ?? assert.fail()
  assert.ok(Number(ms) >= 0)
  assert.deepEqual(facts, {
    level: 'info',
    event: 'request-accepted',
    requestId: body.requestId,
    endpoint: 'github',
    outcome: 'accepted',
    status: 202,
    mapping: 'm',
    generation: 7,
    client: '127.0.0.1',
    actions: [{ kind: 'agent', id: body['runId'] }],
  })
  assert.deepEqual(
    [refused?.['event'], refused?.['status'], refused?.['code']],
    ['request-refused', 401, 'UNAUTHORIZED'],
  )
  assert.equal(lines.all.length, 2)
})

test('nothing of a request shows in a log line, a reply or a record, except in its replayable request', async (t) => {
  const canary = 'c4n4ry'
  const fixture = await openSurface(t, {
    resolve: ({ payload }) => {
      const way = (payload as { way?: string }).way
      if (way === 'throw') throw Object.assign(new Error(canary), { payload, cause: new SyntaxError(canary) })
      if (way === 'ignore') return { outcome: 'ignored', reason: 'nothing matched' }
      return { outcome: 'accepted', actions: [wake] }
    },
  })
  const { post, lines, noted, state } = fixture
  const shown: string[] = []
  const send = async (endpoint: string, body: unknown, headers: Record<string, string> = bearer) => {
    shown.push(JSON.stringify(await post(endpoint, body, headers)))
  }
  for (const way of ['accept', 'ignore', 'throw']) await send(`github?q=${canary}`, { way, canary })
  await send('wake', `{"${canary}`)
  await send('wake', canary, { authorization: `Bearer ${canary}` })
  await send('wake', canary, { authorization: `Basic ${canary}`, 'x-gateway-token': canary })
  await send(`wake?token=${canary}`, { canary }, {})
  await send('github', `payload=${canary}`, {
    ...bearer,
    'content-type': 'application/x-www-form-urlencoded',
  })
  await send('github', canary, { ...bearer, 'content-encoding': 'gzip' })
  await send('github', canary, { ...bearer, 'content-encoding': canary })
  await send('github', canary.repeat(1000))
  await send(`nowhere?q=${canary}`, { canary })
  state.accept = () => Promise.reject(new Error(canary))
  await send('wake', { text: canary })
  const withoutBodies = noted.map(({ body: _body, head: _head, ...note }) => note)
  assert.equal(shown.length, lines.all.length)
  assert.doesNotMatch(JSON.stringify([shown, lines.all, withoutBodies]), new RegExp(canary))
})
