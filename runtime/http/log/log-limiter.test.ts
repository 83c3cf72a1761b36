import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type RequestOutcome, refused } from '../request-context.ts'
import { bearer, createLogLines, createManualTimers, openSurface } from '../surface-fixture.ts'
import { createLogLimiter } from './log-limiter.ts'

const wrong: RequestOutcome = { ...refused('UNAUTHORIZED'), failure: 'TOKEN_WRONG' }

function openLines() {
  const lines = createLogLines()
  const timers = createManualTimers()
  const state = { now: 0 }
  const logLimiter = createLogLimiter({ log: lines, clock: () => state.now, timers })
  return {
    ...logLimiter,
    lines,
    timers,
    state,
    /** Logs so many outcomes, and returns at which levels. */
    logLines(times: number, result: RequestOutcome = wrong): string[] {
      const from = lines.all.length
      for (let time = 0; time < times; time++) logLimiter.logFor(result).info({ event: 'request-refused' })
      return lines.all.slice(from).map(({ level }) => level)
    },
    suppressed: () => lines.all.filter(({ event }) => event === 'requests-suppressed'),
  }
}

const levels = (info: number, debug: number) => [
  ...new Array<string>(info).fill('info'),
  ...new Array<string>(debug).fill('debug'),
]

test('suppressed lines are reported with the next line if no timer has fired', () => {
  const { logLines, state, suppressed } = openLines()
  logLines(201)
  state.now += 60_000
  logLines(1)
  assert.deepEqual(
    suppressed().map(({ count }) => count),
    [1],
  )
})

test('handshakes, which anybody may send, are limited too, and every other outcome is logged each time', () => {
  const { logLines } = openLines()
  const handshake: RequestOutcome = {
    outcome: 'handshake',
    handshake: { status: 200, body: '', reason: 'asked' },
  }
  assert.deepEqual(logLines(201, handshake), levels(200, 1))
  assert.deepEqual(logLines(30, { outcome: 'accepted', actions: [] }), levels(30, 0))
  assert.deepEqual(logLines(30, { ...refused('INTERNAL'), outcome: 'failed' }), levels(30, 0))
})

test('the summary is a warning if one of the suppressed requests failed for a reason on our side', () => {
  const { logLines, close, suppressed, timers } = openLines()
  logLines(201, { ...refused('STORE_UNAVAILABLE'), fault: new Error('no disk') })
  close()
  assert.deepEqual(
    suppressed().map(({ level }) => level),
    ['warn'],
  )
  assert.equal(timers.running, 0)
})

test('two hundred refusals within a minute are logged, and the others in one line at its end, or when the surface closes', async (t) => {
  const { app, post, lines, noted, timers } = await openSurface(t)
  const suppressed = () => lines.all.filter(({ event }) => event === 'requests-suppressed')
  const guess = async (times: number) => {
    for (let time = 0; time < times; time++) await post('github', {}, { authorization: 'Bearer wrong' })
  }
  await guess(203)
  for (let time = 0; time < 2; time++) assert.equal((await post('nowhere', {})).status, 404)
  assert.equal((await post('github', {}, bearer)).status, 200)
  const logged = lines.all.filter(({ event }) => event === 'request-refused')
  assert.deepEqual(
    logged.map(({ level }) => level),
    levels(200, 5),
  )
  assert.deepEqual([logged[19]?.['code'], logged[20]?.['code']], ['UNAUTHORIZED', 'TOO_MANY_TRIES'])
  assert.equal(noted.length, 205, 'records have them all')
  assert.deepEqual([suppressed(), timers.running], [[], 1])
  timers.fire()
  const line = { level: 'info', event: 'requests-suppressed', count: 5 }
  assert.deepEqual(suppressed(), [line])
  await guess(201)
  assert.deepEqual([lines.all.at(-2)?.level, lines.all.at(-1)?.level], ['info', 'debug'], 'a new minute')
  await app.close()
  assert.deepEqual(suppressed(), [line, { ...line, count: 1 }])
})

test('a long endpoint name that a client made up is shortened in the log', async (t) => {
  const { post, lines } = await openSurface(t)
  await post('x'.repeat(5000), {}, {})
  const line = await lines.line('request-refused')
  assert.equal(line['endpoint'], 'x'.repeat(200))
})
