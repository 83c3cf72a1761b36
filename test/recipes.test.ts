/**
 * Follows each recipe of docs/recipes as a reader does: pastes its files into a folder, starts the gateway there, runs the commands
 * of "Try it", and looks at what the fake of the channel's vendor shows. The vendors' own addresses lead to the fakes.
 */

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { after, before, mock, type TestContext, test } from 'node:test'
import { promisify } from 'node:util'
import { LLMock } from '@copilotkit/aimock'
import type { FakeVendor } from '@reveille/kit/fake-server'
import { parse } from 'yaml'
import { openFakeServer as openOpenClaw } from '../plugins/openclaw/fake-server.ts'
import { createCommandLine } from '../runtime/cli/io-fixture.ts'
import type { DeliveryRecord } from '../runtime/store/port.ts'
import { atEnd } from './at-end.ts'
import { createFolder, gatewayToken, hookToken, install, until } from './installation.ts'
import { recordedSamples } from './sample-data.ts'

const pages = join(import.meta.dirname, '../docs/recipes')
const isWindows = process.platform === 'win32'
const openClawToken = 'openclaw-hook-token-0123456789'

/** What arrives beside the reply that the page shows, and a recorded body of the sender that its mapping takes. */
const expected: Readonly<Record<string, { readonly words?: readonly string[]; readonly recorded?: string }>> =
  {
    'alertmanager-to-discord': { recorded: 'alertmanager/firing.json' },
    'cron-to-terminal': {},
    'github-ci-to-telegram': { words: ['The workflow test of harbour/lamp failed', '9c41f0b'] },
    'github-review-to-slack': { recorded: 'github/pull_request.opened.json' },
    'gmail-to-whatsapp': { recorded: 'gmail/gog-watch-hook.json' },
    'grafana-to-mattermost': {
      words: ['Slow checkout', 'Checkout takes over 2 s'],
      recorded: 'grafana/alert.firing-and-resolved.json',
    },
    'linear-to-openclaw': { words: ['Very small font in tooltip'], recorded: 'linear/issue.create.json' },
    'pagerduty-to-imessage': { recorded: 'pagerduty/incident.triggered.json' },
    'sentry-to-teams': { recorded: 'sentry/issue.created.json' },
    'shopify-to-telegram': { recorded: 'shopify/orders.create.json' },
    'stripe-dispute-to-slack': { recorded: 'stripe/charge.dispute.created.json' },
    'stripe-payment-wakes-signal': { recorded: 'stripe/payment_intent.payment_failed.json' },
  }

const models = new LLMock({ port: 0 })
/** Addresses of the outside by what they lead to. */
const redirects = new Map<string, string>()
const realFetch = globalThis.fetch
/** The reply of every model; each recipe sets its own. */
let reply = ''

before(async () => {
  models.onMessage(/.*/s, () => ({ content: reply }))
  await models.start()
  redirects.set('https://api.openai.com', models.url)
  redirects.set('https://api.anthropic.com', models.url)
  redirects.set('https://generativelanguage.googleapis.com', models.url)
  redirects.set('http://127.0.0.1:11434', models.url)
  mock.method(globalThis, 'fetch', (input: string | URL | Request, init?: RequestInit) => {
    const url = input instanceof Request ? input.url : String(input)
    const found = [...redirects].find(([from]) => url.startsWith(from))
    if (!found) throw new Error(`no fake answers for ${url}`)
    const to = found[1] + url.slice(found[0].length)
    return realFetch(input instanceof Request ? new Request(to, input) : to, init)
  })
})
after(async () => {
  mock.restoreAll()
  await models.stop()
})

test('every recipe is in the table of contents, and has an expectation here', () => {
  const names = globSync('*.md', { cwd: pages }).map((page) => basename(page, '.md'))
  const recipes = names.filter((name) => name !== 'README').sort()
  assert.deepEqual(recipes, Object.keys(expected))
  const contents = readFileSync(join(pages, 'README.md'), 'utf8')
  for (const name of recipes) assert.ok(contents.includes(`](${name}.md)`), name)
})

