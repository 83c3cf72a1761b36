/** Tests the host's calls of runners where they differ from those of channels. */

import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { loadConfiguration } from '@reveille/engine'
import { isPluginError, type Progress } from '@reveille/kit'
import { checkPlugins, diagnosticsOf, PluginSetupError } from './index.ts'
import { call, createHost, refusal, settings, turn } from './test-bed.ts'

let folder = ''
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'reveille-runners-'))
})
after(() => rm(folder, { recursive: true, force: true }))

/** Answers with its turn, and answers for models with `takes`. */
const thinker = `
export default {
  name: 'thinker',
  setup({ config }) {
    const key = config.providers?.vendor?.key
    const runner = {
      id: 'thinker',
      keepsHistory: config.keeps,
      async run(turn, { onProgress }) {
        onProgress?.({ note: 'calling with ' + key, text: key })
        setImmediate(() => onProgress?.({ note: 'too late' }))
        if (turn.prompt === 'fail') throw new Error('no good: ' + key)
        return {
          reply: JSON.stringify({ config, history: turn.history.length }),
          state: 'state',
          ...(turn.prompt === 'warn' && { warnings: ['it was ' + key, 7], handedOver: 'run 1 of ' + key }),
        }
      },
    }
    if (config.takes) runner.checkModel = (model) => {
      if (model === 'bad/bug') throw new Error('a bug near ' + key)
      return model.startsWith(config.takes) ? undefined : 'It knows no model ' + model + '.'
    }
    return { runners: [runner] }
  },
}
`

const schema = {
  type: 'object',
  properties: {
    takes: { type: 'string' },
    keeps: { type: 'boolean' },
    providers: {
      type: 'object',
      additionalProperties: {
        type: 'object',
        properties: { key: { type: 'string', 'x-secret': true } },
        additionalProperties: false,
      },
    },
  },
  additionalProperties: false,
}

const manifest = { kit: 1, runners: ['thinker'], configSchema: './schema.json', inherits: ['providers'] }
const key = 's3cret-s3cret'
const providers = { vendor: { key } }

async function install(name: string, changes: Record<string, unknown> = {}) {
  const path = join(folder, name)
  await mkdir(path, { recursive: true })
  const reveille = { ...manifest, ...changes }
  await writeFile(join(path, 'package.json'), JSON.stringify({ name, main: './index.mjs', reveille }))
  await writeFile(join(path, 'schema.json'), JSON.stringify(schema))
  await writeFile(join(path, 'index.mjs'), thinker)
  return path
}

async function start(t: { after(fn: () => Promise<void>): void }, snapshot: ReturnType<typeof settings>) {
  const { host, lines } = createHost()
  t.after(() => host.close())
  ;(await host.prepare(snapshot)).commit()
  return { host, lines }
}

test('a runner whose plugin inherits the providers is given them, and one that does not is not', async (t) => {
  const plugins = [await install('heir')]
  const { host } = await start(t, settings({ plugins, providers, runner: 'thinker' }))
  const reply = (await host.runner('thinker')?.run(turn, call))?.reply ?? ''
  assert.deepEqual(JSON.parse(reply).config, { providers })

  const others = [await install('outsider', { inherits: undefined })]
  const other = await start(t, settings({ plugins: others, providers, runner: 'thinker' }))
  const alone = (await other.host.runner('thinker')?.run(turn, call))?.reply ?? ''
  assert.deepEqual(JSON.parse(alone).config, {})
})

test("a runner's own providers replace the inherited ones, and a runner that only a mapping names inherits too", async (t) => {
  const plugins = [await install('own')]
  const own = { other: { key: 'own' } }
  const runners = { mine: { kind: 'thinker', providers: own } }
  const { host } = await start(t, settings({ plugins, providers, runners }))
  const mine = (await host.runner('mine')?.run(turn, call))?.reply ?? ''
  assert.deepEqual(JSON.parse(mine).config, { providers: own })
  const late = (await host.runner('thinker')?.run(turn, call))?.reply ?? ''
  assert.deepEqual(JSON.parse(late).config, { providers })
})

