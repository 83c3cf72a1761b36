import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PluginError } from '@reveille/kit'
import { openTestBed, type Setting, type TestBed } from '../test-bed.ts'

const minute = 60_000
const quiet = { run: async () => ({ reply: 'HEARTBEAT_OK' }) }

async function untilHeartbeats(bed: TestBed, count: number, state = 'succeeded') {
  return bed.until(async () => {
    const heartbeats = await bed.heartbeats()
    return heartbeats.filter((heartbeat) => heartbeat.state === state).length === count && heartbeats
  })
}

/** Accepts events at the same time of the clock. */
async function acceptEvents(bed: TestBed, count: number, mode: 'now' | 'next-heartbeat', text = 'e') {
  const numbers = Array.from({ length: count }, (_, index) => index + 1)
  return Promise.all(numbers.map((number) => bed.acceptEvent(`${text}${number}`, mode)))
}

test('an event that asks for now is shown at once, and consumed by the turn that saw it', async (t) => {
  const bed = await openTestBed(t, quiet)
  await bed.start()
  const id = await bed.acceptEvent('the door bell rang')
  bed.clock.advance(250)
  const [heartbeat] = await untilHeartbeats(bed, 1)
  const event = await bed.read().event(id)
  assert.deepEqual([event?.state, event?.consumedBy], ['consumed', heartbeat?.id])
  assert.deepEqual(
    [heartbeat?.kind, heartbeat?.sessionKey, heartbeat?.stage, heartbeat?.eventIds, heartbeat?.generation],
    ['heartbeat', 'main', 'delivered', [id], 3],
  )
  const [turn] = bed.turns
  assert.equal(turn?.prompt, '1 system event:\n\n1. 2026-01-01T00:00:00.000Z\n[the door bell rang]\n\nBeat.')
  const [text, at] = ['the door bell rang', event?.createdAt]
  assert.deepEqual(turn?.events, [{ id, text, prompt: `[${text}]`, mode: 'now', at }])
  assert.deepEqual([turn?.timeoutSeconds, turn?.action], [60, undefined])
  assert.equal(bed.log('heartbeat-succeeded')[0]?.['events'], 1)
})

test('a burst within 250 ms becomes one heartbeat', async (t) => {
  const bed = await openTestBed(t, quiet)
  await bed.start()
  await bed.acceptEvent('one')
  bed.clock.advance(200)
  await bed.acceptEvent('two')
  bed.clock.advance(50)
  const [heartbeat] = await untilHeartbeats(bed, 1)
  assert.equal(heartbeat?.eventIds?.length, 2)
})

test('an event for the next heartbeat waits for the timer', async (t) => {
  const bed = await openTestBed(t, { ...quiet, heartbeat: { everyMs: 30 * minute } })
  await bed.start()
  await bed.acceptEvent('later', 'next-heartbeat')
  bed.clock.advance(30 * minute - 1)
  assert.deepEqual(bed.turns, [])
  bed.clock.advance(1)
  await untilHeartbeats(bed, 1)
})

test('the timer goes on from each heartbeat, whatever triggered it', async (t) => {
  const bed = await openTestBed(t, { ...quiet, heartbeat: { everyMs: 30 * minute, idle: true } })
  await bed.start()
  for (const count of [1, 2, 3]) {
    bed.clock.advance(30 * minute)
    await untilHeartbeats(bed, count)
  }
  assert.match(bed.turns[0]?.prompt ?? '', /^No system events are pending\./)
})

test('a tick with nothing pending asks no model, and the timer goes on', async (t) => {
  const bed = await openTestBed(t, { ...quiet, heartbeat: { everyMs: 30 * minute } })
  await bed.start()
  bed.clock.advance(30 * minute)
  await bed.until(async () => bed.log('heartbeat-skipped').length === 1)
  await bed.acceptEvent('x', 'next-heartbeat')
  bed.clock.advance(30 * minute)
  await untilHeartbeats(bed, 1)
  assert.equal(bed.turns.length, 1)
})

test('fifty events are shown, those that asked for now first, and the number of the others is named', async (t) => {
  const bed = await openTestBed(t, quiet)
  await bed.start()
  await acceptEvents(bed, 60, 'next-heartbeat', 'old')
  await bed.acceptEvent('urgent', 'now')
  bed.clock.advance(250)
  const [heartbeat] = await untilHeartbeats(bed, 1)
  assert.equal(heartbeat?.eventIds?.length, 50)
  assert.equal(bed.turns[0]?.events[0]?.text, 'urgent')
  assert.match(bed.turns[0]?.prompt ?? '', /^50 system events; 11 more waiting/)
  const pending = await bed.read().events({ state: 'pending' })
  assert.equal(pending.items.length, 11)
  assert.equal(bed.log('heartbeat-succeeded')[0]?.['waiting'], 11)
})

