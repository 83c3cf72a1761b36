/** Tests that requests are done again over the admin API: one at once, and many as a job. */

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Page, ReplayJob, RequestRecord, RunRecord } from '../../runtime/store/port.ts'
import {
  gatewayToken,
  hookToken,
  type Installation,
  install,
  rehearsalPlugin,
  until,
} from '../installation.ts'

const configuration = (bodies = 'failed') => `gateway: { port: 0, auth: { token: ${gatewayToken} } }
hooks:
  enabled: true
  token: ${hookToken}
  endpoints:
    orders: { verify: { provider: stripe, secret: "\${STRIPE_SECRET}" } }
    shop: { maxBodyBytes: 8000000 }
plugins: ["${rehearsalPlugin}"]
channels: { board: { folder: "{folder}" } }
history: { bodies: ${bodies} }
agents: { route: { channel: board, to: team } }
`
const stripeSecret = 'whsec_4fK29sLq0ZpVx81mWnB7cRtY'
const env = { STRIPE_SECRET: stripeSecret }

const mappings = `mappings:
  - id: order
    match: { path: shop }
    message: "Order {{id}}"
    wakeMode: next-heartbeat
    dedupe: { key: "{{id}}" }
    transform: { module: order.ts }
`
const broken = 'export default () => { throw new Error("broken") }\n'
const fixed = 'export default () => undefined\n'

async function open(t: TestContext, bodies = 'failed', module = broken): Promise<Installation> {
  return install(
    t,
    { 'reveille.yaml': configuration(bodies), 'mappings/shop.yaml': mappings, 'transforms/order.ts': module },
    { env },
  )
}

async function fix({ write, gateway }: Installation): Promise<void> {
  await write('transforms/order.ts', fixed)
  assert.ok((await gateway.reload()).ok)
}

/** Posts to the broken transform, and waits for the record, for which no reply waits. */
async function postFailing({ post, ask }: Installation, body: unknown, headers: Record<string, string> = {}) {
  const failed = await post('/hooks/shop', body, headers)
  assert.equal(failed.status, 500)
  const id = String(failed.body['requestId'])
  // It is found by its id at once, and listed once it is committed.
  await until(async () => (await ask('/api/requests?limit=500')).text.includes(id) || undefined, 'the record')
  return id
}

const replayOf = ({ ask }: Installation, id: unknown, body: object = {}) =>
  ask(`/api/requests/${id}/replay`, { method: 'POST', payload: JSON.stringify(body) })

async function jobOf(installed: Installation, body: object) {
  const begun = await installed.ask('/api/requests/replay', { method: 'POST', payload: JSON.stringify(body) })
  assert.equal(begun.status, 202, begun.text)
  const job = await until(async () => {
    const now = await installed.read<ReplayJob & { failures: object[] }>(`/api/jobs/${begun.body['job']}`)
    return now.state === 'running' ? undefined : now
  }, 'the end of the job')
  return { total: begun.body['total'], job }
}

test('a failed request is done again once its transform is fixed, and its provider’s next try is a duplicate', async (t) => {
  const installed = await open(t)
  const { post, read, ended, board } = installed
  const id = await postFailing(installed, { id: 7 }, { 'x-trace': 'abc' })

  const again = await replayOf(installed, id)
  assert.deepEqual(
    [again.status, again.body['outcome'], again.body['code']],
    [200, 'failed', 'TRANSFORM_FAILED'],
  )
  await fix(installed)
  const { status, body } = await replayOf(installed, id)
  assert.deepEqual([status, body['outcome'], body['status'], body['replayOf']], [200, 'accepted', 202, id])
  const [action] = body['actions'] as [{ id: string }]
  assert.equal((await ended(action.id)).message, 'Order 7')
  assert.equal((await board()).length, 1)

  const record = await read<RequestRecord>(`/api/requests/${body['requestId']}`)
  assert.deepEqual([record.replayOf, record.outcome], [id, 'accepted'])
  const original = await read<RequestRecord & { headers: object; replays: string[] }>(`/api/requests/${id}`)
  assert.equal(original.outcome, 'failed')
  assert.equal((original.headers as Record<string, string>)['x-trace'], 'abc')
  assert.deepEqual(original.replays[0], body['requestId'])
  assert.equal((await post('/hooks/shop', { id: 7 })).body['outcome'], 'duplicate')
  assert.equal((await replayOf(installed, id)).body['outcome'], 'duplicate')
})

