import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { watchEventLoop } from '../resolve/watch-event-loop.ts'
import { yieldToEventLoop } from '../yield.ts'
import type { Configuration, Loaded } from './configuration.ts'
import { createSampleFolder } from './folder-fixture.ts'
import { createLoader, type Loader, loadConfiguration } from './load.ts'

async function setUp(context: TestContext, files: Readonly<Record<string, string>>, env = {}) {
  const folder = await createSampleFolder(context, files)
  const options = { file: folder.at('reveille.yaml'), env, presets: folder.at('presets') }
  const loader = createLoader(options)
  context.after(() => loader.close())
  const load = async () => {
    const loaded = await loader.load()
    assert.deepEqual(factsOf(loaded), factsOf(await loadConfiguration(options)), 'it is that of a first load')
    return loaded
  }
  return { folder, loader: { load, loadAlone: () => loader.load() } }
}

/** Returns what a load has found, with the place of every entry. */
function factsOf(loaded: Loaded): unknown {
  if (!loaded.ok) return { ...loaded, watched: loaded.watched.toSorted(), rest: undefined }
  const { locate, mappings, disabled, tests, sources, watched, ...rest } = loaded.configuration
  const entries = [...mappings, ...disabled, ...tests].map(({ locate, ...entry }) => ({
    ...entry,
    places: [
      locate([]),
      locate(['message']),
      locate(['schema', 'type']),
      locate(['request', 'body']),
      locate(['id'], 1),
    ],
  }))
  return { ...rest, entries, sources: [...sources], watched: watched.toSorted() }
}

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

async function good(loader: Pick<Loader, 'load'>): Promise<Configuration> {
  const loaded = await loader.load()
  if (!loaded.ok) assert.fail(JSON.stringify(loaded.diagnostics, null, 2))
  return loaded.configuration
}

const three = `mappings:
  - id: a
    message: one
  - id: b
    message: two
    schema: { type: object }
  - { id: c, message: three }
tests: [{ name: t, request: { endpoint: x, body: { n: 1 } }, expect: { outcome: ignored } }]
`

const mapped = (mappings: string) => ({ 'reveille.yaml': '{}\n', 'mappings/m.yaml': mappings })

test('an unchanged entry is the same object, wherever its lines moved', async (context) => {
  const { folder, loader } = await setUp(context, mapped(three))
  const before = await good(loader)
  await folder.write(
    'mappings/m.yaml',
    `# new\n\n${three.replace('one', 'one!').replaceAll('\n  -', '\n\n  -')}`,
  )
  const after = await good(loader)
  const b = before.mappings[1]
  const newB = after.mappings[1]
  const isSame = after.mappings.map(({ value }, index) => value === before.mappings[index]?.value)
  assert.deepEqual([isSame, after.mappings[0]?.value.message], [[false, true, true], 'one!'])
  assert.equal(after.tests[0]?.value, before.tests[0]?.value)
  assert.notEqual(newB, b)
  assert.deepEqual([b?.label, newB?.label], ['mappings/m.yaml:4:5', 'mappings/m.yaml:8:5'])
  assert.deepEqual([b?.locate(['message']).line, newB?.locate(['message']).line], [5, 9])
  // However it is written.
  await folder.write('mappings/m.yaml', three.replace('message: two', '# why\n    message: "two"'))
  assert.equal((await good(loader)).mappings[1]?.value, b?.value)
})

test('two entries with the same text are two objects', async (context) => {
  const item = '  - message: x\n'
  const { folder, loader } = await setUp(context, mapped(`mappings:\n${item}${item}`))
  const [a, b] = (await good(loader)).mappings
  assert.notEqual(a?.value, b?.value)
  await folder.write('mappings/m.yaml', `mappings:\n${item}${item}${item}`)
  const [x, y, z] = (await good(loader)).mappings
  assert.deepEqual([x?.value === a?.value, y?.value === b?.value], [true, true])
  assert.equal(new Set([x?.value, y?.value, z?.value]).size, 3)
})

test('undoing an edit brings back the objects that were live before it', async (context) => {
  const { folder, loader } = await setUp(context, mapped(three))
  const before = await good(loader)
  for (const bad of [three.replace('message: two', 'mesage: two'), 'mappings: [\n', 'mappings:\n  - "\n']) {
    await folder.write('mappings/m.yaml', bad)
    assert.equal((await loader.load()).ok, false)
  }
  await folder.write('reveille.yaml', 'hooks: [\n')
  assert.equal((await loader.load()).ok, false)
  await folder.write('reveille.yaml', '{}\n')
  await folder.write('mappings/m.yaml', three)
  const after = await good(loader)
  for (const [index, { value }] of after.mappings.entries())
    assert.equal(value, before.mappings[index]?.value)
})

