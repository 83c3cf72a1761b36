import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parse } from 'yaml'
import { testBlocks } from '../../config/blocks-fixture.ts'
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

/** Match and payload, as YAML, with the clause that is blamed; a request may follow the payload. */
const blamed = `
# a mapping that matches has no failing clause
{ source: x, body: { a: 1 }, when: a = 1 } ⇒ { source: x, a: 1 } ⇒ undefined

# the reported clause is the first that fails: source, headers, body, and the expression last
{ source: ci, headers: { event: push }, body: { a: 1 }, when: b = 2 } ⇒ { source: cd, a: 1, b: 2 } ⇒ match.source: "ci"; "cd"
{ source: ci, headers: { event: push }, body: { a: 1 }, when: b = 2 } ⇒ { source: ci, a: 2, b: 2 } ⇒ match.headers.event: "push"; nothing
{ source: ci, headers: { event: push }, body: { a: 1 }, when: b = 2 } ⇒ { source: ci, a: 2, b: 3 } @ { event: push } ⇒ match.body.a: 1; 2
{ source: ci, headers: { event: push }, body: { a: 1 }, when: b = 2 } ⇒ { source: ci, a: 1, b: 3 } @ { event: push } ⇒ match.when: true; false

# the deepest field of a body is named, with the expected and the actual value
{ body: { pr: { draft: false, base: { ref: { prefix: release/ } } } } } ⇒ { pr: { draft: true } } ⇒ match.body.pr.draft: false; true
{ body: { pr: { draft: false, base: { ref: { prefix: release/ } } } } } ⇒ { pr: { draft: false, base: { ref: main } } } ⇒ match.body.pr.base.ref: text that begins with "release/"; "main"
{ body: { pr: { draft: false, base: { ref: { prefix: release/ } } } } } ⇒ { pr: { draft: false } } ⇒ match.body.pr.base.ref: text that begins with "release/"; nothing
{ body: { pr: { draft: false } } } ⇒ { pr: null } ⇒ match.body.pr: an object with draft: false; null
{ body: { pr: { draft: false } } } ⇒ {} ⇒ match.body.pr.draft: false; nothing
{ body: { a: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13] } } ⇒ { a: 99 } ⇒ match.body.a: one of 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 or 4 more; 99

# a nearly right value is reported with the difference
{ body: { a: '42' } } ⇒ { a: 42 } ⇒ match.body.a: "42", as text, not as a number; 42
{ body: { a: 42 } } ⇒ { a: '42' } ⇒ match.body.a: 42, as a number, not as text; "42"
{ body: { a: true } } ⇒ { a: 'true' } ⇒ match.body.a: true, as a boolean, not as text; "true"
{ body: { a: open } } ⇒ { a: Open } ⇒ match.body.a: "open" (case-sensitive); "Open"
{ body: { a: x } } ⇒ { a: ' x' } ⇒ match.body.a: "x", without space around it; " x"
{ headers: { event: push } } ⇒ {} @ { event: Push } ⇒ match.headers.event: "push" (case-sensitive); "Push"
{ body: { action: x } } ⇒ { Action: x } ⇒ match.body.action: "x" (there is Action, in another case); nothing

# all values that a list has at the field are shown, and one element must satisfy all keys
{ body: { a: x } } ⇒ { a: [y, z] } ⇒ match.body.a: "x"; ["y","z"]
{ body: { labels: { name: urgent } } } ⇒ { labels: [{ name: bug }, {}, { name: docs }] } ⇒ match.body.labels.name: "urgent"; ["bug","docs"]
{ body: { labels: { name: urgent } } } ⇒ { labels: [] } ⇒ match.body.labels: an object with name: "urgent"; []
{ body: { items: { a: 1, b: 2 } } } ⇒ { items: [{ a: 1, b: 9 }, { a: 9, b: 2 }] } ⇒ match.body.items: an object with a: 1, b: 2, in one element; [{"a":1,"b":9},{"a":9,"b":2}]

# of a list of alternatives the nearest one is shown, with the field that fails
{ body: { event: [{ type: message, channel: { kind: im }, bot: { exists: false } }, { type: mention, channel: { kind: group } }, { type: reaction }] } } ⇒ { event: { type: message, channel: { kind: channel } } } ⇒ match.body.event.channel.kind: "im", in the nearest of 3 alternatives; "channel"
{ body: { event: [{ type: message, channel: { kind: im } }, { type: mention, channel: { kind: group } }] } } ⇒ { event: { type: other, channel: { kind: group } } } ⇒ match.body.event.type: "mention", in the nearest of 2 alternatives; "other"
{ body: { event: [{ type: message, channel: { kind: im } }, { type: mention, channel: { kind: group } }] } } ⇒ { event: [{ type: message, channel: { kind: a } }, { type: x }] } ⇒ match.body.event.channel.kind: "im", in the nearest of 2 alternatives; "a"
{ body: { event: [{ type: a }, { type: b }] } } ⇒ { event: mention } ⇒ match.body.event: an object with type: "a" or an object with type: "b"; "mention"
{ body: { event: [{ type: a }, { type: b }] } } ⇒ {} ⇒ match.body.event: an object with type: "a" or an object with type: "b"; nothing

# headers are shown as they arrived
{ headers: { a: [x, y] } } ⇒ {} @ { a: [v, w] } ⇒ match.headers.a: one of "x", "y"; ["v","w"]
{ headers: { a: { exists: true } } } ⇒ {} ⇒ match.headers.a: the field to be there; nothing
{ headers: { a: { exists: false } } } ⇒ {} @ { a: x } ⇒ match.headers.a: no such field; "x"
{ headers: { a: { pattern: ^x } } } ⇒ {} @ { a: y } ⇒ match.headers.a: text matching /^x/; "y"

# an expression is shown with its result or its error, and a clause that cannot be decided with the reason
{ when: a } ⇒ { a: 5 } ⇒ match.when: true, and nothing else that counts as true; 5
{ when: a } ⇒ {} ⇒ match.when: true; nothing
{ when: $number(a) > 1 } ⇒ { a: x } ⇒ match.when: true; the expression ${'`'}$number(a) > 1${'`'} failed at column 1: Unable to cast value to a number: text (D3030)
{ body: { a: { pattern: x } } } ⇒ { a: ${'y'.repeat(300_000)} } ⇒ match.body.a: text matching /x/; a text of more than 262144 characters is not searched
`

