/** The rules about models and thinking, from the configuration to the sender's answer. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { configuration, install } from '../../test/installation.ts'
import type { RunRecord } from '../store/port.ts'

const file = configuration.replace(
  'agents: {',
  'agents: { defaults: { models: { openai/gpt-5: { alias: careful }, local/a/b: {} } },',
)

const mapping = `mappings:
  - id: chosen
    match: { path: chosen }
    allowPayloadRouting: true
    message: "Look"
    model: "{{model}}"
    thinking: "{{thinking}}"
    deliver: false
    wakeMode: next-heartbeat
`

test('a model that is not allowed and an unknown thinking level are refused with the pointer to the field', async (t) => {
  const { post, read } = await install(t, { 'reveille.yaml': file, 'mappings/chosen.yaml': mapping })
  const ask = (endpoint: string, fields: object) =>
    post(`/hooks/${endpoint}`, { message: 'x', deliver: false, wakeMode: 'next-heartbeat', ...fields })

  for (const endpoint of ['agent', 'chosen']) {
    for (const [fields, code] of [
      [{ model: 'openai/gpt-4' }, 'MODEL_NOT_ALLOWED'],
      [{ model: 'gpt-5' }, 'MODEL_NOT_ALLOWED'],
      [{ model: 'Careful' }, 'MODEL_NOT_ALLOWED'],
      [{ thinking: 'hard' }, 'UNKNOWN_THINKING'],
    ] as const) {
      const { status, body, text } = await ask(endpoint, fields)
      const [name = '', value = ''] = Object.entries(fields)[0] ?? []
      assert.deepEqual([status, body['code']], [400, code], `${endpoint} ${name}: ${value}`)
      const [detail] = body['details'] as { pointer: string; message: string }[]
      assert.equal(detail?.pointer, `/${name}`)
      assert.ok(!text.includes(value), 'the answer does not quote the body')
    }
    for (const [model, thinking, known] of [
      ['openai/gpt-5', 'xhigh', 'openai/gpt-5'],
      ['careful', 'off', 'openai/gpt-5'],
      ['local/a/b', 'minimal', 'local/a/b'],
    ]) {
      const { status, body } = await ask(endpoint, { model, thinking })
      assert.equal(status, 202)
      const run = await read<RunRecord>(`/api/runs/${body['runId']}`)
      assert.deepEqual([run.model, run.thinking], [known, thinking])
    }
  }
})
