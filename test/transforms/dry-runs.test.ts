/** Tests that requests are tried, explained and made into tests by a running gateway, and that nothing comes of it. */

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { openFakeServer } from '../../plugins/kit/fake-server/index.ts'
import type { RequestRecord } from '../../runtime/store/port.ts'
import { atEnd } from '../at-end.ts'
import { createFolder, gatewayToken, hookToken, type Installation, install, until } from '../installation.ts'

const settings = `gateway: { port: 0, auth: { token: ${gatewayToken} }, log: { level: debug, format: json } }
history: { bodies: all }
hooks: { enabled: true, token: ${hookToken} }
`

const mappings = `mappings:
  - id: ticket
    match: { path: tickets, body: { action: opened } }
    message: "{{title}}"
    deliver: false
    transform: { module: ticket.ts }
  - { id: note, match: { path: notes, body: { kind: urgent } }, action: wake, text: "Note: {{text}}", mode: next-heartbeat }
tests:
  - { name: a note, request: { endpoint: notes, body: { kind: urgent, text: hello, labels: [{ name: bug }] } }, expect: { mapping: note } }
`

const module = (url: string) => `import { defineTransform } from '@reveille/engine/transform'
export default defineTransform(async ({ payload, dryRun }) => {
  if (payload.fails) throw new Error('no such ticket')
  if (payload.calls) await fetch('${url}/tickets?key=secret-of-url')
  return { name: 'dry ' + dryRun }
})
`

/** A server that counts its requests, and a gateway whose transform would reach it. */
async function setUp(t: TestContext, files: Readonly<Record<string, string>> = {}) {
  const server = await openFakeServer({ answer: () => ({}) })
  atEnd(t, server.close)
  const own = {
    'reveille.yaml': settings,
    'mappings/all.yaml': mappings,
    'transforms/ticket.ts': module(server.url),
  }
  const all = { ...own, ...files }
  const folder = await createFolder(t, all)
  const installed = await install(t, all, { folder })
  async function dryRun(body: object) {
    const answer = await installed.ask('/api/try', { method: 'POST', payload: JSON.stringify(body) })
    return { status: answer.status, body: answer.body as Record<string, never> }
  }
  return { ...installed, reached: () => server.requests.length, dryRun }
}

/** Posts a request, and returns its id once it is stored. */
async function stored(
  { post, read }: Installation,
  endpoint: string,
  body: unknown,
  headers = {},
): Promise<string> {
  const answer = await post(`/hooks/${endpoint}`, body, headers)
  const id = String(answer.headers['x-request-id'])
  // It is found by its id at once, and listed once it is committed.
  const isListed = async () =>
    (await read<{ items: RequestRecord[] }>('/api/requests?limit=500')).items.some((each) => each.id === id)
  await until(async () => (await isListed()) || undefined, 'the record')
  return id
}

test('why a request was ignored is stored with it, and outlives the gateway', async (t) => {
  const installed = await setUp(t, { 'reveille.yaml': settings.replace('bodies: all', 'bodies: none') })
  const id = await stored(installed, 'notes', { kind: 'calm', token: 'secret-of-payload' })
  const { body } = await installed.ask(`/api/requests/${id}/explain`)
  const clause = { path: 'match.body.kind', expected: '"urgent"', actual: '"calm"', isOnly: true }
  const explanation = {
    endpoint: 'notes',
    candidates: [{ mapping: 'note', place: 'mappings/all.yaml:7:5', verdict: 'failed', clause }],
    more: 0,
  }
  assert.deepEqual(body, { by: 'stored', explanation })
  await installed.gateway.close()
  const again = await install(t, {}, { folder: installed.folder })
  const { body: later } = await again.ask(`/api/requests/${id}/explain`)
  assert.deepEqual(later, body)
  // Its body is not kept, so that nothing else can be said of it.
  const refused = await again.ask(`/api/requests/${id}/explain?generation=live`)
  assert.deepEqual([refused.status, refused.body['code']], [409, 'BODY_NOT_KEPT'])
})

