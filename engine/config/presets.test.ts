import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { createSampleFolder } from './folder-fixture.ts'
import { loadConfiguration } from './load.ts'
import { loadGood as good, load as loadFiles, onlyOne, plain, testTable } from './load-fixture.ts'

type Files = Readonly<Record<string, string>>

const forge = `endpoints:
  forge: { maxBodyBytes: 100 }
mappings:
  - id: forge-opened
    match: { path: forge, body: { action: opened } }
    message: "opened {{title}}"
    channel: slack
    to: C1
    wakeMode: now
  - id: forge-pushed
    match: { path: forge/push }
    action: wake
    text: pushed
    mode: now
tests:
  - name: opened
    request: { endpoint: forge, body: { action: opened } }
    expect: { mapping: forge-opened, channel: slack, to: C1 }
  - name: routed
    request: { endpoint: forge, body: { action: opened } }
    expect: { to: C1 }
  - name: pushed
    request: { endpoint: forge/push }
    expect: { actions: [{ mapping: forge-pushed, mode: now }] }
`
const shop =
  'endpoints: { shop: { maxBodyBytes: 5 } }\nmappings: [{ id: shop-paid, match: { path: shop }, message: x }]\n'
const shipped: Files = {
  'shipped/forge.yaml': forge,
  'shipped/shop.yaml': shop,
  'shipped/package.json': '{}',
  'shipped/.hidden.yaml': 'no: good\n',
}

const filesOf = (hooks: string, files: Files = {}) => {
  return { ...shipped, 'reveille.yaml': `hooks:\n  ${hooks}\n`, ...files }
}
const load = (context: TestContext, hooks: string, files?: Files) => loadFiles(context, filesOf(hooks, files))
const loadGood = (context: TestContext, hooks: string, files?: Files) => good(context, filesOf(hooks, files))
const loadBad = (context: TestContext, hooks: string, files?: Files) =>
  onlyOne(context, filesOf(hooks, files))

testTable(
  'presets',
  filesOf,
  `
UNKNOWN_PRESET              presets: [shop, §frge] => Did you mean \`forge\`? There are: forge, shop.
UNKNOWN_PRESET              presets: [§../forge]
UNKNOWN_PRESET              presets: [{ name: §.hidden }]
DUPLICATE_PRESET            presets: [shop, { name: §shop, deliver: false }]
RESERVED_ENDPOINT           presets: [{ name: forge, path: §wake }]
INVALID_PATH                presets: [{ name: forge, path: §/forge }]
INVALID_PATH                presets: [{ name: forge, path: §/ }]
~UNUSED_FIELD               presets: [{ name: shop, §mode: now }]
UNKNOWN_KEY                 presets: [{ name: shop, §message: x }]
MISSING_KEY                 presets: [§{ channel: slack }]
DUPLICATE_FIELD             presets: [{ name: forge, deliverTo: [{ channel: last }], §to: x }]
`,
)

test('two presets that differ about an id or an endpoint are refused, and so is another path for two endpoints', async (context) => {
  const refused = async (hooks: string, text: string) =>
    (await loadBad(context, hooks, { 'shipped/shop.yaml': text })).code
  const two = 'mappings: [{ message: x, match: { path: a } }, { message: x, match: { path: b } }]\n'
  assert.equal(await refused('presets: [{ name: shop, path: c }]', two), 'INVALID_PATH')
  assert.equal(
    await refused('presets: [forge, shop]', 'mappings: [{ id: forge-opened, message: x }]\n'),
    'DUPLICATE_ID',
  )
  assert.equal(
    await refused('presets: [forge, shop]', 'endpoints: { forge: { maxBodyBytes: 101 } }\n'),
    'DUPLICATE_ENDPOINT',
  )
  await loadGood(context, 'presets: [forge, shop]', {
    'shipped/shop.yaml': 'endpoints: { forge: { maxBodyBytes: 100 } }\n',
  })
})

