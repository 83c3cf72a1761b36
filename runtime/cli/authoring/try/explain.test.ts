import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import {
  type Asked,
  assertAnswer,
  createCommandLine,
  createGatewayCommands,
  testTranscript,
} from '../../io-fixture.ts'

const files = {
  'reveille.yaml': `hooks:
  mappings:
    - id: closed
      match: { path: github, body: { action: closed } }
      message: x
    - { id: old, enabled: false, match: { path: github }, message: x }
    - id: opened
      match: { path: github, body: { action: opened } }
      sessionKey: "hook:pr:{{number}}"
      message: "Review #{{number}}: {{title}}"
    - { id: rest, match: { path: github }, message: x }
    - { id: elsewhere, match: { path: gitlab, headers: { x-event: [push, tag] } }, message: x }
`,
  'body.json': '{"action": "opened", "number": 42, "title": "Fix it"}',
}

testTranscript(
  files,
  `
# explain lists each mapping in order, why it failed, and where the fields of the matching one come from
$ explain github --payload body.json
✗ closed  reveille.yaml:3:…  all other conditions match
    match.body.action  expected  "closed"
                       found     "opened"
- old     reveille.yaml:6:…  disabled…
✓ opened  reveille.yaml:7:…
- rest    reveille.yaml:11:…  not reached…

…
  sessionKey  …template  …hook:pr:42…
…← number  …42…

# explain says why nothing matched
$ explain gitlab --payload body.json
/gitlab  200  ignored…
✗ elsewhere…
…x-event…expected  …push…
…found     nothing

# explain shows why a transform failed, and no empty action
+ reveille.yaml: hooks: { mappings: [{ id: review, match: { path: review }, transform: { module: a.js } }] }
+ transforms/a.js: export default () => { throw new Error('no such luck') }
1 $ explain review --payload body.json
…no such luck…

✓ review  reveille.yaml:1:…

# explain --json prints the explanation as JSON
$ explain github --payload body.json --json
  "endpoint": "github",
    "outcome": "accepted",
      "verdict": "failed",
      "verdict": "disabled"
      "verdict": "matched"
      "verdict": "not-reached"
  "status": 202

# for an unknown endpoint the nearest name is suggested
1 $ explain gitub --payload body.json
…404  refused  NOT_FOUND…
Did you mean github?…

# explain names the one condition without which a mapping would have matched
+ reveille.yaml: hooks: { mappings: [{ id: paid, match: { path: shop, body: { status: paid, currency: EUR } }, message: x }, { id: refunded, match: { path: shop, body: { status: refunded, currency: USD } }, message: x }] }
+ body.json: {"status": "Paid", "currency": "EUR"}
$ explain shop --payload body.json
✗ paid …all other conditions match
    match.body.status  expected  "paid"…case…
✗ refunded  reveille.yaml:1:109
    match.body.status …
`,
)

test('explain shows no secret of the body, neither as text nor as JSON', async (t) => {
  const mapping = '{ match: { path: a }, sessionKey: "hook:{{token}}", message: "{{payload}}" }'
  const { run } = await createCommandLine(t, {
    'reveille.yaml': `hooks: { mappings: [${mapping}] }`,
    'body.json': '{"token": "sekret-1", "text": "fine"}',
  })
  for (const more of [[], ['--json']]) {
    const { out } = await run('explain', 'a', '--payload', 'body.json', ...more)
    assert.ok(out.includes('fine') && !out.includes('sekret'), out)
  }
})

