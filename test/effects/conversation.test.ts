/** Tests that runs of one session key are one conversation: in order, one at a time, each with its history. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { RunRecord } from '../../runtime/store/port.ts'
import { gatewayToken, hookToken, install, rehearsalPlugin } from '../installation.ts'

const withRunner = (runner: string) => `gateway: { port: 0, auth: { token: ${gatewayToken} } }
hooks: { enabled: true, token: ${hookToken} }
plugins: ["${rehearsalPlugin}"]
agents:
  defaults: { runner: ${runner}, concurrency: 16 }
  runners: { ${runner}: { kind: ${runner}, folder: "{folder}" } }
`
const quiet = { deliver: false, wakeMode: 'next-heartbeat' }

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
