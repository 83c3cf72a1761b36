import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createCommandLine } from '../../io-fixture.ts'

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

test('explain lists each mapping in order, why it failed, and where the fields of the matching one come from', async (t) => {
  const { run } = await createCommandLine(t, files)
  const { code, out, err } = await run('explain', 'github', '--payload', 'body.json')
  assert.deepEqual([code, err], [0, ''])
  const [candidates = '', fields = ''] = out.split('\n\n').slice(1)
  const lines = candidates.split('\n')
  assert.match(lines[0] ?? '', /^✗ closed {2,}reveille\.yaml:3:\d+ {2}all other conditions match$/)
  assert.match(lines[1] ?? '', /^ {4}match\.body\.action {2}expected {2}"closed"$/)
  assert.match(lines[2] ?? '', /^ {4} {17} {2}found {5}"opened"$/)
  assert.match(lines[3] ?? '', /^- old {2,}reveille\.yaml:6:\d+ {2}disabled/)
  assert.match(lines[4] ?? '', /^✓ opened {2,}reveille\.yaml:7:\d+$/)
  assert.match(lines[5] ?? '', /^- rest {2,}reveille\.yaml:11:\d+ {2}not reached/)
  assert.equal(lines.length, 6)
  assert.match(fields, /^ {2}sessionKey {2,}template {2,}.*hook:pr:42.*\n +← number {2}"?42"?$/m)
})

test('explain says why nothing matched', async (t) => {
  const { run } = await createCommandLine(t, files)
  const { code, out } = await run('explain', 'gitlab', '--payload', 'body.json')
  assert.equal(code, 0)
  assert.match(out, /^\/gitlab {2}200 {2}ignored/)
  assert.match(out, /✗ elsewhere[\s\S]*x-event[\s\S]*expected {2}.*push.*\n.*found {5}nothing/)
})

test('explain shows why a transform failed, and no empty action', async (t) => {
  const { run } = await createCommandLine(t, {
    'reveille.yaml':
      'hooks: { mappings: [{ id: review, match: { path: review }, transform: { module: a.js } }] }',
    'transforms/a.js': "export default () => { throw new Error('no such luck') }",
    'body.json': '{}',
  })
  const { code, out, err } = await run('explain', 'review', '--payload', 'body.json')
  assert.equal(code, 1, err)
  assert.match(out, /no such luck/)
  assert.match(out, /\n\n✓ review {2,}reveille\.yaml:1:\d+\n$/)
})

test('explain --json prints the explanation as JSON', async (t) => {
  const { run } = await createCommandLine(t, files)
  const { out } = await run('explain', 'github', '--payload', 'body.json', '--json')
  const { endpoint, status, decision, candidates, actions } = JSON.parse(out)
  assert.deepEqual([endpoint, status, decision.outcome, actions.length], ['github', 202, 'accepted', 1])
  assert.deepEqual(
    candidates.map(({ verdict }: { verdict: string }) => verdict),
    ['failed', 'disabled', 'matched', 'not-reached'],
  )
})

