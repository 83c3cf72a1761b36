import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { EffectivePolicy } from '@reveille/engine'
import { createThrottle, createTries, type Tries } from './throttle.ts'

/** Time changes only by `tick`. */
function stopTime({ mock }: TestContext): (ms: number) => void {
  mock.timers.enable({ apis: ['setTimeout', 'Date'], now: 1_000_000 })
  return (ms) => mock.timers.tick(ms)
}

async function wrongTimes(tries: Tries, client: string, times: number): Promise<(number | undefined)[]> {
  const answers: (number | undefined)[] = []
  for (let time = 0; time < times; time += 1) answers.push(await tries.wrong(client))
  return answers
}

const none = (times: number) => new Array(times).fill(undefined)

test('twenty wrong tries in a minute are allowed, and further ones have to wait', async (t) => {
  const tick = stopTime(t)
  const tries = createTries()
  assert.deepEqual(await wrongTimes(tries, '203.0.113.7', 10), none(10))
  tick(15_500)
  assert.deepEqual(await wrongTimes(tries, '203.0.113.7', 12), [...none(10), 45, 45])
  assert.equal(await tries.wrong('203.0.113.8'), undefined, 'another client is not concerned')
  tick(44_499)
  assert.equal(await tries.wrong('203.0.113.7'), 1)
  tick(1)
  assert.deepEqual(await wrongTimes(tries, '203.0.113.7', 21), [...none(20), 60])
})

test('a right token clears the wrong tries before it', async (t) => {
  stopTime(t)
  const tries = createTries()
  await wrongTimes(tries, '203.0.113.7', 25)
  tries.right('203.0.113.7')
  assert.deepEqual(await wrongTimes(tries, '203.0.113.7', 21), [...none(20), 60])
  tries.right('203.0.113.8')
  assert.equal(await tries.wrong('203.0.113.7'), 60, 'of another client it clears nothing')
})

test('asking whether a client is blocked counts nothing, and costs nothing for one that was never wrong', async (t) => {
  const tick = stopTime(t)
  const tries = createTries()
  assert.equal(tries.blocked('203.0.113.7'), undefined)
  await wrongTimes(tries, '203.0.113.7', 19)
  for (let time = 0; time < 5; time += 1) assert.equal(await tries.blocked('203.0.113.7'), undefined)
  assert.equal(await tries.wrong('203.0.113.7'), undefined)
  assert.equal(await tries.blocked('203.0.113.7'), 60)
  tick(60_000)
  assert.equal(await tries.blocked('203.0.113.7'), undefined)
})

test('tries are counted as they come, not when they are answered', async (t) => {
  stopTime(t)
  const tries = createTries()
  const answers = await Promise.all(Array.from({ length: 30 }, () => tries.wrong('203.0.113.7')))
  assert.deepEqual(answers, [...none(20), ...new Array(10).fill(60)])
})

type Rates = NonNullable<EffectivePolicy['rate']>

const rateOf = (policy: string, value: Rates['value']): Rates => ({ policy, value })
const each = (max: number, windowMs = 60_000) => ({ max, windowMs })

test('the rate of a client is counted for each client, and that of the endpoint for all of them', async (t) => {
  const tick = stopTime(t)
  const throttle = createThrottle()
  const rate = rateOf('github', { client: each(2), endpoint: each(3, 10_000) })
  const take = async (client: string) => [
    await throttle.takeOfClient(client, rate),
    await throttle.takeOfEndpoint(rate),
  ]
  assert.deepEqual(await take('203.0.113.7'), none(2))
  assert.deepEqual(await take('203.0.113.7'), none(2))
  assert.deepEqual(await take('203.0.113.7'), [60, undefined])
  assert.deepEqual(await take('203.0.113.8'), [undefined, 10])
  tick(10_000)
  assert.deepEqual(await take('203.0.113.7'), [50, undefined])
  tick(50_000)
  assert.deepEqual(await take('203.0.113.7'), none(2))
})

test('where a policy has no rate, nothing is counted', () => {
  const throttle = createThrottle()
  for (let time = 0; time < 3; time += 1) {
    assert.equal(throttle.takeOfClient('203.0.113.7', undefined), undefined)
    assert.equal(throttle.takeOfEndpoint(undefined), undefined)
    assert.equal(throttle.takeOfClient('203.0.113.7', rateOf('a', { endpoint: each(1) })), undefined)
    assert.equal(throttle.takeOfEndpoint(rateOf('a', { client: each(1) })), undefined)
  }
})

test('no client waits longer than the window after the clock was set back', async (t) => {
  stopTime(t)
  const tries = createTries()
  await wrongTimes(tries, '203.0.113.7', 20)
  t.mock.timers.setTime(1)
  assert.equal(await tries.wrong('203.0.113.7'), 60)
})

test('ten thousand clients are remembered, and the one that came least recently is forgotten for the next', async (t) => {
  stopTime(t)
  const tries = createTries()
  const addressOf = (client: number) => `10.${client >> 16}.${(client >> 8) & 255}.${client & 255}`
  await wrongTimes(tries, addressOf(0), 20)
  await wrongTimes(tries, addressOf(1), 20)
  for (let client = 2; client < 10_000; client += 1) await tries.wrong(addressOf(client))
  assert.equal(await tries.blocked(addressOf(0)), 60)
  assert.equal(await tries.wrong(addressOf(0)), 60, 'which came again, so that another is the oldest')
  await tries.wrong(addressOf(10_000))
  assert.equal(await tries.blocked(addressOf(0)), 60)
  assert.equal(await tries.blocked(addressOf(1)), undefined)
})

test('the counters do not keep the process alive', () => {
  void createTries().wrong('203.0.113.7')
  assert.ok(!process.getActiveResourcesInfo().includes('Timeout'))
})
