import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { type Decision, type HookRequest, TransformError } from '@reveille/engine'
import { StoreError } from '../store/port.ts'
import { agent, bearer, createSnapshot, openSurface, token, wake } from './surface-fixture.ts'

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

function answering(decision: Decision) {
  return { resolve: () => decision }
}

test('an accepted wake answers 200 with its mode and its ids', async (t) => {
  const { post, entries } = await openSurface(t)
  const { status, headers, body } = await post('wake', { text: 'x' })
  assert.equal(status, 200)
  const [entry] = entries
  assert.deepEqual(body, {
    ok: true,
    mode: 'next-heartbeat',
    requestId: entry?.request.id,
    eventId: entry?.actions[0]?.record.id,
  })
  assert.match(String(body.requestId), uuid)
  assert.equal(headers['x-request-id'], body.requestId)
  assert.equal(headers['content-type'], 'application/json; charset=utf-8')
})

test('an accepted agent answers 202 with its run and session key', async (t) => {
  const { post, entries } = await openSurface(t, answering({ outcome: 'accepted', actions: [agent] }))
  const { status, body } = await post('agent', { message: 'x' })
  assert.equal(status, 202)
  assert.deepEqual(body, {
    ok: true,
    runId: entries[0]?.actions[0]?.record.id,
    sessionKey: 'hook:"quoted"',
    requestId: entries[0]?.request.id,
  })
})

test('several actions answer a list, 202 when one of them is an agent', async (t) => {
  const { post, entries } = await openSurface(t, answering({ outcome: 'accepted', actions: [wake, agent] }))
  const { status, body } = await post('github', {})
  assert.equal(status, 202)
  const [event, run] = entries[0]?.actions ?? []
  assert.deepEqual(body, {
    ok: true,
    requestId: entries[0]?.request.id,
    actions: [
      { kind: 'wake', mode: 'next-heartbeat', eventId: event?.record.id },
      { kind: 'agent', runId: run?.record.id, sessionKey: 'hook:"quoted"' },
    ],
  })
})

test('several wakes answer 200', async (t) => {
  const { post } = await openSurface(t, answering({ outcome: 'accepted', actions: [wake, wake] }))
  assert.equal((await post('github', {})).status, 200)
})

test('a request that nothing matched is answered 200 ignored, and recorded', async (t) => {
  const { post, notes, entries, ignored } = await openSurface(
    t,
    answering({ outcome: 'ignored', reason: 'no "match"' }),
  )
  const { status, body, headers } = await post('github', {})
  assert.equal(status, 200)
  const requestId = headers['x-request-id']
  assert.deepEqual(body, { ok: true, outcome: 'ignored', reason: 'no "match"', requestId })
  assert.equal(entries.length, 0)
  assert.equal(notes.length, 1)
  assert.equal(notes[0]?.id, headers['x-request-id'])
  assert.deepEqual([notes[0]?.outcome, notes[0]?.reason], ['ignored', 'no "match"'])
  assert.deepEqual(ignored, [notes[0]?.id], 'why is asked for')
})

test('a request that the gateway caused itself is ignored with the reason, before it is resolved', async (t) => {
  const loopIn = ({ payload }: HookRequest) =>
    (payload as { echo?: boolean }).echo ? 'it repeats us' : undefined
  const { post, notes, asked, ignored } = await openSurface(t, { loopIn })
  const { status, body, headers } = await post('github', { echo: true })
  const requestId = headers['x-request-id']
  assert.deepEqual(
    { status, body },
    { status: 200, body: { ok: true, outcome: 'ignored', reason: 'it repeats us', requestId } },
  )
  assert.deepEqual([notes[0]?.outcome, notes[0]?.reason], ['ignored', 'it repeats us'])
  assert.deepEqual([asked.length, ignored.length], [0, 0], 'no mapping is to blame')
  await post('github', { echo: false })
  assert.equal(asked.length, 1)
})

test('a skipped request is answered 200 skipped, and recorded with its mapping', async (t) => {
  const decision = { outcome: 'skipped', reason: 'transform returned null', mapping: 'm' } as const
  const { post, notes } = await openSurface(t, answering(decision))
  const { status, body, headers } = await post('github', {})
  assert.equal(status, 200)
  const requestId = headers['x-request-id']
  assert.deepEqual(body, { ok: true, outcome: 'skipped', reason: 'transform returned null', requestId })
  assert.deepEqual([notes[0]?.outcome, notes[0]?.mapping], ['skipped', 'm'])
})

