import assert from 'node:assert/strict'
import { symlink } from 'node:fs/promises'
import test from 'node:test'
import { createSampleFolder } from './folder-fixture.ts'
import { loadConfiguration } from './load.ts'
import { loadGood, plain, testLoads } from './load-fixture.ts'

const one = 'mappings: [{ message: x }]'

testLoads(`
# entries come in matching order: the configuration, then files by relative path
hooks: { mappings: [{ id: own, message: x }, { message: y }] } || mappings/b.yml: ${one} || mappings/a/z.json: {"mappings": [{"message": "x"}, {"message": "y"}]} || mappings/B.yaml: ${one} || mappings/.hidden.yaml: no: good || mappings/.git/x.yaml: no: good || mappings/notes.md: no good ⇒ { mappings: [{ id: own, label: 'reveille.yaml:1:21' }, { id: 'reveille.yaml#2', label: 'reveille.yaml:1:46' }, { id: 'mappings/B.yaml#1', label: 'mappings/B.yaml:1:12' }, { id: 'mappings/a/z.json#1', label: 'mappings/a/z.json:1:15' }, { id: 'mappings/a/z.json#2', label: 'mappings/a/z.json:1:33' }, { id: 'mappings/b.yml#1', label: 'mappings/b.yml:1:12' }] }

# a file that is the schema or the body of another is no mapping file, and one of mappings that is named so by mistake is
{} || mappings/a.yaml: {mappings: [{ message: x, schema: a/schema.json }], tests: [{ request: { endpoint: a, bodyFile: a/body.json }, expect: { status: 400 } }]} || mappings/a/schema.json: {"type": "object"} || mappings/a/body.json: {"broken": ⇒ { warnings: [], mappings: [{ value: { schema: { type: object } } }], tests: [{ value: { request: { bodyText: '/^{"broken":/' } } }] }
{} || mappings/a.yaml: mappings: [{ message: x, schema: b.yaml }] || mappings/b.yaml: ${one} ⇒ { mappings: [{}, {}] }

# every key of a mapping is in its entry as written
{} || mappings/a.yaml: mappings: [{ message: x, description: "for people", match: { path: "orders/:shop/:id", source: s, when: "{% a = 1 %}", headers: { X-One: a, x-two: [b, c], X-Three: { exists: true, pattern: "^v" } }, body: { action: opened, "pull_request": { draft: false, labels: [bug, { prefix: "area/" }], gone: null } } }, schema: { type: object, required: [action], properties: { action: { const: null } } }, forEach: "{% items %}", vars: { first: "items[0]", _2: "{% 1 %}" }, strict: true, continue: true, deliverTo: [{ channel: slack, to: C1 }, { channel: last }] }] ⇒ { mappings: [{ value: { action: agent, message: x, description: for people, match: { path: 'orders/:shop/:id', source: s, when: '{% a = 1 %}', headers: { x-one: a, x-two: [b, c], x-three: { exists: true, pattern: ^v } }, body: { action: opened, pull_request: { draft: false, labels: [bug, { prefix: area/ }], gone: null } } }, schema: { type: object, required: [action], properties: { action: { const: null } } }, forEach: '{% items %}', vars: { first: 'items[0]', _2: '{% 1 %}' }, strict: true, continue: true, deliverTo: [{ channel: slack, to: C1 }, { channel: last }] } }] }

# references in a mapping are plain text in every key
{} || mappings/a.yaml: mappings: [{ message: "\${A}", vars: { a: "\${A}" }, forEach: "\${A}", match: { body: { a: "\${A}" } }, schema: { const: "\${A}" } }] ⇒ { mappings: [{ value: { message: '\${A}', vars: { a: '\${A}' }, forEach: '\${A}', match: { body: { a: '\${A}' } }, schema: { const: '\${A}' } } }] }

# an entry has its place in matching order, among enabled and disabled mappings
hooks: { mappings: [{ id: a, enabled: false, message: x }, { id: b, message: x }] } || mappings/a.yaml: mappings: [{ id: c, enabled: false, message: x }, { id: d, message: x }] || mappings/b.yaml: mappings: [{ id: e, message: x }, { id: f, enabled: false, message: x }] ⇒ { mappings: [{ id: b, order: 1 }, { id: d, order: 3 }, { id: e, order: 4 }], disabled: [{ id: a, order: 0 }, { id: c, order: 2 }, { id: f, order: 5 }] }
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
  const ids = loaded.configuration.mappings.map(({ id }) => id)
  assert.deepEqual(ids, ['mappings/file.yaml#1', 'mappings/linked/a.yaml#1'])
  await symlink(folder.at('mappings'), folder.at('elsewhere/circle'))
  const circular = await load()
  assert.ok(!circular.ok)
  assert.equal(circular.diagnostics[0]?.code, 'FILE_UNREADABLE')
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
  assert.deepEqual(plain(wake.value), {
    ...{ action: 'wake', text: 'a {{b}}', mode: 'now' },
    match: { headers: { 'x-kind': ['a', 'b'] } },
  })
  const message = 'first\nsecond {{b}}\n'
  assert.deepEqual(plain(agent.value), { action: 'agent', message, wakeMode: 'next-heartbeat' })
  for (const [entry, path, place, offset] of [
    [wake, [], '2:5'],
    [wake, ['text'], '3:19'],
    [wake, ['mode'], '4:15'],
    [wake, ['match', 'headers', 'x-kind', 1], '5:46'],
    [agent, ['message'], '6:22'],
    [agent, ['message'], '8:14', message.indexOf('{{b}}')],
  ] as const) {
    const { line, column } = entry.locate(path, offset)
    assert.equal(`${line}:${column}`, place)
  }
})

test('a schema may be in a file beside the one that names it, as JSON or YAML', async (context) => {
  const { mappings, folder } = await loadGood(context, {
    'mappings/a.yaml': 'mappings: [{ message: x, schema: ../schemas/a.json }]\n',
    'mappings/b/b.yaml': 'mappings: [{ message: x, schema: ../../schemas/b.yaml }]\n',
    'schemas/a.json': '{"type": "object"}',
    'schemas/b.yaml': 'type: object\nproperties:\n  a: { type: text }\n',
  })
  const schemas = mappings.map(({ value }) => plain(value.schema))
  assert.deepEqual(schemas, [{ type: 'object' }, { type: 'object', properties: { a: { type: 'text' } } }])
  const { file, line, column } = mappings[1]?.locate(['schema', 'properties', 'a', 'type']) ?? {}
  assert.deepEqual([file, line, column], [folder.at('schemas/b.yaml'), 3, 14])
})
