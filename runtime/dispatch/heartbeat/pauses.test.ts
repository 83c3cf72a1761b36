import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Turn } from '@reveille/kit'
import { broken, openTestBed, type Setting, startTestBed, type TestBed } from '../test-bed.ts'

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour
/** From 22:00 to 07:00 in UTC. */
const quietHours = { from: 17 * 60, to: 2 * 60, timezone: 'America/New_York' }
const acknowledging: Setting = { run: async () => ({ reply: 'HEARTBEAT_OK' }) }
const quiet: Setting = {
  ...acknowledging,
  heartbeat: { everyMs: 30 * minute, quietHours },
  startAt: Date.UTC(2026, 0, 1, 21, 45),
}

const textsOf = (turn: Turn | undefined) => turn?.events.map(({ text }) => text)

/** Moves the clock to a time counted from the bed's first midnight: `22:15`, `31:00`. */
function goTo(bed: Pick<TestBed, 'clock'>, time: string, start = Date.UTC(2026, 0, 1)) {
  const [hours = 0, minutes = 0] = time.split(':').map(Number)
  bed.clock.advance(start + hours * hour + minutes * minute - bed.clock.now())
}

type Bed = Pick<TestBed, 'until' | 'heartbeats' | 'log' | 'clock'>

async function untilHeartbeats(bed: Bed, state: string, count: number) {
  const ended = async () => (await bed.heartbeats()).filter((heartbeat) => heartbeat.state === state)
  await bed.until(async () => (await ended()).length === count)
}
const untilFailed = (bed: Bed, count: number) => untilHeartbeats(bed, 'failed', count)
const untilTurns = (bed: Bed, count: number) => untilHeartbeats(bed, 'succeeded', count)
const untilPostponed = (bed: Bed, times: number) =>
  bed.until(async () => bed.log('heartbeat-postponed').length === times)

test('in quiet hours the timer asks nothing, and at their end what waited is shown at once', async (t) => {
  const bed = await startTestBed(t, quiet)
  const id = await bed.acceptEvent('later', 'next-heartbeat')
  goTo(bed, '22:15')
  await untilPostponed(bed, 1)
  const inMs = 8 * hour + 45 * minute
  assert.partialDeepStrictEqual(bed.lines.at(-1), { level: 'debug', reason: 'quiet hours', inMs })
  const state = bed.heartbeat()
  assert.deepEqual([state?.state, state?.nextAt], ['quiet', Date.UTC(2026, 0, 2, 7)])
  bed.clock.advance(inMs - 1)
  assert.equal(bed.turns.length, 0)
  bed.clock.advance(1)
  await untilTurns(bed, 1)
  assert.equal((await bed.read().event(id))?.state, 'consumed')
})

test('an event that asks for now is shown in quiet hours, with all other events, and they go on', async (t) => {
  const bed = await startTestBed(t, quiet)
  goTo(bed, '22:15')
  await untilPostponed(bed, 1)
  await bed.acceptEvent('soft', 'next-heartbeat')
  goTo(bed, '27:00')
  await bed.ring('fire')
  await untilTurns(bed, 1)
  assert.deepEqual(textsOf(bed.turns[0]), ['fire', 'soft'])
  await bed.acceptEvent('soft again', 'next-heartbeat')
  goTo(bed, '31:00')
  await untilTurns(bed, 2)
  assert.equal(bed.turns[1]?.events[0]?.text, 'soft again')
  assert.equal(bed.log('heartbeat-postponed').length, 1)
})

test('events of quiet hours are shown at their end, however far off the next tick would be', async (t) => {
  const bed = await startTestBed(t, { ...quiet, heartbeat: { everyMs: 12 * hour, quietHours } })
  goTo(bed, '23:00')
  await bed.ring('fire')
  await untilTurns(bed, 1)
  await bed.acceptEvent('soft', 'next-heartbeat')
  goTo(bed, '31:00')
  await untilTurns(bed, 2)
})

