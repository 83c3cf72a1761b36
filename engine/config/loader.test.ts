import assert from 'node:assert/strict'
import { readFile, rm } from 'node:fs/promises'
import test, { type TestContext } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { createRandom, type Random } from '../../test/security/fuzz/words.ts'
import { watchEventLoop } from '../resolve/event-loop-fixture.ts'
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

/** Files that use what loading knows, for random edits. */
const edited: Readonly<Record<string, string>> = {
  'reveille.yaml': `hooks:
  presets: [{ name: p, channel: terminal }]
  endpoints: { one: { maxBodyBytes: "\${SIZE}" } }
  mappings:
    - { id: own, match: { path: one }, message: "two {{x}}" }
channels: { terminal: {} }
`,
  'mappings/a.yaml': `endpoints: { a: { maxBodyBytes: "\${SIZE:-3}" } }
mappings:
  # about the next
  - id: a-one
    match: { path: a, body: { n: [1, 2], deep: { exists: true } } }
    message: |
      one {{payload.n}}
  - { id: a-two, enabled: false, action: wake, text: three }
  - message: three
    schema: { type: object, properties: { id: { type: integer } } }
  - message: three
tests:
  - request: { endpoint: a, bodyFile: bodies/one.json }
    expect: { mapping: a-one }
`,
  'mappings/b.yaml': `mappings:
  - { id: b-one, message: &text one, schema: schemas/one.json }
  - { id: b-two, message: *text }
`,
  'mappings/c.json': '{\n  "mappings": [\n    { "id": "c-one", "message": "one" }\n  ]\n}\n',
  'mappings/schemas/one.json': '{ "type": "object" }\n',
  'mappings/bodies/one.json': '{ "n": 1 }\n',
  'presets/p.yaml':
    'mappings:\n  - { id: p-one, match: { path: p }, message: one }\n  - { id: a-two, message: two }\n',
}
const typed = [' ', '\n', '- ', ': ', '"', "'", '#', '[', '}', '&', '*', '|', '\t', 'a', '\r\n']
const added = ['  - { id: fresh, message: again }', '# a comment', '', '    mesage: misspelt', 'tests:']

/** Types or deletes a character, or adds, deletes, repeats or indents a line, or changes a word or the ends of lines. */
function edit(random: Random, text: string): string {
  const at = random.below(text.length + 1)
  const lines = text.split('\n')
  const line = random.below(lines.length)
  return random.pick([
    () => text.slice(0, at) + random.pick(typed) + text.slice(at),
    () => text.slice(0, at) + text.slice(at + 1 + random.below(3)),
    () => lines.toSpliced(line, 0, random.pick(added)).join('\n'),
    () => lines.toSpliced(line, 1).join('\n'),
    () => lines.toSpliced(random.below(lines.length), 0, lines[line] ?? '').join('\n'),
    () => lines.with(line, ` ${lines[line]}`).join('\n'),
    () => text.replace(/\b(one|two|three)\b/, () => random.pick(['one', 'two', 'three'])),
    () => (text.includes('\r') ? text.replaceAll('\r', '') : text.replaceAll('\n', '\r\n')),
  ])()
}

test('whatever is edited, a loader gives the result of a first load', async (context) => {
  const random = createRandom(20_260_101)
  const env = { SIZE: '5' }
  const { folder, loader } = await setUp(context, edited, env)
  const outcomes = { good: 0, bad: 0 }
  let texts = edited
  for (let round = 0; round < 60; round++) {
    const [name = '', text = ''] = random.pick(Object.entries(texts))
    env.SIZE = random.chance(0.1) ? random.pick(['6', 'many']) : '5'
    const isGone = random.chance(0.1)
    if (isGone) await rm(folder.at(name))
    else await folder.write(name, edit(random, text))
    const { ok } = await loader.load()
    outcomes[ok ? 'good' : 'bad']++
    // Mistakes do not pile up.
    if (ok && !isGone) texts = { ...texts, [name]: await readFile(folder.at(name), 'utf8') }
    else await folder.write(name, text)
  }
  assert.ok(outcomes.good > 10 && outcomes.bad > 10, JSON.stringify(outcomes))
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
