import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { EffectivePolicy } from '@reveille/engine'
import { createThrottle, createTries, type Tries } from './throttle.ts'

/** Time changes only by `tick`. */
function stopTime() {
  let now = 1_000_000
  return {
    clock: () => now,
    tick(ms: number): void {
      now += ms
    },
  }
}

function wrongTimes(tries: Tries, client: string, times: number): (number | undefined)[] {
  return Array.from({ length: times }, () => tries.wrong(client))
}

const none = (times: number) => new Array(times).fill(undefined)

test('twenty wrong tries in a minute are allowed, and further ones have to wait', () => {
  const { clock, tick } = stopTime()
  const tries = createTries(clock)
  assert.deepEqual(wrongTimes(tries, '203.0.113.7', 10), none(10))
  tick(15_500)
  assert.deepEqual(wrongTimes(tries, '203.0.113.7', 12), [...none(10), 45, 45])
  assert.equal(tries.wrong('203.0.113.8'), undefined, 'another client is not concerned')
  tries.right('203.0.113.8')
  tick(44_499)
  assert.equal(tries.wrong('203.0.113.7'), 1)
  tick(1)
  assert.deepEqual(wrongTimes(tries, '203.0.113.7', 21), [...none(20), 60])
})

test('asking whether a client is blocked counts nothing', () => {
  const { clock, tick } = stopTime()
  const tries = createTries(clock)
  assert.equal(tries.blocked('203.0.113.7'), undefined)
  wrongTimes(tries, '203.0.113.7', 19)
  for (let time = 0; time < 5; time += 1) assert.equal(tries.blocked('203.0.113.7'), undefined)
  assert.equal(tries.wrong('203.0.113.7'), undefined)
  assert.equal(tries.blocked('203.0.113.7'), 60)
  tick(60_000)
  assert.equal(tries.blocked('203.0.113.7'), undefined)
})

type Rates = NonNullable<EffectivePolicy['rate']>

const rateOf = (policy: string, value: Rates['value']): Rates => ({ policy, value })
const each = (max: number, windowMs = 60_000) => ({ max, windowMs })

test('the rate of a client is counted for each client, and that of the endpoint for all of them', () => {
  const { clock, tick } = stopTime()
  const throttle = createThrottle(clock)
  const rate = rateOf('github', { client: each(2), endpoint: each(3, 10_000) })
  const take = (client: string) => [throttle.takeOfClient(client, rate), throttle.takeOfEndpoint(rate)]
  assert.deepEqual(take('203.0.113.7'), none(2))
  assert.deepEqual(take('203.0.113.7'), none(2))
  assert.deepEqual(take('203.0.113.7'), [60, undefined])
  assert.deepEqual(take('203.0.113.8'), [undefined, 10])
  tick(10_000)
  assert.deepEqual(take('203.0.113.7'), [50, undefined])
  tick(50_000)
  assert.deepEqual(take('203.0.113.7'), none(2))
})

test('ten thousand clients are remembered, and the one that came least recently is forgotten for the next', () => {
  const tries = createTries(stopTime().clock)
  const addressOf = (client: number) => `10.${client >> 16}.${(client >> 8) & 255}.${client & 255}`
  wrongTimes(tries, addressOf(0), 20)
  wrongTimes(tries, addressOf(1), 20)
  for (let client = 2; client < 10_000; client += 1) tries.wrong(addressOf(client))
  assert.equal(tries.blocked(addressOf(0)), 60)
  assert.equal(tries.wrong(addressOf(0)), 60, 'which came again, so that another is the oldest')
  tries.wrong(addressOf(10_000))
  assert.equal(tries.blocked(addressOf(0)), 60)
  assert.equal(tries.blocked(addressOf(1)), undefined)
})
