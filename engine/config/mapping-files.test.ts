import assert from 'node:assert/strict'
import { symlink } from 'node:fs/promises'
import test, { type TestContext } from 'node:test'
import type { Configuration } from './configuration.ts'
import type { Diagnostic } from './file/diagnostic.ts'
import { loadConfiguration } from './load.ts'
import { createSampleFolder } from './sample-folder.ts'

type Files = Readonly<Record<string, string>>

async function load(context: TestContext, files: Files) {
  const folder = await createSampleFolder(context, { 'reveille.yaml': 'hooks: {}\n', ...files })
  return loadConfiguration({ file: folder.at('reveille.yaml'), env: {} })
}

async function loadGood(context: TestContext, files: Files): Promise<Configuration> {
  const loaded = await load(context, files)
  if (!loaded.ok) assert.fail(JSON.stringify(loaded.diagnostics, null, 2))
  return loaded.configuration
}

async function loadBad(context: TestContext, files: Files): Promise<Diagnostic[]> {
  const loaded = await load(context, files)
  assert.ok(!loaded.ok, 'this should not load')
  return [...loaded.diagnostics]
}

const one = 'mappings: [{ message: x }]\n'

test('entries come in matching order: the configuration, then files by relative path', async (context) => {
  const { mappings } = await loadGood(context, {
    'reveille.yaml': 'hooks: { mappings: [{ id: own, message: x }, { message: y }] }\n',
    'mappings/b.yml': one,
    'mappings/a/z.json': '{"mappings": [{"message": "x"}, {"message": "y"}]}',
    'mappings/B.yaml': one,
    'mappings/.hidden.yaml': 'no: good\n',
    'mappings/.git/x.yaml': 'no: good\n',
    'mappings/notes.md': 'no good',
  })
  assert.deepEqual(
    mappings.map(({ id, label }) => `${id} at ${label}`),
    [
      'own at reveille.yaml:1:21',
      'reveille.yaml#2 at reveille.yaml:1:46',
      'mappings/B.yaml#1 at mappings/B.yaml:1:12',
      'mappings/a/z.json#1 at mappings/a/z.json:1:15',
      'mappings/a/z.json#2 at mappings/a/z.json:1:33',
      'mappings/b.yml#1 at mappings/b.yml:1:12',
    ],
  )
})

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

test('a mapping file with a misspelt or misplaced key at its top is refused', async (context) => {
  for (const text of [
    'mapings:\n  - message: m\n',
    'Mappings: []\n',
    'test: []\n',
    'match: { path: a }\nmessage: m\n',
    'hooks: { mappings: [] }\n',
  ]) {
    const [diagnostic] = await loadBad(context, { 'mappings/a.yaml': text })
    assert.equal(diagnostic?.code, 'UNKNOWN_KEY', text)
  }
})

test('a file that is a list is refused, with where its entries belong', async (context) => {
  const [diagnostic] = await loadBad(context, { 'mappings/a.yaml': '- message: x\n' })
  assert.match(diagnostic?.hint ?? '', /mappings:/)
})

test('an id belongs to one mapping only, also if that is disabled', async (context) => {
  const [diagnostic, ...more] = await loadBad(context, {
    'mappings/a.yaml': 'mappings:\n  - id: x\n    enabled: false\n    message: m\n',
    'mappings/b.yaml': 'mappings:\n  - message: m\n    id: x\n',
  })
  assert.equal(more.length, 0)
  assert.equal(diagnostic?.code, 'DUPLICATE_ID')
  assert.match(diagnostic?.message ?? '', /mappings\/a\.yaml:2:5/)
  assert.deepEqual([diagnostic?.place?.line, diagnostic?.place?.column], [3, 9])
})

test('two files cannot define policies for one endpoint', async (context) => {
  const [diagnostic] = await loadBad(context, {
    'mappings/a.yaml': 'endpoints:\n  gh: { maxBodyBytes: 1 }\n',
    'mappings/b.yaml': 'endpoints: { gh: { maxBodyBytes: 2 } }\n',
  })
  assert.equal(diagnostic?.code, 'DUPLICATE_ENDPOINT')
  assert.match(diagnostic?.message ?? '', /mappings\/a\.yaml:2:3/)
  assert.match(diagnostic?.place?.file ?? '', /b\.yaml$/)
})

test('the configuration’s policy takes precedence over a file’s', async (context) => {
  const { endpoints } = await loadGood(context, {
    'reveille.yaml': 'hooks: { endpoints: { gh: { maxBodyBytes: 1 } } }\n',
    'mappings/a.yaml': 'endpoints: { gh: { maxBodyBytes: 2 }, other: }\n',
  })
  assert.deepEqual({ ...endpoints }, { gh: { maxBodyBytes: 1 }, other: {} })
})

