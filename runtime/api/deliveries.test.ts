/** Tests sending, replays and the target `last` through the admin API, on a whole gateway. */

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import {
  type Answer,
  type Files,
  gatewayToken,
  hookToken,
  type Installation,
  install,
  rehearsalPlugin,
  until,
} from '../../test/installation.ts'
import type { DeliveryRecord, Page, RunRecord } from '../store/port.ts'
import type { GatewayStatus } from './index.ts'

function configured(channels: string, agents = '{}'): string {
  return `gateway: { port: 0, auth: { token: ${gatewayToken} }, log: { level: debug, format: json } }
hooks: { enabled: true, token: ${hookToken} }
plugins: ["${rehearsalPlugin}"]
channels: { ${channels} }
agents: ${agents}
`
}

const board = 'board: { folder: "{folder}" }'
const openBoard = 'board: { folder: "{folder}", defaultTo: everyone }'
const both = `terminal: {}, ${board}`
const quiet = { wakeMode: 'next-heartbeat' }

async function open(
  t: TestContext,
  channels = both,
  agents = '{ route: { channel: board, to: team } }',
  files: Files = {},
) {
  const installed = await install(t, { 'reveille.yaml': configured(channels, agents), ...files })
  const put = (method: 'POST' | 'PUT', path: string, body: unknown) =>
    installed.ask(path, { method, payload: typeof body === 'string' ? body : JSON.stringify(body) })
  return {
    ...installed,
    send: (body: unknown) => put('POST', '/api/deliveries', body),
    setRoute: (body: unknown) => put('PUT', '/api/route', body),
    replayAll: (body: unknown) => put('POST', '/api/deliveries/replay', body),
    replay: (id: unknown) => installed.ask(`/api/deliveries/${id}/replay`, { method: 'POST' }),
  }
}

function ended({ read }: Pick<Installation, 'read'>, id: unknown): Promise<DeliveryRecord> {
  return until(async () => {
    const delivery = await read<DeliveryRecord>(`/api/deliveries/${id}`)
    return delivery.state === 'pending' ? undefined : delivery
  }, `the end of delivery ${id}`)
}

/** The status, the code and what is said of which field. */
function refusalOf({ status, body }: Answer) {
  const details = (body['details'] ?? []) as readonly { pointer: string; message: string }[]
  assert.equal(body['ok'], false)
  assert.equal(typeof body['requestId'], 'string')
  return { status, code: body['code'], said: details.map(({ pointer, message }) => `${pointer} ${message}`) }
}

test('a text is sent to the given recipient of a channel, or to its default', async (t) => {
  const opened = await open(t, `terminal: {}, ${openBoard}`)
  const cases = [
    [{ channel: 'board', to: 'ada' }, 'ada'],
    [{ channel: 'board' }, 'team'],
    [{ channel: 'last', to: null }, 'team'],
    [{ channel: 'last', to: 'bob' }, 'bob'],
  ] as const
  for (const [wish, to] of cases) {
    const { status, body } = await opened.send({ ...wish, text: `for **${to}**` })
    const { deliveryId, ...rest } = body
    assert.deepEqual([status, rest], [202, { ok: true, channel: 'board', to }])
    const delivery = await ended(opened, deliveryId)
    assert.deepEqual([delivery.state, delivery.to, delivery.runId], ['delivered', to, undefined])
    assert.equal(delivery.generation, 1)
  }
  await opened.setRoute({ channel: 'terminal', to: 'stderr' })
  const { body } = await opened.send({ channel: 'board', text: 'for **everyone**' })
  assert.equal(
    (await ended(opened, body['deliveryId'])).to,
    'everyone',
    'the last route is of another channel',
  )
  assert.deepEqual(
    await opened.board(),
    [...cases.map(([, to]) => to), 'everyone'].map((to) => ({ to, text: `for **${to}**` })),
  )
  const line = await opened.line('delivery-send-asked')
  assert.partialDeepStrictEqual(line, { channel: 'board', to: 'ada', bytes: 11, by: 'owner' })
  assert.doesNotMatch(opened.log(), /for \*\*/, 'no text reaches the log')
})

