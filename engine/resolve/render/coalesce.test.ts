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
import type { AgentAction } from '../decision.ts'

const limits = { windowMs: 10_000, maxWaitMs: 300_000, keep: 'latest', maxRunsPerHour: 60 } as const

function coalescing(key: string, more: Partial<Mapping> = {}): Mapping {
  return { message: 'x', ...more, coalesce: { ...limits, key } }
}

async function keyOf(key: string, payload: unknown, more?: Partial<Mapping>): Promise<string | undefined> {
  return (await agentOf(coalescing(key, more), payload)).coalesce?.key
}

test('an action has its mapping’s coalesce, with the key as it was rendered', async () => {
  const action = await agentOf(coalescing('{{repo}}:{{ref}}'), { repo: 'a/b', ref: 'refs/heads/main' })
  assert.deepEqual(action.coalesce, { ...limits, key: 'a/b:refs/heads/main' })
  assert.ok(Object.isFrozen(action.coalesce))
  assert.ok(!('coalesce' in (await agentOf({ message: 'x' }, {}))))
})

test('a key is a template where it has a placeholder, and an expression otherwise', async () => {
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

test('a request whose key gives nothing stands alone', async () => {
  const payload = { blank: ' ', none: null, ref: 'main' }
  const keys = ['absent', 'none', 'blank', '""', '[][0]', '{{absent}}', '{{blank}}', '{{none}}']
  for (const key of keys) assert.equal(await keyOf(key, payload), undefined, key)
})

test('where one value of a template is missing nothing is joined, since all that lack it would be', async () => {
  const at = (payload: unknown) => keyOf('push:{{repo}}:{{ref}}', payload)
  assert.equal(await at({ repo: 'a', ref: 'b' }), 'push:a:b')
  assert.equal(await at({ repo: 'a' }), undefined)
  assert.equal(await at({ repo: 'a', ref: '' }), undefined)
  const optional = (payload: unknown) => keyOf('push:{{#if ref}}{{ref}}{{/if}}', payload)
  assert.equal(await optional({ ref: 'b' }), 'push:b')
  assert.equal(await optional({}), undefined)
  assert.equal(await keyOf('{{#if draft}}drafts{{else}}ready{{/if}}', {}), 'ready')
})

test('a strict mapping refuses an absent value in its key, and still lets a blank one stand alone', async () => {
  const strict = coalescing('{{repo}}:{{ref}}', { strict: true })
  const { code, details } = await refusalOf(strict, { repo: 'a' })
  assert.deepEqual([code, details[0]?.pointer], ['ABSENT_FIELD', '/coalesce/key'])
  assert.equal((await agentOf(strict, { repo: 'a', ref: ' ' })).coalesce, undefined)
})

test('a key sees what templates and expressions see: vars, params, headers, exact numbers', async () => {
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

test('a key that fails refuses the request, and says where without a value', async () => {
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

test('what is no template and no expression is refused at load, where it goes wrong', () => {
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

test('a long key is cut to a digest of all of it, so that no two become one', async () => {
  const of = async (text: string) => (await keyOf('{{text}}', { text })) ?? ''
  const whole = 'x'.repeat(512)
  assert.equal(await of(whole), whole)
  const long = await Promise.all([`${whole}a`, `${whole}b`, `${whole}\ud800`, `${whole}\ud801`].map(of))
  assert.equal(new Set(long).size, 4)
  for (const key of long) assert.match(key, /^x{64}… sha256:[0-9a-f]{64}$/)
  assert.equal(await of(`${whole}a`), long[0])
})

/** As a worker answers one action, or a list of them. */
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

test('what a transform makes of one request keeps apart, each joined with its like of other requests', async () => {
  const mapping = coalescing('ref', { transform: { module: 'a.ts' } })
  const keysOf = async (fixture: Fixture) => {
    const decision = await snapshotOf([mapping], fixture).resolve(requestOf({ ref: 'main' }))
    assert.ok(decision.outcome === 'accepted')
    return decision.actions.map((action) => action.kind === 'agent' && action.coalesce?.key)
  }
  assert.deepEqual(await keysOf(answering(['one'])), ['main'])
  assert.deepEqual(await keysOf(answering(['one', 'two', 'three'])), ['main', '["main",1]', '["main",2]'])
})

test('a transform that makes a wake of it takes coalesce and busy away', async () => {
  const mapping = coalescing('ref', { busy: 'reject', transform: { module: 'a.ts' } })
  const snapshot = snapshotOf([mapping], answering(['one'], 'wake'))
  const action = actionOf(await snapshot.resolve(requestOf({ ref: 'main' })))
  assert.deepEqual(
    ['coalesce', 'busy'].filter((name) => name in action),
    [],
  )
})

test('busy is told where it rejects, and is nothing to tell where a run waits its turn', async () => {
  assert.equal((await agentOf({ message: 'x', busy: 'reject' }, {})).busy, 'reject')
  assert.ok(!('busy' in (await agentOf({ message: 'x', busy: 'queue' }, {}))))
})

test('explain tells the key with what went into it, and that busy was written', async () => {
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