test('events that asked for now and did not fit make the next heartbeat due at once', async (t) => {
  const bed = await openTestBed(t, quiet)
  await bed.start()
  await acceptEvents(bed, 51, 'now')
  bed.clock.advance(250)
  await untilHeartbeats(bed, 1)
  bed.clock.advance(250)
  const heartbeats = await untilHeartbeats(bed, 2)
  assert.deepEqual(
    heartbeats.map((heartbeat) => heartbeat.eventIds?.length),
    [50, 1],
  )
})

test('only the events whose text fits into 32 KiB are shown and consumed', async (t) => {
  const bed = await openTestBed(t, quiet)
  await bed.start()
  await bed.acceptEvent('a'.repeat(30_000))
  await bed.acceptEvent('b'.repeat(30_000))
  bed.clock.advance(250)
  const [heartbeat] = await untilHeartbeats(bed, 1)
  assert.equal(heartbeat?.eventIds?.length, 1)
  assert.equal((await bed.read().events({ state: 'pending' })).items.length, 1)
})

test('a heartbeat that fails consumes nothing and backs off, up to half an hour', async (t) => {
  let broken = true
  const bed = await openTestBed(t, {
    async run() {
      if (broken) throw new PluginError('no credit', { code: 'bad-credential', retryable: false })
      return { reply: 'HEARTBEAT_OK' }
    },
  })
  await bed.start()
  await bed.acceptEvent('important')
  bed.clock.advance(250)
  const waits: unknown[] = []
  for (let count = 1; count <= 11; count += 1) {
    await untilHeartbeats(bed, count, 'failed')
    const wait = Number(bed.log('heartbeat-failed').at(-1)?.['inMs'])
    waits.push(wait / 1000)
    bed.clock.advance(wait - 1)
    assert.equal(bed.turns.length, count)
    if (count === 11) broken = false
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
    const bed = await openTestBed(t, {
      async run() {
        throw new PluginError('slow down', { code: 'rate-limited', retryable: true, retryAfter })
      },
    })
    await bed.start()
    await bed.acceptEvent('bell')
    bed.clock.advance(250)
    await bed.until(async () => bed.log('heartbeat-failed').length === 1)
    assert.equal(bed.log('heartbeat-failed')[0]?.['inMs'], ms)
  }
})

test('a new event does not cut the backoff of a failing main session short', async (t) => {
  const bed = await openTestBed(t, {
    async run() {
      throw new PluginError('down', { code: 'unavailable', retryable: true })
    },
  })
  await bed.start()
  await bed.acceptEvent('one')
  bed.clock.advance(250)
  await untilHeartbeats(bed, 1, 'failed')
  await bed.acceptEvent('two')
  bed.clock.advance(4999)
  assert.equal(bed.turns.length, 1)
  bed.clock.advance(1)
  await untilHeartbeats(bed, 2, 'failed')
  assert.equal(bed.turns[1]?.events.length, 2)
})

test('a failing main session is tried again at once when another model is configured or the gateway restarts', async (t) => {
  const bed = await openTestBed(t, {
    async run({ model }) {
      if (model !== 'fixed/model') throw new PluginError('no', { code: 'unknown-model', retryable: false })
      return { reply: 'HEARTBEAT_OK' }
    },
  })
  const dispatch = await bed.start()
  await bed.acceptEvent('important')
  bed.clock.advance(250)
  await untilHeartbeats(bed, 1, 'failed')
  await dispatch.applySettings()
  bed.configure({ concurrency: 3 })
  await dispatch.applySettings()
  bed.clock.advance(4999)
  assert.equal(bed.turns.length, 1)
  bed.clock.advance(1)
  await untilHeartbeats(bed, 2, 'failed')

  await dispatch.close()
  const again = await bed.start()
  await untilHeartbeats(bed, 3, 'failed')
  bed.configure({ model: 'fixed/model' })
  await again.applySettings()
  await untilHeartbeats(bed, 1)
})

test('a heartbeat that takes too long times out and is tried again', async (t) => {
  const setting: Setting = {
    defaults: { timeoutSeconds: 5 },
    run: (_turn, { signal }) =>
      new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
  }
  const bed = await openTestBed(t, setting)
  await bed.start()
  await bed.acceptEvent('x')
  bed.clock.advance(250)
  await bed.until(async () => bed.turns.length === 1)
  bed.clock.advance(5000)
  await untilHeartbeats(bed, 1, 'timed-out')
  bed.clock.advance(5000)
  await bed.until(async () => bed.turns.length === 2)
})

test('its reply goes to the last route', async (t) => {
  const bed = await openTestBed(t, {
    run: async () => ({ reply: 'Somebody is at the door.' }),
    route: { channel: 'wall', to: 'Grace' },
  })
  await bed.start()
  await bed.acceptEvent('bell')
  bed.clock.advance(250)
  const [heartbeat] = await bed.until(async () => {
    const heartbeats = await bed.heartbeats()
    return heartbeats[0]?.stage === 'delivered' && heartbeats
  })
  assert.deepEqual(
    bed.sent.map(({ text, to }) => [text, to]),
    [['Somebody is at the door.', 'Grace']],
  )
  assert.equal(heartbeat?.deliveryIds.length, 1)
})

