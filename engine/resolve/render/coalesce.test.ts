import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  actionOf,
  agentOf,
  compileFixture,
  type Fixture,
  type Mapping,
  refusalOf,
  requestOf,
  snapshotOf,
} from '../../compile/fixture.ts'
import type { AnsweredAction } from '../../transform/port.ts'
import type { AgentAction } from '../model/decision.ts'

const limits = { windowMs: 10_000, maxWaitMs: 300_000, keep: 'latest', maxRunsPerHour: 60 } as const

function coalescing(key: string, more: Partial<Mapping> = {}): Mapping {
  return { message: 'x', ...more, coalesce: { ...limits, key } }
}

async function keyOf(key: string, payload: unknown, more?: Partial<Mapping>): Promise<string | undefined> {
  return (await agentOf(coalescing(key, more), payload)).coalesce?.key
}

test('an action has its mapping’s coalesce settings with the rendered key', async () => {
  const action = await agentOf(coalescing('{{repo}}:{{ref}}'), { repo: 'a/b', ref: 'refs/heads/main' })
  assert.deepEqual(action.coalesce, { ...limits, key: 'a/b:refs/heads/main' })
  assert.ok(Object.isFrozen(action.coalesce))
  assert.ok(!('coalesce' in (await agentOf({ message: 'x' }, {}))))
})

test('a key with a placeholder is a template, and any other key an expression', async () => {
  const payload = { ref: 'main', n: 7, draft: false, head: { id: 'c0', by: ['ada'] } }
  const keys = {
    '{{ref}}/{{n}}': 'main/7',
    ' {{ref}} ': 'main',
    '{% ref & "/" & n %}': 'main/7',
    'ref & "/" & n': 'main/7',
    '{% "{{" & ref %}': '{{main',
    ref: 'main',
    n: '7',
    draft: 'false',
    head: '{"id":"c0","by":["ada"]}',
    'head.by': '["ada"]',
    "'all of them'": 'all of them',
  }
  for (const [key, rendered] of Object.entries(keys)) assert.equal(await keyOf(key, payload), rendered, key)
})

test('a request whose key gives nothing is not coalesced', async () => {
  const payload = { blank: ' ', none: null, ref: 'main' }
  const keys = ['absent', 'none', 'blank', '""', '[][0]', '{{absent}}', '{{blank}}', '{{none}}']
  for (const key of keys) assert.equal(await keyOf(key, payload), undefined, key)
})

test('a key with a missing value coalesces nothing, because all requests without the value would be coalesced', async () => {
  const at = (payload: unknown) => keyOf('push:{{repo}}:{{ref}}', payload)
  assert.equal(await at({ repo: 'a', ref: 'b' }), 'push:a:b')
  assert.equal(await at({ repo: 'a' }), undefined)
  assert.equal(await at({ repo: 'a', ref: '' }), undefined)
  const optional = (payload: unknown) => keyOf('push:{{#if ref}}{{ref}}{{/if}}', payload)
  assert.equal(await optional({ ref: 'b' }), 'push:b')
  assert.equal(await optional({}), undefined)
  assert.equal(await keyOf('{{#if draft}}drafts{{else}}ready{{/if}}', {}), 'ready')
})

test('a strict mapping refuses an absent value in its key, and does not coalesce a blank one', async () => {
  const strict = coalescing('{{repo}}:{{ref}}', { strict: true })
  const { code, details } = await refusalOf(strict, { repo: 'a' })
  assert.deepEqual([code, details[0]?.pointer], ['ABSENT_FIELD', '/coalesce/key'])
  assert.equal((await agentOf(strict, { repo: 'a', ref: ' ' })).coalesce, undefined)
})

test('a key sees the same as templates and expressions: vars, params, headers, exact numbers', async () => {
  const vars = { repo: 'repository.full_name' }
  const body = '{"repository":{"full_name":"a/b"},"id":9007199254740993}'
  for (const key of ['{{vars.repo}} {{id}} {{params.team}}', 'vars.repo & " " & id & " " & params.team']) {
    const snapshot = snapshotOf([coalescing(key, { vars, match: { path: 't/:team' } })])
    const action = actionOf(await snapshot.resolve(requestOf(body, { endpoint: 't/core' }))) as AgentAction
    assert.equal(action.coalesce?.key, 'a/b 9007199254740993 core')
  }
})

test('with forEach each element has a key of its own', async () => {
  for (const key of ['{{item.ref}}', 'item.ref']) {
    const snapshot = snapshotOf([coalescing(key, { forEach: 'refs' })])
    const decision = await snapshot.resolve(requestOf({ refs: [{ ref: 'a' }, {}, { ref: 'c' }] }))
    assert.ok(decision.outcome === 'accepted')
    assert.deepEqual(
      decision.actions.map((action) => action.kind === 'agent' && action.coalesce?.key),
      ['a', undefined, 'c'],
    )
  }
})