test('a changed provider restarts the runners that inherit it, and no others', async (t) => {
  const plugins = [await install('restarted')]
  const runners = {
    heir: { kind: 'thinker' },
    own: { kind: 'thinker', providers: {} },
    plain: { kind: 'echo' },
  }
  const { host, lines } = await start(t, settings({ plugins, providers, runners, runner: 'heir' }))
  const before = lines.length
  const changed = settings({ plugins, providers: { vendor: { key: 'new' } }, runners, runner: 'heir' })
  ;(await host.prepare(changed)).commit()
  const started = lines.slice(before).filter((line) => line['event'] === 'plugin-started')
  assert.deepEqual(
    started.map((line) => line['runner']),
    ['heir'],
  )
})

test('a mistake in an inherited key is reported once, at its own line', async () => {
  const plugins = [await install('located')]
  const file = join(folder, 'reveille.yaml')
  const text = [
    'agents:',
    '  defaults: { runner: thinker }',
    '  runners: { second: { kind: thinker }, third: { kind: thinker, takse: x } }',
    '  providers:',
    '    vendor: { kye: none }',
    `plugins: ["${plugins[0]}"]`,
  ]
  await writeFile(file, text.join('\n'))
  const loaded = await loadConfiguration({ file, env: {}, presets: undefined })
  assert.ok(loaded.ok, JSON.stringify(loaded))
  const { configuration } = loaded
  const found = (() => {
    try {
      checkPlugins(configuration.settings)
    } catch (error) {
      assert.ok(error instanceof PluginSetupError, String(error))
      return diagnosticsOf(error, configuration)
    }
    return assert.fail('the check finds it')
  })()
  assert.deepEqual(
    found.map(({ message, hint, place }) => [message, hint, place?.line]),
    [
      ['agents.providers.vendor.kye is not a known key', 'did you mean `key`?', 5],
      ['agents.runners.third.takse is not a known key', 'did you mean `takes`?', 3],
    ],
  )
})

test('a manifest with an unknown inherited key, or with a `relays` that is no boolean, is refused', async () => {
  const { host } = createHost()
  for (const [name, changes, text] of [
    ['greedy', { inherits: ['providers', 'budget'] }, 'not to be inherited; known: providers'],
    ['listless', { inherits: 'providers' }, '`reveille.inherits` is not a list of names'],
    ['undecided', { relays: 'yes' }, '`reveille.relays` is neither true nor false'],
    ['unsure', { needsConfiguration: 1 }, '`reveille.needsConfiguration` is neither true nor false'],
  ] as const) {
    const { settings: candidate } = settings({ plugins: [await install(name, changes)] })
    assert.throws(() => host.catalog(candidate), refusal('PLUGIN_MANIFEST', 'plugins\\[0\\]', text), name)
  }
})

test('a runner that needs a configuration is offered to mappings only by the name that it has there', async () => {
  const plugins = [await install('needy', { needsConfiguration: true })]
  const { host } = createHost()
  const { runners } = host.catalog(settings({ plugins }).settings)
  assert.ok(runners.includes('echo') && !runners.includes('thinker'))
  assert.ok(!runners.includes('command') && !runners.includes('openclaw'))
  const { prepare } = host
  const prepared = await prepare(settings({ plugins, runners: { mine: { kind: 'thinker' } } }))
  prepared.commit()
  assert.ok(host.runner('mine'))
  await host.close()
})

test('whether a runner relays is known by its manifest, whatever its name and before it starts', async (t) => {
  const plugins = [await install('relaying', { relays: true })]
  const runners = { front: { kind: 'thinker' } }
  const { host, lines } = await start(t, settings({ plugins, runners }))
  assert.deepEqual(
    ['front', 'thinker', 'echo', 'nobody'].map((name) => host.relays(name)),
    [true, true, false, false],
  )
  const started = lines.filter((line) => line['event'] === 'plugin-started').map((line) => line['runner'])
  assert.deepEqual(started.sort(), ['echo', 'front'])
})