test('a failed request has the match part of its trace, and its transform is not called again', async (t) => {
  const installed = await setUp(t)
  const id = await stored(installed, 'tickets', { action: 'opened', fails: true, title: 'x' })
  const { body } = await installed.ask(`/api/requests/${id}/explain`)
  const explanation = { candidates: [{ mapping: 'ticket', verdict: 'matched' }] }
  assert.partialDeepStrictEqual(body, { by: 'stored', explanation })
  assert.equal(installed.log().split('no such ticket').length, 2, 'it failed once')
})

test('a stored request is explained by what is live and by an older generation, as a dry run', async (t) => {
  const installed = await setUp(t)
  const id = await stored(installed, 'tickets', { action: 'opened', title: 'x', calls: true })
  assert.equal(installed.reached(), 1)
  await installed.write('mappings/all.yaml', mappings.replace('action: opened', 'action: closed'))
  await installed.gateway.reload()
  const explain = (generation: string) =>
    installed.ask(`/api/requests/${id}/explain?generation=${generation}`)
  assert.partialDeepStrictEqual((await explain('live')).body, { decision: { outcome: 'ignored' } })
  const { body: first, text } = await explain('1')
  const decision = { code: 'TRANSFORM_FAILED' }
  assert.partialDeepStrictEqual(first, { by: '1', status: 500, decision, stops: [{ module: 'ticket.ts' }] })
  const { items } = await installed.read<{ items: { generation: number; digest: string }[] }>(
    '/api/generations',
  )
  const { digest = '' } = items.find(({ generation }) => generation === 1) ?? {}
  assert.deepEqual((await explain(digest.slice(0, 8))).body, first, 'a digest names it too')
  const tried = await installed.ask(`/api/requests/${id}/replay`, {
    method: 'POST',
    payload: JSON.stringify({ dryRun: true, generationDigest: digest }),
  })
  assert.deepEqual(tried.body['decision'], first['decision'])
  assert.match(text, /"target":"http:\/\/127\.0\.0\.1:\d+"/)
  assert.match(text, /"place":"transforms\/ticket\.ts:4:\d+"/)
  assert.doesNotMatch(text, /secret-of-url/)
  assert.equal(installed.reached(), 1)
  for (const gone of ['99', '0123abcd']) {
    const { status, body } = await explain(gone)
    assert.deepEqual([status, body['error']], [404, `Generation ${gone} is not kept.`])
  }
  assert.equal((await explain('old')).status, 400)
})

test('a payload is tried by what is live: nothing is stored, and values from outside are marked', async (t) => {
  const installed = await setUp(t)
  const { dryRun, ask, reached } = installed
  const payload = '{ "action": "opened", "title": "Fix it, now. <b>", "token": "secret-of-payload" }'
  const { status, body } = await dryRun({ endpoint: 'tickets', payload })
  assert.equal(status, 200)
  assert.deepEqual(
    [body['decision'], body['status'], body['stops']],
    [{ outcome: 'accepted', mapping: 'ticket' }, 202, []],
  )
  const { actions } = body['explanation'] as unknown as { actions: Record<string, unknown>[] }
  const [action] = actions
  assert.deepEqual(action?.['segments'], [{ value: 'Fix it, now. <b>', path: 'title' }])
  assert.match(String(action?.['prompt']), /<outside-data/)
  assert.doesNotMatch(JSON.stringify(body), /secret-of-payload/)
  const calling = { endpoint: 'tickets', payload: '{"action": "opened", "title": "x", "calls": true}' }
  assert.deepEqual([(await dryRun(calling)).body['status'], reached()], [500, 0])
  assert.deepEqual([(await dryRun({ ...calling, callOut: true })).body['status'], reached()], [202, 1])
  assert.equal((await dryRun({ endpoint: 'gone', payload: '{}' })).body['status'], 404)
  assert.deepEqual((await ask('/api/requests')).body['items'], [])
  assert.deepEqual((await ask('/api/runs')).body['items'], [])
})

