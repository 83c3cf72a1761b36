import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { createSampleFolder } from './folder-fixture.ts'
import { loadConfiguration } from './load.ts'
import { loadGood as good, load as loadFiles, testLoads, testTables } from './load-fixture.ts'

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
  - { name: opened, request: { endpoint: forge, body: { action: opened } }, expect: { mapping: forge-opened, channel: slack, to: C1 } }
  - { name: routed, request: { endpoint: forge, body: { action: opened } }, expect: { to: C1 } }
  - { name: pushed, request: { endpoint: forge/push }, expect: { actions: [{ mapping: forge-pushed, mode: now }] } }
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
/** Files of a text of `hooks`, with others behind ` || `. */
function written(text: string): Files {
  const [hooks = '', ...others] = text.split(' || ')
  const files = others.map((each) => each.split(/: (.*)/s).slice(0, 2))
  return filesOf(hooks, Object.fromEntries(files.map(([name, content]) => [name, `${content}\n`])))
}

testTables(
  { presets: written },
  `
# presets
UNKNOWN_PRESET              presets: [shop, §frge] => Did you mean \`forge\`? There are: forge, shop.
UNKNOWN_PRESET              presets: [§../forge] ¦ presets: [{ name: §.hidden }]
DUPLICATE_PRESET            presets: [shop, { name: §shop, deliver: false }]
RESERVED_ENDPOINT           presets: [{ name: forge, path: §wake }]
INVALID_PATH                presets: [{ name: forge, path: §/forge }] ¦ presets: [{ name: forge, path: §/ }]
~UNUSED_FIELD               presets: [{ name: shop, §mode: now }]
UNKNOWN_KEY                 presets: [{ name: shop, §message: x }]
MISSING_KEY                 presets: [§{ channel: slack }]
UNKNOWN_KEY                 presets: [shop] || shipped/shop.yaml: mappings:⏎  - §mesage: x
INVALID_PATH                presets: [{ name: shop, path: §c }] || shipped/shop.yaml: mappings: [{ message: x, match: { path: a } }, { message: x, match: { path: b } }]
DUPLICATE_ID                presets: [forge, shop] || shipped/shop.yaml: mappings: [{ id: §forge-opened, message: x }]
DUPLICATE_ENDPOINT          presets: [forge, shop] || shipped/shop.yaml: endpoints: { §forge: { maxBodyBytes: 101 } }
ok                          presets: [forge, shop] || shipped/shop.yaml: endpoints: { forge: { maxBodyBytes: 100 } }
DUPLICATE_FIELD             presets: [{ name: forge, deliverTo: [{ channel: last }], §to: x }]
`,
)

