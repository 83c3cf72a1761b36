import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { isPluginError } from '@reveille/kit'
import { checkPlugins, PluginSetupError } from './index.ts'
import { call, createHost, refusal, settings, turn } from './test-bed.ts'

let folder = ''
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'reveille-plugins-'))
})
after(() => rm(folder, { recursive: true, force: true }))

/** Traces of what the plugins below did, by the name that their configuration gives. */
const traces = new Map<string, string[]>()
Object.assign(globalThis, {
  traceOf: (name: string) => traces.get(name) ?? traces.set(name, []).get(name),
})

const radio = `
globalThis.traceOf('import').push('radio')
export default {
  name: 'radio',
  async setup({ config, log, signal }) {
    const trace = globalThis.traceOf(config.station)
    trace.push('setup')
    log.info('tuned', { station: config.station, secret: config.key })
    signal.addEventListener('abort', () => trace.push('abort'))
    if (config.fails === 'throws') throw new Error('no signal for ' + config.key)
    if (config.fails === 'hangs') await new Promise(() => {})
    const channel = {
      id: 'radio',
      limits: { part: 100, unit: 'utf16' },
      target: (to) => ({ key: to, kind: 'channel' }),
      render: (text) => [{ text }],
      async send(part, { key }) {
        trace.push('send ' + part.text)
        if (part.text === 'slow') await globalThis.traceOf.slow?.promise
        return { id: config.station + key }
      },
    }
    const runner = { id: 'dj', run: async (turn) => ({ reply: config.station + ': ' + turn.prompt }) }
    return {
      channels: config.fails === 'brings nothing' ? [] : [channel],
      runners: [runner],
      async close() {
        trace.push('close')
        if (config.fails === 'closes badly') throw new Error('stuck with ' + config.key)
      },
    }
  },
}
`

const schema = {
  type: 'object',
  properties: {
    station: { type: 'string' },
    volume: { type: 'integer' },
    key: { type: 'string', 'x-secret': true },
    fails: { type: 'string' },
  },
  required: ['station'],
  additionalProperties: false,
}

const manifest = { kit: 1, channels: ['radio'], runners: ['dj'], configSchema: './schema.json' }

/** A package in a folder of its own. */
async function install(name: string, changes: Record<string, unknown> = {}, code = radio) {
  const path = join(folder, name)
  await mkdir(path, { recursive: true })
  const description = { name, type: 'module', exports: { '.': { import: './index.js' } }, reveille: manifest }
  await writeFile(join(path, 'package.json'), JSON.stringify({ ...description, ...changes }))
  await writeFile(join(path, 'schema.json'), JSON.stringify(schema))
  await writeFile(join(path, 'index.js'), code)
  return path
}

test('the catalog names all ten channels, the runners that are installed, and what extra plugins bring', async () => {
  const { host } = createHost()
  const path = await install('catalogued')
  const catalog = host.catalog(settings({ plugins: [path] }).settings)
  assert.deepEqual([...catalog.channels].sort(), [
    ...['discord', 'http', 'imessage', 'mattermost', 'msteams', 'radio'],
    ...['signal', 'slack', 'telegram', 'terminal', 'whatsapp'],
  ])
  assert.ok(catalog.runners.includes('echo') && catalog.runners.includes('dj'))
  assert.deepEqual(traces.get('import'), undefined, 'no plugin code ran')
})

test('the default runner runs without being configured', async () => {
  const { host } = createHost()
  const prepared = await host.prepare(settings({}))
  assert.equal(host.runner('echo'), undefined)
  prepared.commit()
  assert.deepEqual(await host.runner('echo')?.run(turn, call), { reply: 'hello' })
  assert.equal(host.runner('nobody'), undefined)
  assert.equal(host.channel('terminal'), undefined)
  await host.close()
})

test('a package is found from the place that the host is given, which a bundle elsewhere needs', async () => {
  const bundle = join(folder, 'elsewhere', 'gateway.js')
  await install('elsewhere/node_modules/plugin-radio', { name: 'plugin-radio' })
  const candidate = settings({ plugins: ['plugin-radio'], runner: 'dj' }).settings
  const { host } = createHost({ resolveFrom: bundle })
  assert.ok(host.catalog(candidate).channels.includes('radio'))
  assert.throws(() => createHost().host.catalog(candidate), refusal('PLUGIN_MISSING', 'plugins\\[0\\]'))
})

