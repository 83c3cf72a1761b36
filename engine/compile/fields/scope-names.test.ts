import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Decision } from '../../resolve/model/decision.ts'
import { compileFixture, type Mapping, requestOf, snapshotOf } from '../fixture.ts'

/** Returns message and session key of each action. */
async function rendered(mapping: Mapping, payload: unknown, endpoint = 'test') {
  const decision: Decision = await snapshotOf([mapping]).resolve(requestOf(payload, { endpoint }))
  assert.equal(decision.outcome, 'accepted', JSON.stringify(decision))
  return decision.outcome !== 'accepted'
    ? []
    : decision.actions.map((action) => (action.kind === 'agent' ? [action.message, action.sessionKey] : []))
}

async function messagesOf(mapping: Mapping, payload: unknown, endpoint?: string) {
  return (await rendered(mapping, payload, endpoint)).map(([message]) => message)
}

/** Returns code, field and hint of each problem of a mapping. */
function problems(mapping: Mapping) {
  const compiled = compileFixture([mapping])
  const found = compiled.ok ? compiled.warnings : compiled.diagnostics
  return found.map(({ code, message, hint }) => [code, message, hint])
}

const message = 'New: {{item.title}} #{{index}} {{params.tenant}} {{vars.x}}'
const expression = '{% "New: " & item.title & " #" & index & " " & params.tenant & " " & vars.x %}'
const payload = { item: { title: 'Launch' }, index: 4, params: { tenant: 'b' }, vars: { x: 9 } }

test('item, index, params and vars are the payload’s own in a mapping where the reserved names have no value', async () => {
  for (const text of [message, expression]) {
    assert.deepEqual(await messagesOf({ message: text }, payload), ['New: Launch #4 b 9'])
    assert.deepEqual(
      await messagesOf({ message: text, match: { when: 'item.title = "Launch" and index = 4' } }, payload),
      ['New: Launch #4 b 9'],
    )
  }
  const inBlocks = '{{#each item}}{{../index}}{{@root.vars.x}}{{/each}}'
  assert.deepEqual(await messagesOf({ message: inBlocks }, payload), ['49'])
})

test('each reserved name has its reserved meaning where it has a value, whatever the others mean', async () => {
  for (const text of [message, expression]) {
    assert.deepEqual(
      await messagesOf({ forEach: '[{"title": "a"}, {"title": "b"}]', message: text }, payload),
      ['New: a #0 b 9', 'New: b #1 b 9'],
    )
    assert.deepEqual(await messagesOf({ vars: { x: '1' }, message: text }, payload), ['New: Launch #4 b 1'])
    const match = { path: 'of/:tenant' }
    assert.deepEqual(await messagesOf({ match, message: text }, payload, 'of/c'), ['New: Launch #4 c 9'])
  }
})

test('forEach may iterate over a list of the payload that is called item', async () => {
  assert.deepEqual(
    await messagesOf({ forEach: 'item.lines', message: '{{item}}' }, { item: { lines: [1, 2] } }),
    ['1', '2'],
  )
})

const mails = {
  messages: [
    { id: 'm1', subject: 'One' },
    { id: 'm2', subject: 'Two' },
  ],
}

test('the first element of the list in forEach is the current element, as in OpenClaw', async () => {
  const mapping: Mapping = {
    forEach: 'messages',
    sessionKey: 'hook:gmail:{{messages[0].id}}',
    message: 'Subject: {{messages[0].subject}} of {{messages.length}}',
  }
  assert.deepEqual(await rendered(mapping, mails), [
    ['Subject: One of 1', 'hook:gmail:m1'],
    ['Subject: Two of 1', 'hook:gmail:m2'],
  ])
  const expressions: Mapping = {
    ...mapping,
    vars: { subject: 'messages[0].subject' },
    dedupe: { enabled: true, key: 'messages[0].id' },
    message: '{% vars.subject & " " & payload.messages[0].id %}',
  }
  assert.deepEqual(await messagesOf(expressions, mails), ['One m1', 'Two m1'])
})

test('the list stays the payload’s if the element is read as item', async () => {
  const mapping: Mapping = {
    forEach: 'messages',
    message: '{{item.subject}} of {{messages.length}}, first {{payload.messages[0].id}}',
  }
  assert.deepEqual(await messagesOf(mapping, mails), ['One of 2, first m1', 'Two of 2, first m1'])
})

test('a mapping that reads both item and the first element of the list is refused', () => {
  assert.deepEqual(
    problems({ forEach: 'messages', sessionKey: 'hook:m:{{messages[0].id}}', message: '{{item.subject}}' }),
    [
      [
        'AMBIGUOUS_ELEMENT',
        '`sessionKey` of mapping "first": reads messages[0] beside `item`, so that it is not clear which element is meant',
        'Write item for the element that the action is about, and payload.messages[0] for the first of all.',
      ],
    ],
  )
})

test('a transform gets the whole list, and the mapping gets a warning about that', () => {
  const transform = { module: 'mail.ts' }
  const compiled = compileFixture([{ forEach: 'messages', transform, message: '{{messages[0].subject}}' }], {
    transforms: { 'mail.ts': async () => ({ kind: 'one', action: null }) },
  })
  assert.deepEqual(compiled.ok && compiled.warnings.map(({ code }) => code), ['ELEMENT_IN_TRANSFORM'])
})

test('a reserved name that has no value yet is refused where it is read', () => {
  const forEach = 'items'
  const vars = { a: '1', b: 'vars.a', c: 'vars.d', d: 'vars.d' }
  for (const [mapping, ...messages] of [
    [
      { forEach, match: { when: 'item.id = 1' } },
      'reads item, which has no value yet: it is asked once, before forEach',
    ],
    [{ vars: { a: '1' }, match: { when: 'vars.a = 1' } }, 'reads vars, which are computed after it'],
    [{ vars: { a: '1' }, forEach: 'vars.a' }, 'reads vars, which are computed after it'],
    [{ vars }, 'reads vars.d, which is computed after it', 'reads vars.d, which is itself'],
  ] as const) {
    const found = problems({ message: 'x', ...mapping })
    assert.deepEqual(
      found.map(([code]) => code),
      messages.map(() => 'NAME_WITHOUT_VALUE'),
    )
    for (const [index, words] of messages.entries())
      assert.ok(found[index]?.[1]?.endsWith(words), found[index]?.[1])
  }
})

test('explaining a request resolves names as deciding it does', async () => {
  const explained = await snapshotOf([{ message }]).explain(requestOf(payload))
  assert.match(JSON.stringify(explained.actions), /New: Launch #4 b 9/)
})