test('neither a restart, nor a shorter timer, nor a reload ends quiet hours; without them the timer goes on', async (t) => {
  const bed = await startTestBed(t, quiet)
  await bed.acceptEvent('soft', 'next-heartbeat')
  goTo(bed, '22:15')
  await untilPostponed(bed, 1)
  const dispatch = await bed.restart()
  goTo(bed, '23:00')
  await untilPostponed(bed, 2)
  const heartbeat = { everyMs: 5 * minute, idle: true, ackToken: 'x', prompt: 'p' }
  bed.configure({ heartbeat: { ...heartbeat, quietHours } })
  await dispatch.applySettings()
  bed.clock.advance(5 * minute)
  await untilPostponed(bed, 3)
  assert.equal(bed.turns.length, 0)
  bed.configure({ heartbeat })
  await dispatch.applySettings()
  bed.clock.advance(5 * minute)
  await untilTurns(bed, 1)
})

test('a failing main session is left alone in quiet hours unless an event asked for now', async (t) => {
  const bed = await startTestBed(t, { ...quiet, run: () => Promise.reject(broken('unavailable')) })
  await bed.acceptEvent('soft', 'next-heartbeat')
  goTo(bed, '22:00')
  goTo(bed, '22:15')
  await untilPostponed(bed, 1)
  await bed.ring('fire')
  await untilFailed(bed, 1)
  bed.clock.advance(5000)
  await untilFailed(bed, 2)
})

test('a spent budget makes heartbeats wait for the next day: nothing is consumed, and the log says so once', async (t) => {
  const bed = await startTestBed(t, {
    ...acknowledging,
    heartbeat: { everyMs: 30 * minute },
    budget: { runs: 1 },
  })
  await bed.ring('one')
  await untilTurns(bed, 1)
  const id = await bed.ring('two')
  await untilPostponed(bed, 1)
  const reason = 'the budget of all runs (agents.budget), 1 run a day, is spent for 2026-01-01 (UTC)'
  assert.partialDeepStrictEqual(bed.log('heartbeat-postponed'), [{ level: 'warn', reason }])
  const state = bed.heartbeat()
  assert.deepEqual([state?.state, state?.nextAt, state?.failures], ['budget', Date.UTC(2026, 0, 2), 0])
  await bed.ring('three')
  await bed.until(async () => (await bed.events()).length === 4)
  assert.equal((await bed.read().event(id))?.state, 'pending')
  bed.clock.advance(Date.UTC(2026, 0, 2) - bed.clock.now())
  await untilTurns(bed, 2)
  const report = `No more runs and heartbeats are performed: ${reason}.`
  assert.deepEqual(textsOf(bed.turns[1]), ['two', 'three', report])
  assert.equal(bed.log('heartbeat-postponed').length, 1)
  assert.equal((await bed.heartbeats()).length, 2)
})

test('the spending of heartbeats counts with that of runs', async (t) => {
  const bed = await startTestBed(t, {
    budget: { tokens: 10 },
    run: async () => ({ reply: 'HEARTBEAT_OK', usage: { inputTokens: 9, outputTokens: 1 } }),
  })
  await bed.ring('one')
  await untilTurns(bed, 1)
  const id = await bed.acceptRun()
  assert.equal((await bed.untilState(id, 'parked')).error?.code, 'BUDGET')
  assert.deepEqual((await bed.heartbeats())[0]?.usage, { inputTokens: 9, outputTokens: 1 })
})