test('a package beside the configuration is found before one of Reveille, and the hint says where to install it', async () => {
  const bundle = join(folder, 'of-reveille', 'gateway.js')
  const file = join(folder, 'of-operator', 'reveille.yaml')
  const other = { ...manifest, channels: ['old-radio'] }
  await install('of-reveille/node_modules/plugin-both', { name: 'plugin-both', reveille: other })
  await install('of-operator/node_modules/plugin-both', { name: 'plugin-both' })
  await install('of-reveille/node_modules/plugin-ours', { name: 'plugin-ours' })
  const { host } = createHost({ resolveFrom: bundle })
  const asked = (plugins: readonly string[]) => {
    const { settings: given } = settings({ plugins, runner: 'dj' })
    return { ...given, file }
  }
  assert.ok(host.catalog(asked(['plugin-both'])).channels.includes('radio'))
  assert.ok(host.catalog(asked(['plugin-ours'])).channels.includes('radio'))
  assert.throws(
    () => host.catalog(asked(['plugin-none'])),
    refusal(
      'PLUGIN_MISSING',
      'plugins\\[0\\] needs the package plugin-none, which is not installed; ' +
        `npm install --prefix \\. plugin-none in ${join(folder, 'of-operator')}`,
    ),
  )
})

for (const [what, code, says] of [
  ['no target', radio.replace(/target[^\n]*\n/, '\n'), '`target` has to be a function and is not there'],
  [
    'an unknown unit',
    radio.replace("'utf16'", "'bytes'"),
    "`limits.unit` has to be 'utf16', 'utf8' \\(bytes\\) or 'characters' and is 'bytes'",
  ],
  [
    'a length that is a text',
    radio.replace(/part: \d+/, "part: '4096'"),
    "`limits.part` has to be a whole number above 0 and is '4096'",
  ],
] as const) {
  test(`a channel with ${what} is refused at its set-up, at the place of its configuration`, async () => {
    assert.notEqual(code, radio)
    const { host } = createHost()
    const name = `shape-${what.replaceAll(' ', '-')}`
    const plugins = [await install(name, {}, code)]
    await assert.rejects(
      host.prepare(settings({ plugins, channels: { radio: { station: 'shape' } } })),
      refusal('PLUGIN_SETUP', `channels\\.radio cannot be set up: of the plugin's channel radio, ${says}`),
    )
    await host.close()
  })
}

test('a plugin that nothing configures is not loaded', async () => {
  const code = radio.replace('radio', 'unused')
  const { host } = createHost()
  const prepared = await host.prepare(settings({ plugins: [await install('unused', {}, code)] }))
  prepared.commit()
  assert.ok(!traces.get('import')?.includes('unused'))
  await host.close()
})

test('one kind of runner runs under several names, each with its own configuration', async () => {
  const { host } = createHost()
  const plugins = [await install('several')]
  const runners = { morning: { kind: 'dj', station: 'am' }, evening: { kind: 'dj', station: 'pm' } }
  const prepared = await host.prepare(settings({ plugins, runners, runner: 'evening' }))
  prepared.commit()
  assert.equal((await host.runner('morning')?.run(turn, call))?.reply, 'am: hello')
  assert.equal((await host.runner('evening')?.run(turn, call))?.reply, 'pm: hello')
  await host.close()
})

test('a runner that only a mapping names starts when it is used, if it needs no configuration', async () => {
  const { host } = createHost()
  const plugins = [await install('late')]
  const prepared = await host.prepare(
    settings({ plugins, runner: 'r', runners: { r: { kind: 'dj', station: 'x' } } }),
  )
  prepared.commit()
  assert.equal((await host.runner('echo')?.run(turn, call))?.reply, 'hello')
  await assert.rejects(
    async () => host.runner('dj')?.run(turn, call),
    (error) => isPluginError(error) && error.code === 'not-configured' && !error.retryable,
  )
  await host.close()
})

test('an unchanged configuration keeps its instance, a changed one gets a new one before the old one closes', async () => {
  const { host } = createHost()
  const plugins = [await install('changing')]
  const first = { station: 'first', volume: 1 }
  ;(await host.prepare(settings({ plugins, channels: { radio: first } }))).commit()
  const channel = host.channel('radio')
  assert.ok(channel)
  ;(await host.prepare(settings({ plugins, channels: { radio: { volume: 1, station: 'first' } } }))).commit()
  assert.deepEqual(traces.get('first'), ['setup'])

  const prepared = await host.prepare(settings({ plugins, channels: { radio: { station: 'second' } } }))
  assert.deepEqual(traces.get('second'), ['setup'])
  assert.deepEqual(traces.get('first'), ['setup'], 'the old one lives until the swap')
  const send = async () => channel.send({ text: 'x' }, { ...call, target: channel.target('x'), key: '1' })
  assert.equal((await send()).id, 'first1')
  prepared.commit()
  assert.equal((await send()).id, 'second1', 'a channel that was looked up before the swap goes on')
  assert.deepEqual(traces.get('first'), ['setup', 'send x', 'abort', 'close'])
  await host.close()
  assert.deepEqual(traces.get('second'), ['setup', 'send x', 'abort', 'close'])
  await assert.rejects(send, (error) => isPluginError(error) && error.code === 'not-configured')
})

