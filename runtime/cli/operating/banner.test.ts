import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { type TestContext, test } from 'node:test'
import { bannerText, findBearer } from './banner.ts'

const address = 'http://127.0.0.1:8787'

interface Given {
  readonly tunnelAddress?: string
  readonly publicUrl?: string
  readonly runner?: string
  readonly model?: string
  readonly enabled?: boolean
  readonly mappings?: readonly object[]
  /** The endpoint that a provider has to sign for. */
  readonly signed?: string
}

const token = 'a-token-0123456789abcdef'

/** The banner of a gateway in a folder of its own, with a sample beside the configuration. */
async function bannerOf(t: TestContext, given: Given = {}): Promise<string> {
  const { runner = 'echo', model, enabled = true, mappings = [{ path: 'github' }], signed } = given
  const cwd = await mkdtemp(path.join(tmpdir(), 'reveille-banner-'))
  t.after(() => rm(cwd, { recursive: true, force: true }))
  await mkdir(path.join(cwd, 'etc', 'samples'), { recursive: true })
  await writeFile(path.join(cwd, 'etc/samples/github-pull-request.json'), '{}')
  await writeFile(path.join(cwd, 'etc/.env'), `REVEILLE_HOOK_TOKEN=${token}\n`)
  const configFile = path.join(cwd, 'etc', 'reveille.yaml')
  await writeFile(configFile, 'hooks: { token: "${REVEILLE_HOOK_TOKEN}" }\n')
  const settings = {
    agents: { defaults: { runner, model }, route: { channel: 'terminal', to: 'stdout' } },
    channels: { terminal: {} },
    gateway: { tokens: [token] },
    hooks: { enabled, path: '/hooks', mappingsDir: path.join(cwd, 'etc', 'mappings') },
  }
  const effectivePolicyOf = (name: string) => ({
    ...(name === signed && { verify: { value: { verifier: {} } } }),
  })
  const gateway = {
    current: () => ({ generation: 1, snapshot: { settings, mappings, effectivePolicyOf } }),
    tunnelAddress: () => given.tunnelAddress,
  } as unknown as Parameters<typeof bannerText>[0]
  const io = { cwd, env: {}, now: () => 0 } as unknown as Parameters<typeof bannerText>[2]
  return bannerText(gateway, { address, publicUrl: given.publicUrl, configFile, watch: true }, io)
}

test('the banner names the address, the runner, the channels and the console, and gives three lines to paste', async (t) => {
  const banner = await bannerOf(t)
  assert.match(banner, /^\nReveille listens on http:\/\/127\.0\.0\.1:8787\n/)
  assert.match(banner, /^ {2}runner +echo/m)
  assert.match(banner, /^ {2}channels +terminal$/m)
  assert.match(banner, /^ {2}mappings +1; files in etc\/mappings$/m)
  assert.match(banner, /^ {2}console +http:\/\/127\.0\.0\.1:8787\/console$/m)
  assert.match(banner, /^npx reveille runs --config etc\/reveille\.yaml$/m)
  const lines = banner.split('\n').filter((line) => line.startsWith('curl '))
  assert.deepEqual(
    lines.map((line) => line.split(' ')[1]),
    ['wake', 'agent', 'github'].map((endpoint) => `http://127.0.0.1:8787/hooks/${endpoint}`),
  )
  assert.match(
    banner,
    / -H 'x-github-event: pull_request' \\\n {2}--data @etc\/samples\/github-pull-request\.json\n/,
  )
  for (const line of banner.split('\n')) assert.ok(line.length <= 80, line)
})

const tunnelAddress = 'http://127.0.0.1:8788'
const publicUrl = 'https://calm-lamp.trycloudflare.com'
const model = 'openai/gpt-5.2'

/** A change, the banner's line about it, and the number of lines to paste. */
const variants: readonly (readonly [Given, shown: RegExp, lines: number])[] = [
  [{ tunnelAddress }, /^ {2}tunnel +leads to http:\/\/127\.0\.0\.1:8788, /m, 3],
  [{ tunnelAddress, publicUrl }, /^ {2}tunnel +https:\/\/calm-lamp\.trycloudflare\.com\/hooks, /m, 3],
  [{ signed: 'github' }, /\/hooks\/agent/, 2],
  [{ runner: 'ai', model }, /^ {2}runner +ai, with openai\/gpt-5\.2$/m, 3],
  [{ model }, /no model is asked/, 3],
  [{ mappings: [] }, /^ {2}mappings +0/m, 2],
  [{ enabled: false }, /Hooks are off/, 0],
]

test('the banner names a tunnel and a model where there is one, and only lines that a token opens', async (t) => {
  assert.doesNotMatch(await bannerOf(t), /tunnel/)
  for (const [change, shown, count] of variants) {
    const banner = await bannerOf(t, change)
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
