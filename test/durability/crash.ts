/**
 * Tests that under `kill -9` no acknowledged request is lost, and no runner is called twice without a recorded reason.
 */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { EventRecord, RequestRecord, RunRecord } from '../../runtime/store/port.ts'
import { killAtRandom, seeded, token, useKilledGateways } from './killed-gateway.ts'
import { createSender } from './sender.ts'

/** The same seed gives the same kills at the same moments. */
export function testCrashes(kills: number): void {
  const install = useKilledGateways()

  test(`every acknowledged request survives ${kills} kills at random moments and causes exactly one run`, async (t) => {
    const gateway = await install()
    await gateway.start()
    let count = 0
    const next = () => {
      count += 1
      if (count % 4 === 0)
        return {
          path: '/hooks/wake',
          body: { text: `wake ${count}`, mode: count % 64 ? 'next-heartbeat' : 'now' },
        }
      const message = {
        message: `run ${count}`,
        wakeMode: 'next-heartbeat',
        channel: 'terminal',
        to: 'stdout',
      }
      const body = count % 3 ? message : { ...message, sessionKey: `hook:lane:${count % 7}` }
      return { path: '/hooks/agent', body }
    }
    const sender = createSender({ url: gateway.url, token, connections: 16, next })
    t.after(() => sender.stop())
    await killAtRandom(gateway, { kills, random: seeded(20261121), next: sender.answered })
    await sender.stop()
    await gateway.everythingEnded()
    await gateway.endInOrder()
    assert.deepEqual(sender.unexpected, [])
    assert.ok(sender.acknowledged.length > kills, 'the sender was answered between kills')

    await gateway.start()
    const asked = await gateway.asked()
    const requests = await gateway.readAll<RequestRecord>('requests')
    const events = await gateway.readAll<EventRecord>('events')
    const runs = await gateway.readAll<RunRecord>('runs')
    let twice = 0
    for (const { requestId, runId, eventId } of sender.acknowledged) {
      assert.equal(requests.get(requestId)?.outcome, 'accepted', `request ${requestId} was acknowledged`)
      if (eventId) assert.ok(events.has(eventId), `event ${eventId} was acknowledged`)
      if (!runId) continue
      const run = runs.get(runId)
      assert.equal(run?.state, 'succeeded', `run ${runId}`)
      const times = asked.get(runId) ?? 0
      assertExcused(`run ${runId}`, run, times)
      if (times > 1) twice += 1
    }
    await gateway.kill('SIGKILL')
    t.diagnostic(
      `${sender.acknowledged.length} acknowledged, ${twice} of the runs asked the model again, each with a recorded reason`,
    )
  })
}

/** Asserts that a run was performed, and again only as often as an attempt of it was interrupted, with a reason. */
export function assertExcused(name: string, run: RunRecord, times: number): void {
  const excused = run.attempts.filter(({ outcome, reason }) => outcome === 'interrupted' && reason).length
  assert.ok(times >= 1, `${name} was performed`)
  assert.ok(times <= 1 + excused, `${name} was performed ${times} times, ${excused} with a reason`)
}
