/** Tests that a burst of requests with one key becomes one run with all of them, even if the process is killed meanwhile. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page, RunRecord } from '../../runtime/store/port.ts'
import { createKillableGateway } from './gateway.ts'

const pushes = 50
const commitOf = (number: number) => `c${String(number).padStart(3, '0')}`

/** `window`, in seconds, has to be longer than a restart of the gateway. */
export function testBurst(options: { readonly window: number; readonly betweenMs: number }): void {
  const hooks = `  mappings:
    - id: pushed
      match: { path: push }
      coalesce: { key: "repository & ':' & ref", window: ${options.window}s, maxWait: 5m, keep: all }
      message: "Commit {{commit}} by {{author}} on {{ref}}"
      deliver: false
      wakeMode: next-heartbeat
`
  test(`${pushes} pushes to one branch become one run that lists all of them, though the process is killed in between`, async (t) => {
    const gateway = await createKillableGateway(t, { more: 'agents: { defaults: { runner: echo } }', hooks })
    await gateway.start()
    const answers = []
    for (let number = 1; number <= pushes; number += 1) {
      const author = number % 2 ? 'ada' : 'bo'
      const body = { repository: 'lights', ref: 'main', commit: commitOf(number), author }
      answers.push(await gateway.post('/hooks/push', body))
      if (number === pushes / 2) {
        await gateway.kill('SIGKILL')
        await gateway.start()
      }
      await new Promise((resolve) => setTimeout(resolve, options.betweenMs))
    }
    const other = await gateway.post('/hooks/push', { repository: 'lights', ref: 'next', commit: 'c999' })
    assert.notEqual(other.body['runId'], answers[0]?.body['runId'], 'another branch is another run')

    const [first] = answers
    assert.deepEqual([first?.status, first?.body['coalesced']], [202, undefined])
    const id = first?.body['runId']
    for (const { status, body } of answers.slice(1)) {
      assert.deepEqual([status, body['runId'], body['coalesced']], [202, id, true])
    }

    const run = await gateway.ended(id)
    assert.equal(run.state, 'succeeded')
    assert.equal(run.coalesce?.count, pushes)
    const requestIds = answers.map(({ body }) => body['requestId'])
    assert.deepEqual(run.coalesce?.requestIds, requestIds)
    const named = [...new Set(run.reply?.match(/\bc\d{3}\b/g))]
    const commits = answers.map((_, index) => commitOf(index + 1))
    assert.deepEqual(named, commits, 'the agent read of all of them, the oldest first')
    await gateway.ended(other.body['runId'])
    const { items } = await gateway.read<Page<RunRecord>>('/api/runs?kind=run')
    assert.equal(items.length, 2)
  })
}
