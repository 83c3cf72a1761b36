import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ChannelLimits } from '@reveille/kit'
import type { Failure } from '../../agent/failure.ts'
import { createLog, createManualTimers, type LogLine } from '../test-bed.ts'
import { createCircuitBreaker } from './circuit-breaker.ts'

const free: ChannelLimits = { part: 100, unit: 'utf16' }

function openBreaker(channels: Record<string, unknown> = { slack: {}, discord: {} }) {
  const clock = createManualTimers(1_000_000)
  const lines: LogLine[] = []
  const { now, timers } = clock
  const seen: Readonly<Record<string, number>>[] = []
  const breaker = createCircuitBreaker({
    log: createLog(lines, () => {}),
    now,
    timers,
    random: () => 1,
    onChange: () => seen.push(breaker?.limits().pools ?? {}),
  })
  breaker.configure(channels)

  function version(channel = 'slack'): number {
    const permit = breaker.requestPermit(channel, 'c1', free)
    assert.ok(permit.kind === 'granted', permit.kind)
    return permit.configurationVersion
  }

  /** Lets probes fail, and returns how long each time the channel was held then. Milliseconds. */
  function waitsOf(of: Failure, probes: number): number[] {
    return Array.from({ length: probes }, (_, probe) => {
      breaker.failed('slack', version(), `probe ${probe}`, of)
      const ms = heldMs()
      clock.advance(ms)
      return ms
    })
  }

  const state = () => breaker.read().find(({ channel }) => channel === 'slack')
  const heldMs = () => (state()?.until ?? 0) - now()

  return {
    ...breaker,
    clock,
    seen,
    version,
    fail: (failure: Failure, delivery = 'd1', of = version()) =>
      breaker.failed('slack', of, delivery, failure),
    room: (channel = 'slack') => breaker.limits().pools[channel],
    state,
    heldMs,
    waitsOf,
    logged: (level: string) => lines.filter((line) => line.level === level).map(({ event }) => event),
    lines,
  }
}

function failure(code: string, facts: Partial<Failure> = {}): Failure {
  const reason = `the service said ${code}`
  return {
    code,
    message: reason,
    reason,
    retryable: true,
    maybeDelivered: false,
    wholeService: false,
    ...facts,
  }
}

const refused = failure('bad-credential', { wholeService: true })

test('each channel has four places of its own, and all of them at least sixteen', () => {
  const few = openBreaker()
  assert.deepEqual(few.limits(), { concurrency: 16, pools: { slack: 4, discord: 4 } })
  const names = ['a', 'b', 'c', 'd', 'e', 'f']
  assert.equal(openBreaker(Object.fromEntries(names.map((name) => [name, {}]))).limits().concurrency, 24)
})

test('a limit of the whole account holds the channel for as long as the vendor says, an hour at most', () => {
  for (const [asked, ms] of [
    [90_000, 90_000],
    [1, 250],
    [86_400_000, 3_600_000],
  ] as const) {
    const { fail, room, state, clock } = openBreaker()
    fail(failure('rate-limited', { wholeService: true, retryAfterMs: asked }))
    assert.deepEqual([room(), room('discord')], [0, 4])
    assert.deepEqual(state(), {
      channel: 'slack',
      state: 'held',
      code: 'rate-limited',
      reason: 'the service said rate-limited',
      since: 1_000_000,
      until: 1_000_000 + ms,
    })
    clock.advance(ms - 1)
    assert.equal(room(), 0)
    clock.advance(1)
    assert.deepEqual([room(), state()?.state, state()?.until], [1, 'probing', undefined])
  }
})

test('a refused credential holds the channel for one minute, then longer, ten minutes at most', () => {
  const { waitsOf, room, logged } = openBreaker()
  const minutes = waitsOf(refused, 6).map((ms) => ms / 60_000)
  assert.deepEqual(minutes, [1, 2, 4, 8, 10, 10])
  assert.equal(room(), 1)
  assert.deepEqual(logged('warn'), ['channel-held'], 'a probe that meets the same is no warning again')
})

test('a service is taken for down when three different deliveries in a row find it so', () => {
  const { fail, room, version, sent, state, heldMs } = openBreaker()
  for (const delivery of ['a', 'a', 'a', 'b']) fail(failure('timeout'), delivery)
  assert.equal(room(), 4)
  sent('slack', version())
  fail(failure('network'), 'a')
  fail(failure('unavailable'), 'b')
  assert.equal(room(), 4, 'what was sent in between shows that the service is there')
  fail(failure('TIMEOUT'), 'c')
  assert.deepEqual([room(), state()?.code, heldMs()], [0, 'TIMEOUT', 2000])
})

test('a service that is down is probed after two seconds, then after longer waits, a minute at most', () => {
  const { fail, waitsOf } = openBreaker()
  for (const delivery of ['a', 'b']) fail(failure('network'), delivery)
  const seconds = waitsOf(failure('network'), 7).map((ms) => ms / 1000)
  assert.deepEqual(seconds, [2, 4, 8, 16, 32, 60, 60])
})

test('a channel is open again when a probe is sent, or is refused for a reason of its own', () => {
  for (const end of ['sent', 'answered'] as const) {
    const { fail, clock, version, sent, room, state, lines } = openBreaker()
    fail(refused)
    clock.advance(60_000)
    if (end === 'sent') sent('slack', version())
    else fail(failure('bad-target', { retryable: false }))
    assert.deepEqual([room(), state()], [4, { channel: 'slack', state: 'open' }])
    const logged = { level: 'info', event: 'channel-opened', code: 'bad-credential', heldMs: 60_000 }
    assert.partialDeepStrictEqual(lines.at(-1), logged)
  }
})