test('a text that cannot be sent is refused with the field and the rule, and nothing is kept', async (t) => {
  const { send, read, ask } = await open(t, both, '{}')
  const text = 'hello'
  const names = 'must be a channel that is configured (configured: board, terminal)'
  const cases: [body: unknown, status: number, code: string, said: string[]][] = [
    ['{', 400, 'INVALID_JSON', []],
    ['', 400, 'INVALID_BODY', []],
    ['[]', 400, 'INVALID_BODY', []],
    ['null', 400, 'INVALID_BODY', []],
    [{}, 400, 'INVALID_FIELD', ['/channel is required', '/text is required']],
    [
      { channel: 5, to: [], text: true },
      400,
      'INVALID_FIELD',
      ['channel', 'to', 'text'].map((name) => `/${name} must be a string`),
    ],
    [
      { channel: 'board', to: ' ', text: '\n ' },
      400,
      'INVALID_FIELD',
      ['/to must not be blank; leave it out instead', '/text must not be blank'],
    ],
    [{ channel: 'board', text, 'to/~': 'x' }, 400, 'INVALID_FIELD', ['/to~1~0 is not known here']],
    [
      '{"channel":"board","to":"ada","text":"\\ud800"}',
      400,
      'INVALID_FIELD',
      ['/text must be well-formed Unicode text'],
    ],
    [
      { channel: 'board', to: 'x'.repeat(1025), text },
      400,
      'INVALID_FIELD',
      ['/to must have at most 1,024 bytes of UTF-8'],
    ],
    [
      { channel: 'board', to: 'ada', text: `${'é'.repeat(32_768)}!` },
      400,
      'INVALID_FIELD',
      ['/text must have at most 65,536 bytes of UTF-8'],
    ],
    [{ channel: 'board', to: 'ada', text: 'x'.repeat(500_000) }, 413, 'BODY_TOO_LARGE', []],
    [{ channel: 'bord', text }, 400, 'UNKNOWN_CHANNEL', [`/channel ${names}`]],
    [{ channel: '__proto__', text }, 400, 'UNKNOWN_CHANNEL', [`/channel ${names}`]],
    [{ channel: 'slack', to: 'C1', text }, 400, 'CHANNEL_NOT_CONFIGURED', [`/channel ${names}`]],
    [{ channel: 'last', text }, 400, 'CHANNEL_NOT_CONFIGURED', [`/channel ${names}`]],
  ]
  for (const [body, status, code, said] of cases) {
    assert.deepEqual(refusalOf(await send(body)), { status, code, said }, JSON.stringify(body).slice(0, 80))
  }
  const lost = await send({ channel: 'board', text })
  assert.match(String(lost.body['error']), /^Channel board has no recipient: give "to", .*\.$/)
  assert.equal(refusalOf(lost).said[0]?.split(' ')[0], '/to')
  const bad = await send({ channel: 'terminal', to: '#general', text })
  assert.deepEqual([bad.status, bad.body['code']], [400, 'INVALID_FIELD'])
  assert.match(String(bad.body['error']), /stdout/, "the channel's own sentence")
  const latin = await ask('/api/deliveries', {
    method: 'POST',
    headers: { authorization: `Bearer ${gatewayToken}`, 'content-type': 'text/plain; charset=latin1' },
    payload: JSON.stringify({ channel: 'terminal', to: 'nowhere', text }),
  })
  assert.deepEqual(
    [latin.status, latin.body['code']],
    [400, 'INVALID_FIELD'],
    'JSON is JSON whatever it is called',
  )
  assert.deepEqual((await read<Page<DeliveryRecord>>('/api/deliveries')).items, [])
})

