import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Mapping, requestOf, snapshotOf } from '../../compile/fixture.ts'
import type { Decision, HookRequest } from '../model/decision.ts'

const mapping = (id: string, match: Mapping['match']): Mapping => ({ id, match, message: 'x' })

async function matched(
  mappings: readonly Mapping[],
  payload: unknown,
  request?: Partial<HookRequest>,
): Promise<string | undefined> {
  const decision = await snapshotOf(mappings).resolve(requestOf(payload, request))
  return decision.outcome === 'accepted' ? decision.mapping : undefined
}

test('no catch-all takes a wake or an agent body', async () => {
  const snapshot = snapshotOf([mapping('any', undefined)])
  const decision = await snapshot.resolve(requestOf({ text: 'x' }, { endpoint: 'wake' }))
  assert.equal(decision.outcome === 'accepted' && decision.mapping, undefined)
})

test('only the result true of an expression matches', async () => {
  const when = (source: string) =>
    matched([mapping('a', { when: source })], { n: 5, s: 'true', list: [true, true], draft: false })
  assert.equal(await when('n > 3'), 'a')
  assert.equal(await when('{% n > 3 %}'), 'a')
  for (const source of ['n', 's', 'list', 'absent', 'absent = 5', 'draft', '$not']) {
    assert.equal(await when(source), undefined, source)
  }
})

test('an expression sees the same names as templates', async () => {
  const when =
    'headers.event = "push" and path = "test" and query.q = "1" and payload.path = "mine" and a = 1 and now = "2026-01-02T03:04:05.000Z"'
  const request = { headers: { event: 'push' }, query: { q: '1' } }
  assert.equal(await matched([mapping('a', { when })], { a: 1, path: 'mine' }, request), 'a')
  assert.equal(await matched([mapping('a', { when: 'payload[0].a = 1' })], [{ a: 1 }]), 'a')
})

test('an expression that fails does not match, and later mappings are tried', async () => {
  const mappings = [mapping('bad', { when: 'a + b > 1' }), mapping('good', undefined)]
  assert.equal(await matched(mappings, { a: 1, b: 'x' }), 'good')
})

test('if nothing matches, the reason says so and why conditions failed, without any value', async () => {
  const mappings = [
    mapping('a', { path: 'test', source: 'x' }),
    mapping('b', { when: '$number(secret) > 1' }),
    mapping('c', { when: 'false' }),
  ]
  const decision = await snapshotOf(mappings).resolve(requestOf({ secret: 'hush' }))
  const reason = decision.outcome === 'ignored' ? decision.reason : ''
  assert.match(
    reason,
    /^no mapping of endpoint "test" matched \(3 tried\); match\.when of "b" failed: .*D3030/,
  )
  assert.doesNotMatch(reason, /hush|"c"/)
})

test('an endpoint with a policy and no mappings ignores every request', async () => {
  const snapshot = snapshotOf([], { endpoints: { quiet: {} } })
  assert.equal(snapshot.covers('quiet'), true)
  assert.deepEqual(await snapshot.resolve(requestOf({}, { endpoint: 'quiet' })), {
    outcome: 'ignored',
    reason: 'endpoint "quiet" has no mappings',
  })
})

test('expressions and templates see the values that the path took from the endpoint’s name', async () => {
  const match = { path: 'git/:owner/:repo', when: 'params.owner = "ann"' }
  const snapshot = snapshotOf([
    { id: 'a', match, message: '{{params.repo}}' },
    { id: 'b', match: { path: 'git/:who/:what' }, message: '{{params.what}} of {{params.who}}' },
  ])
  const messageAt = async (endpoint: string) => {
    const decision = await snapshot.resolve(requestOf({}, { endpoint }))
    const action = decision.outcome === 'accepted' ? decision.actions[0] : undefined
    return action?.kind === 'agent' ? action.message : undefined
  }
  assert.equal(await messageAt('git/ann/lamp'), 'lamp')
  assert.equal(await messageAt('git/bob/lamp'), 'lamp of bob')
  assert.equal(await messageAt('git/bob'), undefined)
})

test('a clause that could not be decided is named in the reason, without any value', async () => {
  const mappings = [mapping('a', { body: { text: { pattern: 'x' } } })]
  const decision = await snapshotOf(mappings).resolve(requestOf({ text: 'hush'.repeat(100_000) }))
  assert.deepEqual(decision, {
    outcome: 'ignored',
    reason:
      'no mapping of endpoint "test" matched (1 tried); match.body.text.pattern of "a" failed: ' +
      'a text of more than 262144 characters is not searched',
  } satisfies Decision)
})
