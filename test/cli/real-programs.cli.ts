/** Tests the real `claude` and `codex`, started by the runner `command`, with a mock model on loopback. */

import assert from 'node:assert/strict'
import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { before, type TestContext, test } from 'node:test'
import { isPluginError, type Turn } from '@reveille/kit'
import type { CommandConfiguration } from '../../plugins/command/configuration.ts'
import command from '../../plugins/command/index.ts'
import { atEnd } from '../at-end.ts'
import { createModelService } from './model-service.ts'
import { installPrograms, type Programs, type Unavailable } from './programs.ts'

const cache = path.join(import.meta.dirname, '..', '..', 'node_modules', '.cache', 'cli')

let programs: Programs | Unavailable
before(async () => {
  programs = await installPrograms(cache)
})

interface Vendor {
  readonly model: string
  config(program: string, url: string, home: string): CommandConfiguration
  /** Returns how much thinking the request asks for. */
  thinking(request: Readonly<Record<string, unknown>>): unknown
}

const vendors: Readonly<Record<keyof Programs, Vendor>> = {
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
}

for (const name of ['claude', 'codex'] as const) {
  const vendor = vendors[name]

  test(`${name} holds a conversation over two turns`, async (t) => {
    const scene = await open(t, name)
    if (scene === undefined) return
    const { runner, service } = scene
    const asked = { model: vendor.model, thinking: 'low', systemPrompt: 'You are terse.' }
    const first = await runner.run(turnOf('My cat is called Mitzi.', asked), callOf())
    assert.equal(first.reply, 'As you say.')
    assert.equal(first.warnings, undefined)
    assert.ok(first.state)
    const [request = {}] = service.requests
    assert.equal(request['model'], vendor.model.split('/')[1])
    assert.equal(vendor.thinking(request), 'low')
    assert.match(JSON.stringify(request), /You are terse\./)

    const second = await runner.run(turnOf('What is she called?', { ...asked, state: first.state }), callOf())
    assert.equal(second.reply, 'As you say.')
    assert.equal(second.warnings, undefined)
    const last = JSON.stringify(service.requests.at(-1))
    for (const said of ['called Mitzi', 'As you say.', 'is she called?']) assert.ok(last.includes(said), said)
    const usage = [first, second].map(({ usage }) => [usage?.inputTokens, usage?.outputTokens])
    assert.deepEqual(usage, [
      [100, 10],
      [100, 10],
    ])
  })

  test(`${name} begins a new conversation when the old one is gone, and warns about it`, async (t) => {
    const scene = await open(t, name)
    if (scene === undefined) return
    const { runner, home } = scene
    const { state } = await runner.run(turnOf('One.', { model: vendor.model }), callOf())
    await rm(path.join(home, name), { recursive: true })
    await mkdir(path.join(home, name))
    const result = await runner.run(turnOf('Two.', { model: vendor.model, state }), callOf())
    assert.equal(result.reply, 'As you say.')
    assert.match(result.warnings?.join() ?? '', /no longer had the conversation/)
  })

  test(`after ${name} is stopped in the middle of a turn, the next turn of the session succeeds`, async (t) => {
    const scene = await open(t, name)
    if (scene === undefined) return
    const stalled = scene.service.stall()
    const abort = new AbortController()
    const running = scene.runner.run(turnOf('One.', { model: vendor.model }), { signal: abort.signal })
    await stalled
    abort.abort()
    await assert.rejects(running, (error) => isPluginError(error) && error.code === 'aborted')
    scene.service.resume()
    const { reply } = await scene.runner.run(turnOf('Two.', { model: vendor.model }), callOf())
    assert.equal(reply, 'As you say.')
  })

  test(`${name} reports why the model refused`, async (t) => {
    const scene = await open(t, name)
    if (scene === undefined) return
    scene.service.refuse()
    await assert.rejects(scene.runner.run(turnOf('One.', { model: vendor.model }), callOf()), (error) => {
      assert.ok(isPluginError(error), String(error))
      assert.equal(error.code, 'exit')
      assert.match(error.message, /the model is on holiday/)
      return true
    })
  })
}

/** Returns undefined, and skips the test, if the programs are not available. */
async function open(t: TestContext, name: keyof Programs) {
  if ('reason' in programs) {
    t.skip(`the real programs are not available: ${programs.reason}`)
    return undefined
  }
  const service = await createModelService()
  atEnd(t, service.close)
  const home = await realpath(await mkdtemp(path.join(tmpdir(), 'reveille-cli-')))
  atEnd(t, () => rm(home, { recursive: true, force: true }))
  for (const folder of ['work', name]) await mkdir(path.join(home, folder))
  const given = vendors[name].config(programs[name], service.url, home)
  // The programs are Node.js scripts or start some.
  const searched = [path.dirname(process.execPath), process.env['PATH']].join(path.delimiter)
  const env = { ...given.env, HOME: home, USERPROFILE: home, PATH: searched }
  const abort = new AbortController()
  const brought = await command.setup({
    config: { ...given, env, cwd: path.join(home, 'work') },
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

function turnOf(prompt: string, more: Partial<Turn>): Turn {
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
function callOf() {
  return { signal: AbortSignal.timeout(60_000) }
}
