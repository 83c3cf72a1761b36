/** What mapped endpoints answer and keep, over HTTP. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { RunRecord } from '../../runtime/store/port.ts'
import { gatewayToken, hookToken, install } from '../installation.ts'

function configured(mappings: string, more = ''): string {
  return `gateway: { port: 0, auth: { token: ${gatewayToken} } }
hooks:
  enabled: true
  token: ${hookToken}
${more}  mappings:
${mappings.replace(/^/gm, '    ')}
`
}

test('the limit of a policy with parameters holds for the endpoints that it covers', async (t) => {
  const policies = '  endpoints: { "orders/:id": { maxBodyBytes: 20 } }\n'
  const mapping = '- { match: { path: "orders/:id" }, message: "Order {{params.id}}" }'
  const { post } = await install(t, { 'reveille.yaml': configured(mapping, policies) })
  assert.equal((await post('/hooks/orders/5', { a: 1 })).status, 202)
  assert.equal((await post('/hooks/orders/5', { a: 'x'.repeat(20) })).status, 413)
})

test('integers beyond 2^53 keep their digits in the JSON of a form field', async (t) => {
  const mapping = `- match: { path: form }
  vars: { twice: id & id }
  message: "{{id}} {{vars.twice}}"`
  const { post, read } = await install(t, { 'reveille.yaml': configured(mapping) })
  const form = new URLSearchParams({ payload: '{"id":820982911946154508}' }).toString()
  const { status, body } = await post('/hooks/form', form, {
    'content-type': 'application/x-www-form-urlencoded',
  })
  assert.equal(status, 202)
  const run = await read<RunRecord>(`/api/runs/${body['runId']}`)
  assert.equal(run.message, '820982911946154508 820982911946154508820982911946154508')
})