test('a payload schema in a file stays the same object until its content changes', async (context) => {
  const { folder, loader } = await setUp(context, {
    ...mapped('mappings:\n  - { id: a, message: x, schema: s.json }\n'),
    'mappings/s.json': '{ "type": "object" }',
  })
  const [before] = (await good(loader)).mappings
  await folder.write('mappings/s.json', '{\n"type": "object" }')
  assert.equal((await good(loader)).mappings[0]?.value, before?.value)
  await folder.write('mappings/s.json', '{ "type": "array" }')
  const [after] = (await good(loader)).mappings
  assert.deepEqual(after?.value.schema, { type: 'array' })
})

test('policies and adjusted presets stay the same objects too', async (context) => {
  const { folder, loader } = await setUp(context, {
    'reveille.yaml': `channels: { terminal: {} }
hooks: { presets: [{ name: p, channel: terminal }], endpoints: { x: { maxBodyBytes: 5 } } }\n`,
    'presets/p.yaml': 'mappings:\n  - id: p\n    message: x\n',
  })
  const before = await good(loader)
  await folder.write('mappings/new.yaml', 'endpoints: { y: { maxBodyBytes: 6 } }\n')
  const after = await good(loader)
  assert.equal(after.mappings[0]?.value, before.mappings[0]?.value)
  assert.equal(after.mappings[0]?.value.channel, 'terminal')
  assert.equal(after.endpoints['x'], before.endpoints['x'])
  assert.deepEqual(Object.keys(after.endpoints), ['y', 'x'])
})

test('entries that neither of the last two loads has are dropped', async (context) => {
  const { folder, loader } = await setUp(context, mapped(three))
  // In a function of its own, so that nothing here refers to the value.
  const old = await (async () => new WeakRef((await good(loader)).mappings[0]?.value ?? {}))()
  for (const word of ['uno', 'due']) {
    await folder.write('mappings/m.yaml', three.replace('one', word))
    await good(loader)
  }
  // An object that was read in one iteration of the event loop lives at least until its end.
  for (let tries = 0; tries < 10 && old.deref() !== undefined; tries++) {
    await yieldToEventLoop()
    collectGarbage()
  }
  assert.equal(old.deref(), undefined)
})

const itemOf = (index: number) => `  - id: mapping-${index}
    match: { path: endpoint-${index % 50}, body: { action: [opened, reopened] } }
    sessionKey: "hook:github:{{number}}"
    message: Review ${index} of {{repository.full_name}}.${' Say what is risky about it, and be brief.'.repeat(8)}
    channel: terminal
`

test('an edit among a megabyte of mappings and a thousand policies does not hold the event loop', async (context) => {
  const items = Array.from({ length: 2000 }, (_, index) => itemOf(index)).join('')
  assert.ok(items.length > 1_000_000, String(items.length))
  const policy = (index: number) =>
    `    team/e${index}: { auth: token, token: uG3jQ9dT5hE1oS6xAaVzP8yM${index} }\n`
  const policies = Array.from({ length: 1_000 }, (_, index) => policy(index)).join('')
  const file = (items: string) => `mappings:\n${items}  - { match: { path: ":team/:name" }, message: x }\n`
  const { folder, loader } = await setUp(context, {
    'reveille.yaml': `channels: { terminal: {} }\nhooks:\n  endpoints:\n${policies}`,
    'mappings/m.yaml': file(items),
  })
  const before = await good(loader)
  await folder.write('mappings/m.yaml', file(items.replace('Review 77 ', 'Look at 77 ')))
  const warm = await watchEventLoop(() => good({ load: loader.loadAlone }))
  assert.equal(warm.result.mappings.length, 2001)
  const changed = warm.result.mappings.filter(({ value }, index) => value !== before.mappings[index]?.value)
  const found = changed.map(({ id }) => id)
  assert.deepEqual(found, ['mapping-77'])
  // Milliseconds of this thread's own work, which may include a garbage collection.
  assert.ok(warm.longest < 100, `${warm.longest} ms`)
})