test('a call in flight keeps its instance open through a swap', async () => {
  const { host } = createHost()
  const plugins = [await install('busy')]
  ;(await host.prepare(settings({ plugins, channels: { radio: { station: 'busy' } } }))).commit()
  const slow = Promise.withResolvers<void>()
  Object.assign((globalThis as unknown as { traceOf: object }).traceOf, { slow })
  const channel = host.channel('radio')
  assert.ok(channel)
  const sending = channel.send({ text: 'slow' }, { ...call, target: channel.target('x'), key: '1' })
  ;(await host.prepare(settings({ plugins }))).commit()
  assert.equal(host.channel('radio'), undefined)
  assert.deepEqual(traces.get('busy'), ['setup', 'send slow'])
  slow.resolve()
  assert.equal((await sending).id, 'busy1')
  await host.close()
  assert.deepEqual(traces.get('busy'), ['setup', 'send slow', 'abort', 'close'])
})

test('discarding a candidate closes its own instances and leaves the live ones alone', async () => {
  const { host } = createHost()
  const plugins = [await install('discarded')]
  ;(await host.prepare(settings({ plugins, channels: { radio: { station: 'kept' } } }))).commit()
  const candidate = settings({ plugins, channels: { radio: { station: 'dropped' } } })
  await (await host.prepare(candidate)).discard()
  assert.deepEqual(traces.get('dropped'), ['setup', 'abort', 'close'])
  assert.deepEqual(traces.get('kept'), ['setup'])
  await host.close()
})

test('an instance that two candidates share closes with the last one', async () => {
  const { host } = createHost()
  const plugins = [await install('shared')]
  const same = settings({ plugins, channels: { radio: { station: 'shared' } } })
  ;(await host.prepare(same)).commit()
  const [left, right] = await Promise.all([host.prepare(same), host.prepare(settings({ plugins }))])
  right.commit()
  assert.deepEqual(traces.get('shared'), ['setup'])
  left.commit()
  assert.ok(host.channel('radio'))
  await host.close()
  assert.deepEqual(traces.get('shared'), ['setup', 'abort', 'close'])
})

test('a built-in channel whose package is not installed is an error that names the package', async () => {
  const { host } = createHost({ resolveFrom: join(folder, 'nowhere.js') })
  await assert.rejects(
    host.prepare(settings({ channels: { slack: {} } })),
    refusal('PLUGIN_MISSING', 'channels.slack needs the package @reveille/plugin-slack', 'npm install'),
  )
})

test('a bad configuration names every key, the rule and the fix, and no value', async () => {
  const { host } = createHost()
  const plugins = [await install('strict')]
  const channels = { radio: { statoin: 'hunter2', volume: '11', key: 7 }, terminal: { defaultTo: 'hunter2' } }
  await assert.rejects(host.prepare(settings({ plugins, channels })), (error) => {
    assert.ok(error instanceof PluginSetupError)
    assert.equal(error.code, 'PLUGIN_CONFIG')
    assert.deepEqual(error.problems, [
      { key: 'channels.radio.station', message: 'is required' },
      { key: 'channels.radio.statoin', message: 'is not a known key', hint: 'did you mean `station`?' },
      { key: 'channels.radio.volume', message: 'must be of type integer' },
      { key: 'channels.radio.key', message: 'must be of type string' },
      { key: 'channels.terminal.defaultTo', message: 'must be one of stdout, stderr' },
    ])
    assert.ok(!error.message.includes('hunter2'))
    return true
  })
  assert.equal(traces.get('undefined'), undefined, 'nothing was set up')
})

test('a check finds what a start would, and runs no plugin code', async () => {
  const plugins = [await install('checked', {}, radio.replace('radio', 'checked'))]
  const good = settings({ plugins, channels: { radio: { station: 'checked' } } }).settings
  assert.ok(checkPlugins(good).channels.includes('radio'))
  const bad = settings({ plugins, channels: { radio: {}, terminal: { to: 'x' } } }).settings
  assert.throws(
    () => checkPlugins(bad),
    refusal('PLUGIN_CONFIG', 'channels.radio.station is required', 'channels.terminal.to is not a known key'),
  )
  assert.ok(!traces.get('import')?.includes('checked'))
})

