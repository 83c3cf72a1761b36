import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { configuration, gatewayToken, hookToken, install } from '../installation.ts'
import { hmacOf } from '../signed.ts'

const secret = 'the-secret-of-a-sender-that-signs-0123456789'

/** All clients come through one proxy on this machine. */
function settings(rates: string, backlog = 1000): string {
  const verify = `{ provider: hmac, secret: ${secret}, hmac: { header: x-signature } }`
  return configuration
    .replace('gateway: {', `gateway: { trustedProxies: [loopback], limits: { backlog: ${backlog} },`)
    .replace(
      'hooks: {',
      `hooks: { endpoints: { ${rates}, signed: { verify: ${verify} } }, mappings: [{ action: wake, text: x }],`,
    )
}

interface Sending {
  readonly token?: string
  readonly body?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** Starts a gateway that listens, and senders whose addresses the proxy names. */
async function openGateway(t: TestContext, config: string) {
  const installation = await install(t, { 'reveille.yaml': config })
  const address = await installation.gateway.listen()

  /** Returns the status, and the seconds to wait if there are any. */
  async function send(
    path: string,
    forwardedFor: string,
    { token = hookToken, body = '{"text":"x"}', headers }: Sending = {},
  ): Promise<{ status: number; code?: unknown; seconds?: number }> {
    const isHook = path.startsWith('/hooks')
    const answer = await fetch(`${address}${path}`, {
      method: isHook ? 'POST' : 'GET',
      headers: { authorization: `Bearer ${token}`, 'x-forwarded-for': forwardedFor, ...headers },
      ...(isHook && { body }),
    })
    const { ok, error, code, requestId } = (await answer.json()) as Record<string, unknown>
    if (answer.status === 200 || answer.status === 202) return { status: answer.status }
    assert.deepEqual([ok, typeof error, requestId], [false, 'string', answer.headers.get('x-request-id')])
    const after = answer.headers.get('retry-after')
    return { status: answer.status, code, ...(after !== null && { seconds: Number(after) }) }
  }

  return { ...installation, send }
}

function isWait(seconds: number | undefined, most: number): boolean {
  return seconds !== undefined && Number.isInteger(seconds) && seconds >= 1 && seconds <= most
}

const wrong = { token: 'wrong-token' }
const unauthorized = { status: 401, code: 'UNAUTHORIZED' }

test('a client that guesses tokens is refused after twenty, alone, until it sends a correct one', async (t) => {
  const { send, read } = await openGateway(t, settings('ci: {}'))
  const guess = (forwardedFor = '203.0.113.7') => send('/hooks/wake', forwardedFor, wrong)
  // Forwarding headers, another port and another endpoint make no other client of it.
  const disguises = ['203.0.113.7', '198.51.100.1, 203.0.113.7', '203.0.113.7:4711', '::ffff:203.0.113.7']
  for (let tries = 0; tries < 20; tries += 1) {
    const path = tries % 2 === 0 ? '/hooks/wake' : '/hooks/no-such-endpoint'
    assert.deepEqual(await send(path, disguises[tries % 4] ?? '', wrong), unauthorized)
  }
  for (const forwardedFor of disguises) {
    const { seconds, ...refusal } = await guess(forwardedFor)
    assert.deepEqual(refusal, { status: 429, code: 'TOO_MANY_TRIES' })
    assert.ok(isWait(seconds, 60), `${seconds}`)
  }
  assert.deepEqual(await guess('203.0.113.8'), unauthorized, 'another client is not concerned')
  assert.equal((await send('/api/runs', '203.0.113.7', { token: gatewayToken })).status, 200)
  assert.deepEqual(await send('/api/runs', '203.0.113.7', wrong), unauthorized, 'nor is the admin surface')
  assert.equal((await guess()).status, 429, 'and the gateway token clears nothing here')

  assert.equal((await send('/hooks/wake', '203.0.113.7')).status, 200)
  assert.deepEqual(await guess(), unauthorized)

  const { items } = await read<{ items: { status: number; client: string; count?: number }[] }>(
    '/api/requests?outcome=refused',
  )
  const ofClient = items.filter(({ client, status }) => client === '203.0.113.7' && status === 429)
  assert.deepEqual(
    ofClient.map(({ count }) => count),
    [5],
    'the record says how often, in one line',
  )
})

test('wrong signatures count like wrong tokens, and a correct signature clears both', async (t) => {
  const { send } = await openGateway(t, settings('ci: {}'))
  const body = '{"text":"x"}'
  const sign = (key: string) => ({ 'x-signature': hmacOf(body, key) })
  const forge = () => send('/hooks/signed', '203.0.113.7', { body, headers: sign('another-secret') })
  for (let tries = 0; tries < 10; tries += 1) {
    assert.deepEqual(await forge(), unauthorized)
    assert.deepEqual(await send('/hooks/wake', '203.0.113.7', wrong), unauthorized)
  }
  assert.equal((await forge()).status, 429)
  assert.equal((await send('/hooks/signed', '203.0.113.7', { body, headers: sign(secret) })).status, 200)
  assert.deepEqual(await forge(), unauthorized)
})

test('requests above a rate are refused with the time to wait, for one client and for all clients together', async (t) => {
  const rates = 'ci: { rate: { client: 3/1h, endpoint: 5/2h } }, "teams/:team": { rate: { client: 2/1h } }'
  const { send, write, gateway } = await openGateway(t, settings(rates))
  const statuses = async (path: string, client: string, times: number) => {
    const all: number[] = []
    for (let time = 0; time < times; time += 1) all.push((await send(path, client)).status)
    return all
  }
  assert.deepEqual(await statuses('/hooks/ci', '203.0.113.7', 4), [200, 200, 200, 429])
  const { seconds, ...refusal } = await send('/hooks/ci', '203.0.113.7')
  assert.deepEqual(refusal, { status: 429, code: 'RATE_LIMITED' })
  assert.ok(isWait(seconds, 3600) && !isWait(seconds, 3500), `${seconds}`)
  assert.deepEqual(await statuses('/hooks/ci', '203.0.113.8', 3), [200, 200, 429])
  const ofAll = await send('/hooks/ci', '203.0.113.9')
  assert.deepEqual([ofAll.code, isWait(ofAll.seconds, 3600)], ['RATE_LIMITED', false])
  assert.deepEqual(await statuses('/hooks/wake', '203.0.113.7', 1), [200], 'other endpoints have none')

  const names = ['/hooks/teams/red', '/hooks/teams/blue', '/hooks/teams/green']
  const ofNames: number[] = []
  for (const name of names) ofNames.push(...(await statuses(name, '203.0.113.7', 1)))
  assert.deepEqual(ofNames, [200, 200, 429], 'invented endpoint names do not evade the limit')

  await write('reveille.yaml', `${settings(rates)}\nhistory: { keep: 6d }\n`)
  assert.equal((await gateway.reload()).outcome, 'live')
  assert.deepEqual(await statuses('/hooks/ci', '203.0.113.7', 1), [429], 'a reload forgets nothing')
  await write('reveille.yaml', settings(rates.replaceAll('5/2h', '6/2h')))
  await gateway.reload()
  assert.deepEqual(await statuses('/hooks/ci', '203.0.113.9', 1), [200], 'unless it changes the rate')
})

test('wakes are refused once the limit of waiting events is reached, and runs are still accepted', async (t) => {
  const { send } = await openGateway(t, settings('ci: {}', 2))
  const wake = { body: '{"text":"x","mode":"next-heartbeat"}' }
  const refused = { status: 503, code: 'BACKLOG', seconds: 30 }
  for (let count = 0; count < 2; count += 1)
    assert.equal((await send('/hooks/wake', '203.0.113.7', wake)).status, 200)
  assert.deepEqual(await send('/hooks/wake', '203.0.113.7', wake), refused)
  assert.deepEqual(
    await send('/hooks/ci', '203.0.113.7', wake),
    refused,
    'a wake from a mapping is refused too',
  )
  const agent = await send('/hooks/agent', '203.0.113.7', {
    body: '{"message":"x","wakeMode":"next-heartbeat"}',
  })
  assert.equal(agent.status, 202)
})
