/**
 * What each kind of user does with an installation, in a folder that has no path into this clone. `pack.ts` walks with packed packages, and
 * `walk.soak.ts` with the sources.
 */

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { TestContext } from 'node:test'
import { pathToFileURL } from 'node:url'
import { testPostgres } from '../runtime/store/postgres/test-server.ts'
import { atEnd } from './at-end.ts'
import { openFakeGitHub } from './connect/github.ts'
import { createFakeGoogle } from './google/index.ts'
import { until, writeInto } from './installation.ts'
import { runOwnTests } from './page-plugin.ts'
import { runReveille, spawnReveille } from './process/reveille-process.ts'
import { adapted, openModels, openOutside, readRecipe, redirects, runShell } from './recipe.ts'
import { followTour } from './tour.ts'

export interface Installed {
  /** The file of the command `reveille`, which Node.js runs; absolute. */
  readonly command: string
  /** Installs packages beside a configuration, as `npm install --prefix . NAME` does. */
  add(folder: string, names: readonly string[]): Promise<void>
}

type Walk = (t: TestContext, installed: Installed) => Promise<void>

/** By the user who walks. Each rejects where something that the user needs is missing. */
export const walks = {
  'a YAML author follows the tour of mappings': (t, installed) => tour(t, installed, 'mapping'),
  'a transform developer follows the tour of transforms': (t, installed) => tour(t, installed, 'transform'),
  'an admin follows the tour of changes': (t, installed) => tour(t, installed, 'change'),
  'a transform has a package, JSON, `with` and a secret, and is edited live': develop,
  'a channel passes the conformance suite, and delivers': extend,
  'a webhook of GitHub is connected': connectGitHub,
  'the gateway runs on PostgreSQL, and doctor and backup read it': runOnPostgres,
  'a mailbox of Gmail is connected, and its mail arrives': connectGmail,
} as const satisfies Readonly<Record<string, Walk>>

/** A folder of a user, outside of this clone, with the commands in it. */
async function createUser(
  t: TestContext,
  { command }: Installed,
  { env = {} }: { readonly env?: Readonly<Record<string, string>> } = {},
) {
  const cwd = await realpath(await mkdtemp(path.join(tmpdir(), 'reveille-walk-')))
  atEnd(t, () => rm(cwd, { recursive: true, force: true }))
  const options = { cwd, entry: command, env: { npm_command: 'exec', ...env } }
  const reveille = (...words: readonly string[]) => runReveille(t, words, options)
  return {
    cwd,
    entry: command,
    write: (name: string, text: string) => writeInto(cwd, name, text),
    async reveille(...words: readonly string[]) {
      const { code, ...output } = await reveille(...words)
      return { code: code ?? 1, ...output }
    },
    /** Runs a command that has to succeed. @returns what it prints on standard output */
    async succeeds(...words: readonly string[]): Promise<string> {
      const { code, out, err } = await reveille(...words)
      assert.equal(code, 0, `reveille ${words.join(' ')}:\n${out}${err}`)
      return out
    },
    async start() {
      const gateway = await spawnReveille(t, ['start', '--port', '0'], options)
      const { address } = await gateway.line('gateway-listening')
      const secrets = await readFile(path.join(cwd, '.env'), 'utf8')
      const token = /^REVEILLE_HOOK_TOKEN=(.+)$/m.exec(secrets)?.[1]
      return {
        ...gateway,
        address: String(address),
        async post(endpoint: string, body: unknown) {
          const answer = await fetch(`${address}/hooks/${endpoint}`, {
            method: 'POST',
            headers: { authorization: `Bearer ${token}`, prefer: 'wait=20' },
            body: JSON.stringify(body),
          })
          return { status: answer.status, text: await answer.text() }
        },
        async stop() {
          gateway.send('SIGTERM')
          assert.equal((await gateway.ended).code, 0, gateway.both())
        },
      }
    },
  }
}

async function tour(t: TestContext, installed: Installed, name: string): Promise<void> {
  await followTour(t, `docs/tours/${name}.md`, await createUser(t, installed))
}

const transform = (greeting: string) => `import { defineTransform, prompt } from '@reveille/engine/transform'
import pad from 'harbour-pad'
import ports from './ports.json'

export enum Kind { Arrival, Departure }

export default defineTransform(({ payload, with: given }) => ({
  message: prompt\`${greeting} \${pad(payload.ship)} at \${ports.main}, \${Kind[0]}, \${given.tone}\`,
  sessionKey: \`hook:ships:\${String(given.key).length}\`,
}))
`

