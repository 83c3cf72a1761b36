/**
 * Follows docs/recipes as a reader does: pastes the files of a recipe into a folder, starts the gateway, runs the commands of "Try it",
 * and looks at the messages of the fake vendor. `recipes.test.ts` does it in this process, `walk.ts` with an installation.
 */

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { promisify } from 'node:util'
import { LLMock } from '@copilotkit/aimock'
import type { FakeVendor } from '@reveille/kit/fake-server'
import { parse } from 'yaml'
import { openFakeServer as openOpenClaw } from '../plugins/openclaw/fake-server.ts'
import { atEnd } from './at-end.ts'

export const recipePages = join(import.meta.dirname, '../docs/recipes')
const openClawToken = 'openclaw-hook-token-0123456789'

/** Words that arrive beside the reply that the page shows, and a recorded body of the sender that its mapping accepts. */
export const expected: Readonly<
  Record<string, { readonly words?: readonly string[]; readonly recorded?: string }>
> = {
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

/** Addresses of the outside by what they lead to. */
export const redirects = new Map<string, string>()

/** Opens a fake of every model service, whose addresses lead to it. `reply` returns its answer to each question. */
export async function openModels(reply: () => string): Promise<{ close(): Promise<void> }> {
  const models = new LLMock({ port: 0 })
  models.onMessage(/.*/s, () => ({ content: reply() }))
  await models.start()
  redirects.set('https://api.openai.com', models.url)
  redirects.set('https://api.anthropic.com', models.url)
  redirects.set('https://generativelanguage.googleapis.com', models.url)
  redirects.set('http://127.0.0.1:11434', models.url)
  return { close: async () => void (await models.stop()) }
}

/** Lets a file of a recipe listen at any free port, and wait a second for the end of a burst, since half a minute is for people. */
export function adapted(text: string): string {
  return text
    .replace(/^gateway:\n/m, '$&  port: 0\n  log: { format: json }\n')
    .replace('window: 30s', 'window: 1s')
}

export interface Recipe {
  /** By their paths. */
  readonly files: Readonly<Record<string, string>>
  /** The variables that the page puts into `.env`. */
  readonly variables: readonly string[]
  /** The packages that it needs and that `reveille` does not depend on. */
  readonly installs: readonly string[]
  /** The commands of "Try it". */
  readonly attempt: string
  /** The reply that the page shows. */
  readonly shown: string
}

export function readRecipe(name: string): Recipe {
  const page = readFileSync(join(recipePages, `${name}.md`), 'utf8')
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
    installs: packagesBeside(files['reveille.yaml'] ?? '', name),
    attempt,
    shown: blocks.find(({ language }) => language === 'text')?.text.trim() ?? '',
  }
}

function packagesBeside(configuration: string, name: string): readonly string[] {
  const runner = /runner: ai\b/.test(configuration) ? ['@reveille/plugin-ai'] : []
  return name.startsWith('gmail-') ? [...runner, '@reveille/plugin-gmail'] : runner
}

export interface Outside {
  /** The values of the page's variables. */
  readonly variables: Readonly<Record<string, string>>
  /** True if another gateway delivers. */
  readonly handsOver: boolean
  /** Puts the programs that answer on the path, and makes the folders that they work in. */
  installPrograms(folder: string): Promise<void>
  /** The text that people see so far, or undefined. */
  arrived(): string | undefined
}

type Settings = Readonly<Record<string, unknown>>

/** Opens fakes of all that a configuration names. `printed` returns what the terminal channel of the gateway has printed. */
export async function openOutside(
  t: TestContext,
  configuration: string,
  variables: readonly string[],
  printed: () => readonly string[],
): Promise<Outside> {
  const { agents, channels = {} } = parse(configuration) as {
    agents: { runners?: Record<string, Settings> }
    channels?: Record<string, Settings>
  }
  const values: Record<string, string> = Object.fromEntries(variables.map((name) => [name, `key-of-${name}`]))
  const texts: (() => readonly string[])[] = []
  for (const [name, settings] of Object.entries(channels)) {
    if (name === 'terminal') {
      texts.push(printed)
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
export async function runShell(
  commands: string,
  folder: string,
): Promise<readonly Record<string, unknown>[]> {
  const { stdout } = await promisify(execFile)('sh', ['-euc', commands], { cwd: folder })
  return stdout
    .replaceAll('}{', '}\n{')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))
}
