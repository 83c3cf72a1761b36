import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type { ConnectCall, SourceCall } from '@reveille/kit'
import { pino } from 'pino'
import { checkPlugins, createConnector, startSource } from './index.ts'
import { createHost, refusal, settings } from './test-bed.ts'

let folder = ''
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'reveille-sources-'))
})
after(() => rm(folder, { recursive: true, force: true }))

/** Traces of what the plugins below did, by their package. */
const traces = new Map<string, string[]>()
const traceOf = (name: string) => {
  const trace = traces.get(name) ?? []
  traces.set(name, trace)
  return trace
}
Object.assign(globalThis, { sourceTraceOf: traceOf })

const code = (name: string) => `
const trace = globalThis.sourceTraceOf('${name}')
trace.push('import')
export default {
  name: 'tides',
  check: (config) => { if (config.harbour === 'Atlantis') throw new Error('\`harbour\` is under water') },
  setup({ config }) {
    trace.push('setup ' + config.harbour)
    return {
      sources: config.harbour === 'nowhere' ? [] : [{
        id: 'tides',
        async run(call) {
          trace.push('run ' + config.harbour)
          call.report({ state: 'working', detail: 'asked with ' + config.key, times: { nextTide: 5 }, counts: { posted: 2 } })
          call.report('garbage')
          await new Promise((resolve) => call.signal.addEventListener('abort', resolve))
          if (config.harbour === 'storm') throw new Error('swept away with ' + config.key)
        },
      }],
      close: () => void trace.push('close ' + config.harbour),
    }
  },
  async connect(call) {
    call.report({ step: 'ask', outcome: 'done', detail: 'asked with ' + call.config.key })
    if (call.requested.fails) throw new Error('no consent for ' + call.config.key)
    await call.fetch('http://tides.test/')
    return { config: { harbour: call.requested.harbour } }
  },
}
`

const schema = {
  type: 'object',
  properties: {
    harbour: { type: 'string', description: 'Whose tides.' },
    key: { type: 'string', 'x-secret': true },
  },
  required: ['harbour'],
  additionalProperties: false,
}

async function install(
  name: string,
  { text = code(name), sources = ['tides'] as unknown } = {},
): Promise<string> {
  const path = join(folder, name)
  await mkdir(path, { recursive: true })
  const reveille = { kit: 1, sources, configSchema: './schema.json' }
  const description = { name, type: 'module', exports: './index.js', reveille }
  await writeFile(join(path, 'package.json'), JSON.stringify(description))
  await writeFile(join(path, 'schema.json'), JSON.stringify(schema))
  await writeFile(join(path, 'index.js'), text)
  return path
}

const key = 'high-and-low-water'

/** Remembers the reports. */
function createCall() {
  const abort = new AbortController()
  const reports: unknown[] = []
  const call = { signal: abort.signal, report: (report: unknown) => void reports.push(report) }
  return { call: call as unknown as SourceCall, abort, reports }
}

test('a source that is not configured is not loaded, and one that is runs when it is started', async () => {
  const plugins = [await install('idle')]
  const { host } = createHost()
  ;(await host.prepare(settings({ plugins }))).commit()
  assert.deepEqual([host.sources(), traceOf('idle')], [[], []])

  ;(await host.prepare(settings({ plugins, sources: { tides: { harbour: 'Brest', key } } }))).commit()
  const [source] = host.sources()
  assert.ok(source)
  assert.equal(source.name, 'tides')
  assert.deepEqual(traceOf('idle'), ['import', 'setup Brest'])
  const { call, abort, reports } = createCall()
  const running = source.run(call)
  assert.equal(traceOf('idle').at(-1), 'run Brest')
  assert.deepEqual(reports[0], {
    state: 'working',
    detail: 'asked with [redacted]',
    times: { nextTide: 5 },
    counts: { posted: 2 },
  })
  abort.abort()
  await running
  await host.close()
})

test('a mistake in a mailbox is reported in `hooks.gmail`, and without a mailbox there is no source', async () => {
  const { host } = createHost()
  const config = { account: 'ada@example.com' }
  const asked = settings({ sources: { gmail: config } }).settings
  assert.doesNotThrow(() => checkPlugins(asked))
  assert.throws(
    () => checkPlugins({ ...asked, sources: { gmail: { label: 'Work', mood: 1 } } }),
    refusal('PLUGIN_CONFIG', 'hooks.gmail.account is required', 'hooks.gmail.mood is not a known key'),
  )
  ;(await host.prepare(settings({}))).commit()
  assert.deepEqual(host.sources(), [])
  ;(await host.prepare(settings({ sources: { gmail: config } }))).commit()
  assert.deepEqual(
    host.sources().map(({ name }) => name),
    ['gmail'],
  )
  await host.close()
})

test('a source stays the same object until its configuration changes', async () => {
  const plugins = [await install('same')]
  const { host } = createHost()
  const apply = async (harbour: string) => {
    ;(await host.prepare(settings({ plugins, sources: { tides: { harbour } } }))).commit()
    return host.sources()[0]
  }
  const first = await apply('Brest')
  assert.equal(await apply('Brest'), first)
  assert.notEqual(await apply('Dover'), first)
  await host.close()
})

