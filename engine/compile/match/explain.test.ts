import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { MappingSource } from '../../config/configuration.ts'
import { writePath } from '../../config/values/path.ts'
import type { HookRequest } from '../../resolve/model/decision.ts'
import { createScope } from '../../resolve/model/scope.ts'
import { requestOf } from '../fixture.ts'
import { programOf } from './fixture.ts'

/** `path: expected …, found …` of the first clause that fails. */
async function blame(
  match: MappingSource['match'],
  payload: unknown,
  request?: Partial<HookRequest>,
): Promise<string | undefined> {
  const clause = await programOf('a', match).matcher.explain(createScope(requestOf(payload, request)))
  if (clause === undefined) return undefined
  const found = clause.error ?? ('actual' in clause ? JSON.stringify(clause.actual) : 'nothing')
  return `${writePath(clause.path)}: ${clause.expected}; ${found}`
}

const blameBody = (body: Readonly<Record<string, unknown>>, payload: unknown) => blame({ body }, payload)

test('a mapping that matches has no failing clause', async () => {
  assert.equal(await blame({ source: 'x', body: { a: 1 }, when: 'a = 1' }, { source: 'x', a: 1 }), undefined)
  assert.equal(await blame(undefined, {}), undefined)
})

test('the reported clause is the first that fails: source, headers, body, and the expression last', async () => {
  const match = { source: 'ci', headers: { event: 'push' }, body: { a: 1 }, when: 'b = 2' }
  const good = { source: 'ci', a: 1, b: 2 }
  const headers = { event: 'push' }
  assert.equal(await blame(match, { ...good, source: 'cd' }), 'match.source: "ci"; "cd"')
  assert.equal(await blame(match, { ...good, a: 2 }), 'match.headers.event: "push"; nothing')
  assert.equal(await blame(match, { ...good, a: 2, b: 3 }, { headers }), 'match.body.a: 1; 2')
  assert.equal(await blame(match, { ...good, b: 3 }, { headers }), 'match.when: true; false')
})

test('the deepest field of a body is named, with the expected and the actual value', async () => {
  const body = { pull_request: { draft: false, base: { ref: { prefix: 'release/' } } } }
  const of = (pull_request: unknown) => blameBody(body, { pull_request })
  assert.equal(await of({ draft: true }), 'match.body.pull_request.draft: false; true')
  assert.equal(
    await of({ draft: false, base: { ref: 'main' } }),
    'match.body.pull_request.base.ref: text that begins with "release/"; "main"',
  )
  assert.equal(
    await of({ draft: false }),
    'match.body.pull_request.base.ref: text that begins with "release/"; nothing',
  )
})

test('a value that is not the expected object is shown as it is', async () => {
  const body = { pull_request: { draft: false } }
  assert.equal(
    await blameBody(body, { pull_request: null }),
    'match.body.pull_request: an object with draft: false; null',
  )
  assert.equal(await blameBody(body, {}), 'match.body.pull_request.draft: false; nothing')
})

test('a long list of wanted values is cut', async () => {
  const values = Array.from({ length: 14 }, (_, index) => index)
  assert.equal(
    await blameBody({ a: values }, { a: 99 }),
    'match.body.a: one of 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 or 4 more; 99',
  )
})

test('a nearly right value is reported with the difference', async () => {
  assert.equal(await blameBody({ a: '42' }, { a: 42 }), 'match.body.a: "42", as text, not as a number; 42')
  assert.equal(await blameBody({ a: 42 }, { a: '42' }), 'match.body.a: 42, as a number, not as text; "42"')
  assert.equal(
    await blameBody({ a: true }, { a: 'true' }),
    'match.body.a: true, as a boolean, not as text; "true"',
  )
  assert.equal(await blameBody({ a: 'open' }, { a: 'Open' }), 'match.body.a: "open" (case-sensitive); "Open"')
  assert.equal(await blameBody({ a: 'x' }, { a: ' x' }), 'match.body.a: "x", without space around it; " x"')
  assert.equal(
    await blame({ headers: { event: 'push' } }, {}, { headers: { event: 'Push' } }),
    'match.headers.event: "push" (case-sensitive); "Push"',
  )
  assert.equal(
    await blameBody({ action: 'x' }, { Action: 'x' }),
    'match.body.action: "x" (there is Action, in another case); nothing',
  )
})

test('all values that a list has at the field are shown', async () => {
  assert.equal(await blameBody({ a: 'x' }, { a: ['y', 'z'] }), 'match.body.a: "x"; ["y","z"]')
  const labels = { labels: [{ name: 'bug' }, {}, { name: 'docs' }] }
  assert.equal(
    await blameBody({ labels: { name: 'urgent' } }, labels),
    'match.body.labels.name: "urgent"; ["bug","docs"]',
  )
  assert.equal(
    await blameBody({ labels: { name: 'urgent' } }, { labels: [] }),
    'match.body.labels: an object with name: "urgent"; []',
  )
})