test('over the backlog nothing is sent, and the reply says when to come again', async (t) => {
  const agents =
    '{ defaults: { runner: patient }, runners: { patient: { kind: patient, folder: "{folder}" } } }'
  const files = {
    'reveille.yaml': configured(board, agents).replace('gateway: {', 'gateway: { limits: { backlog: 1 },'),
  }
  const { post, ask, read } = await install(t, files)
  await post('/hooks/agent', { message: 'hello', deliver: false, ...quiet })
  const payload = JSON.stringify({ channel: 'board', to: 'ada', text: 'hello' })
  const { status, body, headers } = await ask('/api/deliveries', { method: 'POST', payload })
  assert.deepEqual([status, body['code'], headers['retry-after']], [503, 'BACKLOG', '30'])
  assert.deepEqual((await read<Page<DeliveryRecord>>('/api/deliveries')).items, [])
})

test('on one gateway', async (t) => {
  const opened = await open(t)

  await t.test(
    'a request without the token sends nothing, and a wrong method is answered with the allowed ones',
    async () => {
      const { ask } = opened
      const payload = JSON.stringify({ channel: 'board', text: 'hello' })
      for (const [method, path] of [
        ['POST', '/api/deliveries'],
        ['PUT', '/api/route'],
      ] as const) {
        assert.equal((await ask(path, { method, headers: {}, payload })).status, 401)
        assert.equal((await ask(path)).status, 200)
        const other = await ask(path, { method: 'PATCH', payload })
        assert.deepEqual([other.status, other.body['code']], [405, 'METHOD_NOT_ALLOWED'])
        assert.equal(other.headers['allow'], `GET, HEAD, ${method}`)
      }
    },
  )

  let parked: unknown
  await t.test('a delivery that failed at its recipient goes to the same one again', async () => {
    const { body } = await opened.send({ channel: 'board', to: 'gone', text: 'hello' })
    assert.equal((await ended(opened, body['deliveryId'])).state, 'parked')
    assert.equal((await opened.replay(body['deliveryId'])).body['to'], 'gone')
    const again = await ended(opened, body['deliveryId'])
    assert.deepEqual([again.state, again.code, again.attempts], ['parked', 'gone', 1])
    const { body: all } = await opened.replayAll({ channel: 'board' })
    assert.deepEqual(all, { ok: true, done: 1, refused: [] })
    assert.equal((await ended(opened, body['deliveryId'])).attempts, 1)
    assert.deepEqual((await opened.replayAll({ channel: 'terminal' })).body['done'], 0)
    parked = again.id
  })

  await t.test(
    'a route that is set wins at once; one that leads nowhere is refused and changes nothing',
    async () => {
      const { setRoute, read, send, line } = opened
      const set = await setRoute({ channel: 'board', to: 'bob' })
      assert.deepEqual([set.status, set.body], [200, { route: { channel: 'board', to: 'bob' } }])
      for (const [body, code] of [
        [{ channel: 'last' }, 'INVALID_FIELD'],
        [{ channel: 'slack', to: 'C1' }, 'CHANNEL_NOT_CONFIGURED'],
        [{ channel: 'nowhere' }, 'UNKNOWN_CHANNEL'],
        [{ channel: 'terminal', to: '#general' }, 'INVALID_FIELD'],
        [{ channel: 'board' }, 'INVALID_FIELD'],
        [{ channel: 'board', to: 'ada', text: 'hello' }, 'INVALID_FIELD'],
        [{ to: 'ada' }, 'INVALID_FIELD'],
        ['nonsense', 'INVALID_JSON'],
      ] as const) {
        const answer = await setRoute(body)
        assert.deepEqual([answer.status, answer.body['code']], [400, code], JSON.stringify(body))
      }
      assert.deepEqual(await read('/api/route'), { route: { channel: 'board', to: 'bob' }, by: 'owner' })
      const { body } = await send({ channel: 'last', text: 'hello' })
      assert.equal((await ended(opened, body['deliveryId'])).to, 'bob')
      assert.partialDeepStrictEqual(await line('route-set'), { channel: 'board', to: 'bob', by: 'owner' })
    },
  )

  await t.test('the status has the state of each channel and its open deliveries', async () => {
    const statusOf = async () => (await opened.read<GatewayStatus>('/api/status')).channels
    assert.partialDeepStrictEqual(await statusOf(), [
      { channel: 'terminal', state: 'open', pending: 0, parked: 0 },
      { channel: 'board', state: 'open', pending: 0, parked: 1 },
    ])
    await opened.write('reveille.yaml', configured('terminal: {}'))
    await opened.gateway.reload()
    const [, gone, ...others] = await statusOf()
    assert.deepEqual(gone, { channel: 'board', state: 'unconfigured', pending: 0, parked: 1 })
    assert.deepEqual(others, [])
    const list = await opened.read<Page<DeliveryRecord>>('/api/deliveries?channel=board&state=parked')
    assert.deepEqual(
      list.items.map(({ id }) => id),
      [parked],
    )
    assert.deepEqual((await opened.read<Page<DeliveryRecord>>('/api/deliveries?channel=slack')).items, [])
  })
})