test('what was under way when a channel was held neither opens it nor prolongs the hold', () => {
  const { fail, version, sent, room, state, clock } = openBreaker()
  const underWay = [version(), version(), version()] as const
  fail(refused)
  clock.advance(1)
  sent('slack', underWay[0])
  fail(failure('bad-target', { retryable: false }), 'd2', underWay[1])
  fail(refused, 'd1', underWay[2])
  assert.deepEqual([room(), state()?.until], [0, 1_060_000])
})

test('a fault of the plugin, or an interrupted call, says nothing about the service', () => {
  for (const code of ['CHANNEL_FAILED', 'aborted', 'INTERRUPTED', 'mailbox-busy']) {
    const { fail, clock, room } = openBreaker()
    for (const delivery of ['a', 'b', 'c', 'd']) fail(failure(code), delivery)
    assert.equal(room(), 4)
    fail(refused)
    clock.advance(60_000)
    fail(failure(code))
    assert.equal(room(), 1)
  }
})

test('a later end that the vendor names, and a failure with a longer wait, prolong a hold', () => {
  const { fail, version, state, logged } = openBreaker()
  const [first, second, third] = [version(), version(), version()]
  const limited = (seconds: number) =>
    failure('rate-limited', { wholeService: true, retryAfterMs: seconds * 1000 })
  fail(limited(5), 'd1', first)
  fail(limited(9), 'd2', second)
  assert.equal(state()?.until, 1_009_000)
  fail(refused, 'd3', third)
  assert.deepEqual([state()?.until, state()?.code], [1_060_000, 'bad-credential'])
  assert.deepEqual(logged('warn'), ['channel-held', 'channel-held'])
})

test('a changed configuration is tried at once, and failures under the old one do not count against it', () => {
  const { fail, version, configure, room, state, heldMs } = openBreaker()
  const before = version()
  fail(refused)
  assert.deepEqual(configure({ slack: {}, discord: {} }), [])
  assert.equal(room(), 0)
  assert.deepEqual(configure({ slack: { botToken: 'fixed' }, discord: {} }), ['slack'])
  assert.deepEqual([room(), state()?.state], [1, 'probing'])
  fail(refused, 'd2', before)
  assert.equal(room(), 1)
  fail(refused, 'd2', version())
  assert.equal(heldMs(), 60_000)
})

test('a channel that was removed is not held when it comes back', () => {
  const { fail, configure, room, read, clock } = openBreaker()
  fail(refused)
  configure({ discord: {} })
  assert.deepEqual(read(), [{ channel: 'discord', state: 'open' }])
  clock.advance(3_600_000)
  configure({ slack: {}, discord: {} })
  assert.equal(room(), 4)
})

test("a target's pace is kept: a short wait on the spot, a longer one elsewhere, and no other target waits", () => {
  const { requestPermit, clock } = openBreaker()
  const limits = { ...free, perTarget: { count: 2, ms: 1000 } }
  const kinds = (target: string) => requestPermit('slack', target, limits)
  assert.deepEqual([kinds('c1').kind, kinds('c1').kind], ['granted', 'granted'])
  assert.deepEqual(kinds('c1'), { kind: 'release', whose: 'target', until: 1_001_000 })
  assert.equal(kinds('c2').kind, 'granted')
  clock.advance(800)
  assert.deepEqual(kinds('c1'), { kind: 'wait', ms: 200 })
  clock.advance(200)
  assert.equal(kinds('c1').kind, 'granted')
})

test('an overall pace is kept: the channel has no room until it may send again, and is open all the same', () => {
  const { requestPermit, clock, room, state, logged } = openBreaker()
  const limits = { ...free, overall: { count: 3, ms: 60_000 } }
  const next = () => requestPermit('slack', 'c1', limits)
  assert.deepEqual([next().kind, next().kind, next().kind], ['granted', 'granted', 'granted'])
  clock.advance(10_000)
  assert.equal(room(), 4)
  assert.deepEqual(next(), { kind: 'release', whose: 'channel', until: 1_060_000 })
  assert.deepEqual([room(), state(), logged('warn')], [0, { channel: 'slack', state: 'open' }, []])
  clock.advance(50_000)
  assert.deepEqual([room(), next().kind], [4, 'granted'])
})

test('an overall pace outlives a change of the configuration, and a hold that is longer ends it', () => {
  const { requestPermit, configure, fail, clock, room, version } = openBreaker()
  const limits = { ...free, overall: { count: 1, ms: 30_000 } }
  const before = version()
  requestPermit('slack', 'c1', limits)
  requestPermit('slack', 'c1', limits)
  fail(refused, 'd1', before)
  clock.advance(30_000)
  assert.equal(room(), 0)
  clock.advance(30_000)
  assert.equal(room(), 1)
  assert.equal(requestPermit('slack', 'c1', limits).kind, 'granted')
  configure({ slack: { botToken: 'another' }, discord: {} })
  const until = clock.now() + 30_000
  assert.deepEqual(requestPermit('slack', 'c1', limits), { kind: 'release', whose: 'channel', until })
})

test('the host gets every change of the limits', () => {
  const { fail, clock, seen, sent, version } = openBreaker()
  seen.length = 0
  fail(refused)
  clock.advance(60_000)
  sent('slack', version())
  const rooms = seen.map(({ slack }) => slack)
  assert.deepEqual(rooms, [0, 1, 4])
})
