/**
 * Walks through an installation as each kind of user does, in a folder that has no path into this clone. `pack.ts` walks with packed
 * packages, and `image.soak.ts` with the files of the image. With the sources tours.test.ts and recipes.test.ts do.
 */

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { chown, mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { type TestContext, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { testPostgres } from '../plugins/postgres/testing/index.ts'
import { atEnd } from './at-end.ts'
import { openFakeGitHub } from './connect/github.ts'
import { attachDebugger } from './debugger.ts'
import { createFakeGoogle } from './google/index.ts'
import { until, writeInto } from './installation.ts'
import { runOwnTests } from './page-plugin.ts'
import { runReveille, spawnReveille } from './process/reveille-process.ts'
import { adapted, expected, openModels, openOutside, readRecipe, redirects, runShell } from './recipe.ts'
import { followTour, tourSkip } from './tour.ts'

export interface Installed {
  /** The file of the command `reveille`, which Node.js runs; absolute. */
  readonly command: string
  /** Runs the command. Default: the user of the test. Only root can run it as another user. */
  readonly user?: { readonly uid: number; readonly gid: number }
  /** Installs packages beside a configuration, as `npm install --prefix . NAME` does. Rejects where the installation has no npm and not the package. */
  add(folder: string, names: readonly string[]): Promise<void>
}

type Walk = (t: TestContext, installed: Installed) => Promise<void>

/** By the user who walks. Each rejects where something that the user needs is missing. */
export const walks = {
  'a YAML author writes a first mapping': (t, installed) => tour(t, installed, 'first-mapping'),
  'a developer writes a transform': (t, installed) => tour(t, installed, 'developing'),
  'an admin changes a running gateway, and asks doctor': administer,
  'a transform has a package, JSON, `with` and a secret, and is edited live': develop,
  'a debugger stops in a transform': debug,
  'a channel passes the conformance suite, and delivers for a TypeScript plugin that is edited live': extend,
  'a webhook of GitHub is connected': connectGitHub,
  'the gateway runs on PostgreSQL, doctor reads it, and backup names its command': runOnPostgres,
  'a mailbox of Gmail is connected, and its mail arrives': connectGmail,
} as const satisfies Readonly<Record<string, Walk>>

export const walkOptions = { timeout: 240_000, skip: tourSkip }

/**
 * Tests walks and recipes, by their names. `open` returns the installation, or undefined if it has skipped the test. `chosen` says which
 * are part of a run, by default all.
 */
export function testWalks(
  place: string,
  open: (t: TestContext) => Promise<Installed | undefined>,
  chosen: (walk: string) => boolean = () => true,
): void {
  const recipes = Object.keys(expected).map((name): [string, Walk] => [
    name,
    (t, installed) => followRecipe(t, installed, name),
  ])
  for (const [name, walk] of [...Object.entries(walks), ...recipes].filter(([each]) => chosen(each)))
    test(`from ${place}: ${name}`, walkOptions, async (t) => {
      const installed = await open(t)
      if (installed !== undefined) await walk(t, installed)
    })
}

/** A folder of a user, outside of this clone, with the commands in it. */
async function createUser(
  t: TestContext,
  { command, user }: Installed,
  { env = {} }: { readonly env?: Readonly<Record<string, string>> } = {},
) {
  const cwd = await realpath(await mkdtemp(path.join(tmpdir(), 'reveille-walk-')))
  atEnd(t, () => rm(cwd, { recursive: true, force: true }))
  if (user !== undefined) await chown(cwd, user.uid, user.gid)
  const options = { cwd, entry: command, env: { npm_command: 'exec', ...env }, ...(user && { user }) }
  const reveille = (...words: readonly string[]) => runReveille(t, words, options)
  return {
    ...options,
    write: (name: string, text: string) => writeInto(cwd, name, text),
    /** Starts a command, with variables of its own. */
    spawn: (words: readonly string[], own: Readonly<Record<string, string>> = {}) =>
      spawnReveille(t, words, { ...options, env: { ...options.env, ...own } }),
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
    async start(...more: readonly string[]) {
      const gateway = await spawnReveille(t, ['start', '--port', '0', ...more], options)
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
  await followTour(t, `docs/${name}.md`, await createUser(t, installed))
}

async function administer(t: TestContext, installed: Installed): Promise<void> {
  const user = await createUser(t, installed)
  await followTour(t, 'docs/operating.md', user)
  const { counts } = JSON.parse(await user.succeeds('doctor', '--json'))
  assert.equal(counts.problem, 0)
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

async function debug(t: TestContext, installed: Installed): Promise<void> {
  const user = await createUser(t, installed)
  await user.succeeds('init')
  await user.write(
    'transforms/ships.ts',
    `import type { TransformContext } from '@reveille/engine/transform'

export default ({ payload }: TransformContext<{ ship: string }>) => {
  debugger
  return { message: payload.ship }
}
`,
  )
  await user.write(
    'mappings/ships.yaml',
    'mappings: [{ id: ships, match: { path: ships }, transform: { module: ships.ts } }]\n',
  )
  const gateway = await user.start('--inspect=0')
  const [address = ''] = /ws:\S+/.exec(gateway.both()) ?? []
  const attached = await attachDebugger(t, address)
  const answer = gateway.post('ships', { ship: 'Ada' })
  assert.deepEqual(await attached.sources(), [path.join(user.cwd, 'transforms', 'ships.ts')])
  attached.resume()
  assert.equal((await answer).status, 202)
  attached.leave()
  await gateway.stop()
}

/** A runner in the syntax of transforms, beside `ports.json`. */
const parrot = (greeting: string) => `import { definePlugin, type Runner } from '@reveille/kit'
import ports from './ports.json'

enum Tone { Warm, Cold }

class Parrot implements Runner {
  readonly id = 'parrot'
  constructor(private readonly greeting: string) {}
  async run() {
    return { reply: \`\${this.greeting} at \${ports.main}, \${Tone[0]}\` }
  }
}
export default definePlugin({ name: 'parrot', setup: () => ({ runners: [new Parrot('${greeting}')] }) })
`

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
  await user.write('parrot/config.schema.json', '{ "type": "object" }')
  await user.write('parrot/ports.json', '{ "main": "Pier 4" }')
  await user.write('parrot/index.ts', parrot('Hello'))
  await user.write(
    'parrot/package.json',
    `{
  "name": "parrot",
  "type": "module",
  "exports": "./index.ts",
  "reveille": { "kit": 1, "runners": ["parrot"], "configSchema": "./config.schema.json" }
}
`,
  )
  const plugins = `plugins: [./bell, ./parrot]
channels:
  bell: { token: "\${BELL_TOKEN}", baseUrl: "http://127.0.0.1:${port}", defaultTo: "room:team" }
  terminal: {}
`
  const others = text.replace(/^channels:\n( .*\n)+/m, '').replace('runner: echo', 'runner: parrot')
  await writeFile(file, others + plugins)
  const env = path.join(user.cwd, '.env')
  await writeFile(env, `${await readFile(env, 'utf8')}BELL_TOKEN=a-token-0123456789\n`, { mode: 0o600 })
  await user.succeeds('check')
  const gateway = await user.start()
  const replies = async (reply: string) =>
    until(async () => {
      const answer = await gateway.post('agent', { message: 'Ring' })
      assert.equal(answer.status, 200, answer.text)
      return answer.text.includes(reply) || undefined
    }, `the reply ${reply}`)
  await replies('Hello at Pier 4, Warm')
  await user.write('parrot/ports.json', '{ "main": "Pier 5" }')
  await replies('Hello at Pier 5, Warm')
  await user.write('parrot/index.ts', parrot('Ahoy'))
  await replies('Ahoy at Pier 5, Warm')
  await gateway.post('agent', { message: 'Ring', channel: 'bell', to: 'room:team', deliver: true })
  await until(() => taken.some((body) => body.includes('Ahoy')) || undefined, 'the message at the service')
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
  const { code, err } = await user.reveille('check')
  // The image brings the driver along.
  if (code !== 0) {
    const command = `npm install --prefix ${user.cwd} @reveille/plugin-postgres`
    assert.match(err, /reveille\.yaml:\d+:\d+: .*the package @reveille\/plugin-postgres is not installed/)
    assert.ok(err.includes(command), err)
    await installed.add(user.cwd, ['@reveille/plugin-postgres'])
    await user.succeeds('check')
  }
  const gateway = await user.start()
  const answer = await gateway.post('agent', { message: 'Count the ships' })
  assert.equal(answer.status, 200, answer.text)
  assert.equal(JSON.parse(await user.succeeds('runs', '--json')).items[0].state, 'succeeded')
  const doctor = await user.reveille('doctor', '--json')
  assert.doesNotMatch(doctor.out, /"state": ?"problem"/)
  const backup = await user.reveille('store', 'backup', 'reveille.db')
  assert.match(backup.out + backup.err, /pg_dump/)
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
  const client = ['--client-file', 'client.json', '--account', 'ada@example.com']
  const setup = await user.spawn(['webhooks', 'gmail', 'setup', ...client, '--json'])
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
async function followRecipe(t: TestContext, installed: Installed, name: string): Promise<void> {
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
  const gateway = await user.spawn(['start'], {
    NODE_OPTIONS: `--import=${pathToFileURL(path.join(user.cwd, 'redirect.mjs'))}`,
    WALK_REDIRECTS: JSON.stringify([...redirects]),
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
