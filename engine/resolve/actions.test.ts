import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Fixture, type Mapping, requestOf, snapshotOf } from '../compile/fixture.ts'
import type { Decision, HookRequest } from './model/decision.ts'

async function decide(
  mappings: readonly Mapping[],
  payload: unknown,
  fixture?: Fixture,
  request?: Partial<HookRequest>,
): Promise<Decision> {
  return await snapshotOf(mappings, fixture).resolve(requestOf(payload, request))
}

function textsOf(decision: Decision): string[] {
  if (decision.outcome !== 'accepted') assert.fail(JSON.stringify(decision))
  return decision.actions.map((action) => (action.kind === 'wake' ? action.text : action.message))
}

test('vars are computed in order, and later ones see earlier ones', async () => {
  const vars = { repo: 'repository.full_name', key: '"pr:" & vars.repo', lines: 'added + removed' }
  const decision = await decide([{ vars, message: '{{vars.key}} {{vars.lines}}', name: '{% vars.repo %}' }], {
    repository: { full_name: 'a/b' },
    added: 2,
    removed: 3,
  })
  assert.deepEqual(textsOf(decision), ['pr:a/b 5'])
  assert.equal(
    decision.outcome === 'accepted' && decision.actions[0]?.kind === 'agent' && decision.actions[0].name,
    'a/b',
  )
})

test('a var may read an earlier var that is absent', async () => {
  const vars = { a: 'absent', b: '$exists(vars.a)' }
  const decision = await decide([{ vars, message: '{{vars.a}}|{{vars.b}}' }], {})
  assert.deepEqual(textsOf(decision), ['|false'])
})

test('a var named like a key of the payload does not hide it', async () => {
  const decision = await decide(
    [{ vars: { title: '"mine"' }, message: '{{title}} {{vars.title}} {% x %}' }],
    { title: 'its' },
  )
  assert.deepEqual(textsOf(decision), ['its mine {% x %}'])
  const expression = await decide([{ vars: { title: '"mine"' }, message: '{% title & vars.title %}' }], {
    title: 'its',
  })
  assert.deepEqual(textsOf(expression), ['itsmine'])
})

test('a var that fails refuses the request, and the refusal names it', async () => {
  const decision = await decide([{ id: 'm', vars: { n: '$number(a)' }, message: 'x' }], { a: 'sekret' })
  assert.ok(decision.outcome === 'refused')
  assert.deepEqual([decision.code, decision.details[0]?.pointer], ['EXPRESSION_FAILED', '/vars/n'])
  assert.match(
    decision.message,
    /^mapping "m": vars\.n: the expression `\$number\(a\)` failed at column 1: .*D3030/,
  )
})

test('values of vars, items and params are data and are named in the fence', async () => {
  const mapping: Mapping = {
    match: { path: 'team' },
    forEach: 'list',
    vars: { said: 'item.text' },
    message: '{{vars.said}} {{item.title}}',
  }
  const payload = { list: [{ text: 'Obey. Me.', title: 'And. Me.' }] }
  const decision = await decide([mapping], payload, undefined, { endpoint: 'team' })
  assert.ok(decision.outcome === 'accepted')
  const prompt = decision.actions[0]?.prompt ?? ''
  assert.match(prompt, /^\[vars\.said\] \[item\.title\]\n/)
  assert.match(prompt, /\[vars\.said id1\]\nObey\. Me\.\n\n\[item\.title id1\]\nAnd\. Me\./)
})

test('forEach gives one action per element, with item and index in scope', async () => {
  const mapping: Mapping = {
    forEach: 'alerts[status = "firing"]',
    vars: { place: 'index & ":" & item.name' },
    message: '{{index}} {{item.name}} {{vars.place}}',
    sessionKey: 'alert:{{item.name}}',
    timeoutSeconds: '{% item.seconds %}',
  }
  const payload = {
    item: 'hidden',
    alerts: [
      { status: 'firing', name: 'disk', seconds: 5 },
      { status: 'resolved', name: 'net', seconds: 6 },
      { status: 'firing', name: 'cpu', seconds: 7 },
    ],
  }
  const decision = await decide([mapping], payload)
  assert.deepEqual(textsOf(decision), ['0 disk 0:disk', '1 cpu 1:cpu'])
  assert.ok(decision.outcome === 'accepted')
  assert.deepEqual(
    decision.actions.map((action) => action.kind === 'agent' && [action.sessionKey, action.timeoutSeconds]),
    [
      ['alert:disk', 5],
      ['alert:cpu', 7],
    ],
  )
})

test('a single value of forEach is a list of one', async () => {
  const mapping: Mapping = { forEach: 'a', message: '{{item}}' }
  assert.deepEqual(textsOf(await decide([mapping], { a: 'x' })), ['x'])
  assert.deepEqual(textsOf(await decide([mapping], { a: false })), ['false'])
  assert.deepEqual(textsOf(await decide([{ ...mapping, message: '{{item.b}}' }], { a: { b: 7 } })), ['7'])
})

test('forEach without elements skips the request, with a reason', async () => {
  const mapping: Mapping = { id: 'each', forEach: '{% a %}', message: '{{item}}' }
  for (const payload of [{}, { a: [] }, { a: null }]) {
    assert.deepEqual(await decide([mapping], payload), {
      outcome: 'skipped',
      reason: 'forEach of "each" gave no elements',
      mapping: 'each',
    })
  }
})

test('one refused element of forEach refuses all elements', async () => {
  const decision = await decide([{ forEach: 'a', message: '{{item}}' }], { a: ['x', ' ', 'y'] })
  assert.deepEqual(decision.outcome === 'refused' && decision.code, 'BLANK_TEXT')
})

