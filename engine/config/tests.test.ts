import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { loadConfiguration } from './load.ts'
import { createSampleFolder } from './sample-folder.ts'

type Files = Readonly<Record<string, string>>

async function load(context: TestContext, files: Files) {
  const folder = await createSampleFolder(context, { 'reveille.yaml': 'hooks: {}\n', ...files })
  return { folder, loaded: await loadConfiguration({ file: folder.at('reveille.yaml'), env: {} }) }
}

async function testsOf(context: TestContext, tests: string, files: Files = {}) {
  const { loaded } = await load(context, { ...files, 'mappings/a.yaml': `tests:\n${tests}` })
  if (!loaded.ok) assert.fail(JSON.stringify(loaded.diagnostics, null, 2))
  return loaded.configuration.tests
}

function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value))
}

test('a test is in the configuration as written, with its place and a name', async (context) => {
  const [named, unnamed] = await testsOf(
    context,
    `  - name: an opened pull request is reviewed
    request:
      endpoint: github
      headers: { X-GitHub-Event: pull_request }
      query: { a: b }
      body: { action: opened, user: null, text: "\${NOT_RESOLVED}" }
    now: 2026-01-01T00:00:00Z
    expect:
      mapping: pr-opened
      action: agent
      message: { contains: ["#42", title], not: { prefix: x } }
      deliver: false
      timeoutSeconds: 60
      deliverTo: [{ channel: slack, to: { prefix: C } }]
  - request: { endpoint: github }
    expect: { outcome: ignored }
`,
  )
  assert.deepEqual(plain(named?.value), {
    name: 'an opened pull request is reviewed',
    request: {
      endpoint: 'github',
      headers: { 'x-github-event': 'pull_request' },
      query: { a: 'b' },
      body: { action: 'opened', user: null, text: '${NOT_RESOLVED}' },
    },
    now: '2026-01-01T00:00:00Z',
    expect: {
      mapping: 'pr-opened',
      action: 'agent',
      message: { contains: ['#42', 'title'], not: { prefix: 'x' } },
      deliver: false,
      timeoutSeconds: 60,
      deliverTo: [{ channel: 'slack', to: { prefix: 'C' } }],
    },
  })
  const { line, column } = named?.locate(['expect', 'message', 'contains']) ?? {}
  assert.deepEqual([line, column], [12, 28])
  assert.equal(named?.label, 'mappings/a.yaml:2:5')
  assert.deepEqual({ ...named?.origin }, { kind: 'file', name: 'mappings/a.yaml' })
  assert.deepEqual(plain(unnamed?.value), {
    name: 'test 2',
    request: { endpoint: 'github' },
    expect: { outcome: 'ignored' },
  })
})

test('a body may be in a file, which is watched and included in the digest', async (context) => {
  const files = {
    'mappings/a.yaml':
      'tests: [{ request: { endpoint: a, bodyFile: ../bodies/a.txt }, expect: { status: 400 } }]\n',
    'bodies/a.txt': '{"id": 12345678901234567890',
  }
  const { folder, loaded } = await load(context, files)
  assert.ok(loaded.ok)
  const { tests, watched, digest } = loaded.configuration
  assert.equal(tests[0]?.value.request.bodyText, files['bodies/a.txt'])
  assert.ok(watched.includes(folder.at('bodies/a.txt')))
  const changed = await load(context, { ...files, 'bodies/a.txt': '{}' })
  assert.ok(changed.loaded.ok)
  assert.notEqual(changed.loaded.configuration.digest, digest)
})

test('a body with numbers that YAML cannot hold keeps their digits', async (context) => {
  const [one] = await testsOf(
    context,
    `  - request:
      endpoint: shop
      body: { id: 820982911946154508, same: [-820982911946154508, 1.5, 7], "__proto__": { a: "\\"" }, none: null }
    expect: { outcome: ignored }
`,
  )
  assert.equal(one?.value.request.body, undefined)
  assert.equal(
    one?.value.request.bodyText,
    '{"id":820982911946154508,"same":[-820982911946154508,1.5,7],"__proto__":{"a":"\\""},"none":null}',
  )
})

