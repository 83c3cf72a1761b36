import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { isPluginError } from '@reveille/kit'
import { failureOf } from '@reveille/kit/fake-server'
import { parse as parseYaml } from 'yaml'
import { parsePluginConfiguration } from '../../runtime/plugin/configuration/configuration.ts'
import type { PluginPackage } from '../../runtime/plugin/configuration/package.ts'
import { atEnd } from '../../test/at-end.ts'
import { protocols } from './fake-server/protocols.ts'
import { run, turnTo } from './fake-server/runners.ts'
import plugin from './index.ts'
import type { AiConfig } from './providers.ts'
import { createAiRunner } from './runner.ts'

const configSchema = fileURLToPath(new URL('./config.schema.json', import.meta.url))
const read = (rawConfig: Record<string, unknown>) =>
  parsePluginConfiguration({
    ...{ kind: 'runner', name: 'ai', id: 'ai', key: 'agents.runners.ai', inherited: [] },
    package: { name: '@reveille/plugin-ai', configSchema } as unknown as PluginPackage,
    rawConfig,
  })

const { signal } = new AbortController()
const create = (config: AiConfig) => createAiRunner({ config, fetch, signal })

function messageFor(config: AiConfig): string {
  try {
    create(config)
  } catch (error) {
    assert.ok(isPluginError(error) && error.code === 'bad-config' && !error.retryable)
    return error.message
  }
  return assert.fail('the configuration is refused')
}

const five = {
  openai: { apiKey: 'sk-1', api: 'chat', organization: 'org', project: 'proj', options: { store: false } },
  anthropic: { apiKey: 'sk-2' },
  google: { apiKey: 'sk-3', headers: { 'x-team': 'blue' } },
  ollama: { kind: 'openai-compatible', baseUrl: 'http://127.0.0.1:11434/v1', apiKey: 'none' },
  'open.router_2': { kind: 'openai-compatible', baseUrl: 'https://[::1]:8/api/v1/@cf' },
} as const

test('the schema takes the five kinds of entry, and knows which values are secret', () => {
  const { config, secrets } = read({
    providers: five,
    model: 'ollama/org/model:8b',
    maxOutputTokens: 9,
    temperature: 0,
  })
  assert.deepEqual([...secrets].sort(), ['blue', 'sk-1', 'sk-2', 'sk-3'])
  const { providers } = config as AiConfig
  assert.equal(create({ providers }).checkModel?.('ollama/x'), undefined)
  assert.deepEqual(read({}).config, { providers: {} })
})

test('the README’s example can be pasted', async () => {
  const readme = await readFile(new URL('./README.md', import.meta.url), 'utf8')
  const [, example = ''] = /```yaml\n(.*?)```/s.exec(readme) ?? []
  const { agents } = parseYaml(example)
  const { config } = read({ providers: agents.providers })
  const { checkModel } = create(config as AiConfig)
  assert.equal(Object.keys(agents.providers).length, 5)
  assert.equal(checkModel?.(agents.defaults.model), undefined)
})

const refused: readonly (readonly [unknown, RegExp])[] = [
  [{ openai: { key: 'x' } }, /providers\.openai\.key is not a known key/],
  [{ openai: { kind: 'azure', apiKey: 'x' } }, /providers\.openai\.kind must be one of openai, anthropic/],
  [{ openai: { apiKey: '' } }, /providers\.openai\.apiKey /],
  [{ openai: { apiKey: 'two words' } }, /providers\.openai\.apiKey /],
  [{ openai: { baseUrl: 'ftp://host' } }, /providers\.openai\.baseUrl /],
  [{ openai: { baseUrl: 'https://me:secret@host/v1' } }, /providers\.openai\.baseUrl /],
  [{ openai: { baseUrl: 'https://host/v1?version=2' } }, /providers\.openai\.baseUrl /],
  [{ openai: { headers: { 'x y': 'z' } } }, /providers\.openai\.headers/],
  [{ openai: { headers: { x: 'two\nlines' } } }, /providers\.openai\.headers\.x /],
  [{ 'a/b': { apiKey: 'x' } }, /providers/],
]
for (const [providers, says] of refused) {
  test(`the schema refuses ${JSON.stringify(providers)}`, () => {
    assert.throws(() => read({ providers }), says)
  })
}