test('a reply that is only the acknowledgement is not delivered', async (t) => {
  const bed = await openTestBed(t, {
    run: async () => ({ reply: '**HEARTBEAT_OK**' }),
    route: { channel: 'wall', to: 'A' },
  })
  await bed.start()
  await bed.acceptEvent('bell')
  bed.clock.advance(250)
  await untilHeartbeats(bed, 1)
  const [delivery] = await bed.deliveries()
  assert.deepEqual([delivery?.state, delivery?.code, bed.sent.length], ['skipped', 'ACK_ONLY', 0])
})

test('a heartbeat remembers the ones before it, and is not itself summarised', async (t) => {
  const bed = await openTestBed(t, quiet)
  await bed.start()
  for (const count of [1, 2]) {
    await bed.acceptEvent(`event ${count}`)
    bed.clock.advance(250)
    await untilHeartbeats(bed, count)
  }
  assert.deepEqual(
    bed.turns[1]?.history.map((message) => message.role),
    ['user', 'assistant'],
  )
  assert.equal((await bed.events()).length, 2)
})

test('heartbeats happen one at a time', async (t) => {
  let open = 0
  let most = 0
  const release: (() => void)[] = []
  const bed = await openTestBed(t, {
    async run() {
      open += 1
      most = Math.max(most, open)
      await new Promise<void>((resolve) => release.push(resolve))
      open -= 1
      return { reply: 'HEARTBEAT_OK' }
    },
  })
  await bed.start()
  await bed.acceptEvent('one')
  bed.clock.advance(250)
  await bed.until(async () => release.length === 1)
  await bed.acceptEvent('two')
  bed.clock.advance(250)
  release[0]?.()
  await untilHeartbeats(bed, 1)
  await bed.until(async () => release.length === 2)
  release[1]?.()
  await untilHeartbeats(bed, 2)
  assert.equal(most, 1)
})

test('a due heartbeat survives a crash', async (t) => {
  const bed = await openTestBed(t, quiet)
  await bed.start()
  await bed.acceptEvent('bell')
  await bed.crash()
  await bed.start()
  bed.clock.advance(250)
  await untilHeartbeats(bed, 1)
})

test('a heartbeat that a crash cut off is recorded as interrupted, and another shows its events', async (t) => {
  const bed = await openTestBed(t, quiet)
  await bed.acceptEvent('bell')
  bed.clock.advance(250)
  await bed.startDoomed('heartbeat')
  await bed.crash()
  await bed.start()
  const heartbeats = await untilHeartbeats(bed, 1)
  assert.deepEqual(
    heartbeats.map(({ state, error, attempts }) => [
      state,
      error?.code,
      attempts[0]?.outcome,
      attempts[0]?.reason,
    ]),
    [
      ['failed', 'INTERRUPTED', 'interrupted', 'the process ended while the run was being performed'],
      ['succeeded', undefined, 'succeeded', undefined],
    ],
  )
})

test('a heartbeat that is cancelled consumes nothing, and asks again with the next event or tick', async (t) => {
  let hangs = true
  const bed = await openTestBed(t, {
    run: (_turn, { signal }) =>
      hangs
        ? new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
        : Promise.resolve({ reply: 'HEARTBEAT_OK' }),
  })
  await bed.start()
  await bed.acceptEvent('one')
  bed.clock.advance(250)
  await bed.until(async () => bed.turns.length === 1)
  assert.equal(bed.heartbeat()?.state, 'running')
  const id = String(bed.turns[0]?.runId)
  await bed.command({ type: 'cancel', run: id, at: bed.clock.now() })
  const ended = await bed.untilRun(id, ({ state }) => state === 'cancelled')
  assert.deepEqual([ended.error?.code, ended.attempts[0]?.outcome], ['CANCELLED', 'cancelled'])
  hangs = false
  await bed.acceptEvent('two')
  bed.clock.advance(250)
  await untilHeartbeats(bed, 1)
  assert.equal(bed.turns[1]?.events.length, 2)
})

test('the state of a runner is stored with the main session, and its warnings are on the run', async (t) => {
  const bed = await openTestBed(t, {
    run: async () => ({ reply: 'HEARTBEAT_OK', state: 'c-1', warnings: ['It thinks less.'] }),
  })
  await bed.start()
  for (const count of [1, 2]) {
    await bed.acceptEvent(`event ${count}`)
    bed.clock.advance(250)
    await untilHeartbeats(bed, count)
  }
  assert.deepEqual(
    bed.turns.map(({ state }) => state),
    [undefined, 'c-1'],
  )
  assert.deepEqual((await bed.heartbeats())[0]?.warnings, ['It thinks less.'])
  assert.equal(bed.log('heartbeat-succeeded')[0]?.['warnings'], 1)
})