test('a key that fails refuses the request, with its place and without a value', async () => {
  const { code, message, details } = await refusalOf(coalescing('$number(ref)', { id: 'push' }), {
    ref: 'hush',
  })
  assert.equal(code, 'EXPRESSION_FAILED')
  assert.match(message, /^mapping "push": coalesce\.key: .*D3030/)
  assert.equal(details[0]?.pointer, '/coalesce/key')
  assert.doesNotMatch(message, /hush/)
  const large = await refusalOf(
    coalescing('{{text}}'),
    { text: 'x'.repeat(2000) },
    { hooks: { maxRenderedBytes: 1000 } },
  )
  assert.deepEqual([large.code, large.details[0]?.pointer], ['TOO_LARGE_RENDERED', '/coalesce/key'])
})

test('a key that is neither a template nor an expression is refused at load, with the place of the mistake', () => {
  const broken = { '{{ref': 'TEMPLATE_SYNTAX', 'ref &': 'EXPRESSION_SYNTAX', '{% ( %}': 'EXPRESSION_SYNTAX' }
  for (const [key, code] of Object.entries(broken)) {
    const compiled = compileFixture([coalescing(key)])
    assert.ok(!compiled.ok, key)
    assert.deepEqual(
      compiled.diagnostics.map((each) => each.code),
      [code],
    )
    const [{ message, place } = assert.fail()] = compiled.diagnostics
    assert.match(message, /^`coalesce\.key` of mapping "first"/)
    assert.ok(place && place.line === 1 && place.column > '    key: '.length)
  }
})

test('a long key is shortened with a digest of all of it, so that no two keys become one', async () => {
  const of = async (text: string) => (await keyOf('{{text}}', { text })) ?? ''
  const whole = 'x'.repeat(512)
  assert.equal(await of(whole), whole)
  const long = await Promise.all([`${whole}a`, `${whole}b`, `${whole}\ud800`, `${whole}\ud801`].map(of))
  assert.equal(new Set(long).size, 4)
  for (const key of long) assert.match(key, /^x{64}… sha256:[0-9a-f]{64}$/)
  assert.equal(await of(`${whole}a`), long[0])
})

/** Answers as a worker does, with one action or a list of them. */
function answering(texts: readonly string[], action?: string): Fixture {
  const answers = texts.map(
    (value): AnsweredAction => ({ message: { value }, ...(action && { action: { value: action } }) }),
  )
  const [first] = answers
  const answer =
    answers.length > 1
      ? ({ kind: 'list', actions: answers } as const)
      : { kind: 'one' as const, action: first }
  return { transforms: { 'a.ts': async () => answer } }
}

test('actions that a transform makes of one request are never coalesced with each other, only with those of other requests', async () => {
  const mapping = coalescing('ref', { transform: { module: 'a.ts' } })
  const keysOf = async (fixture: Fixture) => {
    const decision = await snapshotOf([mapping], fixture).resolve(requestOf({ ref: 'main' }))
    assert.ok(decision.outcome === 'accepted')
    return decision.actions.map((action) => action.kind === 'agent' && action.coalesce?.key)
  }
  assert.deepEqual(await keysOf(answering(['one'])), ['main'])
  assert.deepEqual(await keysOf(answering(['one', 'two', 'three'])), ['main', '["main",1]', '["main",2]'])
})

test('coalesce and busy are dropped if a transform makes a wake of the action', async () => {
  const mapping = coalescing('ref', { busy: 'reject', transform: { module: 'a.ts' } })
  const snapshot = snapshotOf([mapping], answering(['one'], 'wake'))
  const action = actionOf(await snapshot.resolve(requestOf({ ref: 'main' })))
  assert.deepEqual(
    ['coalesce', 'busy'].filter((name) => name in action),
    [],
  )
})

test('explain shows busy if it is reject, and not if the run waits', async () => {
  assert.equal((await agentOf({ message: 'x', busy: 'reject' }, {})).busy, 'reject')
  assert.ok(!('busy' in (await agentOf({ message: 'x', busy: 'queue' }, {}))))
})

test('explain shows the key with its values, and that busy was set', async () => {
  const template = snapshotOf([coalescing('{{repo}}:{{ref}}', { busy: 'reject' })])
  const [action] = (await template.explain(requestOf({ repo: 'a', ref: 'b' }))).actions
  assert.deepEqual(action?.fields.slice(-2), [
    { field: 'busy', value: 'reject', from: 'literal', sources: [] },
    {
      field: 'coalesce.key',
      value: 'a:b',
      from: 'template',
      sources: [
        { path: 'repo', value: '"a"' },
        { path: 'ref', value: '"b"' },
      ],
    },
  ])
  const alone = (await template.explain(requestOf({ repo: 'a' }))).actions[0]
  const keyField = alone?.fields.find(({ field }) => field === 'coalesce.key')
  assert.equal(keyField?.value, 'nothing, so the request stands alone')
  const expression = snapshotOf([coalescing('token')])
  const [hidden] = (await expression.explain(requestOf({ token: 'sekret-value' }))).actions
  assert.deepEqual(hidden?.fields.at(-1), {
    field: 'coalesce.key',
    value: '…',
    from: 'expression',
    sources: [],
  })
})
