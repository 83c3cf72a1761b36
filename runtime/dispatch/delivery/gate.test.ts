import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ChannelLimits } from '@reveille/kit'
import type { Failure } from '../../agent/failure.ts'
import { createHandClock, createLog, type LogLine } from '../test-bed.ts'
import { createChannelGate } from './gate.ts'

const free: ChannelLimits = { part: 100, unit: 'utf16' }

function openGate(channels: Record<string, unknown> = { slack: {}, discord: {} }) {
  const clock = createHandClock(1_000_000)
  const lines: LogLine[] = []
  const { now, timers } = clock
  const seen: Readonly<Record<string, number>>[] = []
  const gate = createChannelGate({
    log: createLog(lines, () => {}),
    now,
    timers,
    random: () => 1,
    onChange: () => seen.push(gate?.rooms().pools ?? {}),
  })
  gate.configure(channels)

  function era(channel = 'slack'): number {
    const turn = gate.turn(channel, 'c1', free)
    return turn.kind === 'go' ? turn.era : assert.fail(`the channel is not open: ${turn.kind}`)
  }

  return {
    ...gate,
    clock,
    seen,
    era,
    fail: (failure: Failure, delivery = 'd1', of = era()) => gate.failed('slack', of, delivery, failure),
    room: (channel = 'slack') => gate.rooms().pools[channel],
    state: (channel = 'slack') => gate.read().find((each) => each.channel === channel),
    told: (level: string) => lines.filter((line) => line.level === level).map(({ event }) => event),
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
    wholeChannel: false,
    ...facts,
  }
}

const refused = failure('bad-credential', { wholeChannel: true })

test('each channel has four places of its own, and all of them at least sixteen', () => {
  const few = openGate()
  assert.deepEqual(few.rooms(), { concurrency: 16, pools: { slack: 4, discord: 4 } })
  const names = ['a', 'b', 'c', 'd', 'e', 'f']
  assert.equal(openGate(Object.fromEntries(names.map((name) => [name, {}]))).rooms().concurrency, 24)
})

