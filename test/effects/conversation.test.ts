/** Tests that runs of one session key are one conversation: in order, one at a time, each with its history. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { RunRecord } from '../../runtime/store/port.ts'
import { gatewayToken, hookToken, install, rehearsalPlugin, until } from '../installation.ts'
import { startsFile } from '../rehearsal-plugin/runners.ts'
import { readLines } from '../text-file.ts'

const withRunner = (runner: string) => `gateway: { port: 0, auth: { token: ${gatewayToken} } }
hooks: { enabled: true, token: ${hookToken} }
plugins: ["${rehearsalPlugin}"]
agents:
  defaults: { runner: ${runner}, concurrency: 16 }
  runners: { ${runner}: { kind: ${runner}, folder: "{folder}" } }
`
const quiet = { deliver: false, wakeMode: 'next-heartbeat' }

test('a session key that is used again continues its conversation, and no other', async (t) => {
  const { post, read, ended } = await install(t, { 'reveille.yaml': withRunner('counting-turns') })
  const replies: Record<string, unknown[]> = { 'hook:a': [], 'hook:b': [] }
  for (const sessionKey of ['hook:a', 'hook:a', 'hook:b', 'hook:a']) {
    const { body } = await post('/hooks/agent', { ...quiet, message: 'next', sessionKey })
    replies[sessionKey]?.push((await ended(body['runId'])).reply)
  }
  assert.deepEqual(replies, { 'hook:a': ['0 earlier', '1 earlier', '2 earlier'], 'hook:b': ['0 earlier'] })
  const { messages } = await read<{ messages: { role: string; text: string }[] }>('/api/sessions/hook:a')
  assert.deepEqual(
    messages.filter(({ role }) => role === 'assistant').map(({ text }) => text),
    replies['hook:a'],
  )
  for (let turn = 0; turn < 2; turn += 1) {
    const { body } = await post('/hooks/agent', { ...quiet, message: 'alone' })
    assert.equal(
      (await ended(body['runId'])).reply,
      '0 earlier',
      'without a key every run has a session of its own',
    )
  }
})

test('50 posts to 5 session keys run in the order of their answers, one at a time for each key', async (t) => {
  const { post, ended } = await install(t, { 'reveille.yaml': withRunner('counting-turns') })
  const lanes = new Map<string, unknown[]>()
  await Promise.all(
    Array.from({ length: 5 }, async (_, lane) => {
      const sessionKey = `hook:lane:${lane}`
      const ids: unknown[] = []
      lanes.set(sessionKey, ids)
      for (let number = 0; number < 10; number += 1) {
        const { status, body } = await post('/hooks/agent', { ...quiet, message: `${number}`, sessionKey })
        assert.equal(status, 202)
        ids.push(body['runId'])
      }
    }),
  )
  for (const [sessionKey, ids] of lanes) {
    let before: RunRecord | undefined
    for (const [number, id] of ids.entries()) {
      const run = await ended(id)
      // The run saw exactly the turns posted before it: none overtook it, and none ran beside it.
      assert.equal(run.reply, `${number} earlier`, `run ${number} of ${sessionKey}`)
      assert.equal(run.message, `${number}`)
      assert.ok(Number(run.startedAt) >= Number(before?.ranAt ?? 0))
      before = run
    }
  }
})

test('a waiting lane does not delay another', async (t) => {
  const { folder, post, ended, read, write } = await install(t, { 'reveille.yaml': withRunner('patient') })
  const send = async (sessionKey: string) =>
    (await post('/hooks/agent', { ...quiet, message: 'go', sessionKey })).body['runId']
  const [first, second] = [await send('hook:slow'), await send('hook:slow')]
  await write('go', 'hook:quick')
  assert.equal((await ended(await send('hook:quick'))).state, 'succeeded')

  assert.deepEqual(
    (await readLines(folder, startsFile)).filter((line) => line.endsWith('hook:slow')),
    [`${first} hook:slow`],
  )
  assert.equal((await read<RunRecord>(`/api/runs/${second}`)).state, 'queued')
  await write('go', '*')
  assert.deepEqual([(await ended(first)).reply, (await ended(second)).reply], ['done', 'done'])
})

test('a turn that exceeds its time ends the run as timed out, is not retried, and frees its lane', async (t) => {
  const { folder, post, ended, read, write } = await install(t, { 'reveille.yaml': withRunner('patient') })
  const run = { ...quiet, message: 'go', sessionKey: 'hook:slow' }
  const late = (await post('/hooks/agent', { ...run, timeoutSeconds: 1 })).body['runId']
  const next = (await post('/hooks/agent', run)).body['runId']

  const ending = await ended(late)
  assert.deepEqual([ending.state, ending.error?.retryable, ending.reply], ['timed-out', false, undefined])
  assert.deepEqual(
    ending.attempts.map(({ outcome }) => outcome),
    ['timed-out'],
  )
  const took = Number(ending.ranAt) - Number(ending.startedAt)
  assert.ok(took >= 1000 && took < 1500, `${took} ms`)
  const summary = await read<{ text: string }>(`/api/events/${ending.summaryEventId}`)
  assert.match(summary.text, /^Hook \(error\): /)
  assert.deepEqual(ending.deliveryIds, [])

  await until(async () => (await readLines(folder, startsFile)).length === 2 || undefined, 'the next turn')
  await write('go', '*')
  assert.equal((await ended(next)).state, 'succeeded')
})
