/** Tests what transforms get and what they answer to senders, with a real gateway. */

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import type { RequestRecord } from '../../runtime/store/port.ts'
import { gatewayToken, hookToken, install } from '../installation.ts'

const files = {
  'reveille.yaml': `gateway: { port: 0, auth: { token: ${gatewayToken} }, log: { level: debug, format: json } }
hooks:
  enabled: true
  token: ${hookToken}
  mappings:
    - id: orders
      match: { path: orders }
      forEach: orders
      message: "Order {{item.id}}"
      deliver: false
      transform: { module: orders.ts }
    - { id: slash, match: { path: slash }, message: "{{text}}", deliver: false, transform: { module: slash.ts } }
`,
  'transforms/orders.ts': `import { defineTransform, refuse } from '@reveille/engine/transform'
export default defineTransform(({ item }) => {
  if (!item.id) throw refuse(422, 'an order has no id')
})
`,
  'transforms/slash.ts': `import { defineTransform } from '@reveille/engine/transform'
export default defineTransform(({ payload }) =>
  payload.challenge ? { action: null, reply: payload.challenge } : { reply: { response_type: 'ephemeral', text: 'On it' } },
)
`,
}

test('a transform that refuses answers its status and message, causes no action, and the request is stored with its body', async (t) => {
  const { post, read, line } = await install(t, files)
  const { status, body } = await post('/hooks/orders', { orders: [{ id: 1 }, {}] })
  const { requestId, ...answer } = body
  assert.deepEqual(
    [status, answer],
    [422, { ok: false, error: 'an order has no id', code: 'TRANSFORM_REFUSED' }],
  )
  const record = await read<RequestRecord & { bodyKept: boolean }>(`/api/requests/${requestId}`)
  assert.deepEqual(
    [record.outcome, record.status, record.code, record.bodyKept, record.actions],
    ['refused', 422, 'TRANSFORM_REFUSED', true, []],
  )
  const reason =
    /^mapping "orders": orders\.ts refused the request with 422: an order has no id \(transforms\/orders\.ts:3:/
  assert.match(String(record.reason), reason)
  const { level } = await line('request-refused', ({ requestId: id }) => id === requestId)
  assert.equal(level, 30, 'a refusal is not an error of the gateway')
})

test('the sender gets the reply with status 200 for an accepted, a repeated and a skipped request', async (t) => {
  const { post } = await install(t, files)
  for (const what of ['accepted', 'repeated']) {
    const key = { 'idempotency-key': 'k-1' }
    const { status, text, headers } = await post('/hooks/slash', { text: 'deploy' }, key)
    assert.deepEqual([what, status, text], [what, 200, '{"response_type":"ephemeral","text":"On it"}'])
    assert.equal(headers['content-type'], 'application/json; charset=utf-8')
    assert.equal(headers['x-content-type-options'], 'nosniff')
    assert.equal(headers['content-security-policy'], 'sandbox')
    assert.match(String(headers['x-request-id']), /^\w+/)
  }
  const { status, text, headers } = await post('/hooks/slash', { challenge: 'abc' })
  assert.deepEqual([status, text, headers['content-type']], [200, 'abc', 'text/plain; charset=utf-8'])
})

test('a transform gets the settings and secrets of its mapping, also after they changed on a running gateway', async (t) => {
  const { gateway, write, post, line, log } = await install(t, {
    ...files,
    'reveille.yaml': `gateway: { port: 0, auth: { token: ${gatewayToken} }, log: { level: debug, format: json } }
hooks:
  enabled: true
  token: ${hookToken}
  mappings:
    - match: { path: settings }
      transform: { module: settings.ts, with: { team: platform, token: "\${JIRA_TOKEN}" } }
`,
    'transforms/settings.ts': `import { createHash } from 'node:crypto'
export default ({ with: { team, token } }) => {
  console.log('the token is ' + token)
  return { action: null, reply: { team, digest: createHash('sha256').update(String(token)).digest('hex') } }
}
`,
    '.env': 'JIRA_TOKEN=first-jira-token\n',
  })
  const digest = (token: string) => createHash('sha256').update(token).digest('hex')
  const first = await post('/hooks/settings', {})
  assert.deepEqual(first.body, { team: 'platform', digest: digest('first-jira-token') })
  await write('.env', 'JIRA_TOKEN=second-jira-token\n')
  await gateway.reload()
  const second = await post('/hooks/settings', {})
  assert.deepEqual(second.body, { team: 'platform', digest: digest('second-jira-token') })
  assert.equal((await line('transform-output'))['msg'], 'the token is [redacted]')
  assert.doesNotMatch(log(), /(first|second)-jira-token/)
})