test('a limit of the whole account holds the channel for as long as the vendor says, an hour at most', () => {
  for (const [asked, ms] of [
    [90_000, 90_000],
    [1, 250],
    [86_400_000, 3_600_000],
  ] as const) {
    const { fail, room, state, clock } = openGate()
    fail(failure('rate-limited', { wholeChannel: true, retryAfterMs: asked }))
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
  const { fail, room, clock, state, told } = openGate()
  const waits: number[] = []
  for (let probe = 0; probe < 6; probe += 1) {
    fail(refused)
    assert.equal(room(), 0)
    waits.push((state()?.until ?? 0) - clock.now())
    clock.advance(waits.at(-1) ?? 0)
    assert.equal(room(), 1)
  }
  assert.deepEqual(
    waits.map((ms) => ms / 60_000),
    [1, 2, 4, 8, 10, 10],
  )
  assert.deepEqual(told('warn'), ['channel-held'], 'who looks again and finds the same does not say so again')
})

test('a service is taken for down when three different deliveries in a row find it so', () => {
  const { fail, room, era, sent, state } = openGate()
  for (const delivery of ['a', 'a', 'a', 'b']) fail(failure('timeout'), delivery)
  assert.equal(room(), 4)
  sent('slack', era())
  for (const [delivery, code] of [
    ['a', 'network'],
    ['b', 'unavailable'],
  ] as const)
    fail(failure(code), delivery)
  assert.equal(room(), 4, 'what was sent in between shows that the service is there')
  fail(failure('TIMEOUT'), 'c')
  assert.deepEqual([room(), state()?.code, (state()?.until ?? 0) - 1_000_000], [0, 'TIMEOUT', 2000])
})

test('a service that is down is looked at again after two seconds, then later, a minute at most', () => {
  const { fail, clock, state } = openGate()
  for (const delivery of ['a', 'b']) fail(failure('network'), delivery)
  const waits: number[] = []
  for (let probe = 0; probe < 7; probe += 1) {
    fail(failure('network'), `c${probe}`)
    waits.push((state()?.until ?? 0) - clock.now())
    clock.advance(waits.at(-1) ?? 0)
  }
  assert.deepEqual(
    waits.map((ms) => ms / 1000),
    [2, 4, 8, 16, 32, 60, 60],
  )
})

test('a channel is open again when a probe is sent, or is refused for a reason of its own', () => {
  for (const end of ['sent', 'answered'] as const) {
    const { fail, clock, era, sent, room, state, lines } = openGate()
    fail(refused)
    clock.advance(60_000)
    if (end === 'sent') sent('slack', era())
    else fail(failure('bad-target', { retryable: false }))
    assert.deepEqual([room(), state()], [4, { channel: 'slack', state: 'open' }])
    const told = lines.at(-1)
    assert.deepEqual(
      [told?.level, told?.event, told?.['code'], told?.['heldMs']],
      ['info', 'channel-opened', 'bad-credential', 60_000],
    )
  }
})

test('what was sent or refused while a channel is held does not open it', () => {
  const { fail, era, sent, room } = openGate()
  const [late, later] = [era(), era()]
  fail(refused)
  sent('slack', late)
  fail(failure('bad-target', { retryable: false }), 'd2', later)
  assert.equal(room(), 0)
})

test('a fault of the channel itself, or a call that was called off, says nothing about the service', () => {
  for (const code of ['CHANNEL_FAILED', 'aborted', 'INTERRUPTED', 'mailbox-busy']) {
    const { fail, clock, room } = openGate()
    for (const delivery of ['a', 'b', 'c', 'd']) fail(failure(code), delivery)
    assert.equal(room(), 4)
    fail(refused)
    clock.advance(60_000)
    fail(failure(code))
    assert.equal(room(), 1)
  }
})

test('those who were under way when a channel was held do not prolong it', () => {
  const { fail, era, state } = openGate()
  const underWay = [era(), era(), era()]
  for (const of of underWay) fail(refused, 'd1', of)
  assert.equal(state()?.until, 1_060_000)
})

test('a later end that the vendor names, and a trouble that lasts longer, prolong a hold', () => {
  const { fail, era, state, told } = openGate()
  const [first, second, third] = [era(), era(), era()]
  const limited = (seconds: number) =>
    failure('rate-limited', { wholeChannel: true, retryAfterMs: seconds * 1000 })
  fail(limited(5), 'd1', first)
  fail(limited(9), 'd2', second)
  assert.equal(state()?.until, 1_009_000)
  fail(refused, 'd3', third)
  assert.deepEqual([state()?.until, state()?.code], [1_060_000, 'bad-credential'])
  assert.deepEqual(told('warn'), ['channel-held', 'channel-held'])
})

test('a configuration that is new has the channel tried at once, and is not blamed for what the old one met', () => {
  const { fail, era, configure, room, state, clock } = openGate()
  const before = era()
  fail(refused)
  assert.deepEqual(configure({ slack: {}, discord: {} }), [])
  assert.equal(room(), 0)
  assert.deepEqual(configure({ slack: { botToken: 'mended' }, discord: {} }), ['slack'])
  assert.deepEqual([room(), state()?.state], [1, 'probing'])
  fail(refused, 'd2', before)
  assert.equal(room(), 1)
  fail(refused, 'd2', era())
  assert.equal((state()?.until ?? 0) - clock.now(), 60_000)
})

test('a channel that is taken away is forgotten, and held by nothing when it comes back', () => {
  const { fail, configure, room, read, clock } = openGate()
  fail(refused)
  configure({ discord: {} })
  assert.deepEqual(
    read().map(({ channel }) => channel),
    ['discord'],
  )
  clock.advance(3_600_000)
  configure({ slack: {}, discord: {} })
  assert.equal(room(), 4)
})

test("a target's pace is kept: a short wait on the spot, a longer one elsewhere, and no other target waits", () => {
  const { turn, clock } = openGate()
  const limits = { ...free, perTarget: { count: 2, ms: 1000 } }
  const kinds = (target: string) => turn('slack', target, limits)
  assert.deepEqual([kinds('c1').kind, kinds('c1').kind], ['go', 'go'])
  assert.deepEqual(kinds('c1'), { kind: 'leave', whose: 'target', until: 1_001_000 })
  assert.equal(kinds('c2').kind, 'go')
  clock.advance(800)
  assert.deepEqual(kinds('c1'), { kind: 'wait', ms: 200 })
  clock.advance(200)
  assert.equal(kinds('c1').kind, 'go')
})

test('an overall pace is kept: the channel has no room until it may send again, and is open all the same', () => {
  const { turn, clock, room, state, told } = openGate()
  const limits = { ...free, overall: { count: 3, ms: 60_000 } }
  const next = () => turn('slack', 'c1', limits)
  assert.deepEqual([next().kind, next().kind, next().kind], ['go', 'go', 'go'])
  clock.advance(10_000)
  assert.equal(room(), 4)
  assert.deepEqual(next(), { kind: 'leave', whose: 'channel', until: 1_060_000 })
  assert.deepEqual([room(), state(), told('warn')], [0, { channel: 'slack', state: 'open' }, []])
  clock.advance(50_000)
  assert.deepEqual([room(), next().kind], [4, 'go'])
})

test('an overall pace outlives a change of the configuration, and a hold that is longer ends it', () => {
  const { turn, configure, fail, clock, room, era } = openGate()
  const limits = { ...free, overall: { count: 1, ms: 30_000 } }
  const before = era()
  turn('slack', 'c1', limits)
  turn('slack', 'c1', limits)
  fail(refused, 'd1', before)
  clock.advance(30_000)
  assert.equal(room(), 0)
  clock.advance(30_000)
  assert.equal(room(), 1)
  assert.equal(turn('slack', 'c1', limits).kind, 'go')
  configure({ slack: { botToken: 'another' }, discord: {} })
  assert.deepEqual(turn('slack', 'c1', limits), {
    kind: 'leave',
    whose: 'channel',
    until: clock.now() + 30_000,
  })
})

test('whoever has to make room is told whenever the rooms are others', () => {
  const { fail, clock, seen, sent, era } = openGate()
  seen.length = 0
  fail(refused)
  clock.advance(60_000)
  sent('slack', era())
  assert.deepEqual(
    seen.map(({ slack }) => slack),
    [0, 1, 4],
  )
})