test("a preset's mappings and tests have places that name the preset", async (context) => {
  const { mappings, tests } = await loadGood(context, 'presets: [forge]')
  assert.deepEqual([mappings[0]?.label, tests[0]?.label], ['preset forge:4:5', 'preset forge:16:5'])
  assert.equal(mappings[0]?.locate(['message']).calledFile, 'preset forge')
})

test('presets come last, in their listed order, with their policies and tests', async (context) => {
  const { folder, loaded } = await load(
    context,
    'presets: [shop, forge]\n  mappings: [{ id: own, message: x }]',
    {
      'mappings/a.yaml': 'mappings: [{ id: file, message: x }]\n',
    },
  )
  assert.ok(loaded.ok)
  const { mappings, tests, endpoints, watched } = loaded.configuration
  assert.deepEqual(
    mappings.map(({ id, origin }) => `${id} of ${origin.kind} ${origin.name}`),
    [
      'own of configuration reveille.yaml',
      'file of file mappings/a.yaml',
      'shop-paid of preset shop',
      'forge-opened of preset forge',
      'forge-pushed of preset forge',
    ],
  )
  assert.deepEqual(
    tests.map(({ value, origin }) => `${value.name} of ${origin.kind} ${origin.name}`),
    ['opened of preset forge', 'routed of preset forge', 'pushed of preset forge'],
  )
  assert.deepEqual(plain(endpoints), { shop: { maxBodyBytes: 5 }, forge: { maxBodyBytes: 100 } })
  assert.ok(watched.includes(folder.at('shipped/forge.yaml')))
})

test('a preset that is not in use is not read', async (context) => {
  const { mappings } = await loadGood(context, 'presets: [shop]', { 'shipped/forge.yaml': 'no: [good\n' })
  assert.deepEqual(
    mappings.map(({ id }) => id),
    ['shop-paid'],
  )
})

test('without built-in presets, naming one is an error that says so', async (context) => {
  const folder = await createSampleFolder(context, { 'reveille.yaml': 'hooks: { presets: [shop] }\n' })
  const file = folder.at('reveille.yaml')
  const none = await loadConfiguration({ file, env: {} })
  assert.ok(!none.ok)
  assert.match(none.diagnostics[0]?.message ?? '', /none are shipped/)
  const gone = await loadConfiguration({ file, env: {}, presets: folder.at('gone') })
  assert.ok(!gone.ok)
  assert.match(gone.diagnostics[0]?.message ?? '', /does not exist/)
})

test('a mistake in a preset is reported with the place in its file', async (context) => {
  const { code, place } = await loadBad(context, 'presets: [shop]', {
    'shipped/shop.yaml': 'mappings:\n  - mesage: x\n',
  })
  assert.deepEqual([code, place?.line, place?.file.endsWith('shipped/shop.yaml')], ['UNKNOWN_KEY', 2, true])
})

for (const use of [
  'forge',
  '{ name: forge, model: a/b }',
  '{ name: forge, channel: a, deliverTo: [{ channel: b }] }',
]) {
  test(`a preset used as ${use} whose mapping and test are broken is reported, and nothing throws`, async (context) => {
    const broken = 'mappings:\n  - { action: fly, message: x }\n  - 5\ntests:\n  - { name: x }\n  - 5\n'
    const { loaded } = await load(context, `presets: [${use}]`, { 'shipped/forge.yaml': broken })
    assert.ok(!loaded.ok)
    const lines = loaded.diagnostics.filter(({ place }) => place?.calledFile).map(({ place }) => place?.line)
    assert.deepEqual([...new Set(lines)], [2, 3, 5, 6])
  })
}