test('for a list whose elements satisfy one key each, the explanation says that one element must satisfy all', async () => {
  const items = [
    { a: 1, b: 9 },
    { a: 9, b: 2 },
  ]
  assert.equal(
    await blameBody({ items: { a: 1, b: 2 } }, { items }),
    `match.body.items: an object with a: 1, b: 2, in one element; ${JSON.stringify(items)}`,
  )
})

test('of a list of alternatives the nearest one is shown, with the field that fails', async () => {
  const body = {
    event: [
      { type: 'message', channel: { kind: 'im' }, bot: { exists: false } },
      { type: 'mention', channel: { kind: 'group' } },
      { type: 'reaction' },
    ],
  }
  const of = (event: unknown) => blameBody(body, { event })
  const nearest = ', in the nearest of 3 alternatives'
  assert.equal(
    await of({ type: 'message', channel: { kind: 'channel' } }),
    `match.body.event.channel.kind: "im"${nearest}; "channel"`,
  )
  assert.equal(
    await of({ type: 'other', channel: { kind: 'group' } }),
    `match.body.event.type: "mention"${nearest}; "other"`,
  )
  assert.equal(
    await of([{ type: 'message', channel: { kind: 'a' } }, { type: 'x' }]),
    `match.body.event.channel.kind: "im"${nearest}; "a"`,
  )
  assert.match(
    String(await of('mention')),
    /^match\.body\.event: an object with .* or an object with .*; "mention"$/,
  )
  assert.match(String(await of(undefined)), /^match\.body\.event: an object with .*; nothing$/)
})

test('headers are shown as they arrived', async () => {
  const of = (wanted: NonNullable<MappingSource['match']>['headers'], given: HookRequest['headers']) =>
    blame({ headers: wanted }, {}, { headers: given })
  assert.equal(await of({ a: ['x', 'y'] }, { a: ['v', 'w'] }), 'match.headers.a: one of "x", "y"; ["v","w"]')
  assert.equal(await of({ a: { exists: true } }, {}), 'match.headers.a: the field to be there; nothing')
  assert.equal(await of({ a: { exists: false } }, { a: 'x' }), 'match.headers.a: no such field; "x"')
  assert.equal(await of({ a: { pattern: '^x' } }, { a: 'y' }), 'match.headers.a: text matching /^x/; "y"')
})

test('an expression is shown with its result or its error', async () => {
  assert.equal(
    await blame({ when: 'a' }, { a: 5 }),
    'match.when: true, and nothing else that counts as true; 5',
  )
  assert.equal(await blame({ when: 'a' }, {}), 'match.when: true; nothing')
  assert.match(String(await blame({ when: '$number(a) > 1' }, { a: 'x' })), /^match\.when: true; .*D3030/)
})

test('a clause that cannot be decided is shown with the reason', async () => {
  const blamed = await blameBody({ a: { pattern: 'x' } }, { a: 'y'.repeat(300_000) })
  assert.match(String(blamed), /^match\.body\.a.*: text matching \/x\/; .*not searched/)
})

test('explaining an enormous list takes no longer than finding that it does not match', async () => {
  const items = Array.from({ length: 200_000 }, () => ({ a: 1 }))
  assert.match(String(await blameBody({ items: { a: 2 } }, { items })), /^match\.body\.items(\.a)?: /)
})

test('a clause that is the only one to fail is marked, because one other value would have matched', async () => {
  const match = {
    source: 'ci',
    headers: { event: 'push' },
    body: { action: 'opened', pull_request: { draft: false, base: { ref: 'main' } } },
    when: 'number > 5',
  }
  const pull_request = { draft: false, base: { ref: 'main' } }
  const good = { source: 'ci', action: 'opened', number: 7, pull_request }
  const of = async (payload: object, event = 'push') => {
    const request = requestOf(payload, { headers: { event } })
    const clause = await programOf('a', match).matcher.explain(createScope(request))
    return clause && `${writePath(clause.path)}${clause.isOnly ? ' alone' : ''}`
  }
  assert.equal(await of(good), undefined)
  assert.equal(await of({ ...good, source: 'cd' }), 'match.source alone')
  assert.equal(await of(good, 'ping'), 'match.headers.event alone')
  assert.equal(await of({ ...good, action: 'closed' }), 'match.body.action alone')
  assert.equal(await of({ ...good, number: 3 }), 'match.when alone')
  assert.equal(
    await of({ ...good, pull_request: { draft: true, base: { ref: 'main' } } }),
    'match.body.pull_request.draft alone',
  )
  assert.equal(
    await of({ ...good, pull_request: { draft: true, base: { ref: 'dev' } } }),
    'match.body.pull_request.draft',
  )
  assert.equal(await of({ ...good, action: 'closed', number: 3 }), 'match.body.action')
  assert.equal(await of({ ...good, source: 'cd' }, 'ping'), 'match.source')
})
