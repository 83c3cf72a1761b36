import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { ownEvent } from '../../session/summary.ts'
import {
  broken,
  openTestBed,
  outcomesOf,
  type Setting,
  startTestBed,
  type TestBed,
  untilAborted,
} from '../test-bed.ts'

const minute = 60_000
const acknowledging = { run: async () => ({ reply: 'HEARTBEAT_OK' }) }

/** Waits until so many heartbeats have ended in a state, and returns all of them. */
function untilHeartbeats(bed: Pick<TestBed, 'until' | 'heartbeats'>, count: number, state = 'succeeded') {
  return bed.until(async () => {
    const heartbeats = await bed.heartbeats()
    return heartbeats.filter((heartbeat) => heartbeat.state === state).length === count && heartbeats
  })
}

test('an event that asks for now is shown at once, and consumed by the turn that saw it', async (t) => {
  const bed = await startTestBed(t, acknowledging)
  const id = await bed.ring('the door bell rang')
  const [heartbeat] = await untilHeartbeats(bed, 1)
  const event = await bed.read().event(id)
  assert.deepEqual([event?.state, event?.consumedBy], ['consumed', heartbeat?.id])
  const made = { kind: 'heartbeat', sessionKey: 'main', stage: 'delivered', eventIds: [id], generation: 3 }
  assert.partialDeepStrictEqual(heartbeat, made)
  const [turn] = bed.turns
  assert.equal(turn?.prompt, '1 system event:\n\n1. 2026-01-01T00:00:00.000Z\n[the door bell rang]\n\nBeat.')
  const [text, at] = ['the door bell rang', event?.createdAt]
  assert.deepEqual(turn?.events, [{ id, text, prompt: `[${text}]`, mode: 'now', at }])
  assert.deepEqual([turn?.timeoutSeconds, turn?.action], [60, undefined])
  assert.equal(bed.log('heartbeat-succeeded')[0]?.['events'], 1)
})

test('a heartbeat says of an issue that opened whether it has been resolved since', async (t) => {
  const bed = await startTestBed(t, { ...acknowledging, heartbeat: { everyMs: 30 * minute } })
  const at = bed.clock.now()
  const issue = { code: 'RELOAD_REFUSED', severity: 'degraded', cause: 'c', next: { label: 'n' } } as const
  for (const subject of ['files', 'others']) {
    const key = `RELOAD_REFUSED:${subject}`
    const facts = { id: randomUUID(), at, issue: key }
    const event = ownEvent({ generation: 1 }, `${subject} were refused.`, facts)
    const changes = [{ ...issue, key, subject, count: 1, report: { event, day: '2026-01-01' } }]
    await bed.command({ type: 'issues', at, changes })
  }
  await bed.command({ type: 'issues', at, changes: [{ key: 'RELOAD_REFUSED:files', resolve: true }] })
  bed.clock.advance(30 * minute)
  await untilHeartbeats(bed, 1)
  const [turn] = bed.turns
  assert.deepEqual(turn?.events?.map(({ text }) => text).toSorted(), [
    'files were refused. This has been resolved since.',
    'others were refused.',
  ])
  assert.match(turn?.prompt ?? '', /\nfiles were refused\. This has been resolved since\.\n/)
})

test('an event for the next heartbeat waits for the timer, which asks nothing without events', async (t) => {
  const bed = await startTestBed(t, { ...acknowledging, heartbeat: { everyMs: 30 * minute } })
  bed.clock.advance(30 * minute)
  await bed.until(async () => bed.log('heartbeat-skipped').length === 1)
  await bed.acceptEvent('later', 'next-heartbeat')
  bed.clock.advance(30 * minute - 1)
  assert.deepEqual(bed.turns, [])
  bed.clock.advance(1)
  await untilHeartbeats(bed, 1)
  assert.equal(bed.turns.length, 1)
})

test('an idle heartbeat asks at every tick of the timer', async (t) => {
  const bed = await startTestBed(t, { ...acknowledging, heartbeat: { everyMs: 30 * minute, idle: true } })
  for (const count of [1, 2, 3]) {
    bed.clock.advance(30 * minute)
    await untilHeartbeats(bed, count)
  }
  assert.match(bed.turns[0]?.prompt ?? '', /^No system events are pending\./)
})