test('places are relative to the working directory, and long values are broken to the width of the terminal', async (t) => {
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
  assert.match(out, /^✗ nested {2}here\/mappings\/rest\.yaml:2:5$/m)
  assert.match(out, /^ +found {5}\[1,"x{76}…$/m)
  assert.match(out, /^ {4}match\.body\.kind {2}expected {2}one of\n? +"first-of-the-kinds",\n {31}"second/m)
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

test('explain shows no secret of the body, neither as text nor as JSON', async (t) => {
  const mapping = '{ match: { path: a }, sessionKey: "hook:{{token}}", message: "{{payload}}" }'
  const { run } = await createCommandLine(t, {
    'reveille.yaml': `hooks: { mappings: [${mapping}] }`,
    'body.json': '{"token": "sekret-1", "text": "fine"}',
  })
  for (const more of [[], ['--json']]) {
    const { code, out } = await run('explain', 'a', '--payload', 'body.json', ...more)
    assert.equal(code, 0)
    assert.ok(out.includes('fine') && !out.includes('sekret'), out)
  }
})

test('for an unknown endpoint the nearest name is suggested', async (t) => {
  const { run } = await createCommandLine(t, files)
  const { code, out } = await run('explain', 'gitub', '--payload', 'body.json')
  assert.equal(code, 1)
  assert.match(out, /404 {2}refused {2}NOT_FOUND[\s\S]*Did you mean github\?/)
})

test('explain names the one condition without which a mapping would have matched', async (t) => {
  const [nearest, far] = ['status: paid, currency: EUR', 'status: refunded, currency: USD']
  const mappings = `
    - { id: paid, match: { path: shop, body: { ${nearest} } }, message: x }
    - { id: refunded, match: { path: shop, body: { ${far} } }, message: x }`
  const { run } = await createCommandLine(t, {
    'reveille.yaml': `hooks:\n  mappings:${mappings}`,
    'body.json': '{"status": "Paid", "currency": "EUR"}',
  })
  const { out } = await run('explain', 'shop', '--payload', 'body.json')
  assert.match(out, /✗ paid .*all other conditions match\n +match\.body\.status +expected +"paid".*case/)
  assert.equal(out.match(/all other conditions match/g)?.length, 1, out)
})

const id = '019c5b1e-0000-7000-8000-0000000000aa'
const env = { REVEILLE_URL: 'http://127.0.0.1:1', REVEILLE_GATEWAY_TOKEN: 'token' }
const record = { id, endpoint: 'github', outcome: 'ignored', status: 200, reason: 'nothing matched' }
const clause = { path: 'match.body.action', expected: '"closed"', actual: '"opened"' }
const candidates = [{ mapping: 'closed', place: 'reveille.yaml:3:7', verdict: 'failed', clause }]

/** A gateway that answers by the end of the path; what it was asked is kept. */
function gatewayWith(answers: Readonly<Record<string, object>>) {
  const asked: string[] = []
  const fetch = async (address: string | URL | Request, { method = 'GET', body }: RequestInit = {}) => {
    const { pathname, search } = new URL(String(address))
    asked.push(`${method} ${pathname.slice(4)}${search} ${body ?? ''}`.trim())
    if (pathname.endsWith('/find')) return Response.json({ items: [{ kind: 'request', id }] })
    const found = Object.keys(answers).find((end) => pathname.endsWith(end))
    if (found === undefined)
      return Response.json({ ok: false, error: 'Its body is not kept.' }, { status: 409 })
    return Response.json(answers[found])
  }
  return { env, fetch: fetch as typeof globalThis.fetch, asked }
}

test('with the id of an ignored request, a running gateway is asked for its trace', async (t) => {
  const explained = { by: 'stored', explanation: { endpoint: 'github', candidates, more: 3, isForm: true } }
  const { asked, ...gateway } = gatewayWith({ [`/${id}`]: record, '/explain': explained })
  const { run } = await createCommandLine(t, files, gateway)
  const { code, out } = await run('explain', id)
  assert.equal(code, 0)
  assert.match(
    out,
    /^\/github {2}200 {2}ignored {2}nothing matched\n {2}body {2}read as a form.*\n\n✗ closed {2}reveille\.yaml:3:7\n/,
  )
  assert.match(out, /expected {2}"closed"\n +found {5}"opened"\n… and 3 more\n$/)
  assert.deepEqual(JSON.parse((await run('explain', id, '--json')).out).trace.candidates, candidates)
  assert.deepEqual(asked.slice(1, 3), [`GET /requests/${id}`, `GET /requests/${id}/explain`])
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
  const { asked, ...gateway } = gatewayWith({
    [`/${id}`]: record,
    '/explain': { by: '12', ...dryRun },
    '/replay': dryRun,
  })
  const { run } = await createCommandLine(t, files, gateway)
  const stopped =
    'stopped  jira.ts at https://jira.example (transforms/jira.ts:4:9)\nA dry run reaches nothing outside; --call-out lets transforms do so.\n'
  for (const command of ['explain', 'try']) {
    const { code, out } = await run(command, id, '--generation', '12')
    assert.equal(code, 1)
    assert.match(out, /^\/github {2}500 {2}failed {2}TRANSFORM_FAILED {2}jira\.ts was stopped\n/)
    assert.ok(out.includes('✗ closed') && out.endsWith(`\n\n${stopped}`), out)
    const { out: json } = await run(command, id, '--generation', '12', '--json')
    assert.deepEqual(JSON.parse(json).stops, dryRun.stops)
  }
  for (const command of ['explain', 'try']) await run(command, id, '--generation', '4f0c9a12')
  await run('explain', id, '--call-out')
  assert.deepEqual(
    asked.filter((each) => !each.endsWith(id)),
    [
      `GET /requests/${id}/explain?generation=12`,
      `GET /requests/${id}/explain?generation=12`,
      `POST /requests/${id}/replay {"dryRun":true,"generation":12}`,
      `POST /requests/${id}/replay {"dryRun":true,"generation":12}`,
      `GET /requests/${id}/explain?generation=4f0c9a12`,
      `POST /requests/${id}/replay {"dryRun":true,"generationDigest":"4f0c9a12"}`,
      `POST /requests/${id}/replay {"dryRun":true,"callOut":true}`,
    ],
  )
  const { code, err } = await run('try', 'github', '--payload', 'body.json', '--generation', '12')
  assert.deepEqual(
    [code, err],
    [2, '--generation is for a stored request: give its id, without --payload.\n'],
  )
})

test('the words of the gateway say why a request cannot be explained', async (t) => {
  const { asked: _asked, ...gateway } = gatewayWith({ [`/${id}`]: record })
  const { run } = await createCommandLine(t, files, gateway)
  assert.deepEqual(await run('explain', id), { code: 1, out: '', err: 'Its body is not kept.\n' })
  const outsider = { ...record, outcome: 'refused', status: 401, failure: 'BAD_SIGNATURE' }
  const { asked: _none, ...other } = gatewayWith({ [`/${id}`]: outsider })
  const { run: runOther } = await createCommandLine(t, files, other)
  assert.match(
    (await runOther('explain', id)).err,
    /No mapping was asked[\s\S]*doctor signature --endpoint github/,
  )
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

test('an endpoint without a body is bad usage that names --payload', async (t) => {
  const { run } = await createCommandLine(t, files)
  const { code, err } = await run('explain', 'github')
  assert.equal(code, 2)
  assert.match(err, /--payload FILE/)
})
