/** Tests what mapped endpoints answer and store, over HTTP. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { RequestRecord, RunRecord } from '../../runtime/store/port.ts'
import { gatewayToken, hookToken, install, until } from '../installation.ts'

function configured(mappings: string, more = ''): string {
  return `gateway: { port: 0, auth: { token: ${gatewayToken} } }
hooks:
  enabled: true
  token: ${hookToken}
${more}  mappings:
${mappings.replace(/^/gm, '    ')}
`
}

test('a limit of a policy with path parameters holds for each endpoint that it covers', async (t) => {
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

test('JSON and forms are read whatever their content type says, and everything else is refused with a code', async (t) => {
  const mapping = '- { match: { path: typed }, message: "{{text}}" }'
  const { ask, read } = await install(t, { 'reveille.yaml': configured(mapping) })
  const json = '{"text":"hi"}'
  const form = 'application/x-www-form-urlencoded'
  const cases: [type: string | undefined, payload: string, expected: string][] = [
    [undefined, json, 'hi'],
    ['application/json', json, 'hi'],
    ['application/json; charset=utf-8; version=1', json, 'hi'],
    ['application/cloudevents+json', json, 'hi'],
    ['text/plain', json, 'hi'],
    ['', json, 'hi'],
    [';;;/=garbage"', json, 'hi'],
    ['application/json, text/plain', json, 'hi'],
    [form, 'text=hi', 'hi'],
    [`${form.toUpperCase()} ; charset=UTF-8`, 'text=hi', 'hi'],
    [form, json, 'hi'],
    [undefined, 'text=hi', 'INVALID_JSON'],
    ['text/plain', 'hi', 'INVALID_JSON'],
    [';;;/=garbage"', 'hi', 'INVALID_JSON'],
    ['multipart/form-data; boundary=x', '--x--', 'MULTIPART_BODY'],
  ]
  for (const [type, payload, expected] of cases) {
    const headers = {
      authorization: `Bearer ${hookToken}`,
      ...(type !== undefined && { 'content-type': type }),
    }
    const { body } = await ask('/hooks/typed', { method: 'POST', headers, payload })
    const { code, runId } = body
    const found = runId === undefined ? code : (await read<RunRecord>(`/api/runs/${runId}`)).message
    assert.equal(found, expected, `${type}: ${payload}`)
  }
})

const several = `- match: { path: several }
  continue: true
  forEach: list
  message: "{{item}}"
  sessionKey: "hook:{{item}}"
- { match: { path: several }, action: wake, text: Counted, mode: next-heartbeat }`

test('several actions are listed in order in the answer, and a single one has the plain shape', async (t) => {
  const { post } = await install(t, { 'reveille.yaml': configured(several) })
  const { status, body } = await post('/hooks/several', { list: [1, 2] })
  assert.equal(status, 202)
  const actions = body['actions'] as Record<string, unknown>[]
  assert.deepEqual(
    actions.map(({ kind, sessionKey, mode }) => [kind, sessionKey ?? mode]),
    [
      ['agent', 'hook:1'],
      ['agent', 'hook:2'],
      ['wake', 'next-heartbeat'],
    ],
  )
  const alone = await post('/hooks/several', { list: [] })
  assert.deepEqual([alone.status, Object.keys(alone.body)], [200, ['ok', 'mode', 'requestId', 'eventId']])
})

test('if one of several actions is refused, none is stored', async (t) => {
  const { post, read } = await install(t, { 'reveille.yaml': configured(several) })
  const { status, body } = await post('/hooks/several', { list: [1, null, 2] })
  assert.deepEqual([status, body['code']], [400, 'SESSION_KEY_NOT_ALLOWED'])
  for (const name of ['runs', 'events'])
    assert.deepEqual((await read<{ items: unknown[] }>(`/api/${name}`)).items, [], name)
})

test('a path parameter is decoded once, and an address may end with one slash', async (t) => {
  const mapping = '- { match: { path: "orders/:id" }, message: "{{params.id}} of {{path}}" }'
  const { post, read } = await install(t, { 'reveille.yaml': configured(mapping) })
  const { body } = await post('/hooks/orders/a%20b%2525/', {})
  const run = await read<RunRecord>(`/api/runs/${body['runId']}`)
  assert.equal(run.message, 'a b%25 of orders/a b%25')
  for (const path of ['orders', 'orders/', 'orders//5', 'orders/5//', 'Orders/5', 'orders/5/6'])
    assert.equal((await post(`/hooks/${path}`, {})).status, 404, path)
})

type Kept = Pick<RequestRecord, 'outcome' | 'reason' | 'bodyKept'>

test('a body that cannot be read is refused alike whether a thread or the main loop reads it', async (t) => {
  const { post, read } = await install(t, {
    'reveille.yaml': configured(`- { match: { path: plain }, message: "{{a}}" }
- { match: { path: evaluated, when: a > 0 }, message: "{{a}}" }`),
  })
  const form = { 'content-type': 'application/x-www-form-urlencoded' }
  for (const [body, headers, code] of [
    ['{"a":', {}, 'INVALID_JSON'],
    [`${'['.repeat(70_000)}`, {}, 'NESTED_TOO_DEEP'],
    ['--x', { 'content-type': 'multipart/form-data; boundary=x' }, 'MULTIPART_BODY'],
    [Array.from({ length: 20_000 }, (_, index) => `a${index}=`).join('&'), form, 'TOO_MANY_FIELDS'],
  ] as const) {
    const [plain, evaluated] = await Promise.all(
      ['plain', 'evaluated'].map(async (endpoint) => {
        const { status, body: answer } = await post(`/hooks/${endpoint}`, body, headers)
        const { requestId, ...rest } = answer
        const { outcome, reason, bodyKept } = await read<Kept>(`/api/requests/${requestId}`)
        return { status, rest, outcome, reason, bodyKept }
      }),
    )
    assert.equal(plain?.rest['code'], code)
    assert.deepEqual(evaluated, plain)
  }
})

test('the explanation of a form says that it was one, also where a thread alone reads the body', async (t) => {
  const { post, ask } = await install(t, {
    'reveille.yaml': configured(`- { match: { path: evaluated, when: 'a = "1"' }, message: "{{a}}" }`),
  })
  const form = { 'content-type': 'application/x-www-form-urlencoded' }
  const { body, headers } = await post('/hooks/evaluated', 'a=2', form)
  assert.equal(body['outcome'], 'ignored')
  const explained = await until(async () => {
    const answer = await ask(`/api/requests/${headers['x-request-id']}/explain`)
    return answer.body['by'] === 'stored' ? answer.body : undefined
  }, 'the stored explanation')
  assert.equal((explained['explanation'] as { isForm?: true }).isForm, true)
})
