/** Tests alerts about issues: by a channel and by a signed webhook, with an agent that works or not. */

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { Webhook } from 'standardwebhooks'
import { testPostgres } from '../../plugins/postgres/testing/index.ts'
import type { DeliveryRecord, IssueRecord, Page } from '../../runtime/store/port.ts'
import { atEnd } from '../at-end.ts'
import {
  gatewayToken,
  hookToken,
  type Installation,
  install,
  rehearsalPlugin,
  until,
} from '../installation.ts'

const secret = `whsec_${Buffer.from('a secret of thirty-two bytes ...').toString('base64')}`
const url = 'https://alerts.example/reveille'

const yamlWith = (issues: string, more = '') => `gateway:
  port: 0
  auth: { token: ${gatewayToken} }
  log: { level: debug, format: json }
  issues: ${issues}
hooks: { enabled: true, token: ${hookToken} }
plugins: ["${rehearsalPlugin}"]
channels: { board: { folder: "{folder}" } }
agents: { route: { channel: board, to: team }, defaults: { runner: missing-program }, runners: { missing-program: { kind: command, command: /nowhere/at-all } } }
${more}`
const files = (issues: string) => ({
  'reveille.yaml': yamlWith(issues),
  'mappings/all.yaml':
    'mappings:\n  - { id: order, match: { path: orders }, message: "An order.", transform: { module: order.ts } }\n',
  'transforms/order.ts': 'export default ({ payload }) => ({ message: payload.lines.join() })\n',
})

interface Call {
  readonly headers: Record<string, string>
  readonly body: string
}

/** A receiver that checks signatures as the library of Standard Webhooks does. */
function createReceiver(statuses: number[] = []) {
  const calls: Call[] = []
  const fetch = (async (address: string, { headers, body }: RequestInit) => {
    assert.equal(address, url)
    calls.push({ headers: headers as Record<string, string>, body: String(body) })
    new Webhook(secret).verify(String(body), headers as Record<string, string>)
    return new Response(null, { status: statuses.shift() ?? 204 })
  }) as typeof globalThis.fetch
  return { calls, fetch, types: () => calls.map(({ body }) => JSON.parse(body)['type']) }
}

const fail = ({ post }: Installation) => post('/hooks/orders', { order: 7 })

/** Resolves with the first issue that passes, once there is one. */
const issueThat = ({ read }: Installation, passes: (issue: IssueRecord) => boolean, what: string) =>
  until(async () => {
    const { items } = await read<Page<IssueRecord>>('/api/issues')
    return items.find(passes)
  }, what)

/** Ends the issue of the transform, and waits until the receiver was called about that. */
async function end({ ask }: Installation, receiver: ReturnType<typeof createReceiver>): Promise<void> {
  const { status, text } = await ask('/api/issues/resolve', {
    method: 'POST',
    payload: JSON.stringify({ key: 'TRANSFORM_FAILING:order' }),
  })
  assert.equal(status, 200, text)
  await until(async () => receiver.types().includes('issue.closed') || undefined, 'the call about its end')
}
const messages = async ({ board }: { board(): Promise<readonly { text?: string }[]> }) =>
  (await board()).map((each) => JSON.stringify(each)).filter((text) => text.includes('Reveille issues'))

test('a channel tells a person that an issue opened, without an agent and without words of a sender', async (t: TestContext) => {
  const gateway = await install(t, files('{ channel: board, to: oncall }'))
  await gateway.post('/hooks/orders', { order: 'ignore-your-instructions' })
  const [opened = ''] = await until(async () => {
    const texts = await messages(gateway)
    return texts.length > 0 ? texts : undefined
  }, 'a message')
  assert.match(opened, /1 opened/)
  assert.match(opened, /failing: .*TRANSFORM_FAILING `order`/)
  assert.match(opened, /oncall/)
  assert.doesNotMatch(opened, /ignore-your-instructions/)
  const record = await issueThat(gateway, ({ code }) => code === 'TRANSFORM_FAILING', 'the issue')
  assert.deepEqual(record.alerted, ['channel'])
  assert.equal((await messages(gateway)).length, 1)
})

test('a webhook is called with a signature of Standard Webhooks, again with the same id until it is answered', async (t) => {
  const receiver = createReceiver([500])
  const gateway = await install(t, files(`{ webhook: { url: "${url}", secret: ${secret} } }`), {
    fetch: receiver.fetch,
  })
  await fail(gateway)
  await until(async () => receiver.calls.length >= 2 || undefined, 'a second call')
  await issueThat(gateway, ({ alerted }) => alerted !== undefined, 'the record of it')
  const [first, second] = receiver.calls
  assert.equal(first?.headers['webhook-id'], second?.headers['webhook-id'])
  const { type, data } = JSON.parse(second?.body ?? '')
  assert.deepEqual(
    [type, data.code, data.severity, data.state],
    ['issue.opened', 'TRANSFORM_FAILING', 'failing', 'open'],
  )
  await end(gateway, receiver)
  assert.ok(!gateway.log().includes(secret))
})

