import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import type { Configuration } from './configuration.ts'
import type { Diagnostic } from './file/diagnostic.ts'
import { loadConfiguration } from './load.ts'
import { createSampleFolder } from './sample-folder.ts'

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

async function load(context: TestContext, hooks: string, files: Files = {}) {
  const folder = await createSampleFolder(context, {
    ...shipped,
    'reveille.yaml': `hooks:\n  ${hooks}\n`,
    ...files,
  })
  const loaded = await loadConfiguration({
    file: folder.at('reveille.yaml'),
    env: {},
    presets: folder.at('shipped'),
  })
  return { folder, loaded }
}

async function loadGood(context: TestContext, hooks: string, files?: Files): Promise<Configuration> {
  const { loaded } = await load(context, hooks, files)
  if (!loaded.ok) assert.fail(JSON.stringify(loaded.diagnostics, null, 2))
  return loaded.configuration
}

async function loadBad(context: TestContext, hooks: string, files?: Files): Promise<Diagnostic> {
  const { loaded } = await load(context, hooks, files)
  assert.ok(!loaded.ok, 'this should not load')
  const [first, ...rest] = loaded.diagnostics
  assert.ok(first && rest.length === 0, JSON.stringify(loaded.diagnostics))
  return first
}

function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value))
}

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

test('an unknown preset is an error with the nearest name and the list of names', async (context) => {
  const { code, place, hint } = await loadBad(context, 'presets: [shop, frge]')
  assert.deepEqual([code, place?.line, place?.column], ['UNKNOWN_PRESET', 2, 19])
  assert.equal(hint, 'Did you mean `forge`? There are: forge, shop.')
  assert.equal((await loadBad(context, 'presets: [../forge]')).code, 'UNKNOWN_PRESET')
  assert.equal((await loadBad(context, 'presets: [{ name: .hidden }]')).code, 'UNKNOWN_PRESET')
})

test('a preset that is named twice is an error', async (context) => {
  const { code, place } = await loadBad(context, 'presets: [shop, { name: shop, deliver: false }]')
  assert.deepEqual([code, place?.line, place?.column], ['DUPLICATE_PRESET', 2, 27])
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
  const both = await loadBad(context, 'presets: [{ name: forge, deliverTo: [{ channel: last }], to: x }]')
  assert.equal(both.code, 'DUPLICATE_FIELD')
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

test('an invalid endpoint for a preset is refused at its place', async (context) => {
  for (const [path, code] of [
    ['wake', 'RESERVED_ENDPOINT'],
    ['/forge', 'INVALID_PATH'],
    ['/', 'INVALID_PATH'],
  ]) {
    const finding = await loadBad(context, `presets: [{ name: forge, path: ${path} }]`)
    assert.deepEqual([finding.code, finding.place?.column], [code, 34])
  }
  const two = 'mappings: [{ message: x, match: { path: a } }, { message: x, match: { path: b } }]\n'
  const finding = await loadBad(context, 'presets: [{ name: shop, path: c }]', { 'shipped/shop.yaml': two })
  assert.match(finding.message, /serves several endpoints/)
})

test('an adjustment of a field that no mapping of the preset has is a warning', async (context) => {
  const { warnings } = await loadGood(context, 'presets: [{ name: shop, mode: now }]')
  assert.deepEqual(
    warnings.map(({ code, place }) => `${code} ${place?.line}:${place?.column}`),
    ['UNUSED_FIELD 2:27'],
  )
})

test('a field that cannot be adjusted is unknown', async (context) => {
  assert.equal((await loadBad(context, 'presets: [{ name: shop, message: x }]')).code, 'UNKNOWN_KEY')
  assert.equal((await loadBad(context, 'presets: [{ channel: slack }]')).code, 'MISSING_KEY')
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

test('two presets cannot have the same id', async (context) => {
  const finding = await loadBad(context, 'presets: [forge, shop]', {
    'shipped/shop.yaml': 'mappings: [{ id: forge-opened, message: x }]\n',
  })
  assert.equal(finding.code, 'DUPLICATE_ID')
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

test('two presets may agree about an endpoint, but not differ', async (context) => {
  const same = 'endpoints: { forge: { maxBodyBytes: 100 } }\n'
  await loadGood(context, 'presets: [forge, shop]', { 'shipped/shop.yaml': same })
  const other = 'endpoints: { forge: { maxBodyBytes: 101 } }\n'
  const finding = await loadBad(context, 'presets: [forge, shop]', { 'shipped/shop.yaml': other })
  assert.equal(finding.code, 'DUPLICATE_ENDPOINT')
})

test('the digest covers the presets in use', async (context) => {
  const { digest } = await loadGood(context, 'presets: [shop]')
  const changed = await loadGood(context, 'presets: [shop]', { 'shipped/shop.yaml': `# changed\n${shop}` })
  const other = await loadGood(context, 'presets: [shop]', { 'shipped/forge.yaml': `# changed\n${forge}` })
  assert.notEqual(changed.digest, digest)
  assert.equal(other.digest, digest)
})
