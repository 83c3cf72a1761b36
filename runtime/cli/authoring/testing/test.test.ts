import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createCommandLine, testTranscript } from '../../io-fixture.ts'

const mapping = `mappings:
  - id: opened
    match:
      path: github
      headers: { x-github-event: pull_request }
      when: action = "opened"
    message: |-
      Review #{{number}}
      by {{login}}
    name: GitHub
`
const request = `
    request:
      endpoint: github
      headers: { X-GitHub-Event: pull_request }
      body: { action: opened, number: 42, login: ada }`
const good = `${mapping}tests:
  - name: an opened pull request is reviewed${request}
    expect: { mapping: opened, message: { contains: "#42" }, name: GitHub }
  - name: another action is ignored
    request: { endpoint: github, body: { action: closed } }
    expect: { outcome: ignored, status: 200 }
`
const files = { 'reveille.yaml': 'hooks: { mappingsDir: mappings }\n', 'mappings/github.yaml': good }

const gitlab = good.replace('name: GitHub }', 'name: GitLab }')
const tested = (mappings: string) => ({ ...files, 'mappings/github.yaml': mappings })

testTranscript(
  files,
  `
# each file and each test has a line, and the last line has the numbers
$ test
mappings/github.yaml
  ✓ an opened pull request is reviewed
  ✓ another action is ignored

2 passed (… s)

# files, folders and parts of names select tests; a pattern that matches none is bad usage
$ test mappings/github.yaml
2 passed (…
$ test mappings
2 passed (…
$ test github
2 passed (…
$ test IGNORED
1 passed (…
2 $ test reveille.yaml
! No test matches "reveille.yaml".
2 $ test gitlab
! No test matches "gitlab".

# errors of a configuration that does not load are printed as by check, and no test is run
+ mappings/github.yaml: mappings: [{ idd: opened, match: { path: github }, message: x }]
1 $ test
! mappings/github.yaml:1:…: error: …idd…
! No test was run: 1 error in reveille.yaml.

# --json lists the errors of the configuration
+ reveille.yaml: hoks: {}
1 $ test --json
  "ok": false,
        "line": 1,

# without tests the command says how one is written, which is no failure
+ mappings/github.yaml: mappings: [{ match: { path: github }, message: x }]
$ test
There are no tests in reveille.yaml.
…tests:

# the tests of every built-in preset pass
$ test --presets all
preset github
  ✓ …
preset stripe
  ✓ …

# presets are named one by one
$ test --preset stripe --json
  "ok": true,
  "source": "the preset stripe",
…stripe.yaml",

# a misspelt preset is bad usage, and so is one beside a configuration
2 $ test --preset strype
! There is no preset strype. Did you mean stripe?…
2 $ test --preset stripe --config reveille.yaml
! …
`,
)

testTranscript(
  tested(gitlab),
  `
# a failure has its place, both values with the first difference marked, and exit code 1
1 $ test
  ✗ an opened pull request is reviewed
      mappings/github.yaml:17:68  name
      expected  "GitLab"
      actual    "GitHub"
                    ^

  ✓ another action is ignored
1 passed, 1 failed (…
`,
)

test('texts of several lines are compared line by line', async (t) => {
  const expect = '{ message: "Review #42\\nby bob" }'
  const test = `tests:\n  - name: reviewed${request}\n    expect: ${expect}\n`
  const { run } = await createCommandLine(t, tested(`${mapping}${test}`))
  const { out } = await run('test')
  const lines = ['- expected  + actual', '  Review #42', '- by bob', '+ by ada']
  assert.ok(out.includes(lines.map((line) => `      ${line}\n`).join('')), out)
})

test('--json lists every test with the expected value, the actual one and the place', async (t) => {
  const { run } = await createCommandLine(t, tested(gitlab))
  const { code, out } = await run('test', '--json')
  const { ok, passed, failed, tests } = JSON.parse(out)
  assert.deepEqual([code, ok, passed, failed], [1, false, 1, 1])
  const [first, second] = tests
  assert.equal(first.name, 'an opened pull request is reviewed')
  assert.equal(first.observed.outcome, 'accepted')
  assert.deepEqual(first.mismatches, [
    {
      path: 'expect.name',
      expected: '"GitLab"',
      actual: '"GitHub"',
      place: 'mappings/github.yaml:17:68',
    },
  ])
  assert.deepEqual([second.passed, second.line], [true, 18])
})

