/** Tests the one difference to OpenClaw: a payload chooses recipient and model only if the mapping allows it. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { DeliveryRecord } from '../../runtime/store/port.ts'
import { hookToken, install } from '../installation.ts'
import { inYaml } from './openclaw-configuration.ts'

test('with allowPayloadRouting: true the payload chooses channel, recipient and model', async (t) => {
  const content = inYaml(`hooks:
  enabled: true
  token: ${hookToken}
  mappings:
    - match: { path: ask }
      messageTemplate: "{{question}}"
      allowPayloadRouting: true
      to: "{{reply.to}}"
      channel: "{{reply.channel}}"
      model: "openai/{{reply.model}}"
`)
  const { post, read, ended } = await install(t, { 'reveille.yaml': content })
  const asked = await post('/hooks/ask', {
    question: 'Which tide?',
    reply: { to: 'ada', channel: 'board', model: 'gpt-5.2-mini' },
  })
  assert.equal(asked.status, 202)
  const run = await ended(asked.body['runId'])
  assert.deepEqual([run.channel, run.to, run.model], ['board', 'ada', 'openai/gpt-5.2-mini'])
  const delivery = await read<DeliveryRecord>(`/api/deliveries/${run.deliveryIds[0]}`)
  assert.deepEqual([delivery.state, delivery.channel, delivery.to], ['delivered', 'board', 'ada'])

  const nowhere = await post('/hooks/ask', {
    question: 'Which tide?',
    reply: { channel: 'pigeon', model: 'x' },
  })
  assert.deepEqual([nowhere.status, nowhere.body['code']], [400, 'UNKNOWN_CHANNEL'])
})