for (const [name, { words = [], recorded }] of Object.entries(expected)) {
  const page = readFileSync(join(pages, `${name}.md`), 'utf8')
  test(`the recipe ${name}`, { skip: isWindows && 'its commands are for a POSIX shell' }, async (t) => {
    const { files, variables, installs, attempt, shown } = readRecipe(page)
    assert.deepEqual(installs, packagesBeside(files['reveille.yaml'] ?? '', name), 'packages to install')
    reply = shown
    const outside = await openOutside(t, files['reveille.yaml'] ?? '', variables)
    const env = { REVEILLE_HOOK_TOKEN: hookToken, REVEILLE_GATEWAY_TOKEN: gatewayToken, ...outside.variables }
    const written = Object.entries(env).map(([variable, value]) => `${variable}=${value}\n`)
    const pasted: Record<string, string> = { ...files, '.env': written.join('') }
    const { run } = await createCommandLine(t, pasted)
    const checked = await run('check')
    assert.equal(checked.code, 0, checked.out + checked.err)
    const tested = await run('test')
    assert.match(tested.out, /^[1-9]\d* passed/m, tested.out + tested.err)
    assert.equal(tested.code, 0)
    const linted = await run('lint')
    assert.equal(linted.code, 0, linted.out + linted.err)

    const hurried = Object.entries(pasted).map(([file, text]) => [file, adapted(text)])
    const folder = await createFolder(t, Object.fromEntries(hurried))
    await outside.installPrograms(folder)
    const { gateway, read, post } = await install(t, {}, { folder })
    const address = await gateway.listen()
    const answers = await runShell(attempt.replaceAll('http://127.0.0.1:8787', address), folder)
    assert.ok(answers.length > 0 && answers.every(({ ok }) => ok === true), JSON.stringify(answers))
    const ids = new Set(answers.map(({ runId, eventId }) => runId ?? eventId))
    assert.equal(ids.size, 1, 'all requests of the recipe give one run or event')

    const arrived = await until(() => outside.arrived(), `what ${name} delivers`)
    for (const each of [...words, ...shown.split('\n').filter((line) => line !== '')])
      assert.ok(arrived.includes(each), `${each}\n\nis not in\n\n${arrived}`)
    if (outside.handsOver) return
    const { items } = await until(async () => {
      const found = await read<{ items: readonly DeliveryRecord[] }>('/api/deliveries')
      return found.items.some(({ state }) => state === 'delivered') ? found : undefined
    }, 'the delivery')
    // The main session may answer as well.
    assert.ok(
      items.every(({ state }) => state !== 'parked'),
      JSON.stringify(items),
    )

    const sample = recorded === undefined ? undefined : sampleOf(recorded)
    if (sample === undefined) return
    const { status, body } = await post(`/hooks/${recorded?.split('/')[0]}`, sample.body, {
      ...sample.headers,
      authorization: `Bearer ${hookToken}`,
    })
    assert.ok(
      status < 300 && ['runId', 'eventId', 'actions'].some((key) => key in body),
      JSON.stringify(body),
    )
  })
}

/** Lets a file of a recipe listen at any free port, and wait a second for the end of a burst, since half a minute is for people. */
function adapted(text: string): string {
  return text
    .replace(/^gateway:\n/m, '$&  port: 0\n  log: { format: json }\n')
    .replace('window: 30s', 'window: 1s')
}

interface Recipe {
  /** By their paths. */
  readonly files: Readonly<Record<string, string>>
  /** The variables that the page puts into `.env`. */
  readonly variables: readonly string[]
  /** The packages that the page installs. */
  readonly installs: readonly string[]
  /** The commands of "Try it". */
  readonly attempt: string
  /** The reply that the page shows. */
  readonly shown: string
}

function readRecipe(page: string): Recipe {
  const blocks = [...page.matchAll(/^```(\w+)\n(.*?)^```$/gms)].map(([, language = '', text = '']) => ({
    language,
    text,
  }))
  const named = blocks.flatMap(({ text }) => {
    const [, file] = /^# (reveille\.yaml|mappings\/[\w-]+\.yaml|\.env)\b/.exec(text) ?? []
    return file === undefined ? [] : [[file, text] as const]
  })
  const { '.env': env = '', ...files } = Object.fromEntries(named)
  assert.ok(Object.keys(files).length > 1, 'a configuration and a mapping file')
  const [, attempt = ''] = /^## Try it\n.*?^```sh\n(.*?)^```$/ms.exec(page) ?? []
  return {
    files,
    variables: [...env.matchAll(/^(\w+)=/gm)].map(([, variable = '']) => variable),
    installs: /^npm install --prefix \. (.+)$/m.exec(page)?.[1]?.split(' ') ?? [],
    attempt,
    shown: blocks.find(({ language }) => language === 'text')?.text.trim() ?? '',
  }
}

/** The packages that a recipe needs and that `reveille` does not depend on. */
function packagesBeside(configuration: string, name: string): readonly string[] {
  const runner = /runner: ai\b/.test(configuration) ? ['@reveille/plugin-ai'] : []
  return name.startsWith('gmail-') ? [...runner, '@reveille/plugin-gmail'] : runner
}

interface Outside {
  /** The values of the page's variables. */
  readonly variables: Readonly<Record<string, string>>
  /** Whether another gateway delivers. */
  readonly handsOver: boolean
  /** Puts the programs that answer on the path, and makes the folders that they work in. */
  installPrograms(folder: string): Promise<void>
  /** What people see so far, or undefined. */
  arrived(): string | undefined
}

type Settings = Readonly<Record<string, unknown>>

