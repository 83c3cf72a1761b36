import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createLogLines } from '../http/surface-fixture.ts'
import { createConfirmations } from './confirmations.ts'
import { createWebFixture } from './fixture.ts'

const address = 'https://sns.eu-central-1.amazonaws.com/?Action=ConfirmSubscription&Token=hidden'

async function begin(context: TestContext) {
  const fixture = await createWebFixture(context)
  const lines = createLogLines()
  return { fixture, lines, ...createConfirmations({ web: fixture.web, log: lines as never }) }
}

test('a subscription is confirmed once, and the log tells it without the address', async (t) => {
  const { fixture, lines, confirm, settled } = await begin(t)
  confirm('alerts', address)
  confirm('alerts', address)
  await settled()
  confirm('alerts', address)
  await settled()
  assert.deepEqual(fixture.asked, ['/?Action=ConfirmSubscription&Token=hidden'])
  assert.deepEqual(lines.all, [
    {
      level: 'info',
      event: 'subscription-confirmed',
      endpoint: 'alerts',
      host: 'sns.eu-central-1.amazonaws.com',
    },
  ])
})

test('a server in trouble is asked three times more', async (t) => {
  const { fixture, lines, confirm, settled } = await begin(t)
  const answers = [503, 429, 500, 200]
  fixture.answer = (_incoming, outgoing) => outgoing.writeHead(answers.shift() ?? 418).end()
  confirm('alerts', address)
  for (const ms of [2000, 10_000, 30_000]) await fixture.pass(ms)
  await settled()
  assert.equal(fixture.asked.length, 4)
  assert.equal(lines.all[0]?.['event'], 'subscription-confirmed')
})

test('a confirmation that failed for good is told, and may be asked for again', async (t) => {
  const { fixture, lines, confirm, settled } = await begin(t)
  fixture.answer = (_incoming, outgoing) => outgoing.writeHead(503).end()
  confirm('alerts', address)
  for (const ms of [2000, 10_000, 30_000]) await fixture.pass(ms)
  await settled()
  const [line] = lines.all
  assert.deepEqual(
    [line?.level, line?.['event'], line?.['reason']],
    ['warn', 'subscription-not-confirmed', 'it answered 503'],
  )
  fixture.answer = (_incoming, outgoing) => outgoing.writeHead(200).end()
  confirm('alerts', address)
  await settled()
  assert.equal(lines.all[1]?.['event'], 'subscription-confirmed')
})

test('a refusal is not asked about again, and a redirect is not followed', async (t) => {
  const { fixture, lines, confirm, settled } = await begin(t)
  fixture.answer = (_incoming, outgoing) => outgoing.writeHead(403).end()
  confirm('alerts', address)
  await settled()
  assert.equal(fixture.asked.length, 1)
  assert.equal(lines.all[0]?.['reason'], 'it answered 403')
  fixture.answer = (_incoming, outgoing) => outgoing.writeHead(302, { location: '/elsewhere' }).end()
  confirm('alerts', `${address}2`)
  for (const ms of [2000, 10_000, 30_000]) await fixture.pass(ms)
  await settled()
  assert.ok(!fixture.asked.includes('/elsewhere'))
})

test('a gateway that stops waits for no confirmation', async (t) => {
  const { fixture, lines, confirm, settled } = await begin(t)
  fixture.answer = (_incoming, outgoing) => outgoing.writeHead(503).end()
  confirm('alerts', address)
  await fixture.askedTimes(1)
  fixture.stop()
  await settled()
  assert.equal(fixture.asked.length, 1)
  assert.equal(lines.all[0]?.['reason'], 'the gateway is stopping')
})

test('only so many confirmations are on their way at once', async (t) => {
  const { fixture, lines, confirm, settled } = await begin(t)
  fixture.answer = () => {}
  for (let index = 0; index < 33; index++) confirm('alerts', `${address}${index}`)
  assert.equal(lines.all.length, 1)
  assert.match(String(lines.all[0]?.['reason']), /too many/)
  fixture.stop()
  await settled()
})
