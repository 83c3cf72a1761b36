import assert from 'node:assert/strict'
import { dayMs, hourMs, minuteMs } from '../durations.ts'
import { test, type World } from './test-bed/world.ts'

function watchesIn({ google }: World): number {
  return google.watches.length
}

test('a watch is renewed as often as configured, and log and report say when', async (world) => {
  const { clock } = world
  const begun = clock.now()
  world.start({ renewEveryMinutes: 720 })
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
})

test('a watch is renewed at half of its time at the latest', async (world) => {
  world.google.watchLastsMs = 2 * dayMs
  world.start({ renewEveryMinutes: 8640 })
  await world.clock.pass(0.9 * dayMs)
  assert.equal(watchesIn(world), 1)
  await world.clock.pass(0.2 * dayMs)
  assert.equal(watchesIn(world), 2)
})

test('a start renews the watch only if it is due, or is for another topic or label', async (world) => {
  const { clock, google } = world
  const restart = async (rest: number, changes = {}) => {
    await world.stop()
    await clock.pass(rest)
    await world.watch(changes)
  }
  await world.watch()
  await restart(hourMs)
  assert.equal(watchesIn(world), 1)
  await restart(12 * hourMs)
  assert.equal(watchesIn(world), 2)
  await restart(0, { topic: 'projects/p/topics/other' })
  assert.equal(google.watches.at(-1)?.topic, 'projects/p/topics/other')
  await restart(0, { label: 'Invoices' })
  assert.equal(google.watches.at(-1)?.labelId, 'Label_7')
  assert.equal(watchesIn(world), 4)
})

test('the mailbox is read after each renewal', async (world) => {
  const { clock, gateway, google } = world
  world.start({ renewEveryMinutes: 5 })
  await clock.pass(minuteMs)
  const mail = google.deliver({ isLost: true })
  await clock.until(() => gateway.taken.has(mail.id), 5 * minuteMs)
})

for (const leap of [-9 * dayMs, -2 * hourMs, 9 * dayMs])
  test(`a clock that is set by ${leap / hourMs} hours lets no watch expire and causes no endless renewals`, async (world) => {
    const { clock, gateway, google } = world
    world.start()
    await clock.pass(hourMs)
    clock.set(leap)
    await clock.pass(13 * hourMs)
    assert.ok(watchesIn(world) >= 2 && watchesIn(world) <= 3, `${watchesIn(world)}`)
    const mail = google.deliver()
    await clock.until(() => gateway.taken.has(mail.id), minuteMs)
  })

test('a clock that is set back within the time of a watch delays no renewal', async (world) => {
  const { clock } = world
  world.start()
  await clock.pass(10 * hourMs)
  clock.set(-9 * hourMs)
  await clock.pass(2.2 * hourMs)
  assert.equal(watchesIn(world), 2)
})

test('a watch that seems to begin in the future, because the clock was wrong, is renewed', async (world) => {
  await world.watch()
  await world.stop()
  world.clock.set(-3 * dayMs)
  await world.watch()
  assert.equal(watchesIn(world), 2)
})

test("a clock that is far from Google's causes no endless renewals", async (world) => {
  const { clock, google } = world
  google.watchLastsMs = -3 * dayMs
  world.start()
  await clock.pass(dayMs + hourMs)
  assert.equal(watchesIn(world), 3)
})

test('a failed renewal is retried within half an hour, and is reported only on the last day of the watch', async (world) => {
  const { clock, gateway, google } = world
  google.watchLastsMs = 2 * dayMs
  await world.watch()
  world.fail('watch', 'unavailable', { count: 2000 })
  await clock.pass(dayMs - hourMs)
  assert.equal(world.state(), 'working')
  assert.equal(world.events().filter((event) => event === 'gmail-watch-not-renewed').length, 1)
  const tries = google.countOf('watch')
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
})

test('when the first watch fails, the report says what to run', async (world) => {
  const { clock, disk } = world
  world.fail('watch', 'forbidden', { count: 5, retryable: false })
  world.start()
  await clock.pass(minuteMs)
  assert.equal(world.state(), 'waiting')
  assert.match(world.detail(), /reveille webhooks gmail setup/)
  assert.ok(!disk.has('cursor'))
  await clock.until(() => world.state() === 'working', 10 * minuteMs)
})
