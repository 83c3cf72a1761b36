import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { load, loadBad, loadGood, plain, testLoads } from './load-fixture.ts'

async function testsOf(context: TestContext, tests: string) {
  return (await loadGood(context, { 'mappings/a.yaml': `tests:\n${tests}` })).tests
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

testLoads(
  `
# a body with numbers that YAML cannot hold keeps their digits
- { request: { endpoint: shop, body: { id: 820982911946154508, same: [-820982911946154508, 1.5, 7], "__proto__": { a: "\\"" }, none: null } }, expect: { outcome: ignored } } ⇒ { tests: [{ value: { request: { body: null, bodyText: '{"id":820982911946154508,"same":[-820982911946154508,1.5,7],"__proto__":{"a":"\\""},"none":null}' } } }] }

# a time may have another zone, or be a day alone
- { request: { endpoint: a }, now: 2026-01-01T00:00Z, expect: { status: 200 } } ⇒ { tests: [{ value: { now: '2026-01-01T00:00Z' } }] }
- { request: { endpoint: a }, now: "2026-01-01T00:00:00.123+05:30", expect: { status: 200 } } ⇒ { tests: [{ value: { now: '2026-01-01T00:00:00.123+05:30' } }] }
- { request: { endpoint: a }, now: 2024-02-29, expect: { status: 200 } } ⇒ { tests: [{ value: { now: '2024-02-29' } }] }
- { request: { endpoint: a }, now: "2026-12-31T23:59:59-11:00", expect: { status: 200 } } ⇒ { tests: [{ value: { now: '2026-12-31T23:59:59-11:00' } }] }
`,
  (text) => ({ 'mappings/a.yaml': `tests:\n  ${text}\n` }),
)

test('two tests of one file have different names, and two files may share one', async (context) => {
  const one = '{ name: same, request: { endpoint: a }, expect: { status: 200 } }'
  const [twice, ...others] = await loadBad(context, { 'mappings/a.yaml': `tests: [${one}, ${one}]\n` })
  assert.deepEqual([twice?.code, others], ['DUPLICATE_NAME', []])
  const file = `tests: [${one}]\n`
  const { tests } = await loadGood(context, { 'mappings/a.yaml': file, 'mappings/b.yaml': file })
  const labels = tests.map(({ label }) => label)
  assert.deepEqual(labels, ['mappings/a.yaml:1:9', 'mappings/b.yaml:1:9'])
})
