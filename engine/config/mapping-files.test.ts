import assert from 'node:assert/strict'
import { symlink } from 'node:fs/promises'
import test from 'node:test'
import { createSampleFolder } from './folder-fixture.ts'
import { loadConfiguration } from './load.ts'
import { loadBad, loadGood, testLoads } from './load-fixture.ts'

const one = 'mappings: [{ message: x }]'

testLoads(`
# entries come in matching order: the configuration, then files by relative path
hooks: { mappings: [{ id: own, message: x }, { message: y }] } || mappings/b.yml: ${one} || mappings/a/z.json: {"mappings": [{"message": "x"}, {"message": "y"}]} || mappings/B.yaml: ${one} || mappings/.hidden.yaml: no: good || mappings/.git/x.yaml: no: good || mappings/notes.md: no good ⇒ { mappings: [{ id: own, label: 'reveille.yaml:1:21' }, { id: 'reveille.yaml#2', label: 'reveille.yaml:1:46' }, { id: 'mappings/B.yaml#1', label: 'mappings/B.yaml:1:12' }, { id: 'mappings/a/z.json#1', label: 'mappings/a/z.json:1:15' }, { id: 'mappings/a/z.json#2', label: 'mappings/a/z.json:1:33' }, { id: 'mappings/b.yml#1', label: 'mappings/b.yml:1:12' }] }

# a file that is the schema or the body of another is no mapping file, and one of mappings that is named so by mistake is
{} || mappings/a.yaml: {mappings: [{ message: x, schema: a/schema.json }], tests: [{ request: { endpoint: a, bodyFile: a/body.json }, expect: { status: 400 } }]} || mappings/a/schema.json: {"type": "object"} || mappings/a/body.json: {"broken": ⇒ { warnings: [], mappings: [{ value: { schema: { type: object } } }], tests: [{ value: { request: { bodyText: '/^{"broken":/' } } }] }
{} || mappings/a.yaml: mappings: [{ message: x, schema: b.yaml }] || mappings/b.yaml: ${one} ⇒ { mappings: [{}, {}] }
`)

test('links to files and folders are followed, and circular ones are refused', async (context) => {
  const folder = await createSampleFolder(context, {
    'reveille.yaml': 'hooks: {}\n',
    'elsewhere/a.yaml': one,
    'mappings/real.yaml': '# none yet\n',
  })
  await symlink(folder.at('elsewhere'), folder.at('mappings/linked'))
  await symlink(folder.at('elsewhere/a.yaml'), folder.at('mappings/file.yaml'))
  const load = () => loadConfiguration({ file: folder.at('reveille.yaml'), env: {} })
  const loaded = await load()
  assert.ok(loaded.ok)
  assert.deepEqual(
    loaded.configuration.mappings.map(({ id }) => id),
    ['mappings/file.yaml#1', 'mappings/linked/a.yaml#1'],
  )
  await symlink(folder.at('mappings'), folder.at('elsewhere/circle'))
  const circular = await load()
  assert.ok(!circular.ok)
  assert.equal(circular.diagnostics[0]?.code, 'FILE_UNREADABLE')
})

test('the default folder may be missing, and a configured one may not', async (context) => {
  assert.deepEqual((await loadGood(context, {})).mappings, [])
  const [diagnostic] = await loadBad(context, { 'reveille.yaml': 'hooks:\n  mappingsDir: ./gone\n' })
  assert.equal(diagnostic?.code, 'FILE_NOT_FOUND')
  assert.equal(diagnostic?.place?.line, 2)
})

test('an empty mapping file is refused, and one with comments alone is not', async (context) => {
  const diagnostics = await loadBad(context, {
    'mappings/new.yaml': ' \n',
    'mappings/commented.yaml': '# later\n',
  })
  assert.deepEqual(
    diagnostics.map(({ code, severity, place }) => [code, severity, place?.file.endsWith('new.yaml')]),
    [['FILE_EMPTY', 'error', true]],
  )
  assert.match(diagnostics[0]?.hint ?? '', /Delete it, or write `endpoints:`/)
})

test('files below the mapping files that nothing names are ignored with a warning, and those of packages silently', async (context) => {
  const schema = '{ "type": "object", "properties": { "text": { "type": "string" } } }'
  const { warnings, mappings } = await loadGood(context, {
    'mappings/a.yaml': 'mappings:\n  - message: m\n',
    'mappings/schemas/old.json': schema,
    'mappings/schemas/old.yaml': 'type: object\n',
    'mappings/bodies/push.json': '{ "action": "opened", "text": "hello" }',
    'mappings/bodies/list.json': '[{ "id": 1 }]',
    'mappings/package.json': '{ "name": "x", "dependencies": {} }',
    'mappings/node_modules/left/package.json': '{ "main": 5 }',
    'mappings/node_modules/left/mappings.yaml': 'mapings: broken',
  })
  assert.equal(mappings.length, 1)
  assert.deepEqual(
    warnings.map(({ code, place }) => [code, place?.file.replace(/.*mappings\//, '')]),
    ['bodies/list.json', 'bodies/push.json', 'schemas/old.json', 'schemas/old.yaml'].map((file) => [
      'NOT_A_MAPPING_FILE',
      file,
    ]),
  )
})

test('alternative names of a field are merged, and keep their places', async (context) => {
  const { mappings } = await loadGood(context, {
    'mappings/a.yaml': `mappings:
  - action: wake
    textTemplate: "a {{b}}"
    wakeMode: now
    match: { path: /, headers: { X-Kind: [a, b] } }
  - messageTemplate: |
      first
      second {{b}}
    mode: next-heartbeat
`,
  })
  const [wake, agent] = mappings
  assert.ok(wake && agent)
  assert.deepEqual(JSON.parse(JSON.stringify(wake.value)), {
    action: 'wake',
    text: 'a {{b}}',
    mode: 'now',
    match: { headers: { 'x-kind': ['a', 'b'] } },
  })
  assert.deepEqual(
    { ...agent.value },
    { action: 'agent', message: 'first\nsecond {{b}}\n', wakeMode: 'next-heartbeat' },
  )
  const at = (entry: typeof wake, ...path: (string | number)[]) => {
    const { line, column } = entry.locate(path)
    return `${line}:${column}`
  }
  assert.deepEqual(
    [
      at(wake),
      at(wake, 'text'),
      at(wake, 'mode'),
      at(wake, 'match', 'headers', 'x-kind', 1),
      at(agent, 'message'),
    ],
    ['2:5', '3:19', '4:15', '5:46', '6:22'],
  )
  const { line, column, text } = agent.locate(['message'], 'first\nsecond '.length)
  assert.equal(`${line}:${column}`, '8:14')
  assert.equal(text.slice(column - 1), '{{b}}')
})