test('a check and a start report a missing plugin in the same words', async () => {
  const resolveFrom = join(folder, 'nowhere.js')
  const candidate = settings({ runner: 'ai' }).settings
  const hint =
    'needs the package @reveille/plugin-ai, which is not installed; npm install @reveille/plugin-ai'
  const says = refusal('PLUGIN_MISSING', `agents.defaults.runner ${hint}`)
  assert.throws(() => createHost({ resolveFrom }).host.catalog(candidate), says)
  assert.throws(() => checkPlugins(candidate, resolveFrom), says)
  const misspelt = settings({ runner: 'ehco' }).settings
  assert.throws(() => createHost().host.catalog(misspelt), refusal('PLUGIN_MISSING', 'did you mean `echo`'))
})

test("a check reports the plugin's own objections like a start, and sets nothing up", async () => {
  const providers = { openai: {}, local: { kind: 'openai-compatible', apiKey: 'hunter2' } }
  const runners = {
    talker: { kind: 'command', command: 'talk', output: { format: 'json' } },
    asker: { kind: 'command', command: 'ask', args: ['{promt}'] },
  }
  const candidate = settings({ runner: 'ai', providers, runners })
  const says = refusal(
    'PLUGIN_SETUP',
    'agents.providers.openai needs an `apiKey`',
    '`providers.local` needs a `baseUrl`',
    'agents.runners.talker cannot be set up: output.text is required',
    'agents.runners.asker cannot be set up: args\\[0\\] holds {promt}, which is no placeholder',
  )
  const { host } = createHost()
  await assert.rejects(host.prepare(candidate, { isDryRun: true }), says)
  await assert.rejects(host.prepare(candidate), says)
  await (await host.prepare(settings({ runner: 'echo' }), { isDryRun: true })).discard()
  await host.close()
})

test('a value of the wrong form is refused with what its key is for, and each mistake once', () => {
  const runners = {
    relative: { kind: 'command', command: 'x', cwd: 'here' },
    nameless: { kind: 'command' },
    addressless: { kind: 'openclaw', url: 'localhost', token: 'hunter2' },
  }
  assert.throws(
    () => checkPlugins(settings({ runners }).settings),
    (error) => {
      assert.ok(error instanceof PluginSetupError)
      const shown = error.problems.map(({ key, hint }) => [key, hint?.split(/[;:.]/)[0]])
      assert.deepEqual(shown, [
        ['agents.runners.relative.cwd', 'Working folder'],
        ['agents.runners.nameless.command', undefined],
        ['agents.runners.addressless.url', 'Address of the OpenClaw gateway'],
      ])
      return true
    },
  )
})

test('the default runner has to accept the default model', async () => {
  const plugins = [await install('choosy')]
  const runners = { choosy: { kind: 'thinker', takes: 'good/' } }
  const { host } = createHost()
  const asked = (model: string, runner = 'choosy') =>
    host.prepare(settings({ plugins, runners, providers, runner, model }))
  await assert.rejects(
    asked('bad/one'),
    refusal(
      'PLUGIN_CONFIG',
      'agents.defaults.model cannot be taken by the runner choosy: It knows no model bad/one\\.$',
    ),
  )
  await assert.rejects(asked('bad/bug'), (error) => {
    refusal('PLUGIN_SETUP', 'agents.defaults.model cannot be checked')(error)
    assert.match(String((error as Error).cause), /a bug near \[redacted\]/)
    return true
  })
  await (await asked('good/one')).discard()
  await (await asked('bad/one', 'echo')).discard()
  await host.close()
})