test('fifty events are shown, those that asked for now first, and the number of the others is named', async (t) => {
  const bed = await startTestBed(t, acknowledging)
  await Promise.all(Array.from({ length: 60 }, (_, n) => bed.acceptEvent(`old${n}`, 'next-heartbeat')))
  await bed.ring('urgent')
  const [heartbeat] = await untilHeartbeats(bed, 1)
  assert.deepEqual([heartbeat?.eventIds?.length, bed.turns[0]?.events[0]?.text], [50, 'urgent'])
  assert.match(bed.turns[0]?.prompt ?? '', /^50 system events; 11 more waiting/)
  assert.equal((await bed.read().events({ state: 'pending' })).items.length, 11)
  assert.equal(bed.log('heartbeat-succeeded')[0]?.['waiting'], 11)
})

test('events that asked for now and did not fit make the next heartbeat due at once', async (t) => {
  const bed = await startTestBed(t, acknowledging)
  await Promise.all(Array.from({ length: 51 }, (_, n) => bed.acceptEvent(`e${n}`)))
  bed.clock.advance(250)
  await untilHeartbeats(bed, 1)
  bed.clock.advance(250)
  const shown = (await untilHeartbeats(bed, 2)).map(({ eventIds }) => eventIds?.length)
  assert.deepEqual(shown, [50, 1])
})

test('a heartbeat that fails consumes nothing and backs off, up to half an hour', async (t) => {
  let isBroken = true
  const bed = await startTestBed(t, {
    async run() {
      if (isBroken) throw broken('bad-credential', { retryable: false })
      return { reply: 'HEARTBEAT_OK' }
    },
  })
  await bed.ring('important')
  const waits: unknown[] = []
  for (let count = 1; count <= 11; count += 1) {
    await untilHeartbeats(bed, count, 'failed')
    const wait = Number(bed.log('heartbeat-failed').at(-1)?.['inMs'])
    waits.push(wait / 1000)
    bed.clock.advance(wait - 1)
    assert.equal(bed.turns.length, count)
    if (count === 11) isBroken = false
    bed.clock.advance(1)
  }
  assert.deepEqual(waits, [5, 10, 20, 40, 80, 160, 320, 640, 1280, 1800, 1800])
  const heartbeats = await untilHeartbeats(bed, 1)
  assert.deepEqual([heartbeats.at(-1)?.eventIds?.length, heartbeats[0]?.error?.code], [1, 'bad-credential'])
})

test('a failing heartbeat waits as long as the vendor asks, up to half an hour', async (t) => {
  for (const [retryAfter, ms] of [
    [0, 5000],
    [90.5005, 90_501],
    [86_400, 30 * minute],
  ] as const) {
    const bed = await startTestBed(t, { run: () => Promise.reject(broken('rate-limited', { retryAfter })) })
    await bed.ring('bell')
    await bed.until(async () => bed.log('heartbeat-failed').length === 1)
    assert.equal(bed.log('heartbeat-failed')[0]?.['inMs'], ms)
  }
})

test('a new event does not cut the backoff of a failing main session short', async (t) => {
  const bed = await startTestBed(t, { run: () => Promise.reject(broken('unavailable')) })
  await bed.ring('one')
  await untilHeartbeats(bed, 1, 'failed')
  await bed.acceptEvent('two')
  bed.clock.advance(4999)
  assert.equal(bed.turns.length, 1)
  bed.clock.advance(1)
  await untilHeartbeats(bed, 2, 'failed')
  assert.equal(bed.turns[1]?.events.length, 2)
})