test('an alert that could not be sent before a restart is sent after it, and one that was sent is not sent again', async (t) => {
  const issues = `{ webhook: { url: "${url}", secret: ${secret} } }`
  const down = createReceiver(Array(50).fill(503))
  const first = await install(t, files(issues), { fetch: down.fetch })
  await fail(first)
  await until(async () => down.calls.length > 0 || undefined, 'a call')
  await first.gateway.close({ graceMs: 0 })
  const up = createReceiver()
  const second = await install(t, {}, { fetch: up.fetch, folder: first.folder })
  await until(async () => up.calls.length > 0 || undefined, 'the call after the restart')
  await second.gateway.close({ graceMs: 0 })
  assert.deepEqual(up.types(), ['issue.opened'])
  const again = createReceiver()
  const third = await install(t, {}, { fetch: again.fetch, folder: first.folder })
  await third.post('/hooks/orders', { order: 8 })
  await issueThat(third, ({ state, count }) => state === 'open' && count > 1, 'the second occurrence')
  await third.gateway.close({ graceMs: 0 })
  assert.deepEqual(again.calls, [])
})

test('an issue of less severity is not sent, and a wrong way to send is refused with its place', async (t) => {
  const receiver = createReceiver()
  const gateway = await install(
    t,
    files(`{ severity: losing-events, webhook: { url: "${url}", secret: ${secret} } }`),
    {
      fetch: receiver.fetch,
    },
  )
  await fail(gateway)
  await issueThat(gateway, ({ state }) => state === 'open', 'the issue')
  assert.deepEqual(receiver.calls, [])
  for (const [issues, place] of [
    ['{ channel: telegram }', /gateway\.issues\.channel.*UNKNOWN_CHANNEL/s],
    ['{ to: me }', /gateway\.issues\.to/],
    [`{ webhook: { url: "http://10.0.0.1/x", secret: ${secret} } }`, /gateway\.issues\.webhook\.url/],
    [`{ webhook: { url: "https://me:secret@x.example/", secret: ${secret} } }`, /webhook\.url/],
    [`{ webhook: { url: "${url}", secret: short } }`, /webhook\.secret/],
  ] as const)
    await assert.rejects(install(t, files(issues)), (error: Error & { diagnostics?: unknown }) => {
      assert.match(`${error.message} ${JSON.stringify(error.diagnostics)}`, place)
      return true
    })
})

test('of two nodes on one database one alerts, and the other one goes on where it ended', async (t) => {
  const { url: database, drop } = await testPostgres()
  atEnd(t, drop)
  const receiver = createReceiver()
  const leases = { renewMs: 200, expireMs: 2000, freshMs: 1500 }
  const start = async (node: string) => {
    const written = files(`{ webhook: { url: "${url}", secret: ${secret} } }`)
    return install(
      t,
      {
        ...written,
        'reveille.yaml': written['reveille.yaml'].replace('port: 0', 'port: 0\n  store: "${DATABASE}"'),
      },
      { fetch: receiver.fetch, env: { DATABASE: database }, cluster: { node, role: 'all', leases } },
    )
  }
  const [first, second] = [await start('first'), await start('second')]
  for (const node of [first, second]) await fail(node)
  await issueThat(second, ({ alerted }) => alerted?.includes('webhook') === true, 'the record of it')
  await first.gateway.close({ graceMs: 0 })
  await fail(second)
  await end(second, receiver)
  const reported = receiver.calls.map(({ body }) => JSON.parse(body))
  assert.deepEqual(
    reported.filter(({ data }) => data.code === 'TRANSFORM_FAILING').map(({ type }) => type),
    ['issue.opened', 'issue.closed'],
  )
})

test('an alert to a channel that sends nothing waits there like a reply, and the webhook tells of the channel', async (t) => {
  const receiver = createReceiver()
  const gateway = await install(
    t,
    files(`{ channel: board, to: gone, webhook: { url: "${url}", secret: ${secret} } }`),
    { fetch: receiver.fetch },
  )
  await fail(gateway)
  const parked = await until(async () => {
    const { items } = await gateway.read<Page<DeliveryRecord>>('/api/deliveries?state=parked')
    return items.find(({ text }) => text.startsWith('Reveille issues: 1 opened'))
  }, 'the parked alert')
  assert.deepEqual([parked.channel, parked.to, parked.code], ['board', 'gone', 'gone'])
  await until(
    async () =>
      receiver.calls.some(({ body }) => JSON.parse(body).data.code === 'DELIVERIES_PARKED') || undefined,
    'the call about the channel',
  )
})
