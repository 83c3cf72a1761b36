import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { type BannerFacts, findTokenSource, formatBanner } from './banner.ts'

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
  tokenSource: { kind: 'file', file: 'local/.env', name: 'REVEILLE_HOOK_TOKEN' },
  configFile: 'local/reveille.yaml',
  configWords: ' --config local/reveille.yaml',
  mappingsFolder: 'local/mappings',
  program: 'npx reveille',
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
  assert.match(banner, /^npx reveille runs --config local\/reveille\.yaml$/m)
  const lines = banner.split('\n').filter((line) => line.startsWith('curl '))
  assert.deepEqual(
    lines.map((line) => line.split(' ')[1]),
    ['wake', 'agent', 'github'].map((endpoint) => `http://127.0.0.1:8787/hooks/${endpoint}`),
  )
  assert.match(banner, / -H 'x-github-event: pull_request' \\\n {2}--data @samples\/pull\.json\n/)
  for (const line of banner.split('\n')) assert.ok(line.length <= 80, line)
})

test('the banner names the address of a tunnel, or where a tunnel has to lead', () => {
  const tunnelAddress = 'http://127.0.0.1:8788'
  assert.doesNotMatch(formatBanner(facts), /tunnel/)
  assert.match(
    formatBanner({ ...facts, tunnelAddress }),
    /^ {2}tunnel +leads to http:\/\/127\.0\.0\.1:8788, /m,
  )
  const publicUrl = 'https://calm-lamp.trycloudflare.com'
  assert.match(
    formatBanner({ ...facts, tunnelAddress, publicUrl }),
    /^ {2}tunnel +https:\/\/calm-lamp\.trycloudflare\.com\/hooks, /m,
  )
})

test('no line to paste is shown for an endpoint that a token does not open', () => {
  const banner = formatBanner({ ...facts, takesToken: (endpoint) => endpoint !== 'github' })
  assert.match(banner, /\/hooks\/agent/)
  assert.doesNotMatch(banner, /\/hooks\/github/)
})

test('the banner names the model where there is one', () => {
  const banner = formatBanner({ ...facts, runner: 'ai', model: 'openai/gpt-5.2' })
  assert.match(banner, /^ {2}runner +ai, with openai\/gpt-5\.2$/m)
  assert.match(formatBanner({ ...facts, model: 'openai/gpt-5.2' }), /no model is asked/)
})

test('the lines read the token from its place, also in a folder whose name needs quotes', () => {
  const file = "my gateway's/.env"
  const banner = formatBanner({ ...facts, tokenSource: { kind: 'file', file, name: 'HOOK' } })
  assert.ok(banner.includes(`"Authorization: Bearer $(sed -n s/^HOOK=//p 'my gateway'\\''s/.env')"`))
  const environment = formatBanner({ ...facts, tokenSource: { kind: 'environment', name: 'HOOK' } })
  assert.ok(environment.includes('"Authorization: Bearer $HOOK"'))
})

test('without a github mapping there are two lines, and none while hooks are off', () => {
  const count = (text: string) => text.split('\n').filter((line) => line.startsWith('curl ')).length
  assert.equal(count(formatBanner({ ...facts, mappings: [] })), 2)
  const off = formatBanner({ ...facts, hooksEnabled: false })
  assert.equal(count(off), 0)
  assert.match(off, /Hooks are off/)
})

test('the token is found in .env, the environment wins, and a literal token is never shown', async (t) => {
  const folder = await mkdtemp(path.join(tmpdir(), 'reveille-token-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  const config = path.join(folder, 'reveille.yaml')
  const file = path.join(folder, '.env')
  await writeFile(file, 'HOOK=abc_-123\nQUOTED="abc"\n')
  const source = async (token: string, env = {}) => {
    await writeFile(config, `hooks: { token: ${token} }`)
    return findTokenSource(config, env)
  }
  assert.deepEqual(await source('"${HOOK}"'), { kind: 'file', file, name: 'HOOK' })
  assert.deepEqual(await source('["${HOOK}", "${OLD}"]'), { kind: 'file', file, name: 'HOOK' })
  assert.deepEqual(await source('"${HOOK}"', { HOOK: 'x' }), { kind: 'environment', name: 'HOOK' })
  assert.deepEqual(await source('"${QUOTED}"'), { kind: 'unknown' })
  assert.deepEqual(await source('secret-in-plain-sight'), { kind: 'unknown' })
})