test('the events of a main session that lives elsewhere wait for no timer and no quiet hours', async (t) => {
  const bed = await startTestBed(t, {
    ...quiet,
    relays: true,
    keepsHistory: true,
    startAt: Date.UTC(2026, 0, 1, 23),
    route: { channel: 'wall', to: 'Grace' },
    run: async () => ({ reply: '', handedOver: 'run 7' }),
  })
  bed.clock.advance(250)
  await bed.until(async () => bed.log('heartbeat-skipped').length === 1)
  const texts = Array.from({ length: 60 }, (_, index) => `${index} ${'x'.repeat(1000)}`)
  await Promise.all(texts.map((text) => bed.acceptEvent(text, 'next-heartbeat')))
  const id = await bed.ring('fire')
  await untilTurns(bed, 1)
  bed.clock.advance(250)
  await untilTurns(bed, 2)
  assert.deepEqual([bed.turns[0]?.events.length, bed.turns[1]?.events.length], [50, 11])
  assert.deepEqual([bed.turns[0]?.events[0]?.text, bed.turns[0]?.events[1]?.mode], ['fire', 'next-heartbeat'])
  assert.equal((await bed.read().events({ state: 'pending' })).items.length, 0)
  assert.equal((await bed.read().event(id))?.consumedBy, bed.turns[0]?.runId)
  const handedOver = { stage: 'delivered', handedOver: 'run 7', deliveryIds: [] }
  assert.partialDeepStrictEqual((await bed.heartbeats())[0], handedOver)
  assert.deepEqual([await bed.deliveries(), await bed.read().session('main')], [[], undefined])
})

test('events that another gateway could not take are passed on again within half a minute', async (t) => {
  const bed = await startTestBed(t, { relays: true, run: () => Promise.reject(broken('network')) })
  await bed.ring('one')
  for (let failures = 1; failures <= 6; failures += 1) {
    await bed.until(async () => bed.log('heartbeat-failed').length === failures)
    const inMs = Number(bed.log('heartbeat-failed').at(-1)?.['inMs'])
    assert.ok(inMs > 0 && inMs <= 30_000, `${inMs} ms after ${failures}`)
    await bed.until(async () => (await bed.heartbeats()).length === failures)
    bed.clock.advance(inMs)
  }
})

test('a runner that passes events on is not asked without events, and gets those that waited for the timer', async (t) => {
  let relays = false
  const bed = await startTestBed(t, {
    heartbeat: { everyMs: 30 * minute, idle: true },
    get relays() {
      return relays
    },
    run: async () => ({ reply: '', handedOver: 'there' }),
  })
  await bed.acceptEvent('soft', 'next-heartbeat')
  relays = true
  await bed.dispatch.applySettings()
  bed.clock.advance(250)
  await untilTurns(bed, 1)
  bed.clock.advance(30 * minute)
  await bed.until(async () => bed.log('heartbeat-skipped').length === 1)
  assert.equal(bed.turns.length, 1)
})

test('the state of the main session reports failures until a turn succeeds', async (t) => {
  let isDown = true
  const bed = await startTestBed(t, {
    heartbeat: { everyMs: day },
    async run() {
      if (isDown) throw broken('unavailable')
      return { reply: 'HEARTBEAT_OK' }
    },
  })
  assert.deepEqual(bed.heartbeat(), { state: 'idle', failures: 0 })
  await bed.ring('one')
  await untilFailed(bed, 1)
  const since = bed.clock.now()
  bed.clock.advance(5000)
  await untilFailed(bed, 2)
  const failing = { state: 'failing', failures: 2, since, nextAt: since + 15_000, code: 'unavailable' }
  assert.deepEqual(bed.heartbeat(), failing)
  isDown = false
  bed.clock.advance(10_000)
  await untilTurns(bed, 1)
  const at = bed.clock.now()
  assert.deepEqual(bed.heartbeat(), { state: 'idle', failures: 0, since: at, nextAt: at + day })
})

test('a heartbeat that a crash cut off is paid for, because its cost is unknown', async (t) => {
  const bed = await openTestBed(t, { ...acknowledging, budget: { runs: 2 } })
  await bed.ring('one')
  await bed.startDoomed('heartbeat')
  await bed.crash()
  await bed.start()
  await untilTurns(bed, 1)
  await bed.ring('two')
  await untilPostponed(bed, 1)
  assert.equal(bed.turns.length, 1)
})