test('places are relative to the working directory, and long values are cut', async (t) => {
  const other = {
    'here/reveille.yaml': files['reveille.yaml'],
    'here/mappings/rest.yaml': `mappings:
  - { id: nested, match: { path: nested, body: { event: { kind: message } } }, message: x }
  - { id: many, match: { path: nested, body: { kind: [first-of-the-kinds, second-of-the-kinds, third-of-the-kinds] } }, message: x }
`,
    'here/nested.json': JSON.stringify({ event: [1, 'x'.repeat(90)], kind: 'other' }),
    'here/body.json': JSON.stringify({
      action: 'opened',
      number: 42,
      title: 'A title of many words '.repeat(9),
    }),
  }
  const { run } = await createCommandLine(t, other, { columns: 60, env: { NO_COLOR: '1' } })
  const asked = ['--config', 'here/reveille.yaml', '--payload']
  const { out } = await run('explain', 'nested', ...asked, 'here/nested.json')
  assert.match(out, /^✗ nested {2}here\/mappings\/rest\.yaml:2:5 {2}all other/m)
  assert.match(out, /^ +found {5}\[1,"x{76}…$/m)
  assert.match(out, /^ {4}match\.body\.kind {2}expected {2}one of "first-of-the-kinds", "second/m)
  const { out: matched } = await run('explain', 'github', ...asked, 'here/body.json')
  assert.match(matched, /^ {2}message {2,}template {2,}Review #42: A title .*…$/m)
  assert.match(matched, /^ {2}timeoutSeconds {2}default {5}600 {2}← agents\.defaults\.timeoutSeconds$/m)
  assert.deepEqual(
    matched
      .split('\n')
      .filter((line) => /template|←/.test(line) && line.length > 60 && !/default/.test(line)),
    [],
  )
})

const id = '019c5b1e-0000-7000-8000-0000000000aa'
const record = { id, endpoint: 'github', outcome: 'ignored', status: 200, reason: 'nothing matched' }
const clause = { path: 'match.body.action', expected: '"closed"', actual: '"opened"' }
const candidates = [{ mapping: 'closed', place: 'reveille.yaml:3:7', verdict: 'failed', clause }]

/** A gateway that has the request, and answers by the end of the path. */
function gatewayWith(t: TestContext, answers: Readonly<Record<string, object>>) {
  const answer = ({ route }: Asked) => {
    const [, pathname = ''] = /^\w+ ([^?]+)/.exec(route) ?? []
    if (pathname.endsWith('/find')) return { items: [{ kind: 'request', id }] }
    const found = Object.keys(answers).find((end) => pathname.endsWith(end))
    return found === undefined ? { code: 'BODY_NOT_KEPT', error: 'Its body is not kept.' } : answers[found]
  }
  return createGatewayCommands(t, answer, {}, files)
}

test('with the id of an ignored request, a running gateway is asked for its trace', async (t) => {
  const explained = { by: 'stored', explanation: { endpoint: 'github', candidates, more: 3, isForm: true } }
  const { run, asked } = await gatewayWith(t, { [`/${id}`]: record, '/explain': explained })
  assertAnswer(await run('explain', id), {
    out: [
      /^\/github {2}200 {2}ignored {2}nothing matched\n {2}body {2}read as a form.*\n\n✗ closed {2}reveille\.yaml:3:7\n/,
      /expected {2}"closed"\n +found {5}"opened"\n… and 3 more\n$/,
    ],
  })
  assert.deepEqual(JSON.parse((await run('explain', id, '--json')).out).trace.candidates, candidates)
  const routes = asked.slice(1, 3).map(({ route }) => route)
  assert.deepEqual(routes, [`GET /api/requests/${id}`, `GET /api/requests/${id}/explain`])
})

const dryRun = {
  decision: {
    outcome: 'failed',
    code: 'TRANSFORM_FAILED',
    message: 'no',
    reason: 'jira.ts was stopped',
    details: [],
  },
  status: 500,
  explanation: { endpoint: 'github', candidates, actions: [] },
  stops: [{ module: 'jira.ts', target: 'https://jira.example', place: 'transforms/jira.ts:4:9' }],
}

test('a stored request is explained and tried by another generation, and the answer says where it was stopped', async (t) => {
  const answers = { [`/${id}`]: record, '/explain': { by: '12', ...dryRun }, '/replay': dryRun }
  const { run, asked } = await gatewayWith(t, answers)
  const stopped =
    'stopped  jira.ts at https://jira.example (transforms/jira.ts:4:9)\nA dry run reaches nothing outside; --call-out lets transforms do so.\n'
  for (const command of ['explain', 'try']) {
    const { code, out } = await run(command, id, '--generation', '12')
    assert.equal(code, 1)
    assert.match(out, /^\/github {2}500 {2}failed {2}TRANSFORM_FAILED {2}jira\.ts was stopped\n/)
    assert.ok(out.includes('✗ closed') && out.endsWith(`\n\n${stopped}`), out)
    const json = await run(command, id, '--generation', '4f0c9a12', '--json')
    assert.deepEqual(JSON.parse(json.out).stops, dryRun.stops)
  }
  await run('explain', id, '--call-out')
  assert.deepEqual(
    asked
      .map(({ route, body }) => [route.slice(route.indexOf(id) + id.length), body])
      .filter(([ending]) => ending !== ''),
    [
      ['/explain?generation=12', {}],
      ['/explain?generation=4f0c9a12', {}],
      ['/replay', { dryRun: true, generation: 12 }],
      ['/replay', { dryRun: true, generationDigest: '4f0c9a12' }],
      ['/replay', { dryRun: true, callOut: true }],
    ],
  )
  assertAnswer(await run('try', 'github', '--payload', 'body.json', '--generation', '12'), {
    code: 2,
    err: '--generation is for a stored request: give its id, without --payload.\n',
  })
})

test('the words of the gateway say why a request cannot be explained', async (t) => {
  const { run } = await gatewayWith(t, { [`/${id}`]: record })
  assert.deepEqual(await run('explain', id), { code: 1, out: '', err: 'Its body is not kept.\n' })
  const refused = { ...record, outcome: 'refused', status: 401, failure: 'BAD_SIGNATURE' }
  const { run: runOther } = await gatewayWith(t, { [`/${id}`]: refused })
  const { err } = await runOther('explain', id)
  assert.match(err, /No mapping was asked[\s\S]*doctor signature --endpoint github/)
})

test('try and explain stop a transform that would reach the network', async (t) => {
  const { run } = await createCommandLine(t, {
    'reveille.yaml': 'hooks: { mappings: [{ id: a, match: { path: a }, transform: { module: a.js } }] }',
    'transforms/a.js': `export default async ({ dryRun }) => {
  const found = await fetch('http://127.0.0.1:1/names?key=x').catch((error) => error.code ?? 'reached')
  return { message: [dryRun, found].join(' ') }
}`,
    'body.json': '{}',
  })
  const { code, out } = await run('try', 'a', '--payload', 'body.json')
  assert.equal(code, 0)
  assert.match(out, /│ true DRY_RUN\n/)
  assert.match(out, /^stopped {2}a\.js at http:\/\/127\.0\.0\.1:1 \(transforms\/a\.js:2:\d+\)\nA dry run /m)
  const { out: json } = await run('explain', 'a', '--payload', 'body.json', '--json')
  const { stops } = JSON.parse(json)
  assert.deepEqual([stops.length, stops[0].module, stops[0].target], [1, 'a.js', 'http://127.0.0.1:1'])
  const { out: calling } = await run('try', 'a', '--payload', 'body.json', '--call-out')
  assert.match(calling, /│ true reached\n/)
  assert.doesNotMatch(calling, /stopped/)
})
