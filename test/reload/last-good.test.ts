/** Tests that a start with a broken mapping file or transform serves its last good version. */

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { ConfigurationError } from '../../runtime/reload/start.ts'
import { configuration, type Files, gatewayToken, type InstallOptions, install } from '../installation.ts'

const limit = { timeout: 30_000 }

const bell = (text: string) =>
  `mappings: [{ id: bell, match: { path: bell }, action: wake, text: "${text}" }]\n`
const broken = 'mappings: [{ id: bell, match: { path: bell }\n  text: "no end\n'

interface Status {
  readonly lastGood: { readonly generation: number; readonly files: readonly string[] } | null
}

/** Runs a gateway on `before` until that is live, and stops it. `after` is what the next start finds. */
async function restart(
  t: TestContext,
  before: Files,
  after: Files,
  { lastGood = false }: Pick<InstallOptions, 'lastGood'> = {},
) {
  const first = await install(t, before)
  await first.gateway.close({ graceMs: 0 })
  for (const [name, text] of Object.entries(after)) await first.write(name, text)
  const again = await install(t, {}, { folder: first.folder, lastGood })
  const ring = async (endpoint = 'bell', headers: Record<string, string> = {}) => {
    const { status, body } = await again.post(`/hooks/${endpoint}`, {}, headers)
    if (body['eventId'] === undefined) return String(status)
    return (await again.read<{ text: string }>(`/api/events/${body['eventId']}`)).text
  }
  return { ...again, ring, status: () => again.read<Status>('/api/status') }
}

test(
  'a broken mapping file is served as it was, with an error in the log, until it is fixed',
  limit,
  async (t) => {
    const { ring, status, line, lines, ask, read, write, gateway } = await restart(
      t,
      { 'mappings/bell.yaml': bell('one'), 'mappings/door.yaml': bell('door').replaceAll('bell', 'door') },
      { 'mappings/bell.yaml': broken, 'mappings/door.yaml': bell('gate').replaceAll('bell', 'door') },
    )
    assert.equal(await ring(), 'one')
    assert.equal(await ring('door'), 'gate', 'all other files are those of today')
    const { level, generation, files } = await line('last-good-served')
    assert.deepEqual([level, generation, files], [50, 1, ['mappings/bell.yaml']])
    assert.ok(lines('diagnostic').length > 0, 'the mistake is reported with its place')
    assert.deepEqual((await status()).lastGood, { generation: 1, files: ['mappings/bell.yaml'] })
    const { items } = await read<{ items: { state: string; isCurrent?: true }[] }>('/api/generations')
    assert.ok(
      items.some(({ isCurrent }) => isCurrent),
      'the files are refused, as after any change',
    )
    assert.equal((await ask('/readyz')).status, 200)

    await write('mappings/bell.yaml', bell('two'))
    assert.equal((await gateway.reload()).outcome, 'live')
    assert.equal(await ring(), 'two')
    assert.equal((await status()).lastGood, null)
  },
)

test(
  'a file that does not compile is served as it was, and a new broken file is not served',
  limit,
  async (t) => {
    const { ring, status, gateway, write } = await restart(
      t,
      { 'mappings/bell.yaml': bell('one') },
      {
        'mappings/bell.yaml': bell('{{#if open}}'),
        'mappings/new.yaml': 'mappings: [{ id: new, match: { path: new }, action: walk, text: x }]\n',
      },
    )
    assert.equal(await ring(), 'one')
    assert.equal(await ring('new'), '404')
    assert.deepEqual((await status()).lastGood?.files, ['mappings/bell.yaml', 'mappings/new.yaml'])
    await write('mappings/bell.yaml', bell('two'))
    assert.equal((await gateway.reload()).outcome, 'rejected', 'the other file is broken still')
    assert.equal(await ring(), 'one')
  },
)

for (const [what, module] of Object.entries({
  'does not compile': 'export default () => ({ text: "no end }\n',
  'cannot be loaded': 'throw new Error("not today")\n',
  'lacks its export': 'export const other = () => null\n',
})) {
  test(`a transform that ${what} runs as it was`, limit, async (t) => {
    const { ring, status } = await restart(
      t,
      {
        'mappings/bell.yaml': bell('one').replace('}', '}, transform: { module: ring.ts }'),
        'transforms/ring.ts': 'export default () => ({ text: "rung" })\n',
      },
      { 'transforms/ring.ts': module },
    )
    assert.equal(await ring(), 'rung')
    assert.deepEqual((await status()).lastGood?.files, ['ring.ts'])
  })
}

const token = (value: string) => `endpoints:\n  bell: { auth: token, token: ${value.repeat(4)} }\n`
const [old, today] = ['0123456789abcdef', 'fedcba9876543210']
const bearing = (value: string) => ({ authorization: `Bearer ${value.repeat(4)}` })

test('authentication follows the broken file as it is today, as far as it can be read', limit, async (t) => {
  const { ring } = await restart(
    t,
    { 'mappings/bell.yaml': token(old) + bell('one') },
    { 'mappings/bell.yaml': token(today) + broken },
  )
  assert.equal(await ring('bell', bearing(old)), '401')
  assert.equal(await ring('bell', bearing(today)), 'one')
})

test('a file whose policies cannot be read is not replaced, and the start fails', limit, async (t) => {
  const starting = restart(
    t,
    { 'mappings/bell.yaml': token(old) + bell('one') },
    { 'mappings/bell.yaml': `endpoints:\n  bell: { token: "no end\n${bell('one')}` },
  )
  await assert.rejects(starting, (error) => error instanceof ConfigurationError && error.lastGeneration === 1)
})

test(
  'a configuration that does not load fails the start, and with lastGood the last generation is served',
  limit,
  async (t) => {
    const before = { 'mappings/bell.yaml': bell('one') }
    const after = {
      'reveille.yaml': configuration.replace('port: 0', 'port: none'),
      'mappings/bell.yaml': bell('two'),
    }
    await assert.rejects(restart(t, before, after), ConfigurationError)
    const { ring, status } = await restart(t, before, after, { lastGood: true })
    assert.equal(await ring(), 'one')
    assert.deepEqual((await status()).lastGood, { generation: 1, files: ['reveille.yaml'] })
  },
)

test('the last generation is offered only where it would be served', limit, async (t) => {
  const before = {
    'reveille.yaml': configuration.replace(/token: [\w-]+ \}$/m, 'token: "${BELL_TOKEN}" }'),
    '.env': `BELL_TOKEN=${today}\n`,
    'mappings/bell.yaml': bell('one'),
  }
  assert.match(before['reveille.yaml'], /BELL_TOKEN/)
  const offered = async (after: Files) => {
    const error = await restart(t, before, after).then(
      () => assert.fail('it started'),
      (thrown) => thrown,
    )
    assert.ok(error instanceof ConfigurationError)
    return error.lastGeneration
  }
  assert.equal(await offered({ 'reveille.yaml': 'gateway: [\n' }), 1)
  // The last generation needs the same variable.
  assert.equal(await offered({ '.env': '\n' }), undefined)
})

test('if no generation was ever live, a broken file fails the start', limit, async (t) => {
  assert.ok(gatewayToken)
  await assert.rejects(install(t, { 'mappings/bell.yaml': broken }, { lastGood: true }), ConfigurationError)
})