test('a request that the engine refuses answers its code, sentence and pointers', async (t) => {
  const details = [{ pointer: '/mode', message: 'must be now or next-heartbeat' }]
  const { post, notes } = await openSurface(
    t,
    answering({ outcome: 'refused', code: 'INVALID_FIELD', message: 'A field is wrong.', details }),
  )
  const { status, body } = await post('wake', { text: 'x' })
  assert.equal(status, 400)
  const { requestId, ...rest } = body
  assert.match(String(requestId), uuid)
  assert.deepEqual(rest, { ok: false, error: 'A field is wrong.', code: 'INVALID_FIELD', details })
  assert.deepEqual([notes[0]?.outcome, notes[0]?.code], ['refused', 'INVALID_FIELD'])
})

test('a failure of the engine is answered 500 and recorded with its body, and its cause goes to the log alone', async (t) => {
  const { post, notes, lines } = await openSurface(
    t,
    answering({
      outcome: 'failed',
      code: 'ENGINE_FAILED',
      message: 'The engine failed.',
      details: [],
      mapping: 'm',
      cause: new TypeError('canary'),
    }),
  )
  const { status, text } = await post('github', { a: 1 })
  assert.equal(status, 500)
  assert.doesNotMatch(text, /canary/)
  assert.deepEqual([notes[0]?.outcome, notes[0]?.status, notes[0]?.mapping], ['failed', 500, 'm'])
  assert.equal(Buffer.from(notes[0]?.body ?? []).toString(), '{"a":1}')
  const line = await lines.line('request-failed')
  assert.equal((line['err'] as { type: string }).type, 'TypeError')
})

test('the reason of a failed transform goes to the log and the record, and not to the sender', async (t) => {
  const reason = 'mapping "m": review.ts: title is undefined (transforms/review.ts:3:7)'
  const message = 'mapping "m": The transform failed; the cause is in the log.'
  const failure = { outcome: 'failed', message, reason, details: [], mapping: 'm' } as const
  const { post, notes, lines, state } = await openSurface(t)
  const { snapshot } = state.live
  for (const [code, status, retryAfter] of [
    ['TRANSFORM_FAILED', 500, undefined],
    ['TRANSFORM_TIMEOUT', 500, undefined],
    ['TRANSFORM_BUSY', 503, '5'],
    ['NOBODY_KNOWS', 500, undefined],
  ] as const) {
    state.live = { generation: 1, snapshot: { ...snapshot, resolve: () => ({ ...failure, code }) } }
    const answer = await post('github', { a: code })
    assert.deepEqual([answer.status, answer.headers['retry-after']], [status, retryAfter])
    assert.doesNotMatch(answer.text, /title|review/)
    const note = notes.at(-1)
    assert.deepEqual([note?.outcome, note?.status, note?.reason], ['failed', status, reason])
    assert.equal(Buffer.from(note?.body ?? []).toString(), JSON.stringify({ a: code }))
    const { level, event, reason: logged } = lines.all.at(-1) ?? assert.fail()
    assert.deepEqual([level, event, logged], ['error', 'request-failed', reason])
  }
})