async function develop(t: TestContext, installed: Installed): Promise<void> {
  const user = await createUser(t, installed)
  await user.succeeds('init')
  await user.succeeds('init', 'transform', 'ships')
  await user.write('node_modules/harbour-pad/package.json', '{ "name": "harbour-pad", "main": "index.js" }')
  await user.write('node_modules/harbour-pad/index.js', 'module.exports = (text) => `<${text}>`\n')
  await user.write('transforms/ports.json', '{ "main": "Pier 4" }')
  await user.write('transforms/ships.ts', transform('Greet'))
  await user.write(
    'transforms/ships.test.ts',
    `import assert from 'node:assert/strict'
import { test } from 'node:test'
import { exampleContext } from '@reveille/engine/transform'
import ships, { Kind } from './ships.ts'

test('a ship is greeted', () => {
  const context = exampleContext({ payload: { ship: 'Ada' }, with: { tone: 'warm', key: '1234' } })
  assert.match(String(ships(context)?.message), /Greet <Ada> at Pier 4/)
  assert.equal(Kind.Departure, 1)
})
`,
  )
  await user.write(
    'mappings/ships.yaml',
    `mappings:
  - id: ships
    match: { path: ships }
    transform: { module: ships.ts, with: { tone: warm, key: "\${SHIP_KEY}" } }
tests:
  - name: a ship is greeted
    request: { endpoint: ships, body: { ship: Ada } }
    expect: { mapping: ships, message: { contains: Pier 4 } }
`,
  )
  const env = path.join(user.cwd, '.env')
  await writeFile(env, `${await readFile(env, 'utf8')}SHIP_KEY=a-key-of-twenty-bytes\n`, { mode: 0o600 })
  await user.succeeds('check')
  assert.match(await user.succeeds('test'), /a ship is greeted/)
  const gateway = await user.start()
  assert.equal((await gateway.post('ships', { ship: 'Ada' })).status, 202)
  await until(() => /Greet/.test(gateway.stdout()) || undefined, 'the reply on the terminal')
  await user.write('transforms/ships.ts', transform('Welcome'))
  await user.write('transforms/ships.test.ts', '')
  await until(async () => {
    await gateway.post('ships', { ship: 'Ada' })
    return /Welcome/.test(gateway.stdout()) || undefined
  }, 'the edited transform')
  await gateway.stop()
}

async function extend(t: TestContext, installed: Installed): Promise<void> {
  const user = await createUser(t, installed)
  await user.succeeds('init')
  await user.succeeds('init', 'plugin', 'channel', 'bell')
  await runOwnTests(t, path.join(user.cwd, 'bell'))

  const taken: string[] = []
  const service = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    taken.push(body)
    response.setHeader('content-type', 'application/json').end('{"id":"1"}')
  }).listen(0, '127.0.0.1')
  atEnd(t, () => void service.close())
  await once(service, 'listening')
  const { port } = service.address() as { readonly port: number }
  const file = path.join(user.cwd, 'reveille.yaml')
  const text = await readFile(file, 'utf8')
  const channel = `plugins: [./bell]
channels:
  bell: { token: "\${BELL_TOKEN}", baseUrl: "http://127.0.0.1:${port}", defaultTo: "room:team" }
  terminal: {}
`
  await writeFile(file, `${text.replace(/^channels:\n( .*\n)+/m, '')}${channel}`)
  const env = path.join(user.cwd, '.env')
  await writeFile(env, `${await readFile(env, 'utf8')}BELL_TOKEN=a-token-0123456789\n`, { mode: 0o600 })
  await user.succeeds('check')
  const gateway = await user.start()
  const answer = await gateway.post('agent', {
    message: 'Ring',
    channel: 'bell',
    to: 'room:team',
    deliver: true,
  })
  assert.equal(answer.status, 200, answer.text)
  await until(() => taken.some((body) => body.includes('Ring')) || undefined, 'the message at the service')
  await gateway.stop()
}

const publicUrl = 'https://hooks.example.com'

async function connectGitHub(t: TestContext, installed: Installed): Promise<void> {
  let address = ''
  const reach = (url: string) => (url.startsWith(publicUrl) ? url.replace(publicUrl, address) : undefined)
  const github = await openFakeGitHub({ now: Date.now, reach })
  atEnd(t, () => github.close())
  const env = { GITHUB_TOKEN: github.token, GITHUB_API_URL: github.url }
  const user = await createUser(t, installed, { env })
  await user.succeeds('init')
  const gateway = await user.start()
  address = gateway.address
  await user.succeeds('connect', 'github', github.repo, '--url', publicUrl)
  assert.equal(github.hooks().length, 1)
  await github.emit('push', {})
  await until(async () => {
    const { items } = JSON.parse(await user.succeeds('requests', '--endpoint', 'github', '--json'))
    return items.length > 1 || undefined
  }, 'the event of GitHub')
  await user.succeeds('disconnect', 'github')
  assert.equal(github.hooks().length, 0)
  await gateway.stop()
}