/** Opens fakes of all that a configuration names. */
async function openOutside(
  t: TestContext,
  configuration: string,
  variables: readonly string[],
): Promise<Outside> {
  const { agents, channels = {} } = parse(configuration) as {
    agents: { runners?: Record<string, Settings> }
    channels?: Record<string, Settings>
  }
  const values: Record<string, string> = Object.fromEntries(variables.map((name) => [name, `key-of-${name}`]))
  const texts: (() => readonly string[])[] = []
  for (const [name, settings] of Object.entries(channels)) {
    if (name === 'terminal') {
      texts.push(printedTo(t))
      continue
    }
    const vendor = await openVendor(t, name)
    lead(t, name, settings, vendor)
    for (const [key, value] of Object.entries(settings)) {
      const [, variable] = /^\$\{(\w+)\}$/.exec(String(value)) ?? []
      if (variable !== undefined) values[variable] = String(vendor.config[key])
    }
    texts.push(() => vendor.messages.map(({ text }) => text))
  }
  const runners = Object.values(agents.runners ?? {})
  const openClaw = runners.find(({ kind }) => kind === 'openclaw')
  if (openClaw !== undefined) {
    const fake = await openOpenClaw({ token: openClawToken, allowRequestSessionKey: false })
    atEnd(t, () => fake.close())
    redirect(t, String(openClaw['url']), fake.url)
    values['OPENCLAW_HOOK_TOKEN'] = openClawToken
    texts.push(() => fake.taken.map(({ body }) => String(body['message'])))
  }
  return {
    variables: values,
    handsOver: openClaw !== undefined,
    async installPrograms(folder) {
      for (const { preset, cwd } of runners)
        if (preset) await installProgram(t, folder, String(preset), String(cwd))
    },
    arrived() {
      const all = texts.flatMap((each) => each())
      return all.length === 0 ? undefined : all.join('\n')
    },
  }
}

async function openVendor(t: TestContext, name: string): Promise<FakeVendor & { write?(to: string): void }> {
  const fakeServer: { openVendor(): Promise<FakeVendor> } = await import(
    `../plugins/${name}/fake-server/index.ts`
  )
  const vendor = await fakeServer.openVendor()
  atEnd(t, () => vendor.close())
  return vendor
}

/** Leads the addresses of a channel's service to its fake. */
function lead(t: TestContext, name: string, settings: Settings, vendor: FakeVendor): void {
  const schema = JSON.parse(
    readFileSync(join(import.meta.dirname, `../plugins/${name}/config.schema.json`), 'utf8'),
  ) as { properties: Record<string, { default?: string }> }
  for (const key of ['baseUrl', 'authority']) {
    const from = settings[key] ?? schema.properties[key]?.default
    const to = vendor.config[key]
    if (from !== undefined && to !== undefined) redirect(t, String(from), String(to))
  }
}

function redirect(t: TestContext, from: string, to: string): void {
  redirects.set(from, to)
  atEnd(t, () => redirects.delete(from))
}

/** Returns what the gateway's terminal channel prints; all else goes where it would. */
function printedTo(t: TestContext): () => readonly string[] {
  const printed: string[] = []
  const real = process.stdout.write.bind(process.stdout)
  const replaced = t.mock.method(
    process.stdout,
    'write',
    (chunk: string | Uint8Array, ...more: unknown[]) => {
      if (typeof chunk !== 'string' || !chunk.includes('│'))
        return Reflect.apply(real, undefined, [chunk, ...more])
      printed.push(chunk)
      for (const each of more) if (typeof each === 'function') each()
      return true
    },
  )
  atEnd(t, () => replaced.mock.restore())
  return () => printed
}

/** Puts a fake of the program on the path, and a checkout into a home folder of its own. */
async function installProgram(t: TestContext, home: string, preset: string, cwd: string): Promise<void> {
  const script = join(import.meta.dirname, `../plugins/command/fake-programs/${preset}.mjs`)
  const { PATH, HOME } = process.env
  const program = `#!/bin/sh\nFAKE_PROGRAM_FOLDER='${home}' exec '${process.execPath}' '${script}' "$@"\n`
  await createProgram(join(home, 'bin'), preset, program)
  await mkdir(cwd.replace('~', home), { recursive: true })
  Object.assign(process.env, { PATH: `${join(home, 'bin')}:${PATH}`, HOME: home })
  atEnd(t, () => Object.assign(process.env, { PATH, HOME }))
}

async function createProgram(folder: string, name: string, text: string): Promise<void> {
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, name), text)
  await chmod(join(folder, name), 0o755)
}

/** Runs commands of a page in the folder of the configuration, and returns the answers to its requests. */
async function runShell(commands: string, folder: string): Promise<readonly Record<string, unknown>[]> {
  const { stdout } = await promisify(execFile)('sh', ['-euc', commands], { cwd: folder })
  return stdout
    .replaceAll('}{', '}\n{')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))
}

function sampleOf(name: string) {
  const [provider = ''] = name.split('/')
  return recordedSamples(provider)?.find((sample) => sample.name === name)
}