/** The place of each finding is marked with `§`. */
const broken: Readonly<Record<string, readonly [code: string, entry: string]>> = {
  'nothing expected': ['INVALID_VALUE', '{ request: { endpoint: a }, expect: §{} }'],
  'no request': ['MISSING_KEY', '§{ expect: { status: 200 } }'],
  'no endpoint': ['MISSING_KEY', '{ request: §{ body: {} }, expect: { status: 200 } }'],
  'a slash before its endpoint': ['INVALID_PATH', '{ request: { endpoint: §/a }, expect: { status: 200 } }'],
  'a body in two ways': [
    'DUPLICATE_FIELD',
    '{ request: { endpoint: a, body: 1, §bodyFile: ../reveille.yaml }, expect: { status: 200 } }',
  ],
  'a body that is missing': [
    'FILE_NOT_FOUND',
    '{ request: { endpoint: a, bodyFile: §gone.json }, expect: { status: 200 } }',
  ],
  'a header that is a number': [
    'INVALID_VALUE',
    '{ request: { endpoint: a, headers: { b: §1 } }, expect: { status: 200 } }',
  ],
  'a time without a zone': [
    'INVALID_VALUE',
    '{ request: { endpoint: a }, now: §"2026-01-01T00:00:00", expect: { status: 200 } }',
  ],
  'a day that does not exist': [
    'INVALID_VALUE',
    '{ request: { endpoint: a }, now: §"2026-02-30T00:00:00Z", expect: { status: 200 } }',
  ],
  'an unknown outcome': ['INVALID_VALUE', '{ request: { endpoint: a }, expect: { outcome: §ignord } }'],
  'a misspelt field': ['UNKNOWN_KEY', '{ request: { endpoint: a }, expect: { §mesage: x } }'],
  'an unknown test of a field': [
    'UNKNOWN_KEY',
    '{ request: { endpoint: a }, expect: { message: { §contain: x } } }',
  ],
  'a field without a test': ['INVALID_VALUE', '{ request: { endpoint: a }, expect: { message: §{} } }'],
  'a field that is a list': ['INVALID_VALUE', '{ request: { endpoint: a }, expect: { message: §[x] } }'],
  'a status that is none': ['INVALID_VALUE', '{ request: { endpoint: a }, expect: { status: §20 } }'],
  'a code in small letters': ['INVALID_VALUE', '{ request: { endpoint: a }, expect: { code: §bad } }'],
  'several actions and a field of one': [
    'DUPLICATE_FIELD',
    '{ request: { endpoint: a }, expect: { actions: [{ text: x }], §text: x } }',
  ],
}

for (const [what, [code, entry]] of Object.entries(broken)) {
  test(`a test with ${what} is refused with ${code} at its place`, async (context) => {
    const { loaded } = await load(context, { 'mappings/a.yaml': `tests:\n  - ${entry.replace('§', '')}\n` })
    assert.ok(!loaded.ok)
    const column = '  - '.length + entry.indexOf('§') + 1
    assert.deepEqual(
      loaded.diagnostics.map((each) => `${each.code} ${each.place?.line}:${each.place?.column}`),
      [`${code} 2:${column}`],
    )
  })
}

test('a misspelt field of an expectation is reported with the nearest name', async (context) => {
  const { loaded } = await load(context, {
    'mappings/a.yaml': 'tests: [{ request: { endpoint: a }, expect: { mesage: x } }]\n',
  })
  assert.ok(!loaded.ok)
  assert.equal(loaded.diagnostics[0]?.hint, 'Did you mean `message`?')
})

test('two tests of one file have different names, and two files may share one', async (context) => {
  const one = '{ name: same, request: { endpoint: a }, expect: { status: 200 } }'
  const twice = await load(context, { 'mappings/a.yaml': `tests: [${one}, ${one}]\n` })
  assert.ok(!twice.loaded.ok)
  assert.deepEqual(
    twice.loaded.diagnostics.map(({ code }) => code),
    ['DUPLICATE_NAME'],
  )
  const { loaded } = await load(context, {
    'mappings/a.yaml': `tests: [${one}]\n`,
    'mappings/b.yaml': `tests: [${one}]\n`,
  })
  assert.ok(loaded.ok)
  assert.deepEqual(
    loaded.configuration.tests.map(({ label }) => label),
    ['mappings/a.yaml:1:9', 'mappings/b.yaml:1:9'],
  )
})

test('a time may have another zone, or be a day alone', async (context) => {
  const times = [
    '2026-01-01T00:00Z',
    '2026-01-01T00:00:00.123+05:30',
    '2024-02-29',
    '2026-12-31T23:59:59-11:00',
  ]
  const tests = await testsOf(
    context,
    times.map((now) => `  - { request: { endpoint: a }, now: "${now}", expect: { status: 200 } }\n`).join(''),
  )
  assert.deepEqual(
    tests.map(({ value }) => value.now),
    times,
  )
})

test('a body that is JSON in quotes is an error, because it would be sent as a text', async (context) => {
  const codesFor = async (body: string) => {
    const { loaded } = await load(context, {
      'mappings/a.yaml': `tests: [{ request: { endpoint: a, body: ${body} }, expect: { outcome: ignored } }]\n`,
    })
    return loaded.ok ? [] : loaded.diagnostics.map(({ code }) => code)
  }
  assert.deepEqual(await codesFor(`'{"action": "opened"}'`), ['TEXT_BODY'])
  assert.deepEqual(await codesFor('a word'), [])
  assert.deepEqual(await codesFor('{ action: opened }'), [])
})