test('colours are for a terminal, unless NO_COLOR is set', async (t) => {
  const { runIn } = await createCommandLine(t, files)
  for (const [columns, env, expected] of [
    [80, {}, true],
    [80, { NO_COLOR: '1' }, false],
    [undefined, {}, false],
  ] as const)
    assert.equal((await runIn({ columns, env }, 'test')).out.includes('\x1b['), expected)
})

test('a payload in a test result cannot control the terminal', async (t) => {
  const body = '{ action: opened, number: "\\x1b[31m", login: "a\\u202eb" }'
  const expect = '{ message: x }'
  const hostile = `${mapping}tests:\n  - name: "odd \\x1b[2J"${request.replace(/\{ action.*/, body)}\n    expect: ${expect}\n`
  const { run } = await createCommandLine(t, tested(hostile))
  const { code, out } = await run('test')
  assert.equal(code, 1)
  assert.doesNotMatch(out.replaceAll('\n', ''), /[\p{Cc}\p{Cf}]/u)
})

testTranscript(
  tested(
    good.replace('x-github-event: pull_request }\n      when', 'x-github-event: [pull, push] }\n      when'),
  ),
  `
# a test whose request no mapping matches says which clause of which mapping failed, and on what
1 $ test
  ✗ an opened pull request is reviewed
      mappings/github.yaml:17:…  expect
      expected  accepted
      actual    ignored

      because    no mapping of endpoint "github" matched (1 tried)

      mapping "opened" did not match  mappings/github.yaml:2:5
        match.headers.x-github-event  expected  one of "pull", "push"
                                      found     "pull_request"
`,
)

test('--watch runs again when the content of a file changes, survives a broken file, and ends with the last result', async (t) => {
  const { start, write } = await createCommandLine(t, files)
  const watching = start('test', '--watch')
  await watching.until(/2 passed[\s\S]*Watching/)
  await write('mappings/github.yaml', gitlab)
  await watching.until(/── 1\d:00:00 ─+\n[\s\S]*1 passed, 1 failed/)
  await write('mappings/github.yaml', 'mappings: [')
  await watching.until(/No test was run/)
  await write('mappings/github.yaml', good)
  await watching.until(/No test was run[\s\S]*2 passed/)
  assert.equal((await watching.stop()).code, 0)

  await write('mappings/github.yaml', gitlab)
  const failing = start('test', '--watch')
  await failing.until(/Watching/)
  assert.equal((await failing.stop()).code, 1)
})