test('an adjustment applies to every mapping whose action has the field, and its place is that of the list', async (context) => {
  const { mappings, tests } = await loadGood(
    context,
    'presets: [{ name: forge, channel: "${ROUTE:-telegram}", wakeMode: next-heartbeat, mode: next-heartbeat, model: a/b, deliver: false }]',
  )
  const [opened, pushed] = mappings
  assert.deepEqual(plain(opened?.value), {
    action: 'agent',
    match: { path: 'forge', body: { action: 'opened' } },
    message: 'opened {{title}}',
    channel: 'telegram',
    wakeMode: 'next-heartbeat',
    model: 'a/b',
    deliver: false,
  })
  assert.deepEqual(plain(pushed?.value), {
    action: 'wake',
    match: { path: 'forge/push' },
    text: 'pushed',
    mode: 'next-heartbeat',
  })
  const place = opened?.locate(['channel'])
  assert.deepEqual([place?.file.endsWith('/reveille.yaml'), place?.line, place?.column], [true, 2, 37])
  assert.match(opened?.locate(['message']).file ?? '', /forge\.yaml$/)
  assert.deepEqual(
    tests.map(({ value }) => plain([value.name, value.expect])),
    [
      ['opened', { mapping: 'forge-opened' }],
      ['pushed', { actions: [{ mapping: 'forge-pushed' }] }],
    ],
  )
})

test('several targets replace a channel and its address', async (context) => {
  const { mappings } = await loadGood(context, 'presets: [{ name: forge, deliverTo: [{ channel: last }] }]')
  const { channel, to, deliverTo } = mappings[0]?.value ?? {}
  assert.deepEqual(plain([channel, to, deliverTo]), [null, null, [{ channel: 'last' }]])
})

test('a preset may be served under another endpoint, its policy and tests with it', async (context) => {
  const { mappings, endpoints, tests } = await loadGood(
    context,
    'presets: [{ name: forge, path: team/forge }]',
  )
  assert.deepEqual(
    mappings.map(({ value }) => value.match?.path),
    ['team/forge', 'team/forge/push'],
  )
  assert.deepEqual(Object.keys(endpoints), ['team/forge'])
  assert.deepEqual(
    [...new Set(tests.map(({ value }) => value.request.endpoint))],
    ['team/forge', 'team/forge/push'],
  )
  assert.match(mappings[0]?.locate(['match', 'path']).file ?? '', /reveille\.yaml$/)
})

for (const [where, hooks, files] of [
  ['the configuration', 'presets: [forge]\n  mappings: [{ id: forge-opened, message: mine }]', {}],
  ['a file', 'presets: [forge]', { 'mappings/a.yaml': 'mappings: [{ id: forge-opened, message: mine }]\n' }],
] as const) {
  test(`a mapping of ${where} replaces the preset’s with the same id, and drops the tests of that one`, async (context) => {
    const { mappings, tests } = await loadGood(context, hooks, files)
    assert.deepEqual(
      mappings.map(({ id, value }) => `${id} ${value.message ?? value.text}`),
      ['forge-opened mine', 'forge-pushed pushed'],
    )
    assert.deepEqual(
      tests.map(({ value }) => value.name),
      ['routed', 'pushed'],
    )
  })
}

test('a disabled mapping switches off the preset’s with the same id', async (context) => {
  const hooks = 'presets: [forge]\n  mappings: [{ id: forge-opened, enabled: false, message: x }]'
  const { mappings, disabled } = await loadGood(context, hooks)
  assert.deepEqual(
    [mappings.map(({ id }) => id), disabled.map(({ id }) => id)],
    [['forge-pushed'], ['forge-opened']],
  )
})

test('a policy of the configuration takes precedence over a file’s, and that over a preset’s, key by key', async (context) => {
  const { endpoints } = await loadGood(
    context,
    'presets: [forge, shop]\n  endpoints: { shop: { maxBodyBytes: 1 } }',
    {
      'mappings/a.yaml': 'endpoints: { shop: { maxBodyBytes: 2 }, forge: { maxBodyBytes: 3 } }\n',
    },
  )
  assert.deepEqual(plain(endpoints), { forge: { maxBodyBytes: 3 }, shop: { maxBodyBytes: 1 } })
})

test('the digest covers the presets in use', async (context) => {
  const { digest } = await loadGood(context, 'presets: [shop]')
  const changed = await loadGood(context, 'presets: [shop]', { 'shipped/shop.yaml': `# changed\n${shop}` })
  const other = await loadGood(context, 'presets: [shop]', { 'shipped/forge.yaml': `# changed\n${forge}` })
  assert.notEqual(changed.digest, digest)
  assert.equal(other.digest, digest)
})
