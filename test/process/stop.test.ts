/** Tests that a stopped gateway loses nothing: running turns may end, and the next gateway takes up the rest. */

import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { before, type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { RunRecord } from '../../runtime/store/port.ts'
import { atEnd } from '../at-end.ts'
import { createSender } from '../durability/sender.ts'
import { createFolder, hookToken, rehearsalPlugin, until } from '../installation.ts'
import { startsFile } from '../rehearsal-plugin/runners.ts'
import { readLines } from '../text-file.ts'
import { bareConfiguration, build, limit, startReveille } from './reveille-process.ts'

const configuration = `${bareConfiguration}plugins: ["${rehearsalPlugin}"]
channels: { board: { folder: "{folder}", defaultTo: team } }
agents:
  defaults: { runner: patient }
  runners: { patient: { kind: patient, folder: "{folder}" } }
`

before(build)

const openFolder = (t: TestContext) => createFolder(t, { 'reveille.yaml': configuration })

type Started = Awaited<ReturnType<typeof startReveille>>

/** Posts one run and waits until its turn has begun. */
async function postRun(folder: string, { post }: Started, sessionKey: string): Promise<string> {
  const message = { message: 'go', channel: 'board', wakeMode: 'next-heartbeat', sessionKey }
  const runId = String((await post('/hooks/agent', message)).body['runId'])
  await until(
    async () => (await readLines(folder, startsFile)).includes(`${runId} ${sessionKey}`) || undefined,
    'the turn',
  )
  return runId
}

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  test(
    `${signal}: running turns end, no 2xx is lost, later requests are refused, and the exit code is 0`,
    limit,
    async (t) => {
      const folder = await openFolder(t)
      const gateway = await startReveille(t, folder)
      const runId = await postRun(folder, gateway, 'hook:slow')

      let count = 0
      const next = () => ({ path: '/hooks/wake', body: { text: `${++count}`, mode: 'next-heartbeat' } })
      const sender = createSender({ url: gateway.address, token: hookToken, connections: 4, next })
      atEnd(t, () => sender.stop())
      await sender.answered()
      gateway.send(signal)
      await gateway.line('gateway-draining')
      const late = await fetch(`${gateway.address}/hooks/wake`, { method: 'POST' }).catch(() => undefined)
      assert.ok(late === undefined || late.status === 503, 'the door is closed')

      await writeFile(join(folder, 'go'), '*')
      assert.deepEqual(await gateway.ended, { code: 0, signal: null }, gateway.stderr())
      await sender.stop()
      assert.deepEqual(sender.unexpected, [], 'every answer was a 2xx or a 503')

      const after = await startReveille(t, folder)
      const run = await after.read<RunRecord>(`/api/runs/${runId}`)
      assert.deepEqual([run.state, run.reply, run.attempts.length], ['succeeded', 'done', 1])
      // The last requests had the least time to reach the disk.
      for (const { requestId, eventId } of sender.acknowledged.slice(-200)) {
        const { outcome } = await after.read<{ outcome: string }>(`/api/requests/${requestId}`)
        assert.equal(outcome, 'accepted')
        await after.read(`/api/events/${eventId}`)
      }
      assert.ok(sender.acknowledged.length > 0)
    },
  )
}

test(
  'a turn that outlasts the grace period is left resumable, and the next start ends it',
  limit,
  async (t) => {
    const folder = await openFolder(t)
    const entry = fileURLToPath(new URL('./short-grace-gateway.ts', import.meta.url))
    const hasty = await startReveille(t, folder, { entry })
    const [quick, slow] = [
      await postRun(folder, hasty, 'hook:quick'),
      await postRun(folder, hasty, 'hook:slow'),
    ]
    await writeFile(join(folder, 'go'), 'hook:quick\n')
    hasty.send('SIGTERM')
    assert.deepEqual(await hasty.ended, { code: 0, signal: null }, hasty.stderr())
    assert.equal((await hasty.line('run-interrupted'))['runId'], slow)

    await writeFile(join(folder, 'go'), '*')
    const after = await startReveille(t, folder)
    const run = await until(async () => {
      const run = await after.read<RunRecord>(`/api/runs/${slow}`)
      return run.stage === 'delivered' ? run : undefined
    }, 'the end of the run')
    assert.deepEqual([run.state, run.reply], ['succeeded', 'done'])
    assert.deepEqual(
      run.attempts.map(({ outcome, reason }) => [outcome, reason]),
      [
        ['interrupted', 'the gateway stopped before the turn ended'],
        ['succeeded', undefined],
      ],
    )
    const first = await after.read<RunRecord>(`/api/runs/${quick}`)
    assert.deepEqual([first.state, first.attempts.length], ['succeeded', 1])
    const asked = (await readLines(folder, startsFile)).map((line) => line.split(' ')[0])
    assert.deepEqual(asked, [quick, slow, slow])
  },
)