test("a preset's test whose request an own mapping takes is reported as such, and does not fail", async (t) => {
  const { run } = await createCommandLine(t, {
    'reveille.yaml': 'hooks: { presets: [stripe] }\n',
    'mappings/own.yaml': `mappings:
  - { id: stripe-paid, match: { path: stripe, body: { type: invoice.paid } }, action: wake, text: paid }
`,
  })
  const { code, out } = await run('test')
  assert.match(
    out,
    /^ {2}- an invoice over nothing is no payment: your mapping "stripe-paid" takes its request$/m,
  )
  assert.match(out, /^\d+ passed, 1 taken by your mappings \(/m)
  assert.equal(code, 0)
  const { ok, failed, taken } = JSON.parse((await run('test', '--json')).out)
  assert.deepEqual([ok, failed, taken], [true, 0, 1])
})

test('a test whose transform calls a service is named with the call', async (t) => {
  const { run } = await createCommandLine(t, {
    'reveille.yaml': 'hooks: { enabled: true, token: of-the-hooks-of-this-test }\n',
    'mappings/a.yaml': `mappings:
  - { id: a, match: { path: a }, message: hello, transform: { module: calls.js } }
tests:
  - { name: it calls, request: { endpoint: a, body: { url: "http://127.0.0.1:65534/" } }, expect: { mapping: a } }
  - { name: it does not, request: { endpoint: a, body: {} }, expect: { mapping: a } }
`,
    'transforms/calls.js':
      'export default async ({ payload: { url } }) => { if (url) await fetch(url).catch(() => {}) }\n',
  })
  const { code, out, err } = await run('test')
  assert.equal(code, 0, out + err)
  assert.match(
    out,
    /✓ it calls\n {6}calls\.js calls http:\/\/127\.0\.0\.1:65534, for real\n {2}✓ it does not\n/,
  )
})

test('tests beside transforms are run too, with the Node.js that there is and without any installation', async (t) => {
  const unit = `import assert from 'node:assert/strict'
import { test } from 'node:test'
import { exampleContext } from '@reveille/engine/transform'
import transform from './name.ts'

test('it has a name', () => { assert.deepEqual(transform(exampleContext({ payload: 'ada' })), { name: 'ada' }) })
`
  const { run, write } = await createCommandLine(t, {
    'reveille.yaml': 'hooks: { enabled: true, token: of-the-hooks-of-this-test }\n',
    'mappings/a.yaml': `mappings: [{ id: a, match: { path: a }, message: hello, transform: { module: name.ts } }]
tests: [{ name: it works, request: { endpoint: a, body: "ada" }, expect: { name: ada } }]
`,
    'transforms/name.ts': 'export default ({ payload }: { payload: string }) => ({ name: payload })\n',
    'transforms/name.test.ts': unit,
    'transforms/node_modules/other/other.test.js': 'throw new Error("a test of a package")',
  })
  const good = await run('test')
  assert.equal(good.code, 0, good.out + good.err)
  assert.match(good.out, /^1 passed.*\n\ntransforms\/name\.test\.ts\n.*it has a name/ms)
  assert.match(good.out, /^ℹ pass 1$/m)
  const one = await run('test', 'it works')
  assert.doesNotMatch(one.out, /it has a name/)
  const units = await run('test', 'transforms/name.test.ts', '--json')
  assert.deepEqual([JSON.parse(units.out).ok, JSON.parse(units.out).tests], [true, []])

  await write('transforms/name.test.ts', unit.replace("name: 'ada'", "name: 'eve'"))
  const bad = await run('test')
  assert.equal(bad.code, 1)
  assert.match(bad.out, /^ℹ fail 1$/m)
})

test('a module and its test have the same syntax and the same imports', async (t) => {
  const { run } = await createCommandLine(t, {
    'reveille.yaml': 'hooks: { enabled: true, token: of-the-hooks-of-this-test }\n',
    'mappings/a.yaml': `mappings: [{ id: a, match: { path: a }, message: hello, transform: { module: port.ts } }]
tests: [{ name: it works, request: { endpoint: a, body: { ship: Ada } }, expect: { name: "Pier 4 for Ada, 1" } }]
`,
    'transforms/tsconfig.json': `{ "compilerOptions": { "paths": { "~/*": ["./lib/*"] }, "experimentalDecorators": true } }`,
    'transforms/lib/ports.json': '{ "main": "Pier 4" }',
    'transforms/lib/words.txt': 'for',
    'transforms/lib/kind.ts': `
export enum Kind { Arrival, Departure }
const marked = (target: object) => target
@marked
export class Ship { constructor(readonly name: string, readonly kind = Kind.Departure) {} }`,
    'transforms/port.ts': `import ports from '~/ports.json'
import words from '~/words.txt'
import { Ship } from '~/kind'
export default ({ payload: { ship } }: { payload: { ship: string } }) =>
  ({ name: [ports.main, words, new Ship(ship).name + ', ' + new Ship(ship).kind].join(' ') })
`,
    'transforms/port.test.ts': `import assert from 'node:assert/strict'
import { test } from 'node:test'
import { exampleContext } from '@reveille/engine/transform'
import ports from './lib/ports.json'
import { Kind } from '~/kind'
import port from './port'
enum Own { Test = 7 }
test('a ship gets a pier', () => {
  assert.deepEqual([Kind.Departure, Own.Test, ports.main], [1, 7, 'Pier 4'])
  assert.deepEqual(port(exampleContext({ payload: { ship: 'Ada' } })), { name: 'Pier 4 for Ada, 1' })
})
test('a failure names the line', () => { assert.equal(port(exampleContext({ payload: { ship: '' } })).name, '') })
`,
  })
  const { out } = await run('test')
  assert.match(out, /^1 passed/m)
  assert.match(out, /✔ a ship gets a pier/)
  assert.match(out, /^ℹ fail 1$/m)
  assert.match(out, /transforms\/port\.test\.ts:12:\d+/, 'the place in the source')
})
