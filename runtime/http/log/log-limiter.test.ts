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
    logLines(client: string, times: number, result: RequestOutcome = wrong): string[] {
      const from = lines.all.length
      for (let time = 0; time < times; time++) {
        logLimiter.logFor({ client }, result).info({ event: 'request-refused' })
      }
      return lines.all.slice(from).map(({ level }) => level)
    },
    suppressed: () => lines.all.filter(({ event }) => event === 'requests-suppressed'),
  }
}

const levels = (info: number, debug: number) => [
  ...new Array<string>(info).fill('info'),
  ...new Array<string>(debug).fill('debug'),
]

test('the first twenty-one refusals of a client within a minute are logged, and the others in one line at its end', () => {
  const { logLines, timers, suppressed } = openLines()
  assert.deepEqual(logLines('203.0.113.7', 25), levels(21, 4))
  assert.deepEqual(logLines('203.0.113.8', 1, refused('NOT_FOUND')), levels(1, 0), 'another client is logged')
  assert.deepEqual(logLines('203.0.113.7', 2, refused('NOT_FOUND')), levels(0, 2))
  assert.deepEqual(suppressed(), [])
  timers.fire()
  const reasons = { TOKEN_WRONG: 4, NOT_FOUND: 2 }
  assert.deepEqual(suppressed(), [
    { level: 'info', event: 'requests-suppressed', count: 6, clients: 1, reasons },
  ])
  assert.deepEqual(logLines('203.0.113.7', 1), levels(1, 0), 'a new minute')
})

test('a client that has to wait is counted under that code, whatever it sends', () => {
  const { logLines, timers, suppressed } = openLines()
  logLines('203.0.113.7', 21)
  logLines('203.0.113.7', 3, { ...refused('TOO_MANY_TRIES'), failure: 'TOKEN_WRONG' })
  timers.fire()
  assert.deepEqual(suppressed()[0]?.['reasons'], { TOO_MANY_TRIES: 3 })
})

test('suppressed lines are reported with the next line if no timer has fired', () => {
  const { logLines, state, suppressed } = openLines()
  logLines('203.0.113.7', 22)
  state.now += 60_000
  logLines('203.0.113.7', 1)
  assert.deepEqual(
    suppressed().map(({ count }) => count),
    [1],
  )
})

test('two hundred lines of all clients are logged within a minute, and up to a thousand clients are counted', () => {
  const { logLines, timers, suppressed } = openLines()
  let logged = 0
  for (let client = 0; client < 3000; client++) {
    logged += logLines(`10.0.${client >> 8}.${client & 255}`, 1).filter((level) => level === 'info').length
  }
  assert.equal(logged, 200)
  assert.equal(timers.running, 1)
  timers.fire()
  assert.deepEqual(
    suppressed().map(({ count, clients }) => [count, clients]),
    [[2800, 1000]],
  )
})

test('addresses in one /64 of IPv6 are one client', () => {
  const { logLines } = openLines()
  const logged = Array.from({ length: 30 }, (_, index) => logLines(`2001:db8::${index + 1}`, 1)).flat()
  assert.deepEqual(logged, levels(21, 9))
})

test('handshakes, which anybody may send, are limited too, and every other outcome is logged each time', () => {
  const { logLines } = openLines()
  const handshake: RequestOutcome = {
    outcome: 'handshake',
    handshake: { status: 200, body: '', reason: 'asked' },
  }
  assert.deepEqual(logLines('203.0.113.7', 22, handshake), levels(21, 1))
  assert.deepEqual(logLines('203.0.113.7', 30, { outcome: 'accepted', actions: [] }), levels(30, 0))
  assert.deepEqual(logLines('203.0.113.7', 30, { ...refused('INTERNAL'), outcome: 'failed' }), levels(30, 0))
})

test('the summary is a warning if one of the suppressed requests failed for a reason on our side', () => {
  const { logLines, close, suppressed, timers } = openLines()
  logLines('203.0.113.7', 22, { ...refused('STORE_UNAVAILABLE'), fault: new Error('no disk') })
  close()
  assert.deepEqual(
    suppressed().map(({ level }) => level),
    ['warn'],
  )
  assert.equal(timers.running, 0)
})

test('a surface logs twenty guesses, then the first wait, and the number of the others when it closes', async (t) => {
  const { app, post, lines, noted } = await openSurface(t)
  for (let time = 0; time < 30; time++) await post('github', {}, { authorization: 'Bearer wrong' })
  assert.equal((await post('github', {}, bearer)).status, 200)
  const logged = lines.all.filter(({ event }) => event === 'request-refused')
  assert.deepEqual(
    logged.map(({ level }) => level),
    levels(21, 9),
  )
  assert.deepEqual([logged[19]?.['code'], logged[20]?.['code']], ['UNAUTHORIZED', 'TOO_MANY_TRIES'])
  assert.equal(noted.length, 30, 'records have them all')
  await app.close()
  assert.equal((await lines.line('requests-suppressed'))['count'], 9)
})

test('a long endpoint name that a client made up is shortened in the log', async (t) => {
  const { post, lines } = await openSurface(t)
  await post('x'.repeat(5000), {}, {})
  const line = await lines.line('request-refused')
  assert.equal(line['endpoint'], 'x'.repeat(200))
})
