/** Tests many runs of many sessions at one time: each session in order, no run lost or performed twice. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page, RunRecord } from '../../runtime/store/port.ts'
import { gatewayToken, hookToken, install, rehearsalPlugin, until } from '../installation.ts'

const runs = 2000
const sessions = 200
const perSession = runs / sessions

const configuration = `gateway: { port: 0, auth: { token: ${gatewayToken} }, log: { level: warn } }
hooks: { enabled: true, token: ${hookToken} }
plugins: ["${rehearsalPlugin}"]
agents:
  defaults: { runner: counting-turns, concurrency: 64 }
  runners: { counting-turns: { kind: counting-turns, folder: "{folder}" } }
`

test(`${runs} runs over ${sessions} session keys are performed in order for each key, none lost or performed twice`, async (t) => {
  const { post, read } = await install(t, { 'reveille.yaml': configuration })
  const posted = new Map<string, string[]>()
  await Promise.all(
    Array.from({ length: sessions }, async (_, session) => {
      const sessionKey = `hook:${session}`
      const ids: string[] = []
      posted.set(sessionKey, ids)
      for (let number = 0; number < perSession; number += 1) {
        const quiet = { deliver: false, wakeMode: 'next-heartbeat' }
        const { status, body } = await post('/hooks/agent', { message: `${number}`, sessionKey, ...quiet })
        assert.equal(status, 202)
        ids.push(String(body['runId']))
      }
    }),
  )
  await until(async () => {
    const open = await Promise.all(
      ['queued', 'running'].map((state) => read<Page<RunRecord>>(`/api/runs?limit=1&state=${state}`)),
    )
    return open.every(({ items }) => items.length === 0) || undefined
  }, 'the last run')

  let found = 0
  for (const [sessionKey, ids] of posted) {
    const { items } = await read<Page<RunRecord>>(`/api/runs?limit=500&sessionKey=${sessionKey}`)
    // The run saw exactly the turns posted before it: none overtook it, ran beside it or was performed twice.
    assert.deepEqual(
      items.toReversed().map(({ id, reply, state, attempts }) => [id, reply, state, attempts.length]),
      ids.map((id, number) => [id, `${number} earlier`, 'succeeded', 1]),
      sessionKey,
    )
    const { messages } = await read<{ messages: unknown[] }>(`/api/sessions/${sessionKey}`)
    assert.equal(messages.length, perSession * 2)
    found += items.length
  }
  assert.equal(found, runs)
})