test('the log has the stack of an error in a transform, and none for a limit that was reached', async (t) => {
  const { post, lines, state } = await openSurface(t)
  const { snapshot } = state.live
  const loggedError = async (cause: Error) => {
    const resolve = () =>
      ({
        outcome: 'failed',
        code: 'TRANSFORM_TIMEOUT',
        message: 'x',
        details: [],
        mapping: 'm',
        cause,
      }) as const
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

test('a decision may be a promise', async (t) => {
  const { post } = await openSurface(t, {
    resolve: async () => ({ outcome: 'ignored', reason: 'later' }),
  })
  assert.equal((await post('github', {})).body['reason'], 'later')
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
  const { app, notes, lines } = await openSurface(t)
  for (const url of ['/hooks', '/hooks/', '/hooks?x=1'])
    assert.equal((await app.inject({ method: 'GET', url })).statusCode, 405, url)
  assert.deepEqual([notes, lines.all], [[], []])
  await app.inject({ method: 'POST', url: '/hooks' })
  await app.inject({ method: 'GET', url: '/hooks/wake' })
  assert.deepEqual([notes.length, lines.all.length], [2, 2])
})

test('a missing and a wrong token get the same 401', async (t) => {
  const { post, notes } = await openSurface(t)
  const tries: Record<string, string>[] = [
    {},
    { authorization: 'Bearer wrong' },
    { authorization: 'Basic cmlnaHQtdG9rZW4=' },
    { 'x-gateway-token': 'wrong' },
  ]
  const answers = await Promise.all(tries.map((headers) => post('wake', { text: 'x' }, headers)))
  for (const { status, headers, body } of answers) {
    assert.equal(status, 401)
    assert.equal(headers['www-authenticate'], 'Bearer')
    const { requestId: _, ...rest } = body
    const error = 'The token or signature is missing or wrong.'
    assert.deepEqual(rest, { ok: false, error, code: 'UNAUTHORIZED' })
  }
  assert.equal(notes.length, tries.length)
})

test('each form of the token is accepted, and a right token does not make up for a wrong one in an earlier form', async (t) => {
  const { post } = await openSurface(t)
  for (const headers of [bearer, { 'x-gateway-token': token }, { 'x-openclaw-token': token }]) {
    assert.equal((await post('wake', {}, headers as Record<string, string>)).status, 200)
  }
  assert.equal((await post(`wake?token=${token}`, {}, {})).status, 200)
  assert.equal((await post('wake', {}, { authorization: 'Basic x', 'x-gateway-token': token })).status, 200)
  const wrong = { authorization: 'Bearer wrong', 'x-gateway-token': token }
  assert.equal((await post('wake', {}, wrong)).status, 401)
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
    resolve: ({ endpoint }) => ({
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
  const { post, asked } = await openSurface(t)
  for (const name of ['wake/', '%77ake', 'a/b', 'a%2Fb', 'a%2fb/']) await post(name, {})
  assert.deepEqual(
    asked.map(({ endpoint }) => endpoint),
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

test('a reload may move the hooks to another path', async (t) => {
  const { app, state } = await openSurface(t)
  state.live = { generation: 2, snapshot: createSnapshot({ hooks: { path: '/in/coming' } }) }
  const request = { method: 'POST', headers: bearer, payload: {} } as const
  assert.equal((await app.inject({ ...request, url: '/hooks/wake' })).statusCode, 404)
  assert.equal((await app.inject({ ...request, url: '/in/coming/wake' })).statusCode, 200)
})

test('over the backlog and while draining a known endpoint is answered 503 with Retry-After', async (t) => {
  const { post, state, asked, draining } = await openSurface(t)
  state.full = true
  const full = await post('wake', {})
  assert.deepEqual([full.status, full.headers['retry-after'], full.body['code']], [503, '30', 'BACKLOG'])
  draining.abort()
  const drained = await post('wake', {})
  assert.deepEqual(
    [drained.status, drained.headers['retry-after'], drained.body['code']],
    [503, '5', 'DRAINING'],
  )
  assert.equal((await post('nowhere', {})).status, 404)
  assert.equal((await post('wake', {}, {})).status, 401)
  assert.equal(asked.length, 0)
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

for (const code of ['STORE_FULL', 'STORE_UNAVAILABLE', 'BACKLOG', 'DRAINING'] as const) {
  test(`a store that answers ${code} gives 503 with Retry-After`, async (t) => {
    const { post, state, notes } = await openSurface(t)
    state.accept = () => Promise.reject(new StoreError(code, 'the disk said no'))
    const { status, headers, body, text } = await post('wake', {})
    assert.equal(status, 503)
    assert.match(String(headers['retry-after']), /^\d+$/)
    assert.equal(body['code'], code)
    assert.doesNotMatch(text, /disk/)
    assert.deepEqual([notes[0]?.outcome, notes[0]?.code], ['refused', code])
  })
}

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

test('a body over the limit is refused with 413, and a policy may set a limit of its own', async (t) => {
  const endpoints = { github: { maxBodyBytes: 10 }, wake: { maxBodyBytes: 4096 } }
  const { post } = await openSurface(t, { endpoints })
  const text = 'x'.repeat(2000)
  assert.equal((await post('agent', { text })).body['code'], 'BODY_TOO_LARGE')
  assert.equal((await post('agent', { text })).status, 413)
  assert.equal((await post('wake', { text })).status, 200)
  assert.equal((await post('github', '{"a":1234}')).status, 200)
  assert.equal((await post('github', '{"a":12345}')).status, 413)
})

test('a compressed body is decoded under the same limit', async (t) => {
  const { post, asked } = await openSurface(t)
  const encoded = { ...bearer, 'content-encoding': 'gzip' }
  assert.equal((await post('github', gzipSync('{"a":1}'), encoded)).status, 200)
  assert.deepEqual(asked[0]?.payload, { a: 1 })
  assert.equal(Buffer.from(asked[0]?.rawBody ?? []).toString(), '{"a":1}')
  const bomb = await post('github', gzipSync(Buffer.alloc(100_000, ' ')), encoded)
  assert.deepEqual([bomb.status, bomb.body['code']], [413, 'BODY_TOO_LARGE'])
  const broken = await post('github', 'no gzip', encoded)
  assert.deepEqual([broken.status, broken.body['code']], [400, 'BAD_ENCODING'])
  const unknown = await post('github', 'x', { ...bearer, 'content-encoding': 'zstd' })
  assert.deepEqual([unknown.status, unknown.body['code']], [415, 'UNSUPPORTED_ENCODING'])
})

test('a body that is not JSON is refused with 400 and is not quoted', async (t) => {
  const { post, asked } = await openSurface(t)
  for (const endpoint of ['wake', 'agent', 'github']) {
    const { status, text, body } = await post(endpoint, 'canary {')
    assert.deepEqual([status, body['code']], [400, 'INVALID_JSON'])
    assert.doesNotMatch(text, /canary/)
  }
  assert.equal((await post('github', Buffer.from([0xc3, 0x28]))).body['code'], 'INVALID_TEXT')
  assert.equal(asked.length, 0)
})

test('an address of another charset, and a multipart form, are refused with codes of their own', async (t) => {
  const { post, asked } = await openSurface(t)
  for (const address of ['github?name=Jos%E9', 'github/Jos%E9'])
    assert.deepEqual((await post(address, '{}')).body['code'], 'INVALID_ADDRESS')
  const { status, body } = await post('github', '--x--', {
    ...bearer,
    'content-type': 'multipart/form-data; boundary=x',
  })
  assert.deepEqual([status, body['code']], [415, 'MULTIPART_BODY'])
  assert.equal(asked.length, 0)
})

test('an empty body is an empty object on a mapped endpoint, and no JSON on the others', async (t) => {
  const { post, asked } = await openSurface(t)
  assert.equal((await post('github')).status, 200)
  assert.deepEqual(asked[0]?.payload, {})
  assert.equal((await post('wake')).body['code'], 'INVALID_JSON')
})

test('a form is decoded on mapped endpoints alone', async (t) => {
  const { post, asked } = await openSurface(t)
  const headers = { ...bearer, 'content-type': 'application/x-www-form-urlencoded' }
  await post('github', 'a=1&a=2', headers)
  assert.deepEqual({ ...(asked[0]?.payload as object) }, { a: ['1', '2'] })
  assert.equal((await post('wake', 'text=x', headers)).body['code'], 'INVALID_JSON')
  assert.equal((await post('wake', '{"text":"x"}', headers)).status, 200)
})

test("the engine gets the request without the gateway's tokens", async (t) => {
  const { post, asked, state } = await openSurface(t)
  await post(
    `github?token=${token}&a=1&a=2`,
    { b: 1 },
    { 'X-GitHub-Event': 'push', 'x-gateway-token': token },
  )
  const [request] = asked
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
    model: undefined,
    thinking: undefined,
    timeoutSeconds: 600,
    wakeMode: 'now',
    deliver: true,
    channel: 'last',
    to: 'C1',
    deliverTo: undefined,
    message: 'message',
    prompt: 'prompt',
    coalesce: undefined,
    pool: undefined,
    budget: undefined,
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
    const { post, entries, notes } = await openSurface(t, {
      bodies,
      resolve: ({ payload }) => decisions[String((payload as { as: string }).as)] ?? assert.fail(),
    })
    for (const as of Object.keys(decisions)) await post('github', { as })
    const found = [...entries.map(({ request }) => request), ...notes].map((record) => [
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
  const { post, lines, notes, state } = fixture
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
  const withoutBodies = notes.map(({ body: _body, head: _head, ...note }) => note)
  assert.equal(shown.length, lines.all.length)
  assert.doesNotMatch(JSON.stringify([shown, lines.all, withoutBodies]), new RegExp(canary))
})