test('a model that is allowed and that the default runner refuses is a warning, once it is live', async () => {
  const plugins = [await install('tolerant')]
  const runners = { choosy: { kind: 'thinker', takes: 'good/' } }
  const { host, lines } = createHost()
  const models = ['good/one', 'bad/two']
  const prepared = await host.prepare(settings({ plugins, runners, runner: 'choosy', models }))
  const warnings = () => lines.filter((line) => line['event'] === 'model-refused')
  assert.deepEqual(warnings(), [])
  prepared.commit()
  assert.deepEqual(
    warnings().map((line) => [line['runner'], line['model'], line['reason']]),
    [['choosy', 'bad/two', 'It knows no model bad/two.']],
  )
  await host.close()
})

test('a handle has the properties of its runner once the runner has started', async (t) => {
  const plugins = [await install('candid')]
  const runners = {
    keeper: { kind: 'thinker', keeps: true, takes: 'good/' },
    plain: { kind: 'thinker' },
  }
  const { host } = await start(t, settings({ plugins, runners, runner: 'plain' }))
  const keeper = host.runner('keeper')
  assert.deepEqual([keeper?.keepsHistory, keeper?.checkModel?.('x')], [true, 'It knows no model x.'])
  assert.equal(keeper?.checkModel?.('good/x'), undefined)
  const plain = host.runner('plain')
  assert.deepEqual([plain?.keepsHistory, plain?.checkModel], [undefined, undefined])

  const changed = settings({ plugins, runners: { keeper: { kind: 'thinker' } }, runner: 'keeper' })
  ;(await host.prepare(changed)).commit()
  assert.deepEqual([keeper?.keepsHistory, keeper?.checkModel], [undefined, undefined])
})

test('a runner that keeps its own history is given none, even at the turn that starts it', async (t) => {
  const plugins = [await install('keeping')]
  const code = thinker.replace('config.keeps', 'true')
  await writeFile(join(plugins[0] ?? '', 'index.mjs'), code)
  const { host } = await start(t, settings({ plugins }))
  const late = host.runner('thinker')
  assert.equal(late?.keepsHistory, undefined)
  const message = { role: 'user', text: 'Earlier.', at: 1 } as const
  const reply = (await late?.run({ ...turn, history: [message] }, call))?.reply ?? ''
  assert.equal(JSON.parse(reply).history, 0)
  assert.equal(late?.keepsHistory, true)
})

test('progress is passed on while the turn lasts, and its notes show no secret', async (t) => {
  const plugins = [await install('telling')]
  const { host } = await start(t, settings({ plugins, providers, runner: 'thinker' }))
  const reported: Progress[] = []
  const onProgress = (progress: Progress) => void reported.push(progress)
  await host.runner('thinker')?.run(turn, { ...call, onProgress })
  await new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
  assert.deepEqual(reported, [{ note: 'calling with [redacted]', text: key }])
})

test('warnings, `handedOver` and errors show no secret, and a state is returned unchanged', async (t) => {
  const plugins = [await install('warning')]
  const { host } = await start(t, settings({ plugins, providers, runner: 'thinker' }))
  const result = await host.runner('thinker')?.run({ ...turn, prompt: 'warn' }, call)
  assert.deepEqual(
    [result?.warnings, result?.handedOver, result?.state],
    [['it was [redacted]'], 'run 1 of [redacted]', 'state'],
  )
  const failing = host.runner('thinker')?.run({ ...turn, prompt: 'fail' }, call)
  await assert.rejects(failing ?? Promise.resolve(), /no good: \[redacted\]/)
})

test('a key that says `none` is no secret', async (t) => {
  const plugins = [await install('keyless')]
  const candid = settings({ plugins, providers: { vendor: { key: 'none' } }, runner: 'thinker' })
  const { host } = await start(t, candid)
  const failing = host.runner('thinker')?.run({ ...turn, prompt: 'fail' }, call)
  await assert.rejects(failing ?? Promise.resolve(), (error) => {
    assert.ok(!isPluginError(error))
    assert.match(String(error), /no good: none/)
    return true
  })
})
