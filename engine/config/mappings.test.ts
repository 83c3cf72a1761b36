import assert from 'node:assert/strict'
import test from 'node:test'
import { load, loadBad, loadGood, plain, testLoads } from './load-fixture.ts'

test('every key of a mapping is in its entry as written', async (context) => {
  const { mappings } = await loadGood(context, {
    'mappings/a.yaml': `mappings:
  - {
      message: x,
      description: "for people",
      match: {
        path: "orders/:shop/:id", source: s, when: "{% a = 1 %}",
        headers: { X-One: a, x-two: [b, c], X-Three: { exists: true, pattern: "^v" } },
        body: { action: opened, "pull_request": { draft: false, labels: [bug, { prefix: "area/" }], gone: null } },
      },
      schema: { type: object, required: [action], properties: { action: { const: null } } },
      forEach: "{% items %}", vars: { first: "items[0]", _2: "{% 1 %}" },
      strict: true, continue: true,
      deliverTo: [{ channel: slack, to: C1 }, { channel: last }],
    }
`,
  })
  assert.deepEqual(plain(mappings[0]?.value), {
    action: 'agent',
    message: 'x',
    description: 'for people',
    match: {
      path: 'orders/:shop/:id',
      source: 's',
      when: '{% a = 1 %}',
      headers: { 'x-one': 'a', 'x-two': ['b', 'c'], 'x-three': { exists: true, pattern: '^v' } },
      body: {
        action: 'opened',
        pull_request: { draft: false, labels: ['bug', { prefix: 'area/' }], gone: null },
      },
    },
    schema: { type: 'object', required: ['action'], properties: { action: { const: null } } },
    forEach: '{% items %}',
    vars: { first: 'items[0]', _2: '{% 1 %}' },
    strict: true,
    continue: true,
    deliverTo: [{ channel: 'slack', to: 'C1' }, { channel: 'last' }],
  })
})

testLoads(`
# references in a mapping are plain text in every key
{} || mappings/a.yaml: mappings: [{ message: "\${A}", vars: { a: "\${A}" }, forEach: "\${A}", match: { body: { a: "\${A}" } }, schema: { const: "\${A}" } }] ⇒ { mappings: [{ value: { message: '\${A}', vars: { a: '\${A}' }, forEach: '\${A}', match: { body: { a: '\${A}' } }, schema: { const: '\${A}' } } }] }

# an entry has its place in matching order, among enabled and disabled mappings
hooks: { mappings: [{ id: a, enabled: false, message: x }, { id: b, message: x }] } || mappings/a.yaml: mappings: [{ id: c, enabled: false, message: x }, { id: d, message: x }] || mappings/b.yaml: mappings: [{ id: e, message: x }, { id: f, enabled: false, message: x }] ⇒ { mappings: [{ id: b, order: 1 }, { id: d, order: 3 }, { id: e, order: 4 }], disabled: [{ id: a, order: 0 }, { id: c, order: 2 }, { id: f, order: 5 }] }
`)

test('a schema may be in a file beside the one that names it, as JSON or YAML', async (context) => {
  const files = {
    'mappings/a.yaml': 'mappings: [{ message: x, schema: ../schemas/a.json }]\n',
    'mappings/b/b.yaml': 'mappings: [{ message: x, schema: ../../schemas/b.yaml }]\n',
    'schemas/a.json': '{"type": "object"}',
    'schemas/b.yaml': 'type: object\nproperties:\n  a: { type: text }\n',
  }
  const { folder, loaded } = await load(context, files)
  assert.ok(loaded.ok)
  const { mappings, watched, digest } = loaded.configuration
  assert.deepEqual(
    mappings.map(({ value }) => plain(value.schema)),
    [{ type: 'object' }, { type: 'object', properties: { a: { type: 'text' } } }],
  )
  const place = mappings[1]?.locate(['schema', 'properties', 'a', 'type'])
  assert.deepEqual([place?.file, place?.line, place?.column], [folder.at('schemas/b.yaml'), 3, 14])
  assert.ok(watched.includes(folder.at('schemas/a.json')))
  const changed = await loadGood(context, { ...files, 'schemas/a.json': '{"type": "array"}' })
  assert.notEqual(changed.digest, digest)
})

test('an invalid schema file is an error with its place', async (context) => {
  const entry = { 'mappings/a.yaml': 'mappings:\n  - message: x\n    schema: ../a.yaml\n' }
  const { folder, loaded } = await load(context, entry)
  assert.ok(!loaded.ok)
  const [missing] = loaded.diagnostics
  assert.deepEqual([missing?.code, missing?.place?.line, missing?.place?.column], ['FILE_NOT_FOUND', 3, 13])
  assert.ok(loaded.watched.includes(folder.at('a.yaml')), 'it is watched, so that its coming is noticed')
  const [list] = await loadBad(context, { ...entry, 'a.yaml': '\n- type: object\n' })
  assert.deepEqual(
    [list?.code, list?.place?.file.endsWith('/a.yaml'), list?.place?.line],
    ['INVALID_VALUE', true, 2],
  )
  const [syntax, ...more] = await loadBad(context, { ...entry, 'a.yaml': 'type: [\n' })
  assert.deepEqual([syntax?.code, syntax?.place?.file.endsWith('/a.yaml'), more], ['YAML_SYNTAX', true, []])
  const item = '  - { message: x, schema: ../a.yaml }\n'
  const twice = { 'mappings/a.yaml': `mappings:\n${item}${item}` }
  for (const text of ['- type: object\n', 'type: [\n'])
    assert.equal((await loadBad(context, { ...twice, 'a.yaml': text })).length, 1, 'it is reported once')
})