test('a failing main session is tried again at once when another model is configured or the gateway restarts', async (t) => {
  const bed = await startTestBed(t, {
    async run({ model }) {
      if (model !== 'fixed/model') throw broken('unknown-model', { retryable: false })
      return { reply: 'HEARTBEAT_OK' }
    },
  })
  await bed.ring('important')
  await untilHeartbeats(bed, 1, 'failed')
  await bed.dispatch.applySettings()
  bed.configure({ concurrency: 3 })
  await bed.dispatch.applySettings()
  bed.clock.advance(4999)
  assert.equal(bed.turns.length, 1)
  bed.clock.advance(1)
  await untilHeartbeats(bed, 2, 'failed')

  await bed.dispatch.close()
  const again = await bed.start()
  await untilHeartbeats(bed, 3, 'failed')
  bed.configure({ model: 'fixed/model' })
  await again.applySettings()
  await untilHeartbeats(bed, 1)
})

test('a heartbeat that takes too long times out and is tried again', async (t) => {
  const bed = await startTestBed(t, { defaults: { timeoutSeconds: 5 }, run: untilAborted })
  await bed.ring('x')
  await bed.untilAsked(1)
  bed.clock.advance(5000)
  await untilHeartbeats(bed, 1, 'timed-out')
  bed.clock.advance(5000)
  await bed.untilAsked(2)
})

for (const [reply, sent, code] of [
  ['Somebody is at the door.', [['Somebody is at the door.'], ['Grace']], undefined],
  ['**HEARTBEAT_OK**', [[], []], 'ACK_ONLY'],
] as const)
  test(`the reply ${reply} ${code ? 'is not delivered' : 'goes to the last route'}`, async (t) => {
    const route = { channel: 'wall', to: 'Grace' }
    const bed = await startTestBed(t, { run: async () => ({ reply }), route })
    await bed.ring('bell')
    const heartbeat = await bed.until(async () =>
      (await bed.heartbeats()).find(({ stage }) => stage === 'delivered'),
    )
    assert.deepEqual([bed.texts(), bed.recipients()], sent)
    assert.deepEqual([heartbeat.deliveryIds.length, (await bed.deliveries())[0]?.code], [1, code])
  })

test('a heartbeat remembers the ones before it and the state of its runner, and is not itself summarised', async (t) => {
  const bed = await startTestBed(t, {
    run: async () => ({ reply: 'HEARTBEAT_OK', state: 'c-1', warnings: ['It thinks less.'] }),
  })
  for (const count of [1, 2]) {
    await bed.ring(`event ${count}`)
    await untilHeartbeats(bed, count)
  }
  const seen = bed.turns.map(({ state, history }) => [state, ...history.map(({ role }) => role)])
  assert.deepEqual(seen, [[undefined], ['c-1', 'user', 'assistant']])
  assert.equal((await bed.events()).length, 2)
  assert.deepEqual((await bed.heartbeats())[0]?.warnings, ['It thinks less.'])
  assert.equal(bed.log('heartbeat-succeeded')[0]?.['warnings'], 1)
})

test('a heartbeat that a crash cut off is recorded as interrupted, and another shows its events', async (t) => {
  const bed = await openTestBed(t, acknowledging)
  await bed.ring('bell')
  await bed.startDoomed('heartbeat')
  await bed.crash()
  await bed.start()
  const [cut, next] = await untilHeartbeats(bed, 1)
  const reason = 'the process ended while the run was being performed'
  const attempts = [{ outcome: 'interrupted', reason }]
  assert.partialDeepStrictEqual(cut, { state: 'failed', error: { code: 'INTERRUPTED' }, attempts })
  assert.deepEqual([next?.state, next?.error, outcomesOf(next)], ['succeeded', undefined, ['succeeded']])
})

test('a heartbeat that is cancelled consumes nothing, and asks again with the next event or tick', async (t) => {
  let hangs = true
  const run: Setting['run'] = (turn, call) => (hangs ? untilAborted(turn, call) : acknowledging.run())
  const bed = await startTestBed(t, { run })
  await bed.ring('one')
  await bed.untilAsked(1)
  assert.equal(bed.heartbeat()?.state, 'running')
  const id = String(bed.turns[0]?.runId)
  await bed.cancel(id)
  const ended = await bed.untilState(id, 'cancelled')
  assert.deepEqual([ended.error?.code, ended.attempts[0]?.outcome], ['CANCELLED', 'cancelled'])
  hangs = false
  await bed.ring('two')
  await untilHeartbeats(bed, 1)
  assert.equal(bed.turns[1]?.events.length, 2)
})
