import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Fault, failure } from './test-bed/fault.ts'
import { createWorld, type World } from './test-bed/world.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs

const down: Fault = { before: failure('unavailable') }
const times = (count: number, fault: Fault) => Array.from({ length: count }, () => fault)

function watchesIn({ google }: World): number {
  return google.watches.length
}

test('a watch is renewed as often as configured, and log and report say when', async () => {
  const world = createWorld({ renewEveryMinutes: 720 })
  const { clock } = world
  const begun = clock.now()
  const run = world.start()
  await clock.pass(11 * hourMs)
  assert.equal(watchesIn(world), 1)
  await clock.pass(2 * hourMs)
  assert.equal(watchesIn(world), 2)
  const next = begun + 24 * hourMs
  assert.deepEqual(world.line('gmail-watch-renewed')?.facts, {
    endsAt: new Date(begun + 12 * hourMs + 7 * dayMs).toISOString(),
    next: new Date(next).toISOString(),
  })
  assert.equal(world.reports.at(-1)?.times?.['watchRenews'], next)
  assert.equal(world.reports.at(-1)?.times?.['watchEnds'], begun + 12 * hourMs + 7 * dayMs)
  await clock.pass(2 * dayMs)
  assert.equal(watchesIn(world), 6)
  await world.stop(run)
})

test('a watch is renewed at half of its time at the latest', async () => {
  const world = createWorld({ renewEveryMinutes: 8640 })
  world.google.watchLastsMs = 2 * dayMs
  const run = world.start()
  await world.clock.pass(0.9 * dayMs)
  assert.equal(watchesIn(world), 1)
  await world.clock.pass(0.2 * dayMs)
  assert.equal(watchesIn(world), 2)
  await world.stop(run)
})

test('a start renews the watch only if it is due, or is for another topic or label', async () => {
  const world = createWorld()
  const { clock, google } = world
  const restart = async (rest: number) => {
    await world.stop(run)
    await clock.pass(rest)
    run = world.start()
    await clock.pass(minuteMs)
  }
  let run = world.start()
  await clock.pass(minuteMs)
  await restart(hourMs)
  assert.equal(watchesIn(world), 1)
  await restart(12 * hourMs)
  assert.equal(watchesIn(world), 2)
  Object.assign(world.config, { topic: 'projects/p/topics/other' })
  await restart(0)
  assert.equal(google.watches.at(-1)?.topic, 'projects/p/topics/other')
  Object.assign(world.config, { label: 'Invoices' })
  await restart(0)
  assert.equal(google.watches.at(-1)?.labelId, 'Label_7')
  assert.equal(watchesIn(world), 4)
  await world.stop(run)
})

test('the mailbox is read after each renewal', async () => {
  const world = createWorld({ renewEveryMinutes: 5 })
  const { clock, gateway, google } = world
  const run = world.start()
  await clock.pass(minuteMs)
  const mail = google.deliver({ isLost: true })
  await clock.until(() => gateway.taken.has(mail.id), 5 * minuteMs)
  await world.stop(run)
})

for (const leap of [-9 * dayMs, -2 * hourMs, 9 * dayMs])
  test(`a clock that is set by ${leap / hourMs} hours lets no watch expire and causes no endless renewals`, async () => {
    const world = createWorld()
    const { clock, gateway, google } = world
    const run = world.start()
    await clock.pass(hourMs)
    clock.set(leap)
    await clock.pass(13 * hourMs)
    assert.ok(watchesIn(world) >= 2 && watchesIn(world) <= 3, `${watchesIn(world)}`)
    const mail = google.deliver()
    await clock.until(() => gateway.taken.has(mail.id), minuteMs)
    await world.stop(run)
  })

test('a clock that is set back within the time of a watch delays no renewal', async () => {
  const world = createWorld()
  const { clock } = world
  const run = world.start()
  await clock.pass(10 * hourMs)
  clock.set(-9 * hourMs)
  await clock.pass(2.2 * hourMs)
  assert.equal(watchesIn(world), 2)
  await world.stop(run)
})

test('a watch that seems to begin in the future, because the clock was wrong, is renewed', async () => {
  const world = createWorld()
  const { clock } = world
  const run = world.start()
  await clock.pass(minuteMs)
  await world.stop(run)
  clock.set(-3 * dayMs)
  const next = world.start()
  await clock.pass(minuteMs)
  assert.equal(watchesIn(world), 2)
  await world.stop(next)
})

test("a clock that is far from Google's causes no endless renewals", async () => {
  const world = createWorld()
  const { clock, google } = world
  google.watchLastsMs = -3 * dayMs
  const run = world.start()
  await clock.pass(dayMs + hourMs)
  assert.equal(watchesIn(world), 3)
  await world.stop(run)
})

test('a failed renewal is retried within half an hour, and is reported only on the last day of the watch', async () => {
  const world = createWorld()
  const { clock, gateway, google } = world
  google.watchLastsMs = 2 * dayMs
  const run = world.start()
  await clock.pass(minuteMs)
  world.inject('watch', ...times(2000, down))
  await clock.pass(dayMs - hourMs)
  assert.equal(world.state(), 'working')
  assert.equal(world.events().filter((event) => event === 'gmail-watch-not-renewed').length, 1)
  const tries = google.calls.filter((call) => call === 'watch').length
  assert.ok(tries > 0.4 * 48 && tries < 0.6 * 96, `${tries}`)
  await clock.pass(2 * hourMs)
  assert.equal(world.state(), 'failing')
  assert.match(world.detail(), /ends within a day/)
  await clock.pass(dayMs)
  assert.match(world.detail(), /not in force/)
  const mail = google.deliver()
  await clock.until(() => gateway.taken.has(mail.id), 16 * minuteMs)
  world.faults = { next: () => undefined }
  await clock.until(() => world.state() === 'working', 31 * minuteMs)
  await world.stop(run)
})

test('when the first watch fails, the report says what to run', async () => {
  const world = createWorld()
  const { clock, disk } = world
  world.inject('watch', ...times(5, { before: failure('forbidden', { retryable: false }) }))
  const run = world.start()
  await clock.pass(minuteMs)
  assert.equal(world.state(), 'waiting')
  assert.match(world.detail(), /reveille webhooks gmail setup/)
  assert.ok(!disk.has('cursor'))
  await clock.until(() => world.state() === 'working', 10 * minuteMs)
  await world.stop(run)
})