testBlocks(blamed, async (row) => {
  const [match = '', sent = '', expected] = row.split(' ⇒ ')
  const [payload = '', headers = '{}'] = sent.split(' @ ')
  assert.equal(String(await blame(parse(match), parse(payload), { headers: parse(headers) })), expected)
})

test('explaining an enormous list takes no longer than finding that it does not match', async () => {
  const items = Array.from({ length: 200_000 }, () => ({ a: 1 }))
  assert.match(String(await blame({ body: { items: { a: 2 } } }, { items })), /^match\.body\.items(\.a)?: /)
})

test('a clause that is the only one to fail is marked, because one other value would have matched', async () => {
  const pull = (draft: boolean, ref = 'main') => ({ pull_request: { draft, base: { ref } } })
  const body = { action: 'opened', ...pull(false) }
  const match = { source: 'ci', headers: { event: 'push' }, body, when: 'number > 5' }
  for (const [change, event, expected] of [
    [{}, 'push', undefined],
    [{ source: 'cd' }, 'push', 'match.source alone'],
    [{}, 'ping', 'match.headers.event alone'],
    [{ action: 'closed' }, 'push', 'match.body.action alone'],
    [{ number: 3 }, 'push', 'match.when alone'],
    [pull(true), 'push', 'match.body.pull_request.draft alone'],
    [pull(true, 'dev'), 'push', 'match.body.pull_request.draft'],
    [{ action: 'closed', number: 3 }, 'push', 'match.body.action'],
    [{ source: 'cd' }, 'ping', 'match.source'],
  ] as const) {
    const request = requestOf({ source: 'ci', number: 7, ...body, ...change }, { headers: { event } })
    const clause = await programOf('a', match).matcher.explain(createScope(request))
    assert.equal(clause && `${writePath(clause.path)}${clause.isOnly ? ' alone' : ''}`, expected)
  }
})