test('each delivery is replayed to its own target, which is resolved again if its address was wrong', async (t) => {
  const mapping = `mappings:
  - id: several
    match: { path: several }
    message: "hello"
    deliverTo: [{ channel: board, to: ada }, { channel: board }, { channel: last }]
    wakeMode: next-heartbeat
`
  const opened = await open(t, both, '{}', { 'mappings/several.yaml': mapping })
  const { body } = await opened.post('/hooks/several', {})
  const run = await until(async () => {
    const found = await opened.read<RunRecord & { deliveries: DeliveryRecord[] }>(
      `/api/runs/${body['runId']}`,
    )
    const states = found.deliveries.map(({ state }) => state)
    return states.join() === 'delivered,parked,parked' ? found : undefined
  }, 'two of three parked')
  const [, unknown, misled] = run.deliveries
  assert.deepEqual([unknown?.code, misled?.code, misled?.channel], ['NO_ROUTE', 'NO_ROUTE', 'whatsapp'])
  for (const each of [unknown, misled]) assert.equal((await opened.replay(each?.id)).status, 409)
  const { body: all } = await opened.replayAll({ channel: 'whatsapp' })
  assert.deepEqual(all, {
    ok: true,
    done: 0,
    refused: [{ id: misled?.id, reason: (await opened.replay(misled?.id)).body['error'] }],
  })
  await opened.setRoute({ channel: 'board', to: 'bob' })
  for (const each of [unknown, misled]) {
    const { body: answer } = await opened.replay(each?.id)
    assert.deepEqual([answer['channel'], answer['to']], ['board', 'bob'])
  }
  await opened.ended(run.id)
  assert.deepEqual(
    (await opened.board()).map(({ to }) => to),
    ['ada', 'bob', 'bob'],
  )
})

test('while no route is set, `last` is the one channel that has a default recipient, and the start says so', async (t) => {
  const without = await open(t, both, '{}')
  assert.deepEqual(await without.read('/api/route'), { route: null })
  assert.doesNotMatch(without.log(), /route-assumed/)

  const opened = await open(t, `terminal: {}, ${openBoard}`, '{}')
  const standIn = { channel: 'board', to: 'everyone' }
  assert.deepEqual(await opened.read('/api/route'), { route: null, standIn })
  assert.partialDeepStrictEqual(await opened.line('route-assumed'), standIn)
  const { status, body } = await opened.send({ channel: 'last', text: 'hello' })
  assert.deepEqual([status, body['to']], [202, 'everyone'])
  assert.equal((await ended(opened, body['deliveryId'])).state, 'delivered')

  await opened.setRoute({ channel: 'board', to: 'bob' })
  assert.deepEqual(await opened.read('/api/route'), { route: { channel: 'board', to: 'bob' }, by: 'owner' })
})