test('a payload is tried by pasted mappings, and mistakes in them have their place', async (t) => {
  const { dryRun } = await setUp(t)
  const pasted = 'match: { path: orders }\nmessage: "Order {{order.id}} of {{who}}"\n'
  const { body } = await dryRun({ endpoint: 'orders', payload: '{"order": {"id": 7}}', mapping: pasted })
  assert.deepEqual(body['decision'], { outcome: 'accepted', mapping: 'the pasted mapping#1' })
  const tried = (mapping: string) => dryRun({ endpoint: 'orders', payload: '{}', mapping })
  const wrong = await tried(pasted.replace('{{who}}', '{{who'))
  const diagnostics = [{ code: 'TEMPLATE_SYNTAX', place: { line: 2 } }]
  assert.partialDeepStrictEqual(wrong, { status: 200, body: { diagnostics } })
  assert.equal(wrong.body['decision'], undefined)
  assert.equal((await tried('match: { path: other }\nmessage: x\n')).body['status'], 404)
})

test('a test entry of a stored request passes, and shows no secret', async (t) => {
  const installed = await setUp(t)
  const { ask, write, gateway } = installed
  const accepted = await stored(
    installed,
    'notes',
    '{"kind": "urgent", "text": "a: [b", "id": 12345678901234567890, "token": "secret-of-payload", "odd": "yes"}',
    { 'x-event': 'note', 'x-signature': 'secret-of-header' },
  )
  const ignored = await stored(installed, 'notes', { kind: 'calm' })
  const failed = await stored(installed, 'tickets', { action: 'opened', fails: true, title: 'x' })
  const texts: string[] = []
  for (const id of [accepted, ignored, failed]) {
    const { status, headers, text } = await ask(`/api/requests/${id}/as-test`)
    assert.deepEqual([status, headers['content-type']], [200, 'text/yaml; charset=utf-8'])
    assert.doesNotMatch(text, /secret-of-/)
    texts.push(text)
  }
  assert.match(texts[0] ?? '', /id: 12345678901234567890\n/)
  assert.match(texts[0] ?? '', /x-event: note\n/)
  for (const [index, text] of texts.entries()) await write(`mappings/test-${index}.yaml`, text)
  const { ok, diagnostics } = await gateway.reload()
  assert.deepEqual([ok, diagnostics], [true, []])
})

test('the fields of an endpoint are listed from kept bodies and tests, without secrets', async (t) => {
  const installed = await setUp(t)
  await stored(installed, 'notes', {
    kind: 'calm',
    token: 'secret-of-payload',
    nested: { list: [{ a: 1 }, { b: null }] },
  })
  const samples = await installed.read<{ items: { name: string; body: string }[] }>(
    '/api/endpoints/notes/samples',
  )
  assert.deepEqual(
    samples.items.map(({ name, body: sample }) => [name, Object.keys(JSON.parse(sample))]),
    [['a note', ['kind', 'text', 'labels']]],
  )
  const { body } = await installed.ask('/api/endpoints/notes/paths')
  const fields = Object.fromEntries(
    (body['fields'] as { path: string; types: string[]; example?: string; seen: number }[]).map(
      ({ path, types, example, seen }) => [path, `${types.join('|')} ${example ?? '-'} ${seen}`],
    ),
  )
  assert.deepEqual(fields, {
    kind: 'string "calm" 2',
    token: 'string "…" 1',
    nested: 'object - 1',
    'nested.list': 'list - 1',
    'nested.list[0]': 'object - 1',
    'nested.list[0].a': 'number 1 1',
    'nested.list[0].b': 'null null 1',
    text: 'string "hello" 1',
    labels: 'list - 1',
    'labels[0]': 'object - 1',
    'labels[0].name': 'string "bug" 1',
  })
})
