import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import type { Configuration } from './configuration.ts'
import type { Diagnostic } from './file/diagnostic.ts'
import { loadConfiguration } from './load.ts'
import { createSampleFolder } from './sample-folder.ts'

type Files = Readonly<Record<string, string>>

async function load(context: TestContext, files: Files) {
  const folder = await createSampleFolder(context, { 'reveille.yaml': 'hooks: {}\n', ...files })
  return { folder, loaded: await loadConfiguration({ file: folder.at('reveille.yaml'), env: {} }) }
}

async function loadGood(context: TestContext, files: Files): Promise<Configuration> {
  const { loaded } = await load(context, files)
  if (!loaded.ok) assert.fail(JSON.stringify(loaded.diagnostics, null, 2))
  return loaded.configuration
}

async function loadBad(context: TestContext, files: Files): Promise<Diagnostic[]> {
  const { loaded } = await load(context, files)
  assert.ok(!loaded.ok, 'this should not load')
  return [...loaded.diagnostics]
}

/** Returns a file with one mapping, from the text of its entry. */
function file(entry: string): Files {
  return { 'mappings/a.yaml': `mappings:\n  - ${entry}\n` }
}

async function mappingOf(context: TestContext, entry: string, files: Files = {}) {
  const [mapping] = (await loadGood(context, { ...files, ...file(entry) })).mappings
  assert.ok(mapping)
  return mapping
}

function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value))
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

/** The place of each finding is marked with `§`. */
const broken: Readonly<Record<string, readonly [code: string, entry: string]>> = {
  'a body that is a list': ['INVALID_VALUE', '{ message: x, match: { body: §[a] } }'],
  'a body without keys': ['INVALID_VALUE', '{ message: x, match: { body: §{} } }'],
  'a header without a test': ['INVALID_VALUE', '{ message: x, match: { headers: { a: §{} } } }'],
  'a header with an unknown test': [
    'UNKNOWN_KEY',
    '{ message: x, match: { headers: { a: { §exist: true } } } }',
  ],
  'a header with no text to equal': ['INVALID_VALUE', '{ message: x, match: { headers: { a: §[] } } }'],
  'a parameter without a name': ['INVALID_PATH', '{ message: x, match: { path: §"a/:" } }'],
  'a parameter with a hyphen': ['INVALID_PATH', '{ message: x, match: { path: §"a/:b-c" } }'],
  'one parameter twice': ['INVALID_PATH', '{ message: x, match: { path: §":a/b/:a" } }'],
  'a name of vars with a hyphen': ['INVALID_NAME', '{ message: x, vars: { §a-b: "1" } }'],
  'a blank forEach': ['INVALID_VALUE', '{ message: x, forEach: §" " }'],
  'a number as an expression': ['INVALID_VALUE', '{ message: x, vars: { a: §1 } }'],
  'no target': ['INVALID_VALUE', '{ message: x, deliverTo: §[] }'],
  'a target without a channel': ['MISSING_KEY', '{ message: x, deliverTo: [§{ to: a }] }'],
  'targets and a channel': [
    'DUPLICATE_FIELD',
    '{ message: x, deliverTo: [{ channel: slack }], §channel: slack }',
  ],
  'a schema that is a number': ['INVALID_VALUE', '{ message: x, schema: §1 }'],
  'a number that loses digits': [
    'INEXACT_NUMBER',
    '{ message: x, match: { body: { a: { b: [1, §12345678901234567890] } } } }',
  ],
}

for (const [what, [code, entry]] of Object.entries(broken)) {
  test(`a mapping with ${what} is refused with ${code} at its place`, async (context) => {
    const diagnostics = await loadBad(context, file(entry.replace('§', '')))
    const column = '  - '.length + entry.indexOf('§') + 1
    assert.deepEqual(
      diagnostics.map((each) => `${each.code} ${each.place?.line}:${each.place?.column}`),
      [`${code} 2:${column}`],
    )
  })
}

test('for a number that loses digits, the advice is to compare it as text', async (context) => {
  const [finding] = await loadBad(
    context,
    file('{ message: x, match: { body: { user: { id: 9007199254740993 } } } }'),
  )
  assert.match(finding?.hint ?? '', /when: user\.id = "9007199254740993"/)
  await loadGood(
    context,
    file('{ message: x, match: { body: { id: 9007199254740991, ratio: 1.5, far: 1e30 } } }'),
  )
})

test('an endpoint with parameters can have a policy', async (context) => {
  const { endpoints } = await loadGood(context, {
    'mappings/a.yaml': 'endpoints: { "orders/:id": { maxBodyBytes: 5 } }\n',
  })
  assert.deepEqual(plain(endpoints), { 'orders/:id': { maxBodyBytes: 5 } })
})

test('references in a mapping are plain text in every key', async (context) => {
  const { value } = await mappingOf(
    context,
    '{ message: "${A}", vars: { a: "${A}" }, forEach: "${A}", match: { body: { a: "${A}" } }, schema: { const: "${A}" } }',
  )
  assert.equal(JSON.stringify(value).match(/\$\{A\}/g)?.length, 5)
})

test('a disabled mapping is listed separately and in full', async (context) => {
  const { mappings, disabled } = await loadGood(context, {
    'mappings/a.yaml': 'mappings: [{ id: a, message: x }, { id: b, enabled: false, message: x }]\n',
  })
  assert.deepEqual([mappings.map(({ id }) => id), disabled.map(({ id }) => id)], [['a'], ['b']])
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

test('every entry has its origin', async (context) => {
  const { mappings } = await loadGood(context, {
    'reveille.yaml': 'hooks: { mappings: [{ message: x }] }\n',
    'mappings/deep/a.yaml': 'mappings: [{ message: x }]\n',
  })
  assert.deepEqual(
    mappings.map(({ origin }) => `${origin.kind} ${origin.name}`),
    ['configuration reveille.yaml', 'file mappings/deep/a.yaml'],
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

test('a valid path that is hardly intended is a warning with what to write', async (context) => {
  const warned = async (path: string) => {
    const { warnings } = await loadGood(context, file(`{ match: { path: "${path}" }, message: x }`))
    return warnings.map(({ code, hint }) => [code, hint])
  }
  assert.deepEqual(await warned('/hooks/github'), [
    ['ODD_PATH', 'Write `github`: `hooks.path` is no part of it.'],
  ])
  assert.match(String(await warned('github/*')), /ODD_PATH,Write `:name` for any one segment/)
  assert.match(String(await warned('my%20hook')), /ODD_PATH,Write the character itself/)
  for (const path of ['github', 'hooks', 'my hook', 'a/:id', '50%']) assert.deepEqual(await warned(path), [])
})

test('a whole address as a path is refused with the name to write', async (context) => {
  const [error] = await loadBad(
    context,
    file('{ match: { path: "https://example.com/hooks/github" }, message: x }'),
  )
  assert.match(error?.hint ?? '', /the name alone/)
})

test('a key one level too high is refused with where it belongs', async (context) => {
  const [error] = await loadBad(context, file('{ path: github, message: x }'))
  assert.deepEqual([error?.code, error?.hint], ['UNKNOWN_KEY', 'It belongs under `match`.'])
})

test('for a number out of range, the advice is not to write it as a text', async (context) => {
  const [error] = await loadBad(context, file('{ timeoutSeconds: 0, message: x }'))
  assert.deepEqual([error?.code, error?.hint], ['INVALID_VALUE', undefined])
})

test('a wake with a message is refused with the fields of a wake', async (context) => {
  const [error] = await loadBad(context, file('{ action: wake, message: x }'))
  assert.equal(error?.hint, 'With `message`, say `action: agent`.')
})
