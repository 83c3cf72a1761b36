/** Tests repeated requests at the catch-all preset, and many mails at once, over HTTP. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { configuration, install } from '../installation.ts'

const files = (presets: string) => ({
  'reveille.yaml': configuration.replace('hooks: { ', `hooks: { presets: [${presets}], `),
})

test('at /hooks/generic a body with an id counts once, and a body without one counts each time', async (t) => {
  const { post } = await install(t, files('generic'))
  const event = { specversion: '1.0', type: 'org.example.lamp', source: '/pier/3', id: '7' }
  const message = { 'webhook-id': 'msg1', 'webhook-timestamp': '1767261600', 'webhook-signature': 'v1,x' }
  const binary = { 'ce-specversion': '1.0', 'ce-type': 'lamp', 'ce-source': '/pier/3', 'ce-id': '9' }
  for (const [body, headers, second] of [
    [event, {}, 200],
    [{ type: 'lamp.out' }, message, 200],
    [{ lamp: 3 }, binary, 200],
    [{ lamp: 3 }, {}, 202],
    [[{ text: 'hi' }], {}, 202],
    [{ ...event, id: '' }, {}, 202],
  ] as const) {
    const first = await post('/hooks/generic', body, headers)
    const again = await post('/hooks/generic', body, headers)
    assert.deepEqual([first.status, again.status], [202, second], JSON.stringify(body))
    if (second === 200) assert.equal(again.body['outcome'], 'duplicate')
  }
  const batch = await post('/hooks/generic', [event, { ...event, id: '8' }])
  assert.equal(batch.status, 202)
  const [known, fresh] = batch.body['actions'] as { duplicate?: boolean }[]
  assert.deepEqual([known?.duplicate, fresh?.duplicate], [true, undefined])
})

for (const [count, bytes] of [
  [60, 20_000],
  [101, 100],
  [500, 3000],
] as const)
  test(`${count} mails of ${bytes} bytes that a watcher posts at once cause ${count} runs, and none the second time`, async (t) => {
    const { post } = await install(t, files('gmail'))
    const body = 'lamp '.repeat(bytes / 5)
    const messages = Array.from({ length: count }, (_, n) => ({ id: `m${n}`, from: 'Ada', body }))
    const first = await post('/hooks/gmail', { account: 'ada@example.com', messages })
    assert.deepEqual([first.status, (first.body['actions'] as unknown[])?.length], [202, count])
    assert.equal((await post('/hooks/gmail', { account: 'ada@example.com', messages })).status, 200)
  })
