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
  assert.match(lines[0] ?? '', /^✗ closed {2,}reveille\.yaml:3:\d+$/)
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

const id = '019c5b1e-0000-7000-8000-0000000000aa'
const env = { REVEILLE_URL: 'http://127.0.0.1:1', REVEILLE_GATEWAY_TOKEN: 'token' }
const record = { id, endpoint: 'github', outcome: 'ignored', status: 200, reason: 'nothing matched' }
const clause = { path: 'match.body.action', expected: '"closed"', actual: '"opened"' }
const candidates = [{ mapping: 'closed', place: 'reveille.yaml:3:7', verdict: 'failed', clause }]

function gatewayWith(answer: object) {
  return { env, fetch: async () => Response.json(answer) }
}

test('with the id of an ignored request, a running gateway is asked for its trace', async (t) => {
  const gateway = gatewayWith({ ...record, trace: { candidates, more: 3 } })
  const { run } = await createCommandLine(t, files, gateway)
  const { code, out } = await run('explain', id)
  assert.equal(code, 0)
  assert.match(out, /^\/github {2}200 {2}ignored {2}nothing matched\n\n✗ closed {2}reveille\.yaml:3:7\n/)
  assert.match(out, /expected {2}"closed"\n +found {5}"opened"\n… and 3 more\n$/)
  assert.deepEqual(JSON.parse((await run('explain', id, '--json')).out).trace.candidates, candidates)
})

test('for a request without a trace the command says how many have one', async (t) => {
  const { run } = await createCommandLine(t, files, gatewayWith(record))
  const { code, err } = await run('explain', id)
  assert.equal(code, 1)
  assert.match(err, /only the last 20 ignored requests of each endpoint/)
})

test('an endpoint without a body is bad usage that names --payload', async (t) => {
  const { run } = await createCommandLine(t, files)
  const { code, err } = await run('explain', 'github')
  assert.equal(code, 2)
  assert.match(err, /--payload FILE/)
})