test('a reply that was delivered goes out again only if it is asked for', async (t) => {
  const installed = await open(t, 'all', fixed)
  const { post, ended, board, read } = installed
  const first = await post('/hooks/shop', { id: 8 })
  await ended(first.body['runId'])

  const quiet = await replayOf(installed, first.body['requestId'])
  assert.equal(quiet.body['outcome'], 'accepted')
  assert.match(
    String(quiet.body['reason']),
    /^its reply is not delivered again: the reply of run \S+ was delivered$/,
  )
  const [run] = quiet.body['actions'] as [{ id: string }]
  assert.deepEqual([(await ended(run.id)).deliver, (await board()).length], [false, 1])
  const stored = await read<RequestRecord>(`/api/requests/${quiet.body['requestId']}`)
  assert.equal(stored.reason, quiet.body['reason'])

  const loud = await replayOf(installed, first.body['requestId'], { deliverAgain: true })
  const [other] = loud.body['actions'] as [{ id: string }]
  await ended(other.id)
  assert.equal((await board()).length, 2)
})

test('an edited payload is done in the place of the old one', async (t) => {
  const installed = await open(t)
  const { ended } = installed
  const id = await postFailing(installed, { id: 9 })
  await fix(installed)
  for (const [payload, message] of [
    [{ id: 10 }, 'Order 10'],
    ['{"id": 12345678901234567890}', 'Order 12345678901234567890'],
  ] as const) {
    const replayed = await replayOf(installed, id, { payload })
    const [action] = replayed.body['actions'] as [{ id: string }]
    assert.equal((await ended(action.id)).message, message)
  }
  const wrong = await replayOf(installed, id, { payload: 5 })
  assert.deepEqual([wrong.status, wrong.body['code']], [400, 'INVALID_FIELD'])
})

test('a dry run reports the outcome of a replay with the live mappings or an earlier generation, and does nothing', async (t) => {
  const installed = await open(t)
  const id = await postFailing(installed, { id: 5 })
  await fix(installed)
  for (const [given, outcome, status] of [
    [{}, 'accepted', 202],
    [{ generation: 1 }, 'failed', 500],
    [{ generation: 1, callOut: true }, 'failed', 500],
    [{ payload: '[' }, 'refused', 400],
  ] as const) {
    const { body, text } = await replayOf(installed, id, { dryRun: true, ...given })
    const decision = body['decision'] as { outcome: string }
    assert.deepEqual([decision?.outcome, body['status']], [outcome, status], text)
  }
  const { items } = await installed.read<Page<RequestRecord>>('/api/requests')
  assert.equal(items.length, 1)
})

test('many failed requests are replayed by one command, and a second one skips those that succeeded', async (t) => {
  const installed = await open(t)
  const { ask, board, read } = installed
  for (let id = 0; id < 30; id += 1) await postFailing(installed, { id })
  const filter = { outcome: 'failed', endpoint: 'shop' }
  const preview = await ask('/api/requests/replay', {
    method: 'POST',
    payload: JSON.stringify({ filter, dryRun: true }),
  })
  assert.deepEqual([preview.status, preview.body['total']], [200, 30])
  assert.equal((preview.body['sample'] as object[]).length, 20)

  const vain = await jobOf(installed, { filter })
  assert.deepEqual([vain.total, vain.job.failed, vain.job.failures.length], [30, 30, 20])
  await fix(installed)
  const { total, job } = await jobOf(installed, { filter })
  assert.deepEqual([total, job.done, job.failed, job.skipped], [30, 30, 0, 0])
  const again = await jobOf(installed, { filter })
  assert.deepEqual([again.total, again.job.done, again.job.skipped], [30, 0, 30])
  await until(async () => ((await board()).length === 30 ? true : undefined), 'thirty replies')
  const { items } = await read<Page<RunRecord>>('/api/runs?limit=500')
  assert.equal(items.filter(({ kind }) => kind === 'run').length, 30)
})

test('an order with the key of an earlier one is answered with its job', async (t) => {
  const installed = await open(t)
  await postFailing(installed, { id: 1 })
  const order = { filter: { outcome: 'failed' }, key: 'once' }
  const [one, two] = [await jobOf(installed, order), await jobOf(installed, order)]
  assert.equal(one.job.id, two.job.id)
})

test('a request that cannot be replayed is refused with a code', async (t) => {
  const installed = await open(t, 'failed', fixed)
  const { post, ask } = installed
  const accepted = await post('/hooks/shop', { id: 1 })
  const outsider = await post('/hooks/shop', { id: 1 }, { authorization: 'Bearer wrong' })
  for (const [id, body, status, code] of [
    [accepted.body['requestId'], {}, 409, 'BODY_NOT_KEPT'],
    [outsider.body['requestId'], {}, 409, 'NOT_REPLAYABLE'],
    ['019bd0a0-0000-7000-8000-0000003f9a1c', {}, 404, 'NOT_FOUND'],
    [accepted.body['requestId'], { generation: 1 }, 400, 'INVALID_FIELD'],
    [accepted.body['requestId'], { unknown: 1 }, 400, 'INVALID_FIELD'],
  ] as const) {
    const answer = await replayOf(installed, id, body)
    assert.deepEqual([answer.status, answer.body['code']], [status, code], answer.text)
  }
  for (const filter of [undefined, {}, { outcome: 'odd' }, { since: 'yesterday' }]) {
    const answer = await ask('/api/requests/replay', { method: 'POST', payload: JSON.stringify({ filter }) })
    assert.deepEqual([answer.status, answer.body['code']], [400, 'INVALID_FIELD'], answer.text)
  }
})

