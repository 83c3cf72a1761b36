import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { HookRequest } from '@reveille/engine'
import type { DeliveryRecord, Page, PageOptions } from '../store/port.ts'
import { createLoopGuard, createSentMessages, loadSentMessages } from './index.ts'

const reply = 'The build is green again, all 42 tests.'
const now = 1_000_000_000_000
const day = 86_400_000

function request(endpoint: string, payload: unknown, headers: HookRequest['headers'] = {}): HookRequest {
  return { endpoint, payload, headers, query: {}, rawBody: new Uint8Array(), now }
}

const nothing = async () => {}

test('a mapped endpoint ignores a request that repeats a sent message, and a built-in one does not', async () => {
  const words = createSentMessages({ now: () => now })
  const loopIn = createLoopGuard(words, nothing)
  assert.equal(await loopIn(request('slack', { text: reply })), undefined)
  words.note(reply)
  const reason = (await loopIn(request('slack', { text: reply }))) ?? ''
  assert.match(reason, /^it repeats what this gateway delivered/)
  assert.ok(!reason.includes('green'), 'the reason quotes nothing')
  assert.equal(loopIn(request('slack', { text: 'something else that is long enough' })), undefined)
  assert.equal(loopIn(request('agent', { message: reply })), undefined)
  assert.equal(loopIn(request('wake', { text: reply })), undefined)
})

test('a request with the header of a run is ignored on every endpoint', async () => {
  const loopIn = createLoopGuard(createSentMessages({ now: () => now }), () =>
    assert.fail('nothing is remembered'),
  )
  for (const endpoint of ['slack', 'wake', 'agent'])
    assert.match(
      (await loopIn(request(endpoint, {}, { 'x-reveille-run': 'some-id' }))) ?? '',
      /x-reveille-run/,
    )
  assert.equal(await loopIn(request('agent', {}, { 'x-reveille-run': '' })), undefined)
})

test('earlier messages are loaded once, for the first request that may be an echo, and all requests wait for that', async () => {
  const words = createSentMessages({ now: () => now })
  const reading = Promise.withResolvers<void>()
  let times = 0
  const loopIn = createLoopGuard(words, async () => {
    times += 1
    await reading.promise
    words.note(reply)
  })
  assert.equal(loopIn(request('agent', { message: reply })), undefined)
  assert.equal(times, 0)
  const [first, second] = [loopIn(request('slack', { text: reply })), loopIn(request('slack', {}))]
  reading.resolve()
  assert.match((await first) ?? '', /^it repeats/)
  assert.equal(await second, undefined)
  assert.match(String(loopIn(request('slack', { text: reply }))), /^it repeats/)
  assert.equal(times, 1)
})

test('a gateway loads the deliveries of the last day, and none before', async () => {
  const delivery = (number: number, endedAt: number) =>
    ({ id: `${number}`, text: `${reply} ${number}`, endedAt, createdAt: endedAt - 5 }) as DeliveryRecord
  const pages: Record<string, Page<DeliveryRecord>> = {
    first: { items: [delivery(1, now - 1), delivery(2, now - 2)], next: 'second' },
    second: { items: [delivery(3, now - day + 1), delivery(4, now - day)], next: 'third' },
  }
  const asked: PageOptions[] = []
  const words = createSentMessages({ now: () => now })
  const deliveries = async (options: PageOptions = {}) => {
    asked.push(options)
    return pages[options.cursor ?? 'first'] ?? assert.fail('it read on')
  }
  await loadSentMessages(words, { deliveries }, now)
  assert.deepEqual(
    [1, 2, 3, 4].map((number) => words.isEchoedIn({ text: `${reply} ${number}` })),
    [true, true, true, false],
  )
  assert.deepEqual(asked, [
    { state: 'delivered', limit: 500 },
    { state: 'delivered', limit: 500, cursor: 'second' },
  ])
})