test('the schema refuses a model without a provider, and settings out of range', () => {
  for (const given of [{ model: 'gpt-5' }, { maxOutputTokens: 0 }, { temperature: 3 }, { retries: 1 }]) {
    assert.throws(() => read(given), new RegExp(`agents\\.runners\\.ai\\.${Object.keys(given)[0]} `))
  }
})

test('setup reports everything that is missing at once, with what to write', () => {
  assert.match(
    messageFor({}),
    /No provider is configured; write `openai: \{ apiKey: "\$\{OPENAI_API_KEY\}" \}` under `agents\.providers`/,
  )
  const message = messageFor({
    providers: {
      openai: {},
      anthropic: { apiKey: 'none' },
      mine: { baseUrl: 'http://127.0.0.1/v1' },
      local: { kind: 'openai-compatible' },
      google: { apiKey: 'x', organization: 'y' },
    },
  })
  assert.match(message, /`providers\.openai` needs an `apiKey`; write `apiKey: "\$\{OPENAI_API_KEY\}"`/)
  assert.match(message, /`providers\.anthropic` needs an `apiKey`; write `apiKey: "\$\{ANTHROPIC_API_KEY\}"`/)
  assert.match(message, /`providers\.mine` needs a `kind`/)
  assert.match(message, /`providers\.local` needs a `baseUrl`/)
  assert.match(message, /`providers\.google`: .*`organization`.* are for the kind openai/)
})

test('the plugin’s setup refuses a configured model of an unknown provider', async () => {
  const config = { providers: { openai: { apiKey: 'x' } }, model: 'openia/gpt-5' }
  const log = { info() {}, warn() {}, error() {} }
  await assert.rejects(
    async () => plugin.setup({ config, fetch, signal, log }),
    /No provider `openia` is configured, only `openai`\./,
  )
})

const runner = create({
  providers: { openai: { apiKey: 'x' }, local: { kind: 'openai-compatible', baseUrl: 'http://h' } },
})

const names: readonly (readonly [string, string, RegExp])[] = [
  ['OpenAI/gpt-5', 'unknown-provider', /^No provider `OpenAI` is configured, only `openai`, `local`\.$/],
  ['constructor/x', 'unknown-provider', /only `openai`, `local`\.$/],
  ['gpt-5', 'bad-model', /write <provider>\/<model>, where the provider is `openai`, `local`\.$/],
  ['openai/', 'bad-model', /is not a model name/],
  ['/gpt-5', 'bad-model', /is not a model name/],
  [' ', 'no-model', /agents\.defaults\.model: openai\/<model>/],
]
for (const [model, code, says] of names) {
  test(`the model "${model}" is ${code}, at load and at the turn`, async () => {
    assert.match(runner.checkModel?.(model) ?? '', says)
    const [protocol] = protocols
    assert.ok(protocol)
    const error = await failureOf(run(runner, turnTo(protocol, { model })))
    assert.deepEqual([error.code, error.retryable], [code, false])
    assert.match(error.message, says)
  })
}

test('a model of a configured provider is accepted, even with slashes in its name', () => {
  assert.equal(runner.checkModel?.('local/org/model:8b'), undefined)
  assert.equal(runner.checkModel?.('openai/gpt-5'), undefined)
})

test('the vendor’s own address is the default, whatever the environment says', async (t) => {
  const given = { OPENAI_BASE_URL: 'http://127.0.0.1:1', ANTHROPIC_BASE_URL: 'http://127.0.0.1:1' }
  for (const [name, value] of Object.entries(given)) {
    const before = process.env[name]
    process.env[name] = value
    atEnd(t, () => {
      if (before === undefined) delete process.env[name]
      else process.env[name] = before
    })
  }
  const called: string[] = []
  const spy: typeof fetch = async (input) => {
    called.push(String(input))
    return new Response('{}', { status: 500 })
  }
  const providers = { openai: { apiKey: 'x' }, anthropic: { apiKey: 'x' }, google: { apiKey: 'x' } }
  const own = createAiRunner({ config: { providers }, fetch: spy, signal })
  for (const protocol of protocols.filter(({ name }) => name in providers)) {
    await failureOf(run(own, turnTo(protocol)))
  }
  assert.deepEqual(called, [
    'https://api.openai.com/v1/responses',
    'https://api.anthropic.com/v1/messages',
    'https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse',
  ])
})