test('a body is answered without known secrets, never with the type of its sender, and whole on request', async (t) => {
  const installed = await open(t)
  const { ask, lines } = installed
  const page = { id: `<script>${stripeSecret}</script>` }
  const id = await postFailing(installed, page, {
    'content-type': 'text/html',
    'x-note': `a ${stripeSecret}`,
  })
  const shown = await ask(`/api/requests/${id}/body`)
  assert.equal(shown.text, JSON.stringify({ id: '<script>[redacted]</script>' }))
  const { headers } = shown
  assert.equal(headers['content-type'], 'application/octet-stream')
  assert.match(String(headers['content-disposition']), /^attachment; filename="[0-9a-f-]+\.body"$/)
  assert.equal(headers['x-content-type-options'], 'nosniff')
  assert.match(String(headers['content-security-policy']), /^sandbox;/)
  assert.equal(lines('request-body-read').length, 0)

  const raw = await ask(`/api/requests/${id}/body?raw=true`)
  assert.equal(raw.text, JSON.stringify(page))
  assert.equal(raw.headers['content-type'], 'application/octet-stream')
  assert.equal((await installed.line('request-body-read'))['requestId'], id)
  const record = (await ask(`/api/requests/${id}`)).body as { headers: Record<string, string> }
  assert.equal(record.headers['x-note'], 'a [redacted]')
  assert.equal(record.headers['authorization'], undefined)
})

test('an edited payload that has the mark of a redacted secret in its place is refused', async (t) => {
  const installed = await open(t)
  const { ask, read } = installed
  const id = await postFailing(installed, { id: stripeSecret, text: '[redacted]' })
  const { text: shown } = await ask(`/api/requests/${id}/body`)
  for (const dryRun of [true, false]) {
    const { status, body } = await replayOf(installed, id, { payload: shown, dryRun })
    assert.deepEqual([status, body['code']], [400, 'INVALID_FIELD'])
    assert.match(
      String(body['error']),
      /has that where the original has one: write the secret, or edit the body/,
    )
  }
  assert.equal((await read<Page<RequestRecord>>('/api/requests')).items.length, 1)
  const { text: raw } = await ask(`/api/requests/${id}/body?raw=true`)
  assert.equal((await replayOf(installed, id, { payload: raw.replace('[redacted]', 'x') })).status, 200)
  const plain = await postFailing(installed, { id: 'plain' })
  assert.equal((await replayOf(installed, plain, { payload: '{"id":"[redacted]"}' })).status, 200)
})

test('secrets are not looked for in a long body, which is answered as it came and no other way', async (t) => {
  const installed = await open(t)
  const id = await postFailing(installed, { id: 1, pad: 'x'.repeat(5_000_000) })
  const { status, body } = await installed.ask(`/api/requests/${id}/body`)
  assert.deepEqual([status, body['code']], [413, 'BODY_TOO_LARGE'])
  assert.match(
    String(body['error']),
    /^The body has 5000017 bytes, and secrets are redacted in at most 4194304/,
  )
  assert.equal((await installed.ask(`/api/requests/${id}/body?raw=true`)).text.length, 5_000_017)
})

test('forgotten content is gone with its replays, and the records stay', async (t) => {
  const installed = await open(t)
  const { ask, read } = installed
  const original = await postFailing(installed, { id: 'a-person' })
  const replayed = await replayOf(installed, original)
  const forget = (given: object) =>
    ask('/api/requests/forget', { method: 'POST', payload: JSON.stringify(given) })
  assert.equal((await forget({ ids: [original], dryRun: true })).body['total'], 2)
  const forgotten = await forget({ ids: [original] })
  assert.deepEqual(forgotten.body, { ok: true, forgotten: 2, refused: [] })
  for (const id of [original, replayed.body['requestId']]) {
    const gone = await ask(`/api/requests/${id}/body`)
    assert.deepEqual([gone.status, gone.body['code']], [409, 'BODY_NOT_KEPT'])
    assert.match(String(gone.body['error']), /^It was forgotten at /)
    assert.ok((await read<RequestRecord>(`/api/requests/${id}`)).forgottenAt)
  }
  assert.deepEqual((await forget({ filter: { endpoint: 'nothing' } })).body['forgotten'], 0)
  for (const wrong of [{}, { filter: {} }, { ids: ['x'], filter: { endpoint: 'shop' } }])
    assert.equal((await forget(wrong)).status, 400)
  assert.equal((await installed.line('requests-forgotten'))['count'], 2)
})