testLoads(
  `
# presets come last, in their listed order, with their policies and tests
presets: [shop, forge]⏎  mappings: [{ id: own, message: x }] || mappings/a.yaml: mappings: [{ id: file, message: x }] ⇒ { mappings: [{ id: own, origin: { kind: configuration, name: reveille.yaml } }, { id: file, origin: { kind: file, name: mappings/a.yaml } }, { id: shop-paid, origin: { kind: preset, name: shop } }, { id: forge-opened, origin: { kind: preset, name: forge }, label: 'preset forge:4:5' }, { id: forge-pushed }], tests: [{ value: { name: opened }, label: 'preset forge:16:5', origin: { kind: preset, name: forge } }, { value: { name: routed } }, { value: { name: pushed } }], endpoints: { shop: { maxBodyBytes: 5 }, forge: { maxBodyBytes: 100 } } }

# a preset that is not in use is not read
presets: [shop] || shipped/forge.yaml: no: [good ⇒ { mappings: [{ id: shop-paid }] }

# an adjustment applies to every mapping whose action has the field, and tests expect nothing of it
presets: [{ name: forge, channel: telegram, wakeMode: next-heartbeat, mode: next-heartbeat, model: a/b, deliver: false }] ⇒ { mappings: [{ value: { message: 'opened {{title}}', channel: telegram, to: null, wakeMode: next-heartbeat, mode: null, model: a/b, deliver: false } }, { value: { text: pushed, mode: next-heartbeat, wakeMode: null, channel: null } }], tests: [{ value: { name: opened, expect: { mapping: forge-opened, channel: null, to: null } } }, { value: { name: pushed, expect: { actions: [{ mapping: forge-pushed, mode: null }] } } }] }
presets: [{ name: forge, deliverTo: [{ channel: last }] }] ⇒ { mappings: [{ value: { channel: null, to: null, deliverTo: [{ channel: last }] } }, {}] }

# a preset may be served under another endpoint, its policy and tests with it
presets: [{ name: forge, path: team/forge }] ⇒ { mappings: [{ value: { match: { path: team/forge } } }, { value: { match: { path: team/forge/push } } }], endpoints: { forge: null, team/forge: { maxBodyBytes: 100 } }, tests: [{ value: { request: { endpoint: team/forge } } }, {}, { value: { request: { endpoint: team/forge/push } } }] }

# a mapping of the operator replaces the preset's with the same id, and drops the tests of that one
presets: [forge]⏎  mappings: [{ id: forge-opened, message: mine }] ⇒ { mappings: [{ id: forge-opened, value: { message: mine } }, { id: forge-pushed }], tests: [{ value: { name: routed } }, { value: { name: pushed } }] }
presets: [forge] || mappings/a.yaml: mappings: [{ id: forge-opened, message: mine }] ⇒ { mappings: [{ id: forge-opened, value: { message: mine } }, { id: forge-pushed }], tests: [{ value: { name: routed } }, { value: { name: pushed } }] }
presets: [forge]⏎  mappings: [{ id: forge-opened, enabled: false, message: x }] ⇒ { mappings: [{ id: forge-pushed }], disabled: [{ id: forge-opened }] }

# a policy of the configuration takes precedence over a file's, and that over a preset's, key by key
presets: [forge, shop]⏎  endpoints: { shop: { maxBodyBytes: 1 } } || mappings/a.yaml: endpoints: { shop: { maxBodyBytes: 2 }, forge: { maxBodyBytes: 3 } } ⇒ { endpoints: { forge: { maxBodyBytes: 3 }, shop: { maxBodyBytes: 1 } } }
`,
  written,
)

test('without built-in presets, naming one is an error that says so', async (context) => {
  const folder = await createSampleFolder(context, { 'reveille.yaml': 'hooks: { presets: [shop] }\n' })
  const file = folder.at('reveille.yaml')
  for (const [presets, says] of [
    [undefined, /none are shipped/],
    [folder.at('gone'), /does not exist/],
  ] as const) {
    const loaded = await loadConfiguration({ file, env: {}, ...(presets && { presets }) })
    assert.match((!loaded.ok && loaded.diagnostics[0]?.message) || '', says)
  }
})

for (const use of ['forge', '{ name: forge, model: a/b }', '{ name: forge, deliverTo: [{ channel: b }] }'])
  test(`a preset used as ${use} whose mapping and test are broken is reported, and nothing throws`, async (context) => {
    const broken = 'mappings:\n  - { action: fly, message: x }\n  - 5\ntests:\n  - { name: x }\n  - 5\n'
    const { loaded } = await load(context, `presets: [${use}]`, { 'shipped/forge.yaml': broken })
    assert.ok(!loaded.ok)
    const lines = loaded.diagnostics.filter(({ place }) => place?.calledFile).map(({ place }) => place?.line)
    assert.deepEqual([...new Set(lines)], [2, 3, 5, 6])
  })

test('a field that an adjustment sets has its place in the list of presets', async (context) => {
  const hooks = 'presets: [{ name: forge, channel: "${ROUTE:-telegram}", path: team/forge }]'
  const [opened] = (await loadGood(context, hooks)).mappings
  const place = opened?.locate(['channel'])
  assert.deepEqual([place?.file.endsWith('/reveille.yaml'), place?.line, place?.column], [true, 2, 37])
  assert.match(opened?.locate(['match', 'path']).file ?? '', /reveille\.yaml$/)
  const own = opened?.locate(['message'])
  assert.match(own?.file ?? '', /forge\.yaml$/)
  assert.equal(own?.calledFile, 'preset forge')
})