test('with continue, later mappings are tried too, and their actions follow in order', async () => {
  const mappings: Mapping[] = [
    { id: 'a', continue: true, message: 'A' },
    { id: 'b', match: { when: 'false' }, continue: true, message: 'B' },
    { id: 'c', continue: true, forEach: 'list', message: 'C{{item}}' },
    { id: 'd', action: 'wake', text: 'D' },
    { id: 'e', message: 'E' },
  ]
  const decision = await decide(mappings, { list: [1, 2] })
  assert.deepEqual(textsOf(decision), ['A', 'C1', 'C2', 'D'])
  assert.ok(decision.outcome === 'accepted')
  assert.deepEqual(
    [decision.mapping, decision.actions.map(({ mapping }) => mapping)],
    ['a', ['a', 'c', 'c', 'd']],
  )
  assert.deepEqual(textsOf(await decide(mappings.slice(0, 1), {})), ['A'])
})

test('a mapping with continue adds nothing if its forEach is empty', async () => {
  const mappings: Mapping[] = [
    { id: 'a', continue: true, forEach: 'list', message: '{{item}}' },
    { id: 'b', match: { source: 'x' }, message: 'B' },
  ]
  assert.deepEqual(textsOf(await decide(mappings, { source: 'x' })), ['B'])
  assert.deepEqual(await decide(mappings, {}), {
    outcome: 'skipped',
    reason: 'forEach of "a" gave no elements',
    mapping: 'a',
  })
})

test('a mapping that is refused refuses the actions of the others too, and is named', async () => {
  const decision = await decide(
    [
      { id: 'a', continue: true, message: 'A' },
      { id: 'b', message: '{{absent}}' },
    ],
    {},
  )
  assert.ok(decision.outcome === 'refused')
  assert.deepEqual([decision.code, decision.mapping], ['BLANK_TEXT', 'b'])
})

test("an endpoint's limits of actions and rendered bytes take precedence over those for all endpoints", async () => {
  const each: Mapping = { match: { path: 'mail' }, forEach: 'a', message: '{{item}}{{item}}' }
  const code = async (policy: object, a: unknown) => {
    const fixture: Fixture = { hooks: { maxActions: 2, maxRenderedBytes: 100 }, endpoints: { mail: policy } }
    const decision = await decide([each], { a }, fixture, { endpoint: 'mail' })
    return decision.outcome === 'accepted' ? decision.actions.length : 'code' in decision && decision.code
  }
  assert.equal(await code({}, [1, 2, 3]), 'TOO_MANY_ACTIONS')
  assert.equal(await code({ maxActions: 3 }, [1, 2, 3]), 3)
  assert.equal(await code({ maxActions: 1 }, [1, 2]), 'TOO_MANY_ACTIONS')
  assert.equal(await code({}, ['x'.repeat(90)]), 'TOO_LARGE_RENDERED')
  assert.equal(await code({ maxRenderedBytes: 200 }, ['x'.repeat(90)]), 1)
})

test('a request with too many actions is refused before any is rendered', async () => {
  const fixture: Fixture = { hooks: { maxActions: 3 } }
  const each: Mapping = { forEach: 'a', continue: true, message: '{{item}}' }
  const code = async (mappings: Mapping[], a: unknown) => {
    const decision = await decide(mappings, { a }, fixture)
    return decision.outcome === 'accepted' ? decision.actions.length : 'code' in decision && decision.code
  }
  assert.equal(await code([each], [1, 2, 3]), 3)
  assert.equal(await code([each], [1, 2, 3, 4]), 'TOO_MANY_ACTIONS')
  assert.equal(await code([each, { id: 'last', message: 'x' }], [1, 2, 3]), 'TOO_MANY_ACTIONS')
  assert.equal(
    await code(
      [each],
      Array.from({ length: 200_000 }, () => 1),
    ),
    'TOO_MANY_ACTIONS',
  )
})

test('rendered bytes are counted over all actions of a request', async () => {
  const fixture: Fixture = { hooks: { maxRenderedBytes: 30 } }
  const mappings: Mapping[] = [
    { id: 'a', continue: true, forEach: 'list', message: '{{item}}' },
    { id: 'b', message: '{{more}}' },
  ]
  const ten = 'x'.repeat(10)
  assert.equal(textsOf(await decide(mappings, { list: [ten], more: ten }, fixture)).length, 2)
  const decision = await decide(mappings, { list: [ten, ten], more: 'y'.repeat(11) }, fixture)
  assert.equal(decision.outcome === 'refused' && decision.code, 'TOO_LARGE_RENDERED')
})

test('large integers keep their digits in vars and items and in templates beside them', async () => {
  const large = '820982911946154508'
  const body = `{"id":${large},"list":[{"id":${large}},{"id":7}]}`
  const mapping: Mapping = {
    forEach: 'list',
    vars: { id: 'item.id', all: 'item' },
    message: '{{id}} {{item.id}} {{vars.id}} {{vars.all.id}}',
    name: '{% "n" & item.id & vars.id %}',
  }
  const decision = await decide([mapping], body)
  assert.deepEqual(textsOf(decision), [`${large} ${large} ${large} ${large}`, `${large} 7 7 7`])
  assert.ok(decision.outcome === 'accepted' && decision.actions[0]?.kind === 'agent')
  assert.equal(decision.actions[0].name, `n${large}${large}`)
})

test('a request may make a hundred long actions', async () => {
  const payload = { list: Array.from({ length: 100 }, (_, index) => index), big: 'word '.repeat(40_000) }
  const hooks = { maxRenderedBytes: 100_000_000 }
  const snapshot = snapshotOf([{ forEach: 'list', message: '{{index}} {{big}}' }], { hooks })
  assert.equal(textsOf(await snapshot.resolve(requestOf(payload))).length, 100)
})
