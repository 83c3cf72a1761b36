/** The surface with the real engine behind it and the real store under it. */

import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { compileSnapshot, loadConfiguration } from '@reveille/engine'
import { atEnd } from '../../test/at-end.ts'
import { createIdMinter } from '../store/id.ts'
import { openSqliteStore } from '../store/sqlite/index.ts'
import { createApp, createHookSurface, createRecorder, isErrorCode } from './index.ts'

const configuration = `
hooks:
  enabled: true
  token: right-token
  allowedSessionKeyPrefixes: ['hook:', 'github:']
  mappings:
    - id: opened
      match: { path: github, headers: { x-github-event: pull_request }, when: 'payload.action = "opened"' }
      message: 'Review #{{number}}: {{title}}'
      sessionKey: 'github:{{number}}'
    - id: note
      match: { path: notes }
      action: wake
      text: 'A note: {{text}}'
      mode: now
agents:
  defaults: { models: [openai/gpt-5] }
channels: { terminal: {} }
`

async function openWhole(t: TestContext) {
  const folder = await mkdtemp(join(tmpdir(), 'reveille-http-'))
  atEnd(t, () => rm(folder, { recursive: true }))
  const file = join(folder, 'reveille.yaml')
  await writeFile(file, configuration)
  const loaded = await loadConfiguration({ file, env: {} })
  if (!loaded.ok) return assert.fail(JSON.stringify(loaded.diagnostics))
  const mintId = createIdMinter(Date.now)
  const catalog = { channels: ['terminal', 'slack'], runners: ['echo'] }
  const compiled = compileSnapshot(loaded.configuration, catalog, { mint: mintId, randomId: () => 'fence' })
  if (!compiled.ok) return assert.fail(JSON.stringify(compiled.diagnostics))
  const store = await openSqliteStore({
    location: join(folder, 'data'),
    now: Date.now,
    keepMs: 60_000,
    backlog: 100,
    historyMessages: 10,
  })
  const app = createApp(() => [])
  const quiet = { debug() {}, info() {}, warn() {}, error() {} }
  createHookSurface(app, {
    current: () => ({ generation: 3, snapshot: compiled.snapshot }),
    store,
    log: quiet,
    now: Date.now,
    mintId,
    draining: new AbortController().signal,
    recorder: createRecorder({ store, now: Date.now, mask: (text) => text }),
  })
  atEnd(t, async () => {
    await app.close()
    await store.close()
  })

  async function post(endpoint: string, payload: string | object, headers: Record<string, string> = {}) {
    const answer = await app.inject({
      method: 'POST',
      url: `/hooks/${endpoint}`,
      headers: { authorization: 'Bearer right-token', ...headers },
      payload,
    })
    return { status: answer.statusCode, body: answer.json() }
  }
  return { store, post }
}

test('what the reply names is in the store, whole', async (t) => {
  const { store, post } = await openWhole(t)

  const woken = await post('wake', { text: 'The build is green', mode: 'now' })
  assert.equal(woken.status, 200)
  const event = await store.read.event(woken.body.eventId)
  assert.deepEqual(
    [event?.text, event?.mode, event?.state, event?.origin.requestId, event?.generation],
    ['The build is green', 'now', 'pending', woken.body.requestId, 3],
  )

  const asked = await post('agent', { message: 'Summarise', sessionKey: 'hook:nightly', timeoutSeconds: 30 })
  assert.equal(asked.status, 202)
  const run = await store.read.run(asked.body.runId)
  assert.deepEqual(
    [run?.message, run?.sessionKey, run?.timeoutSeconds, run?.stage],
    ['Summarise', 'hook:nightly', 30, 'accepted'],
  )
  const request = await store.read.request(asked.body.requestId)
  assert.deepEqual(request?.actions, [{ kind: 'agent', id: asked.body.runId }])
  assert.deepEqual([request?.outcome, request?.status, request?.client], ['accepted', 202, '127.0.0.1'])
})

