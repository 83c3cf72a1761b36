import assert from 'node:assert/strict'
import { isPluginError } from '@reveille/kit'
import { test, type World } from './test-bed/world.ts'

/** A notification as Pub/Sub posts it. https://cloud.google.com/pubsub/docs/push#receive_push */
function bodyOf(historyId: number | string, emailAddress = 'ada@example.com'): unknown {
  const data = Buffer.from(JSON.stringify({ emailAddress, historyId })).toString('base64')
  return { message: { data, messageId: '1' }, subscription: 'projects/p/subscriptions/s' }
}

/** Starts a source that gets its notifications by posts alone. */
function watchPushed(world: World): Promise<unknown> {
  world.google.onPublished = () => {}
  return world.watch({ mode: 'push' })
}

/** Starts a post and returns its outcome separately, because it takes time. */
function give(world: World, body: unknown) {
  const given = { answer: 'none' }
  world
    .receive(body)
    ?.then(() => 'taken')
    .catch((error) => (isPluginError(error) && error.retryable ? error.code : 'wrong'))
    .then((answer) => {
      given.answer = answer
    })
  return given
}

test('notifications that wait when the source ends, or come while nothing is watched, are answered with a failure', async (world) => {
  const { clock, disk, gateway, google } = world
  await watchPushed(world)
  gateway.rule = () => ({ status: 503 })
  const waiting = give(world, bodyOf(google.deliver().historyId))
  await clock.pass(1000)
  await world.stop()
  await clock.settle()
  assert.equal(waiting.answer, 'not-watching')
  disk.delete('credentials')
  world.start()
  await clock.settle()
  const given = give(world, bodyOf(1))
  await clock.settle()
  assert.equal(given.answer, 'not-watching')
})

test('mode push without a gateway is refused with an explanation', async (world) => {
  world.hasSurface = false
  world.start({ mode: 'push' })
  const error = await world.ended()
  assert.ok(isPluginError(error) && !error.retryable)
  assert.match(error.message, /Mode `push` needs the gateway.*hooks\.gmail\.mode/)
})

test('a posted notification is answered when its mails are on disk', async (world) => {
  const { clock, gateway, google } = world
  await watchPushed(world)
  let isDown = true
  gateway.rule = () => (isDown ? { status: 503 } : undefined)
  const mail = google.deliver()
  const given = give(world, bodyOf(mail.historyId))
  await clock.pass(5000)
  assert.equal(given.answer, 'none')
  isDown = false
  await clock.pass(10_000)
  assert.equal(given.answer, 'taken')
  assert.equal(world.cursor()?.historyId, String(mail.historyId))
  assert.ok(!google.calls.includes('pull'))
})

test('a reading that takes longer than Google waits is answered with a failure before, so that Google posts again', async (world) => {
  const { clock, gateway, google } = world
  await watchPushed(world)
  gateway.rule = () => ({ status: 503 })
  const given = give(world, bodyOf(google.deliver().historyId))
  await clock.pass(50_000)
  assert.equal(given.answer, 'still-reading')
})

test('notifications of other mailboxes and unreadable ones are answered with success and ignored', async (world) => {
  await watchPushed(world)
  const foreign = bodyOf('999999', 'eve@example.com')
  for (const body of [foreign, bodyOf(''), { message: 7 }, [], null, 'text', {}]) {
    const given = give(world, body)
    await world.clock.settle()
    assert.equal(given.answer, 'taken', JSON.stringify(body))
  }
})

test('only a limited number of notifications wait at one time', async (world) => {
  const { clock, gateway, google } = world
  await watchPushed(world)
  gateway.rule = () => ({ status: 503 })
  const { historyId } = google.deliver()
  const given = Array.from({ length: 101 }, () => give(world, bodyOf(historyId)))
  await clock.settle()
  assert.equal(given.at(-1)?.answer, 'busy')
  assert.equal(given.at(-2)?.answer, 'none')
  await clock.pass(60_000)
  assert.equal(given.at(-2)?.answer, 'still-reading')
  const late = give(world, bodyOf(historyId))
  await clock.settle()
  assert.equal(late.answer, 'busy', 'those that were answered are held until the mailbox is read')
  gateway.rule = () => undefined
  await clock.pass(60_000)
  const last = give(world, bodyOf(google.deliver().historyId))
  await clock.pass(1000)
  assert.equal(last.answer, 'taken')
})
