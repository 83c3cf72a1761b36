import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isPluginError } from '@reveille/kit'
import { createWorld, type Run, type World, whileWatched } from './test-bed/world.ts'

/** A notification as Pub/Sub posts it. https://cloud.google.com/pubsub/docs/push#receive_push */
function bodyOf(historyId: number | string, emailAddress = 'ada@example.com'): unknown {
  const data = Buffer.from(JSON.stringify({ emailAddress, historyId })).toString('base64')
  return { message: { data, messageId: '1' }, subscription: 'projects/p/subscriptions/s' }
}

function createPushed() {
  const world = createWorld({ mode: 'push' })
  world.google.onPublished = () => {}
  return world
}

/** Starts a post and returns its outcome separately, because it takes time. */
function give(run: Run, body: unknown) {
  const given = { answer: 'none' }
  run
    .receiver?.(body)
    .then(() => 'taken')
    .catch((error) => (isPluginError(error) && error.retryable ? error.code : 'wrong'))
    .then((answer) => {
      given.answer = answer
    })
  return given
}

test('notifications that wait when the source ends, or come while nothing is watched, are answered with a failure', async () => {
  const world = createPushed()
  const { clock, disk, gateway, google } = world
  const run = world.start()
  await clock.pass(1000)
  gateway.rule = () => ({ status: 503 })
  const waiting = give(run, bodyOf(google.deliver().historyId))
  await clock.pass(1000)
  await world.stop(run)
  await clock.settle()
  assert.equal(waiting.answer, 'not-watching')
  disk.delete('credentials')
  const idle = world.start()
  await clock.settle()
  const given = give(idle, bodyOf(1))
  await clock.settle()
  assert.equal(given.answer, 'not-watching')
  await world.stop(idle)
})

test('mode push without a gateway is refused with an explanation', async () => {
  const world = createPushed()
  world.hasSurface = false
  const run = world.start()
  await world.clock.until(() => run.outcome.isOver)
  const { error } = run.outcome
  assert.ok(isPluginError(error) && !error.retryable)
  assert.match(error.message, /Mode `push` needs the gateway.*hooks\.gmail\.mode/)
})

/** Each is given a mailbox that has been watched for a second, and is stopped at the end. */
const watched: Readonly<Record<string, (world: World, run: Run) => Promise<void>>> = {
  async 'a posted notification is answered when its mails are on disk'(world, run) {
    const { clock, gateway, google } = world
    let isDown = true
    gateway.rule = () => (isDown ? { status: 503 } : undefined)
    const mail = google.deliver()
    const given = give(run, bodyOf(mail.historyId))
    await clock.pass(5000)
    assert.equal(given.answer, 'none')
    isDown = false
    await clock.pass(10_000)
    assert.equal(given.answer, 'taken')
    assert.equal(world.cursor()?.historyId, String(mail.historyId))
    assert.ok(!google.calls.includes('pull'))
  },

  async 'a reading that takes longer than Google waits is answered with a failure before, so that Google posts again'(
    { clock, gateway, google },
    run,
  ) {
    gateway.rule = () => ({ status: 503 })
    const given = give(run, bodyOf(google.deliver().historyId))
    await clock.pass(50_000)
    assert.equal(given.answer, 'still-reading')
  },

  async 'notifications of other mailboxes and unreadable ones are answered with success and ignored'(
    { clock },
    run,
  ) {
    for (const body of [
      bodyOf('999999', 'eve@example.com'),
      bodyOf(''),
      { message: 7 },
      [],
      null,
      'text',
      {},
    ]) {
      const given = give(run, body)
      await clock.settle()
      assert.equal(given.answer, 'taken', JSON.stringify(body))
    }
  },

  async 'only a limited number of notifications wait at one time'({ clock, gateway, google }, run) {
    gateway.rule = () => ({ status: 503 })
    const { historyId } = google.deliver()
    const given = Array.from({ length: 101 }, () => give(run, bodyOf(historyId)))
    await clock.settle()
    assert.equal(given.at(-1)?.answer, 'busy')
    assert.equal(given.at(-2)?.answer, 'none')
    await clock.pass(60_000)
    assert.equal(given.at(-2)?.answer, 'still-reading')
    const late = give(run, bodyOf(historyId))
    await clock.settle()
    assert.equal(late.answer, 'busy', 'those that were answered are held until the mailbox is read')
    gateway.rule = () => undefined
    await clock.pass(60_000)
    const last = give(run, bodyOf(google.deliver().historyId))
    await clock.pass(1000)
    assert.equal(last.answer, 'taken')
  },
}

for (const [name, ask] of Object.entries(watched)) test(name, () => whileWatched(ask, { mode: 'push' }))
