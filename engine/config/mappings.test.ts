import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { load, loadBad, loadGood, plain } from './load-fixture.ts'

async function mappingOf(context: TestContext, entry: string) {
  const [mapping] = (await loadGood(context, { 'mappings/a.yaml': `mappings:\n  - ${entry}\n` })).mappings
  assert.ok(mapping)
  return mapping
}

test('every key of a mapping is in its entry as written', async (context) => {
  const { value } = await mappingOf(
    context,
    `{
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
    }`,
  )
  assert.deepEqual(plain(value), {
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

test('references in a mapping are plain text in every key', async (context) => {
  const { value } = await mappingOf(
    context,
    '{ message: "${A}", vars: { a: "${A}" }, forEach: "${A}", match: { body: { a: "${A}" } }, schema: { const: "${A}" } }',
  )
  assert.equal(JSON.stringify(value).match(/\$\{A\}/g)?.length, 5)
})

test('an entry has its place in matching order, among enabled and disabled mappings', async (context) => {
  const on = (id: string) => `{ id: ${id}, message: x }`
  const off = (id: string) => `{ id: ${id}, enabled: false, message: x }`
  const { mappings, disabled } = await loadGood(context, {
    'reveille.yaml': `hooks: { mappings: [${[off('first'), on('a'), off('second')].join(', ')}] }\n`,
    'mappings/a.yaml': `mappings: [${[off('third'), on('b'), off('fourth'), on('c'), off('fifth')].join(', ')}]\n`,
    'mappings/b.yaml': `mappings: [${off('sixth')}]\n`,
    'mappings/c.yaml': `mappings: [${[on('d'), off('seventh')].join(', ')}]\n`,
  })
  assert.deepEqual(
    [...mappings, ...disabled].sort((one, other) => one.order - other.order).map(({ id }) => id),
    ['first', 'a', 'second', 'third', 'b', 'fourth', 'c', 'fifth', 'sixth', 'd', 'seventh'],
  )
})

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