test('a disabled mapping is checked and left out', async (context) => {
  const files = (message: string) => ({
    'mappings/a.yaml': `mappings: [{ enabled: false, message: ${message} }]\n`,
  })
  assert.deepEqual((await loadGood(context, files('x'))).mappings, [])
  assert.equal((await loadBad(context, files('1')))[0]?.code, 'INVALID_VALUE')
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

const broken: Readonly<Record<string, readonly [code: string, entry: string]>> = {
  'both names of one field': ['DUPLICATE_FIELD', '{ message: x, messageTemplate: y }'],
  'two modes that differ': ['DUPLICATE_FIELD', '{ message: x, mode: now, wakeMode: next-heartbeat }'],
  'an agent without a message': ['MISSING_KEY', '{ text: x }'],
  'a wake without a text': ['MISSING_KEY', '{ action: wake, message: x }'],
  'an unknown action': ['INVALID_VALUE', '{ action: wak, text: x }'],
  'a built-in endpoint': ['RESERVED_ENDPOINT', '{ message: x, match: { path: wake } }'],
  'a path of slashes': ['INVALID_PATH', '{ message: x, match: { path: "//" } }'],
  'a built-in endpoint behind a slash': ['RESERVED_ENDPOINT', '{ message: x, match: { path: /agent } }'],
  'a name with a query': ['INVALID_PATH', '{ message: x, match: { path: "github?x" } }'],
  'a name that leads up': ['INVALID_PATH', '{ message: x, match: { path: "a/../b" } }'],
  'a number as a recipient': ['INVALID_VALUE', '{ message: x, to: 12345678901234567890 }'],
  'a header that is a number': ['INVALID_VALUE', '{ message: x, match: { headers: { a: 1 } } }'],
  'no time at all': ['INVALID_VALUE', '{ message: x, timeoutSeconds: 0 }'],
  nothing: ['INVALID_VALUE', ''],
  'a text': ['INVALID_VALUE', 'hello'],
  'an id of two lines': ['INVALID_VALUE', '{ message: x, id: "a\\nb" }'],
}

for (const [what, [code, entry]] of Object.entries(broken)) {
  test(`a mapping with ${what} is refused with ${code}`, async (context) => {
    const diagnostics = await loadBad(context, { 'mappings/a.yaml': `mappings:\n  - ${entry}\n` })
    const [error, ...more] = diagnostics.filter(({ severity }) => severity === 'error')
    assert.equal(error?.code, code)
    assert.deepEqual(more, [])
  })
}

test('headers that differ only in case count as one header that is named twice', async (context) => {
  const entry = '{ message: x, match: { headers: { X-A: "1", x-a: "2" } } }'
  assert.equal(
    (await loadBad(context, { 'mappings/a.yaml': `mappings:\n  - ${entry}\n` }))[0]?.code,
    'DUPLICATE_FIELD',
  )
})

test('a template that YAML cut off at a # is a warning', async (context) => {
  const { warnings } = await loadGood(context, {
    'mappings/a.yaml': 'mappings:\n  - message: Review #{{number}}\n',
  })
  assert.deepEqual(
    warnings.map(({ code, place }) => `${code} ${place?.line}:${place?.column}`),
    ['TEMPLATE_IN_COMMENT 2:20'],
  )
})

test('a field without effect is a warning', async (context) => {
  const { warnings } = await loadGood(context, {
    'mappings/a.yaml': 'mappings:\n  - { action: wake, text: x, to: y }\n',
  })
  assert.deepEqual(
    warnings.map(({ code }) => code),
    ['UNUSED_FIELD'],
  )
})

test('a thousand mappings keep their order and their places', async (context) => {
  const entries = Array.from({ length: 1000 }, (_, index) => `  - id: m${index}\n    message: "x {{a}}"\n`)
  const { mappings } = await loadGood(context, { 'mappings/a.yaml': `mappings:\n${entries.join('')}` })
  assert.equal(mappings.length, 1000)
  assert.equal(mappings[999]?.label, 'mappings/a.yaml:2000:5')
})

test('a file that is the schema or the body of another is not a mapping file', async (context) => {
  const files = {
    'mappings/a.yaml': `mappings: [{ message: x, schema: a/schema.json }]
tests: [{ request: { endpoint: a, bodyFile: a/body.json }, expect: { status: 400 } }]
`,
    'mappings/a/schema.json': '{"type": "object"}',
    'mappings/a/body.json': '{"broken": ',
  }
  const { mappings, tests } = await loadGood(context, files)
  assert.equal(mappings.length, 1)
  assert.equal(tests[0]?.value.request.bodyText, '{"broken": ')
})

test('a file of mappings that is named as a schema by mistake still counts as a mapping file', async (context) => {
  const { mappings } = await loadGood(context, {
    'mappings/a.yaml': 'mappings: [{ message: x, schema: b.yaml }]\n',
    'mappings/b.yaml': one,
  })
  assert.equal(mappings.length, 2)
})