test('an unusable schema is refused, and accepted once it is fixed', async () => {
  const { host } = createHost()
  const path = await install('fixed')
  const candidate = settings({ plugins: [path], channels: { radio: { station: 'fixed' } } })
  const named = { ...schema, $id: 'https://example.org/radio' }
  await writeFile(join(path, 'schema.json'), JSON.stringify({ ...named, tpye: 'object' }))
  await assert.rejects(host.prepare(candidate), refusal('PLUGIN_MANIFEST', 'channels.radio needs a plugin'))
  await writeFile(join(path, 'schema.json'), JSON.stringify(named))
  await (await host.prepare(candidate)).discard()
  await (await host.prepare(candidate)).discard()
})

test('a setup that throws refuses the candidate, closes the instances started with it, and shows no secret', async () => {
  const { host, lines } = createHost()
  const plugins = [await install('throwing')]
  const key = 's3cret-s3cret'
  const runners = { companion: { kind: 'dj', station: 'companion' } }
  const channels = { radio: { station: 'bad', fails: 'throws', key } }
  await assert.rejects(host.prepare(settings({ plugins, channels, runners })), (error) => {
    refusal(
      'PLUGIN_SETUP',
      'Plugin throwing: channels.radio cannot be set up: no signal for \\[redacted\\]',
    )(error)
    assert.ok(!String((error as Error).cause).includes(key))
    return true
  })
  assert.deepEqual(traces.get('companion'), ['setup', 'abort', 'close'])
  assert.deepEqual(traces.get('bad'), ['setup', 'abort'])
  assert.ok(lines.some((line) => line['event'] === 'tuned' && line['secret'] === '[redacted]'))
  assert.ok(!JSON.stringify(lines).includes(key))
})

test('a setup that hangs is abandoned, and so is one that is under way when the host closes', async () => {
  const plugins = [await install('hanging')]
  const candidate = settings({ plugins, channels: { radio: { station: 'hanging', fails: 'hangs' } } })
  await assert.rejects(
    createHost({ setupTimeoutMs: 1 }).host.prepare(candidate),
    refusal('PLUGIN_SETUP', 'setup of the plugin hanging did not end within 0\\.001 s'),
  )
  const { host } = createHost()
  const preparing = assert.rejects(host.prepare(candidate), refusal('PLUGIN_SETUP', 'closing'))
  await host.close()
  await preparing
  await assert.rejects(host.prepare(candidate), /closing/)
})

test('a setup that brings something else than the manifest promises is refused and closed', async () => {
  const { host } = createHost()
  const plugins = [await install('empty')]
  const channels = { radio: { station: 'empty', fails: 'brings nothing' } }
  await assert.rejects(
    host.prepare(settings({ plugins, channels })),
    refusal('PLUGIN_SETUP', 'brings a channel radio, and its setup brought none'),
  )
  assert.deepEqual(traces.get('empty'), ['setup', 'abort', 'close'])
})

test('a failing close is logged without the secret and delays nothing', async () => {
  const { host, lines } = createHost()
  const plugins = [await install('clumsy')]
  const channels = { radio: { station: 'clumsy', fails: 'closes badly', key: 's3cret' } }
  ;(await host.prepare(settings({ plugins, channels }))).commit()
  await host.close()
  const report = lines.find((line) => line['event'] === 'plugin-close-failed')
  assert.match(JSON.stringify(report), /stuck with \[redacted\]/)
})

test('a package is refused, with its key, when its manifest does not hold', async () => {
  const { host } = createHost()
  const cases: [string, Record<string, unknown>, string, string][] = [
    ['no-manifest', { reveille: undefined }, 'PLUGIN_MANIFEST', 'without a `reveille` key'],
    [
      'driver',
      { reveille: { kit: 1, driver: 'radio' } },
      'PLUGIN_MANIFEST',
      'names a driver of databases; it needs no entry',
    ],
    [
      'misspelt',
      { reveille: { kit: 1, chanels: ['radio'] } },
      'PLUGIN_MANIFEST',
      'reveille.chanels. is not a known key; did you mean .channels.\\?$',
    ],
    ['old-kit', { reveille: { ...manifest, kit: 99 } }, 'PLUGIN_KIT', 'version 99 of the kit; this is 1'],
    ['bad-names', { reveille: { ...manifest, channels: 'radio' } }, 'PLUGIN_MANIFEST', 'not a list of names'],
    [
      'outside',
      { reveille: { ...manifest, configSchema: '../x.json' } },
      'PLUGIN_MANIFEST',
      'inside the package',
    ],
    ['no-entry', { exports: { './other': './x.js' } }, 'PLUGIN_MANIFEST', 'without an entry'],
  ]
  for (const [name, changes, code, text] of cases) {
    const path = await install(name, changes)
    assert.throws(
      () => host.catalog(settings({ plugins: [path] }).settings),
      refusal(code, `plugins\\[0\\]`, text),
      name,
    )
  }
  assert.throws(
    () => host.catalog(settings({ plugins: [join(folder, 'absent')] }).settings),
    refusal('PLUGIN_MISSING', 'holds no package.json'),
  )
})

