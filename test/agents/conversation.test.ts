/** Tests that a conversation over a real model protocol survives the process in which it began. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createKillableGateway } from './gateway.ts'
import { startModelServer } from './model-server.ts'

test('the model sees all earlier turns of a session key, though the process is killed between them', async (t) => {
  const model = await startModelServer(t)
  const gateway = await createKillableGateway(t, {
    more: `agents:
  defaults: { runner: ai, model: local/small, systemPrompt: Answer in one line. }
  providers: { local: { kind: openai-compatible, baseUrl: "${model.url}", apiKey: none } }
`,
  })
  const questions = ['Who keeps the light?', 'Since when?', 'And before?']
  for (const message of questions) {
    await gateway.start()
    const { status, body } = await gateway.post('/hooks/agent', {
      message,
      sessionKey: 'hook:lighthouse',
      deliver: false,
      wakeMode: 'next-heartbeat',
    })
    assert.equal(status, 202)
    const run = await gateway.run(body['runId'], ({ stage }) => stage === 'delivered')
    assert.deepEqual([run.state, run.reply], ['succeeded', `answer ${model.shown.length}`])
    await gateway.kill('SIGKILL')
  }

  const [, , last] = model.shown
  assert.deepEqual(
    last?.map(({ role }) => role),
    ['system', 'user', 'assistant', 'user', 'assistant', 'user'],
  )
  const [system, ...said] = last ?? []
  assert.equal(system?.content, 'Answer in one line.')
  for (const [index, question] of questions.entries()) {
    assert.ok(said[index * 2]?.content.includes(question), question)
  }
  assert.deepEqual([said[1]?.content, said[3]?.content], ['answer 1', 'answer 2'])
})
