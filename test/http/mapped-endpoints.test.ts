/** Tests what mapped endpoints answer and store, over HTTP. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { RequestRecord, RunRecord } from '../../runtime/store/port.ts'
import { gatewayToken, hookToken, install, until } from '../installation.ts'

const configuration = `gateway: { port: 0, auth: { token: ${gatewayToken} } }
hooks:
  enabled: true
  token: ${hookToken}
  endpoints: { "orders/:id": { maxBodyBytes: 20 } }
  mappings:
    - { match: { path: "orders/:id" }, message: "{{params.id}} of {{path}}" }
    - { match: { path: form }, vars: { twice: id & id }, message: "{{id}} {{vars.twice}}" }
    - { match: { path: typed }, message: "{{text}}" }
    - { match: { path: several }, continue: true, forEach: list, message: "{{item}}", sessionKey: "hook:{{item}}" }
    - { match: { path: several }, action: wake, text: Counted, mode: next-heartbeat }
    - { match: { path: plain }, message: "{{a}}" }
    - { match: { path: evaluated, when: a > "0" }, message: "{{a}}" }
`
const form = { 'content-type': 'application/x-www-form-urlencoded' }

test('at one gateway', async (t) => {
  const { ask, post, read } = await install(t, { 'reveille.yaml': configuration })
  const messageOf = async (runId: unknown) => (await read<RunRecord>(`/api/runs/${runId}`)).message

  await t.test(
    'if one of several actions is refused none is stored; all are listed in order, and a single one plainly',
    async () => {
      const refused = await post('/hooks/several', { list: [1, null, 2] })
      assert.deepEqual([refused.status, refused.body['code']], [400, 'SESSION_KEY_NOT_ALLOWED'])
      for (const name of ['runs', 'events'])
        assert.deepEqual((await read<{ items: unknown[] }>(`/api/${name}`)).items, [], name)
      const { status, body } = await post('/hooks/several', { list: [1, 2] })
      assert.equal(status, 202)
      const actions = body['actions'] as Record<string, unknown>[]
      assert.deepEqual(
        actions.map(({ kind, sessionKey, mode }) => `${kind} ${sessionKey ?? mode}`),
        ['agent hook:1', 'agent hook:2', 'wake next-heartbeat'],
      )
      const alone = await post('/hooks/several', { list: [] })
      assert.deepEqual([alone.status, Object.keys(alone.body)], [200, ['ok', 'mode', 'requestId', 'eventId']])
    },
  )

  await t.test(
    'a limit of a policy with path parameters holds for each endpoint that it covers',
    async () => {
      assert.equal((await post('/hooks/orders/5', { a: 1 })).status, 202)
      assert.equal((await post('/hooks/orders/5', { a: 'x'.repeat(20) })).status, 413)
    },
  )

  await t.test('a path parameter is decoded once, and an address may end with one slash', async () => {
    const { body } = await post('/hooks/orders/a%20b%2525/', {})
    assert.equal(await messageOf(body['runId']), 'a b%25 of orders/a b%25')
    for (const path of ['orders', 'orders/', 'orders//5', 'orders/5//', 'Orders/5', 'orders/5/6'])
      assert.equal((await post(`/hooks/${path}`, {})).status, 404, path)
  })

  await t.test('integers beyond 2^53 keep their digits in the JSON of a form field', async () => {
    const payload = new URLSearchParams({ payload: '{"id":820982911946154508}' }).toString()
    const { body } = await post('/hooks/form', payload, form)
    assert.equal(await messageOf(body['runId']), '820982911946154508 820982911946154508820982911946154508')
  })

  await t.test(
    'JSON and forms are read whatever their content type says, and all else is refused',
    async () => {
      const json = '{"text":"hi"}'
      const { 'content-type': ofForm } = form
      const cases: [type: string | undefined, payload: string, expected: string][] = [
        [undefined, json, 'hi'],
        ['application/json', json, 'hi'],
        ['application/json; charset=utf-8; version=1', json, 'hi'],
        ['application/cloudevents+json', json, 'hi'],
        ['text/plain', json, 'hi'],
        ['', json, 'hi'],
        [';;;/=garbage"', json, 'hi'],
        ['application/json, text/plain', json, 'hi'],
        [ofForm, 'text=hi', 'hi'],
        [`${ofForm.toUpperCase()} ; charset=UTF-8`, 'text=hi', 'hi'],
        [ofForm, json, 'hi'],
        [undefined, 'text=hi', 'INVALID_JSON'],
        ['text/plain', 'hi', 'INVALID_JSON'],
        [';;;/=garbage"', 'hi', 'INVALID_JSON'],
        ['multipart/form-data; boundary=x', '--x--', 'MULTIPART_BODY'],
      ]
      for (const [type, payload, expected] of cases) {
        const right = { authorization: `Bearer ${hookToken}` }
        const headers = type === undefined ? right : { ...right, 'content-type': type }
        const { code, runId } = (await ask('/hooks/typed', { method: 'POST', headers, payload })).body
        assert.equal(runId === undefined ? code : await messageOf(runId), expected, `${type}: ${payload}`)
      }
    },
  )

  await t.test(
    'a body that cannot be read is refused alike whether a thread or the main loop reads it',
    async () => {
      type Kept = Pick<RequestRecord, 'outcome' | 'reason' | 'bodyKept'>
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
    },
  )

  await t.test(
    'the explanation of a form says that it was one, also where a thread alone reads the body',
    async () => {
      const { body, headers } = await post('/hooks/evaluated', 'a=0', form)
      assert.equal(body['outcome'], 'ignored')
      const explained = await until(async () => {
        const answer = await ask(`/api/requests/${headers['x-request-id']}/explain`)
        return answer.body['by'] === 'stored' ? answer.body : undefined
      }, 'the stored explanation')
      assert.partialDeepStrictEqual(explained, { explanation: { isForm: true } })
    },
  )
})