async function runOnPostgres(t: TestContext, installed: Installed): Promise<void> {
  const database = await testPostgres()
  atEnd(t, () => database.drop())
  const user = await createUser(t, installed, { env: { STORE_URL: database.url } })
  await user.succeeds('init')
  const file = path.join(user.cwd, 'reveille.yaml')
  const text = await readFile(file, 'utf8')
  await writeFile(file, text.replace(/^gateway:$/m, '$&\n  store: "${STORE_URL}"'))
  await user.succeeds('check')
  const gateway = await user.start()
  const answer = await gateway.post('agent', { message: 'Count the ships' })
  assert.equal(answer.status, 200, answer.text)
  assert.equal(JSON.parse(await user.succeeds('runs', '--json')).items[0].state, 'succeeded')
  const doctor = await user.reveille('doctor', '--json')
  assert.doesNotMatch(doctor.out, /"state": ?"problem"/)
  await gateway.stop()
}

async function connectGmail(t: TestContext, installed: Installed): Promise<void> {
  const google = await createFakeGoogle()
  atEnd(t, () => google.close())
  const user = await createUser(t, installed)
  await user.succeeds('init')
  await installed.add(user.cwd, ['@reveille/plugin-gmail'])
  const file = path.join(user.cwd, 'reveille.yaml')
  const text = await readFile(file, 'utf8')
  const settings = `hooks:\n  gmail: { baseUrls: ${JSON.stringify(google.baseUrls)} }`
  await writeFile(file, text.replace(/^hooks:$/m, settings))
  await user.write('client.json', JSON.stringify(google.clientFile))
  const setup = await spawnReveille(
    t,
    ['webhooks', 'gmail', 'setup', '--client-file', 'client.json', '--account', 'ada@example.com', '--json'],
    { cwd: user.cwd, entry: user.entry },
  )
  const consent = await until(() => /^http\S+\/auth\?\S+$/m.exec(setup.both())?.[0], 'the page of consent')
  await google.consent(consent)
  assert.equal((await setup.ended).code, 0, setup.both())
  const gateway = await user.start()
  google.deliver()
  await until(async () => {
    const { items } = JSON.parse(await user.succeeds('requests', '--endpoint', 'gmail', '--json'))
    return items.length > 0 || undefined
  }, 'the mail')
  await gateway.stop()
}

/** Sends requests to the addresses of the outside to fakes, in a process that the test does not share. */
const redirectModule = `const redirects = JSON.parse(process.env.WALK_REDIRECTS)
const real = globalThis.fetch
globalThis.fetch = (input, init) => {
  const url = input instanceof Request ? input.url : String(input)
  const found = redirects.find(([from]) => url.startsWith(from))
  const to = found === undefined ? url : found[1] + url.slice(found[0].length)
  return real(input instanceof Request ? new Request(to, input) : to, init)
}
`

/** A reader follows a recipe. */
export async function followRecipe(t: TestContext, installed: Installed, name: string): Promise<void> {
  const { files, variables, installs, attempt, shown } = readRecipe(name)
  const models = await openModels(() => shown)
  atEnd(t, () => models.close())
  let printed = () => ''
  const outside = await openOutside(t, files['reveille.yaml'] ?? '', variables, () =>
    printed().includes('│') ? [printed()] : [],
  )
  const user = await createUser(t, installed)
  await user.succeeds('init')
  await rm(path.join(user.cwd, 'mappings'), { recursive: true })
  await mkdir(path.join(user.cwd, 'mappings'))
  const secrets = path.join(user.cwd, '.env')
  const lines = Object.entries(outside.variables).map(([variable, value]) => `${variable}=${value}\n`)
  await writeFile(secrets, (await readFile(secrets, 'utf8')) + lines.join(''))
  for (const [file, text] of Object.entries(files)) await user.write(file, adapted(text))
  await installed.add(user.cwd, installs)
  await outside.installPrograms(user.cwd)
  for (const command of ['check', 'test', 'lint']) await user.succeeds(command)

  await user.write('redirect.mjs', redirectModule)
  const gateway = await spawnReveille(t, ['start'], {
    cwd: user.cwd,
    entry: user.entry,
    env: {
      NODE_OPTIONS: `--import=${pathToFileURL(path.join(user.cwd, 'redirect.mjs'))}`,
      WALK_REDIRECTS: JSON.stringify([...redirects]),
    },
  })
  printed = gateway.stdout
  const { address } = await gateway.line('gateway-listening')
  await runShell(attempt.replaceAll('http://127.0.0.1:8787', String(address)), user.cwd)
  const arrived = await until(() => outside.arrived(), `what ${name} delivers`).catch((error) => {
    throw new Error(`${error.message}\n${gateway.both()}`)
  })
  for (const line of shown.split('\n').filter((each) => each !== ''))
    assert.ok(arrived.includes(line), `${line}\n\nis not in\n\n${arrived}`)
}
