/** Tests where a reply is sent, when it is not sent, and what remains of it then. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { DeliveryRecord, EventRecord, RunRecord } from '../../runtime/store/port.ts'
import {
  gatewayToken,
  hookToken,
  type Installation,
  install,
  rehearsalPlugin,
  until,
} from '../installation.ts'

const mappings = `mappings:
  - id: silent
    match: { path: silent }
    message: "**HEARTBEAT_OK**."
    # A heartbeat would post about the summary to the board, which is to stay empty.
    wakeMode: next-heartbeat
`

function configured(agents: string, board = ''): string {
  return `gateway: { port: 0, auth: { token: ${gatewayToken} } }
hooks: { enabled: true, token: ${hookToken} }
plugins: ["${rehearsalPlugin}"]
channels: { board: { folder: "{folder}"${board} } }
agents: ${agents}
`
}

const routed = configured('{ route: { channel: board, to: team } }')

/** Returns the delivery of a run once it has ended. */
async function deliveryOf({ post, read }: Installation, fields: object, path = '/hooks/agent') {
  const { status, body } = await post(path, { message: 'hello', wakeMode: 'next-heartbeat', ...fields })
  assert.equal(status, 202)
  const run = await until(async () => {
    const run = await read<RunRecord & { deliveries: DeliveryRecord[] }>(`/api/runs/${body['runId']}`)
    return run.deliveries.some(({ state }) => state !== 'pending') ? run : undefined
  }, 'the delivery')
  const [delivery] = run.deliveries
  assert.ok(delivery && run.deliveries.length === 1)
  return { run, delivery }
}

test('`last`, whether explicit or implied, is the route of agents.route', async (t) => {
  const installed = await install(t, { 'reveille.yaml': routed })
  for (const fields of [{}, { channel: 'last' }, { channel: 'board' }]) {
    const { run, delivery } = await deliveryOf(installed, fields)
    assert.deepEqual([delivery.state, delivery.channel, delivery.to], ['delivered', 'board', 'team'])
    assert.equal(
      run.channel,
      'channel' in fields ? fields.channel : 'last',
      'the run keeps the requested channel',
    )
  }
  await deliveryOf(installed, { to: 'ada' })
  assert.deepEqual(
    (await installed.board()).map(({ to }) => to),
    ['team', 'team', 'team', 'ada'],
  )
  assert.deepEqual(
    await installed.read('/api/route'),
    { route: { channel: 'board', to: 'team' } },
    "a hook's delivery does not move the route",
  )
})

test('without a route `last` falls back to whatsapp, and the run succeeds though its reply is parked', async (t) => {
  const installed = await install(t, { 'reveille.yaml': configured('{}') })
  const { run, delivery } = await deliveryOf(installed, {})
  assert.equal(run.state, 'succeeded')
  assert.deepEqual([delivery.state, delivery.code, delivery.channel], ['parked', 'NO_ROUTE', 'whatsapp'])
  assert.match(String(delivery.reason), /channel whatsapp is not configured: /)
  assert.equal(delivery.text, run.reply, 'the reply is kept for later')

  const unrouted = await deliveryOf(installed, { channel: 'board' })
  assert.deepEqual([unrouted.delivery.state, unrouted.delivery.code], ['parked', 'NO_ROUTE'])
  assert.match(String(unrouted.delivery.reason), /channel board has no recipient/)
  const summary = await installed.read<EventRecord>(`/api/events/${unrouted.run.summaryEventId}`)
  assert.equal(summary.text, `Hook: ${unrouted.run.reply}`)
})

test("a channel's defaultTo is used if neither the request nor the route has an address", async (t) => {
  const installed = await install(t, { 'reveille.yaml': configured('{}', ', defaultTo: everyone') })
  const { delivery } = await deliveryOf(installed, { channel: 'board' })
  assert.deepEqual([delivery.state, delivery.to], ['delivered', 'everyone'])
})

test('a reply that is only the acknowledgement is not sent, and its summary is posted all the same', async (t) => {
  const installed = await install(t, { 'reveille.yaml': routed, 'mappings/silent.yaml': mappings })
  const { run, delivery } = await deliveryOf(installed, {}, '/hooks/silent')
  assert.equal(run.reply, '**HEARTBEAT_OK**.')
  assert.deepEqual([delivery.state, delivery.code, run.stage], ['skipped', 'ACK_ONLY', 'delivered'])
  const summary = await installed.read<EventRecord>(`/api/events/${run.summaryEventId}`)
  assert.equal(summary.text, 'Hook silent: **HEARTBEAT_OK**.')
  assert.deepEqual(await installed.board(), [])
})

test('a permanent error parks the delivery with its code and leaves the run as it ended', async (t) => {
  const installed = await install(t, { 'reveille.yaml': routed })
  const { run, delivery } = await deliveryOf(installed, { to: 'gone' })
  assert.deepEqual(
    [run.state, delivery.state, delivery.code, delivery.attempts],
    ['succeeded', 'parked', 'gone', 1],
  )
  assert.deepEqual(delivery.receipts, [])
})

test('a run that delivers nothing has no delivery, and is at its last stage', async (t) => {
  const { post, ended, board } = await install(t, { 'reveille.yaml': routed })
  const { body } = await post('/hooks/agent', {
    message: 'quiet',
    deliver: false,
    wakeMode: 'next-heartbeat',
  })
  const run = await ended(body['runId'])
  assert.deepEqual([run.state, run.deliveryIds, run.deliver], ['succeeded', [], false])
  assert.deepEqual(await board(), [])
})
