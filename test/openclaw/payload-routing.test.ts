/** Tests the one difference to OpenClaw: a payload chooses recipient and model only if the mapping allows it. */

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { createGateway } from '../../runtime/gateway.ts'
import { ConfigurationError } from '../../runtime/reload/start.ts'
import type { DeliveryRecord } from '../../runtime/store/port.ts'
import { createFolder, hookToken, install } from '../installation.ts'
import { inYaml } from './openclaw-configuration.ts'

const fields = {
  to: '"{{reply.to}}"',
  channel: '"{{reply.channel}}"',
  model: '"openai/{{reply.model}}"',
} as const

function configured(mapping: string): string {
  return inYaml(`hooks:
  enabled: true
  token: ${hookToken}
  mappings:
    - match: { path: ask }
      messageTemplate: "{{question}}"
${mapping}`)
}

for (const [name, template] of Object.entries(fields)) {
  test(`a placeholder in \`${name}\` is refused at load, and the error names the key that allows it`, async (t) => {
    const content = configured(`      ${name}: ${template}\n`)
    const folder = await createFolder(t, { 'reveille.yaml': content })
    const loading = createGateway({
      configFile: join(folder, 'reveille.yaml'),
      env: {},
      watch: false,
      logStream: { write() {} },
    })
    await assert.rejects(loading, (error) => {
      assert.ok(error instanceof ConfigurationError)
      const [problem, ...others] = error.diagnostics.filter(({ severity }) => severity === 'error')
      assert.deepEqual(others, [])
      assert.equal(problem?.code, 'PAYLOAD_ROUTING')
      assert.match(`${problem?.message} ${problem?.hint}`, new RegExp(`${name}.*allowPayloadRouting: true`))
      assert.equal(problem?.place?.text?.trim(), `${name}: ${template}`)
      return true
    })
  })
}

test('with allowPayloadRouting: true the payload chooses channel, recipient and model', async (t) => {
  const lines = Object.entries(fields).map(([name, template]) => `      ${name}: ${template}\n`)
  const content = configured(`      allowPayloadRouting: true\n${lines.join('')}`)
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
