/** Starts the real programs by the runner `command` in a folder of their own, with a mock model on loopback. */

import assert from 'node:assert/strict'
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { TestContext } from 'node:test'
import type { Turn } from '@reveille/kit'
import type { CommandConfiguration } from '../../plugins/command/configuration.ts'
import command from '../../plugins/command/index.ts'
import { atEnd } from '../at-end.ts'
import { createModelService } from './model-service.ts'
import { installPrograms, type Programs, type Unavailable } from './programs.ts'

const cache = path.join(import.meta.dirname, '..', '..', 'node_modules', '.cache', 'cli')

let installed: Promise<Programs | Unavailable> | undefined

interface Vendor {
  readonly model: string
  config(program: string, url: string, home: string): CommandConfiguration
  /** Returns how much thinking the request asks for. */
  thinking?(request: Readonly<Record<string, unknown>>): unknown
}

export const vendors: Readonly<Record<keyof Programs, Vendor>> = {
  claude: {
    model: 'anthropic/claude-opus-4-6',
    config: (program, url, home) => ({
      preset: 'claude',
      command: program,
      // The program's own subscription, memory and hooks are left out.
      extraArgs: ['--bare'],
      env: {
        ANTHROPIC_BASE_URL: url,
        ANTHROPIC_API_KEY: 'sk-made-up',
        CLAUDE_CONFIG_DIR: path.join(home, 'claude'),
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      },
    }),
    thinking: (request) => (request['output_config'] as { effort?: unknown } | undefined)?.effort,
  },
  codex: {
    model: 'openai/gpt-5',
    config: (program, url, home) => ({
      preset: 'codex',
      command: program,
      extraArgs: [
        ...['-c', 'model_provider=mock'],
        ...[
          '-c',
          `model_providers.mock={name="mock",base_url="${url}/v1",wire_api="responses",env_key="MOCK_KEY"}`,
        ],
      ],
      env: { MOCK_KEY: 'sk-made-up', CODEX_HOME: path.join(home, 'codex') },
    }),
    thinking: (request) => (request['reasoning'] as { effort?: unknown } | undefined)?.effort,
  },
  gemini: {
    model: 'google/gemini-2.5-flash',
    config: (program, url, home) => ({
      preset: 'gemini',
      command: program,
      extraArgs: ['--skip-trust'],
      env: {
        GEMINI_API_KEY: 'made-up',
        GOOGLE_GEMINI_BASE_URL: url,
        GEMINI_CLI_HOME: path.join(home, 'gemini'),
      },
    }),
  },
}

/** Returns undefined, and skips the test, if the programs are not available. */
export async function open(t: TestContext, name: keyof Programs, more: CommandConfiguration = {}) {
  installed ??= installPrograms(cache)
  const programs = await installed
  if ('reason' in programs) {
    t.skip(`the real programs are not available: ${programs.reason}`)
    return undefined
  }
  const service = await createModelService()
  atEnd(t, service.close)
  const home = await realpath(await mkdtemp(path.join(tmpdir(), 'reveille-cli-')))
  atEnd(t, () => rm(home, { recursive: true, force: true }))
  for (const folder of ['work', name]) await mkdir(path.join(home, folder))
  if (name === 'gemini') await selectApiKey(path.join(home, name, '.gemini'))
  const given = vendors[name].config(programs[name], service.url, home)
  // The programs are Node.js scripts or start some.
  const searched = [path.dirname(process.execPath), process.env['PATH']].join(path.delimiter)
  const env = { ...given.env, HOME: home, USERPROFILE: home, PATH: searched }
  const abort = new AbortController()
  const brought = await command.setup({
    config: { ...given, ...more, env, cwd: path.join(home, 'work') },
    log: console,
    fetch,
    signal: abort.signal,
  })
  atEnd(t, async () => {
    abort.abort()
    await brought.close?.()
  })
  const [runner] = brought.runners ?? []
  assert.ok(runner)
  return { home, runner, service }
}

/** With the address of a service in its environment, gemini takes that for its way to sign in, and refuses it. */
async function selectApiKey(folder: string): Promise<void> {
  await mkdir(folder)
  const settings = { security: { auth: { selectedType: 'gemini-api-key' } } }
  await writeFile(path.join(folder, 'settings.json'), JSON.stringify(settings))
}

export function turnOf(prompt: string, more: Partial<Turn>): Turn {
  const turn = {
    runId: 'run-1',
    sessionKey: 'hook:cat',
    kind: 'run',
    events: [],
    history: [],
    attempt: 1,
  } as const
  return { ...turn, prompt, ...more }
}

/** The timeout is a minute. The programs need a second. */
export function callOf() {
  return { signal: AbortSignal.timeout(60_000) }
}
