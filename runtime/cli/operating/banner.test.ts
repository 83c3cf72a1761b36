import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { type BannerFacts, findBearer, formatBanner } from './banner.ts'

const facts: BannerFacts = {
  address: 'http://127.0.0.1:8787',
  tunnelAddress: undefined,
  publicUrl: undefined,
  runner: 'echo',
  channels: ['terminal'],
  route: { channel: 'terminal', to: 'stdout' },
  hooksEnabled: true,
  hooksPath: '/hooks',
  admin: true,
  bearer: '$(sed -n s/^REVEILLE_HOOK_TOKEN=//p local/.env)',
  configFile: 'local/reveille.yaml',
  configWords: ' --config local/reveille.yaml',
  mappingsFolder: 'local/mappings',
  generation: 1,
  watch: true,
  mappings: [{ id: 'pr', path: 'github', action: 'agent', place: 'mappings/github.yaml:1:1' }],
  takesToken: () => true,
  sampleFile: 'samples/pull.json',
}

test('the banner names the address, the runner, the channels and the console, and gives three lines to paste', () => {
  const banner = formatBanner(facts)
  assert.match(banner, /^\nReveille listens on http:\/\/127\.0\.0\.1:8787\n/)
  assert.match(banner, /^ {2}runner +echo/m)
  assert.match(banner, /^ {2}channels +terminal$/m)
  assert.match(banner, /^ {2}mappings +1; files in local\/mappings$/m)
  assert.match(banner, /^ {2}console +http:\/\/127\.0\.0\.1:8787\/console$/m)
  assert.match(banner, /^reveille runs --config local\/reveille\.yaml$/m)
  const lines = banner.split('\n').filter((line) => line.startsWith('curl '))
  assert.deepEqual(
    lines.map((line) => line.split(' ')[1]),
    ['wake', 'agent', 'github'].map((endpoint) => `http://127.0.0.1:8787/hooks/${endpoint}`),
  )
  assert.match(banner, / -H 'x-github-event: pull_request' \\\n {2}--data @samples\/pull\.json\n/)
  for (const line of banner.split('\n')) assert.ok(line.length <= 80, line)
})

const tunnelAddress = 'http://127.0.0.1:8788'
const publicUrl = 'https://calm-lamp.trycloudflare.com'
const model = 'openai/gpt-5.2'

/** A change, the banner's line about it, and the number of lines to paste. */
const variants: readonly (readonly [Partial<BannerFacts>, shown: RegExp, lines: number])[] = [
  [{ tunnelAddress }, /^ {2}tunnel +leads to http:\/\/127\.0\.0\.1:8788, /m, 3],
  [{ tunnelAddress, publicUrl }, /^ {2}tunnel +https:\/\/calm-lamp\.trycloudflare\.com\/hooks, /m, 3],
  [{ takesToken: (endpoint) => endpoint !== 'github' }, /\/hooks\/agent/, 2],
  [{ runner: 'ai', model }, /^ {2}runner +ai, with openai\/gpt-5\.2$/m, 3],
  [{ model }, /no model is asked/, 3],
  [{ mappings: [] }, /^ {2}mappings +0/m, 2],
  [{ hooksEnabled: false }, /Hooks are off/, 0],
]

test('the banner names a tunnel and a model where there is one, and only lines that a token opens', () => {
  assert.doesNotMatch(formatBanner(facts), /tunnel/)
  for (const [change, shown, count] of variants) {
    const banner = formatBanner({ ...facts, ...change })
    assert.match(banner, shown)
    assert.equal(banner.split('\n').filter((line) => line.startsWith('curl ')).length, count, String(shown))
  }
})

test('the token is read from .env, the environment wins, and a literal token is never shown', async (t) => {
  const folder = path.join(await mkdtemp(path.join(tmpdir(), 'reveille-token-')), "my gateway's")
  t.after(() => rm(path.dirname(folder), { recursive: true, force: true }))
  await mkdir(folder)
  await writeFile(path.join(folder, '.env'), 'HOOK=abc_-123\nQUOTED="abc"\n')
  const inEnv = `$(sed -n s/^HOOK=//p 'my gateway'\\''s/.env')`
  for (const [token, env, expected] of [
    ['"${HOOK}"', {}, inEnv],
    ['["${HOOK}", "${OLD}"]', {}, inEnv],
    ['"${HOOK}"', { HOOK: 'x' }, '$HOOK'],
    ['"${QUOTED}"', {}, '<your hook token>'],
    ['secret-in-plain-sight', {}, '<your hook token>'],
  ] as const) {
    await writeFile(path.join(folder, 'reveille.yaml'), `hooks: { token: ${token} }`)
    const io = { env, cwd: path.dirname(folder) }
    assert.equal(await findBearer(path.join(folder, 'reveille.yaml'), io), expected, token)
  }
})
