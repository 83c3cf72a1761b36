/** Tests that `presets: ["gmail"]` of OpenClaw works with its watcher and its documented example. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hookToken, install } from '../installation.ts'
import { inYaml } from './openclaw-configuration.ts'

const configuration = inYaml(`hooks:
  enabled: true
  token: ${hookToken}
  presets: [gmail]
`)

test('each mail that a watcher posts causes a run in its own session', async (t) => {
  const { post, ended, board } = await install(t, { 'reveille.yaml': configuration })
  const { status, body } = await post('/hooks/gmail', {
    messages: [
      { id: '18c0a1', from: 'Grace', subject: 'Lunch?', snippet: 'Are you', body: 'Are you free at noon?' },
      { id: '18c0a2', from: 'Ada', subject: 'Hello', snippet: 'Hi' },
    ],
  })
  assert.equal(status, 202)
  const actions = body['actions'] as readonly { runId: string; sessionKey: string }[]
  assert.deepEqual(
    actions.map(({ sessionKey }) => sessionKey),
    ['hook:gmail:18c0a1', 'hook:gmail:18c0a2'],
  )
  const runs = await Promise.all(actions.map(({ runId }) => ended(runId)))
  assert.deepEqual(
    runs.map(({ name, mapping, wakeMode }) => [name, mapping, wakeMode]),
    runs.map(() => ['Gmail', 'gmail-message', 'now']),
  )
  for (const { deliver, channel, state } of runs)
    assert.deepEqual([deliver, channel, state], [true, 'last', 'succeeded'])
  const [first, second] = runs
  assert.match(String(first?.message), /^From: Grace\nSubject: Lunch\?\nText: Are you free at noon\?$/m)
  assert.match(String(second?.message), /^From: Ada\nSubject: Hello\nBeginning: Hi$/m)
  assert.doesNotMatch(String(first?.prompt), /^Subject: Lunch/m, 'a sender’s subject is no instruction')
  const replies = (await board()).map(({ to, text }) => [to, text])
  for (const { reply } of runs) assert.ok(replies.some(([to, text]) => to === 'team' && text === reply))
})

test('the documented example, whose message has no id, causes one run in a fresh session', async (t) => {
  const { post, ended } = await install(t, { 'reveille.yaml': configuration })
  const example = { source: 'gmail', messages: [{ from: 'Ada', subject: 'Hello', snippet: 'Hi' }] }
  const keys = new Set<unknown>()
  for (const _ of [1, 2]) {
    const { status, body } = await post('/hooks/gmail', example)
    assert.equal(status, 202)
    keys.add(body['sessionKey'])
    assert.match((await ended(body['runId'])).message, /^From: Ada\nSubject: Hello\nBeginning: Hi$/m)
  }
  assert.equal(keys.size, 2, 'unrelated senders share no session')
})

test("a user's mapping for gmail is tried before the preset's", async (t) => {
  const own = configuration.replace(
    '  presets: [gmail]\n',
    `  presets: [gmail]
  mappings:
    - match: { path: gmail }
      action: agent
      deliver: false
      messageTemplate: "New email from {{messages[0].from}}"
`,
  )
  const { post, ended } = await install(t, { 'reveille.yaml': own })
  const { body } = await post('/hooks/gmail', { messages: [{ id: '18c0a1', from: 'Grace' }] })
  assert.equal((await ended(body['runId'])).message, 'New email from Grace')
})