test('a run keeps its instance open over a reload, and a closed one begins no run', async () => {
  const plugins = [await install('held')]
  const { host } = createHost()
  ;(await host.prepare(settings({ plugins, sources: { tides: { harbour: 'Brest' } } }))).commit()
  const [source] = host.sources()
  assert.ok(source)
  const { call, abort } = createCall()
  const running = source.run(call)
  ;(await host.prepare(settings({ plugins }))).commit()
  assert.deepEqual(host.sources(), [])
  assert.ok(!traceOf('held').includes('close Brest'), 'the run still holds it')
  abort.abort()
  await running
  assert.equal(traceOf('held').at(-1), 'close Brest')
  await assert.rejects(source.run(createCall().call), { code: 'closed' })
  await host.close()
})

test('an error of a run shows no secret', async () => {
  const plugins = [await install('storm')]
  const { host } = createHost()
  ;(await host.prepare(settings({ plugins, sources: { tides: { harbour: 'storm', key } } }))).commit()
  const { call, abort } = createCall()
  const running = host.sources()[0]?.run(call)
  abort.abort()
  await assert.rejects(async () => running, { message: 'swept away with [redacted]' })
  await host.close()
})

test('a mistake in a source is reported at its key, by a check and at a start', async () => {
  const plugins = [await install('wrong')]
  const { host } = createHost()
  const wrong = [
    [{ tides: {} }, 'PLUGIN_CONFIG', 'sources.tides.harbour is required; Whose tides'],
    [
      { tide: { harbour: 'x' } },
      'PLUGIN_MISSING',
      'sources.tide names tide.*no such source; did you mean `tides`',
    ],
    [{ tides: { harbour: 7 } }, 'PLUGIN_CONFIG', 'sources.tides.harbour must be of type string'],
  ] as const
  for (const [sources, code, text] of wrong) {
    const asked = settings({ plugins, sources })
    assert.throws(() => checkPlugins(asked.settings), refusal(code, text))
    await assert.rejects(host.prepare(asked), refusal(code, text))
  }
  const drowned = settings({ plugins, sources: { tides: { harbour: 'Atlantis' } } })
  await assert.rejects(
    host.prepare(drowned, { isDryRun: true }),
    refusal('PLUGIN_SETUP', 'sources.tides.harbour is under water'),
  )
  const none = settings({ plugins, sources: { tides: { harbour: 'nowhere' } } })
  await assert.rejects(host.prepare(none), refusal('PLUGIN_SETUP', 'brings a source tides'))
  await host.close()
})

test('a list of sources that is no list, and a name that two packages claim, are reported', async () => {
  const { host } = createHost()
  const odd = await install('odd', { sources: 'tides' })
  await assert.rejects(
    host.prepare(settings({ plugins: [odd] })),
    refusal('PLUGIN_MANIFEST', '`reveille.sources` is not a list of names'),
  )
  const both = [await install('one'), await install('two')]
  await assert.rejects(
    host.prepare(settings({ plugins: both })),
    refusal('PLUGIN_MANIFEST', 'provides tides, which one provides too'),
  )
  await host.close()
})

test('a command runs one source alone, with the same secrecy', async () => {
  const plugins = [await install('alone')]
  const { settings: asked } = settings({ plugins, sources: { tides: { harbour: 'Brest', key } } })
  const options = { log: pino({ level: 'silent' }), fetch }
  const source = await startSource('tides', asked, options)
  const { call, abort, reports } = createCall()
  const running = source.run(call)
  assert.equal((reports[0] as { detail: string }).detail, 'asked with [redacted]')
  abort.abort()
  await running
  await source.close()
  assert.deepEqual(traceOf('alone'), ['import', 'setup Brest', 'run Brest', 'close Brest'])
  await assert.rejects(
    startSource('tides', { ...asked, sources: {} }, options),
    refusal('PLUGIN_CONFIG', 'sources.tides is not configured'),
  )
})

test('a source is connected before it is configured: nothing is set up, and secrets stay out of its reports', async () => {
  const plugins = [await install('fresh')]
  const { settings: asked } = settings({ plugins })
  const connector = await createConnector('tides', asked)
  assert.deepEqual(
    connector.keys.map(({ key, isRequired, isSecret }) => [key, isRequired, isSecret]),
    [
      ['harbour', true, false],
      ['key', false, true],
    ],
  )
  assert.deepEqual(
    connector.findProblems({ harbour: 'Atlantis' }).map(({ key }) => key),
    ['sources.tides.harbour'],
  )
  assert.deepEqual(connector.findProblems({ harbour: 'Brest' }), [])

  const steps: unknown[] = []
  const fetched: unknown[] = []
  const call = {
    config: { key },
    requested: { harbour: 'Brest' },
    fetch: async (url: unknown, init: RequestInit) => {
      fetched.push([url, init.redirect])
      return new Response('')
    },
    signal: new AbortController().signal,
    report: (step: unknown) => void steps.push(step),
  } as unknown as ConnectCall
  assert.deepEqual(await connector.connect(call), { config: { harbour: 'Brest' } })
  assert.deepEqual(steps, [{ step: 'ask', outcome: 'done', detail: 'asked with [redacted]' }])
  assert.deepEqual(fetched, [['http://tides.test/', 'manual']])
  await assert.rejects(connector.connect({ ...call, requested: { fails: true } }), {
    message: 'no consent for [redacted]',
  })
  assert.deepEqual(traceOf('fresh'), ['import'])
})

test('a source that needs no connecting says so', async () => {
  const plain = await install('plain', {
    text: "export default { name: 'tides', setup: () => ({ sources: [] }) }",
  })
  await assert.rejects(
    createConnector('tides', settings({ plugins: [plain] }).settings),
    refusal('PLUGIN_SETUP', 'sources.tides has no automatic setup'),
  )
})
