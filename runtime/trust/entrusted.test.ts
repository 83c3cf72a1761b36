import assert from 'node:assert/strict'
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { UnavailableError } from '@reveille/engine'
import { createLogLines } from '../http/surface-fixture.ts'
import { createEntrustedFiles } from './entrusted.ts'

const name = 'verification-token'

async function begin(context: TestContext) {
  const data = await mkdtemp(join(tmpdir(), 'reveille-entrusted-'))
  context.after(() => rm(data, { recursive: true, force: true }))
  const folder = join(data, 'entrusted')
  const lines = createLogLines()
  const clock = { now: Date.UTC(2026, 0, 1) }
  const { keep } = createEntrustedFiles({ folder, log: lines as never, now: () => clock.now })
  return { data, folder, lines, clock, keep }
}

test('what a provider entrusts is in a file for the operator alone, which the log names', async (t) => {
  const { folder, lines, keep } = await begin(t)
  await keep('notion', { name, value: 'secret_value' })
  const file = join(folder, 'notion-verification-token')
  assert.equal(await readFile(file, 'utf8'), 'secret_value\n')
  if (process.platform !== 'win32') {
    assert.equal((await stat(file)).mode & 0o777, 0o600)
    assert.equal((await stat(folder)).mode & 0o777, 0o700)
  }
  assert.deepEqual(lines.all, [{ level: 'warn', event: 'entrusted-kept', endpoint: 'notion', name, file }])
})

test('of one policy the last is kept, at most one every two seconds', async (t) => {
  const { folder, clock, keep, lines } = await begin(t)
  await keep('notion', { name, value: 'first' })
  await assert.rejects(keep('notion', { name, value: 'flood' }), UnavailableError)
  await keep('other', { name, value: 'of another' })
  clock.now += 2000
  await keep('notion', { name, value: 'second' })
  assert.deepEqual((await readdir(folder)).sort(), [`notion-${name}`, `other-${name}`])
  assert.equal(await readFile(join(folder, `notion-${name}`), 'utf8'), 'second\n')
  assert.equal(lines.all.length, 3)
})

test('no name of a policy leads out of the folder, or to the file of another', async (t) => {
  const { data, folder, keep } = await begin(t)
  const policies = ['../../up', '/etc/passwd', 'a/:b', 'a-b', 'A-b', 'a b', '', '.', 'con:', 'ä'.repeat(300)]
  for (const policy of policies) await keep(policy, { name, value: 'v' })
  const files = await readdir(folder)
  assert.equal(new Set(files.map((file) => file.toLowerCase())).size, policies.length)
  for (const file of files) assert.match(file, /^[a-z0-9.-]{1,100}$/)
  assert.deepEqual(await readdir(data), ['entrusted'])
})

test('a disk that fails leaves the sender to come again, and the value out of the log', async (t) => {
  const { data, keep, lines } = await begin(t)
  await writeFile(join(data, 'entrusted'), 'a file where the folder should be')
  await assert.rejects(keep('notion', { name, value: 'secret_value' }), UnavailableError)
  assert.equal(lines.all[0]?.['event'], 'entrusted-not-kept')
  assert.ok(!JSON.stringify(lines.all).includes('secret_value'))
})