test('mapped endpoints take JSON and forms, and ignore what no mapping wants', async (t) => {
  const { store, post } = await openWhole(t)
  const headers = { 'x-github-event': 'pull_request' }
  const payload = { action: 'opened', number: 42, title: 'Fix' }

  const json = await post('github', payload, headers)
  assert.equal(json.status, 202)
  assert.equal(json.body.sessionKey, 'github:42')
  assert.equal((await store.read.run(json.body.runId))?.mapping, 'opened')

  const form = new URLSearchParams({ payload: JSON.stringify(payload) }).toString()
  const formType = { 'content-type': 'application/x-www-form-urlencoded' }
  assert.equal((await post('github', form, { ...headers, ...formType })).body.sessionKey, 'github:42')
  const note = await post('notes', 'text=from+a+form', formType)
  assert.equal((await store.read.event(note.body.eventId))?.text, 'A note: from a form')

  const ignored = await post('github', { ...payload, action: 'closed' }, headers)
  assert.deepEqual([ignored.status, ignored.body.outcome], [200, 'ignored'])
  assert.equal((await post('nowhere', {})).status, 404)
})

const refusals: [title: string, endpoint: string, body: object, pointer: string][] = [
  ['a mode that there is not', 'wake', { text: 'x', mode: 'later' }, '/mode'],
  ['an empty text', 'wake', { text: '' }, '/text'],
  ['a blank message', 'agent', { message: ' \n' }, '/message'],
  ['a text instead of a boolean', 'agent', { message: 'x', deliver: 'false' }, '/deliver'],
  ['no time at all', 'agent', { message: 'x', timeoutSeconds: 0 }, '/timeoutSeconds'],
  [
    'an unknown channel, though nothing is delivered',
    'agent',
    { message: 'x', deliver: false, channel: 'fax' },
    '/channel',
  ],
  [
    'a channel that is not configured',
    'agent',
    { message: 'x', deliver: true, channel: 'slack' },
    '/channel',
  ],
  ['a model that is not allowed', 'agent', { message: 'x', model: 'openai/other' }, '/model'],
  ['an unknown thinking level', 'agent', { message: 'x', thinking: 'much' }, '/thinking'],
  ['the reserved session key', 'agent', { message: 'x', sessionKey: ' Main ' }, '/sessionKey'],
  ['a session key without an allowed prefix', 'agent', { message: 'x', sessionKey: 'other' }, '/sessionKey'],
]

test('each field of a wrong type is refused with 400, a stable code and its pointer', async (t) => {
  const { post } = await openWhole(t)
  for (const [title, endpoint, body, pointer] of refusals) {
    const answer = await post(endpoint, body)
    assert.equal(answer.status, 400, title)
    assert.ok(isErrorCode(answer.body.code), title)
    assert.deepEqual(
      answer.body.details.map((detail: { pointer: string }) => detail.pointer),
      [pointer],
      title,
    )
  }
  for (const body of ['[]', '"text"', 'null', '7']) {
    assert.equal((await post('agent', body)).body.code, 'INVALID_BODY')
  }
})

test('hostile nesting and prototype keys are payload like any other', async (t) => {
  const { post } = await openWhole(t)
  const deep = `${'['.repeat(30_000)}${']'.repeat(30_000)}`
  assert.equal((await post('notes', `{"text":"x","deep":${deep}}`)).status, 200)
  const rendered = await post('notes', `{"text":${deep}}`)
  assert.ok(rendered.status < 500, JSON.stringify(rendered.body))
  const bomb = '['.repeat(500_000)
  assert.equal((await post('notes', bomb)).body.code, 'NESTED_TOO_DEEP')
  const before = Object.keys(Object.prototype)
  const polluting = '{"text":"x","__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}'
  assert.equal((await post('notes', polluting)).status, 200)
  assert.equal((await post('wake', polluting)).status, 200)
  assert.deepEqual(Object.keys(Object.prototype), before)
  assert.equal('polluted' in {}, false)
})

test('a generated session key holds the id of its run, and later requests can continue the session', async (t) => {
  const { store, post } = await openWhole(t)
  const { runId, sessionKey } = (await post('agent', { message: 'one' })).body
  assert.equal(sessionKey, `hook:${runId}`)
  const again = await post('agent', { message: 'two', sessionKey })
  assert.equal(again.status, 202)
  const claimed: unknown[] = []
  const first = Promise.withResolvers<void>()
  store.work({
    kinds: ['run'],
    concurrency: 4,
    perform({ task }) {
      claimed.push(task.subject)
      first.resolve()
      return new Promise(() => {})
    },
  })
  await first.promise
  // An order that is answered comes after every claim that was given before it.
  await store.command({ type: 'set-route', route: { channel: 'terminal' } })
  assert.deepEqual(claimed, [runId])
})