test('two extra plugins may not claim the same name, but one may replace a built-in plugin', async () => {
  const { host } = createHost()
  const plugins = [await install('left'), await install('right')]
  assert.throws(
    () => host.catalog(settings({ plugins }).settings),
    refusal('PLUGIN_MANIFEST', 'provides radio, which left provides too'),
  )
  const reveille = { ...manifest, channels: [], runners: ['echo'] }
  const own = [await install('own-echo', { reveille }, radio.replace("id: 'dj'", "id: 'echo'"))]
  const runners = { echo: { station: 'mine' } }
  ;(await host.prepare(settings({ plugins: own, runners }))).commit()
  assert.equal((await host.runner('echo')?.run(turn, call))?.reply, 'mine: hello')
  await host.close()
})

test('a module that is no plugin, or cannot be imported, is refused, with the line and the reason', async () => {
  const { host } = createHost()
  for (const [name, code, why] of [
    ['blank', 'export default {}', /blank\/index\.js has no default export made by definePlugin\.$/],
    [
      'broken',
      '// Well.\nsyntax error',
      /broken\/index\.js:2: SyntaxError: Unexpected identifier 'error'\.$/,
    ],
    ['throwing-early', "throw new Error('not today')", /throwing-early\/index\.js:1:7: not today\.$/],
    [
      'needing',
      "import 'nobody-has-this'",
      /Cannot find package 'nobody-has-this' imported from \S+needing\/index\.js\.$/,
    ],
    ['misnaming', "import { sent } from '@reveille/kit'", /does not provide an export named 'sent'\.$/],
  ] as const) {
    const plugins = [await install(name, {}, code)]
    const channels = { radio: { station: name } }
    await assert.rejects(
      host.prepare(settings({ plugins, channels })),
      refusal('PLUGIN_SETUP', 'channels.radio needs a plugin that cannot be imported: ', why),
    )
  }
})

test('a plugin without a kit of its own is given the kit of the host', async () => {
  const { host } = createHost()
  const code = `import { definePlugin } from '@reveille/kit'\nimport '@reveille/kit/markdown'\n${radio.replace('export default {', 'export default definePlugin({').replace(/\}\n$/, '})\n')}`
  const plugins = [await install('kitless', {}, code)]
  ;(await host.prepare(settings({ plugins, channels: { radio: { station: 'kitless' } } }))).commit()
  assert.equal(host.channel('radio')?.id, 'radio')
  await host.close()
})

test('an invalid schema is named, with its error', async () => {
  const { host } = createHost()
  const path = await install('misdescribed')
  await writeFile(join(path, 'schema.json'), '{ "type": "objekt" }')
  await assert.rejects(
    host.prepare(settings({ plugins: [path], channels: { radio: { station: 'x' } } })),
    refusal(
      'PLUGIN_MANIFEST',
      /configuration schema can be used; \S+misdescribed\/schema\.json: schema is invalid: data\/type/,
    ),
  )
})

test('a broken pattern is explained in the words of the schema, and a missing key by its description', async () => {
  const { host } = createHost()
  const path = await install('formal')
  const properties = {
    url: { type: 'string', pattern: '^https?://', 'x-form': 'an http address', description: 'Where it is.' },
    station: { type: 'string', description: 'What is played.' },
  }
  await writeFile(
    join(path, 'schema.json'),
    JSON.stringify({ type: 'object', properties, required: ['station'] }),
  )
  await assert.rejects(
    host.prepare(settings({ plugins: [path], channels: { radio: { url: 'ftp://x' } } })),
    refusal(
      'PLUGIN_CONFIG',
      'channels.radio.station is required; What is played\\.',
      'channels.radio.url must be an http address; Where it is\\.',
    ),
  )
})
