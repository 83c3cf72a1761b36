import assert from 'node:assert/strict'
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { UnavailableError } from '@reveille/engine'
import { createLogLines } from '../http/surface-fixture.ts'
import { createWebFixture } from './fixture.ts'
import { createConfirmations, createStoredSecrets } from './handshake-effects.ts'

const address = 'https://sns.eu-central-1.amazonaws.com/?Action=ConfirmSubscription&Token=hidden'

async function beginConfirmations(context: TestContext) {
  const fixture = await createWebFixture(context)
  const lines = createLogLines()
  return { fixture, lines, ...createConfirmations({ web: fixture.web, log: lines as never }) }
}

test('a subscription is confirmed once, and logged without its address', async (t) => {
  const { fixture, lines, confirm, settled } = await beginConfirmations(t)
  confirm('alerts', address)
  confirm('alerts', address)
  await settled()
  confirm('alerts', address)
  await settled()
  assert.deepEqual(fixture.requests, ['/?Action=ConfirmSubscription&Token=hidden'])
  assert.deepEqual(lines.all, [
    {
      level: 'info',
      event: 'subscription-confirmed',
      endpoint: 'alerts',
      host: 'sns.eu-central-1.amazonaws.com',
    },
  ])
})

test('a server error is retried three times', async (t) => {
  const { fixture, lines, confirm, settled } = await beginConfirmations(t)
  const answers = [503, 429, 500, 200]
  fixture.answer = (_incoming, outgoing) => outgoing.writeHead(answers.shift() ?? 418).end()
  confirm('alerts', address)
  for (const ms of [2000, 10_000, 30_000]) await fixture.pass(ms)
  await settled()
  assert.equal(fixture.requests.length, 4)
  assert.equal(lines.all[0]?.['event'], 'subscription-confirmed')
})

test('a confirmation that failed is logged, and may be requested again', async (t) => {
  const { fixture, lines, confirm, settled } = await beginConfirmations(t)
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

test('a refusal is not retried, and a redirect is not followed', async (t) => {
  const { fixture, lines, confirm, settled } = await beginConfirmations(t)
  fixture.answer = (_incoming, outgoing) => outgoing.writeHead(403).end()
  confirm('alerts', address)
  await settled()
  assert.equal(fixture.requests.length, 1)
  assert.equal(lines.all[0]?.['reason'], 'it answered 403')
  fixture.answer = (_incoming, outgoing) => outgoing.writeHead(302, { location: '/elsewhere' }).end()
  confirm('alerts', `${address}2`)
  for (const ms of [2000, 10_000, 30_000]) await fixture.pass(ms)
  await settled()
  assert.ok(!fixture.requests.includes('/elsewhere'))
})

test('a stopping gateway waits for no confirmation', async (t) => {
  const { fixture, lines, confirm, settled } = await beginConfirmations(t)
  fixture.answer = (_incoming, outgoing) => outgoing.writeHead(503).end()
  confirm('alerts', address)
  await fixture.askedTimes(1)
  fixture.stop()
  await settled()
  assert.equal(fixture.requests.length, 1)
  assert.equal(lines.all[0]?.['reason'], 'the gateway is stopping')
})

test('the number of simultaneous confirmations is bounded', async (t) => {
  const { fixture, lines, confirm, settled } = await beginConfirmations(t)
  fixture.answer = () => {}
  for (let index = 0; index < 33; index++) confirm('alerts', `${address}${index}`)
  assert.equal(lines.all.length, 1)
  assert.match(String(lines.all[0]?.['reason']), /too many/)
  fixture.stop()
  await settled()
})

const name = 'verification-token'

async function beginStoring(context: TestContext) {
  const data = await mkdtemp(join(tmpdir(), 'reveille-secrets-'))
  context.after(() => rm(data, { recursive: true, force: true }))
  const folder = join(data, 'stored-secrets')
  const lines = createLogLines()
  const clock = { now: Date.UTC(2026, 0, 1) }
  const { keep } = createStoredSecrets({ folder, log: lines as never, now: () => clock.now })
  return { data, folder, lines, clock, keep }
}

test('a secret from a provider is written to a file for the operator alone, which the log names', async (t) => {
  const { folder, lines, keep } = await beginStoring(t)
  await keep('notion', { name, value: 'secret_value' }, '192.0.2.1')
  const file = join(folder, 'notion-verification-token')
  assert.equal(await readFile(file, 'utf8'), 'secret_value\n')
  if (process.platform !== 'win32') {
    assert.equal((await stat(file)).mode & 0o777, 0o600)
    assert.equal((await stat(folder)).mode & 0o777, 0o700)
  }
  assert.deepEqual(lines.all, [
    { level: 'warn', event: 'secret-stored', endpoint: 'notion', name, file, client: '192.0.2.1' },
  ])
})

test('each policy keeps its first and its last secret, says which client replaced one, and writes at most one every two seconds', async (t) => {
  const { folder, clock, keep, lines } = await beginStoring(t)
  await keep('notion', { name, value: 'first' }, '192.0.2.1')
  await assert.rejects(keep('notion', { name, value: 'flood' }, '192.0.2.1'), UnavailableError)
  await keep('other', { name, value: 'of another' }, '192.0.2.1')
  clock.now += 2000
  await keep('notion', { name, value: 'second' }, '192.0.2.2')
  clock.now += 2000
  await keep('notion', { name, value: 'third' }, '192.0.2.3')
  assert.deepEqual((await readdir(folder)).sort(), [
    `notion-${name}`,
    `notion-${name}.first`,
    `other-${name}`,
  ])
  const first = join(folder, `notion-${name}.first`)
  assert.equal(await readFile(first, 'utf8'), 'first\n')
  const replaced = lines.all.filter(({ event }) => event === 'secret-replaced')
  assert.deepEqual(
    replaced.map((line) => [line['client'], line['first']]),
    [
      ['192.0.2.2', first],
      ['192.0.2.3', first],
    ],
  )
  assert.equal(await readFile(join(folder, `notion-${name}`), 'utf8'), 'third\n')
  assert.equal(lines.all.length, 4)
})

test('no name of a policy leads out of the folder or to the file of another policy', async (t) => {
  const { data, folder, keep } = await beginStoring(t)
  const policies = ['../../up', '/etc/passwd', 'a/:b', 'a-b', 'A-b', 'a b', '', '.', 'con:', 'ä'.repeat(300)]
  for (const policy of policies) await keep(policy, { name, value: 'v' }, '192.0.2.1')
  const files = await readdir(folder)
  assert.equal(new Set(files.map((file) => file.toLowerCase())).size, policies.length)
  for (const file of files) assert.match(file, /^[a-z0-9.-]{1,100}$/)
  assert.deepEqual(await readdir(data), ['stored-secrets'])
})

test('when the disk fails, the sender has to come again, and the secret is not logged', async (t) => {
  const { data, keep, lines } = await beginStoring(t)
  await writeFile(join(data, 'stored-secrets'), 'a file where the folder should be')
  await assert.rejects(keep('notion', { name, value: 'secret_value' }, '192.0.2.1'), UnavailableError)
  assert.equal(lines.all[0]?.['event'], 'secret-not-stored')
  assert.ok(!JSON.stringify(lines.all).includes('secret_value'))
})
