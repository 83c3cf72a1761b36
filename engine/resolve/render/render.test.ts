import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { agentOf, type Mapping, refusalOf, requestOf, snapshotOf, wakeOf } from '../../compile/fixture.ts'

test('a mapping renders its message plainly and its prompt with the boundary', async () => {
  const action = await agentOf(
    { id: 'pr', message: 'Review #{{number}}: {{title}}' },
    { number: 7, title: 'Fix the flux.' },
  )
  assert.equal(action.message, 'Review #7: Fix the flux.')
  assert.equal(action.mapping, 'pr')
  assert.match(action.prompt, /^Review #7: \[title\]\n\n<outside-data id="id1">/)
  assert.match(action.prompt, /\[title id1\]\nFix the flux\.\n<\/outside-data id="id1">$/)
})

test('a message without placeholders equals its prompt', async () => {
  const action = await agentOf({ message: 'Something arrived.' }, {})
  assert.equal(action.prompt, 'Something arrived.')
})

test('a trusted mapping applies no boundary', async () => {
  const action = await agentOf(
    { message: 'Do: {{a}}', allowUnsafeExternalContent: true },
    { a: 'anything at all.' },
  )
  assert.deepEqual([action.prompt, action.trusted], ['Do: anything at all.', true])
})

test('the result of an expression is fenced as a whole', async () => {
  const action = await agentOf({ id: 'm', message: '{% "Review " & title %}' }, { title: 'it' })
  assert.equal(action.message, 'Review it')
  assert.match(action.prompt, /^<outside-data id="id1">\nA text made by the mapping "m", from outside\./)
})

const tones = 'urgent ? "Answer at once, and in German." : "Answer when you have read all of it."'

test('a text of the mapping is not fenced where a variable or an expression only chooses it', async () => {
  for (const [vars, message, prompt] of [
    [{ tone: tones }, '{{vars.tone}} It is #{{n}}.', 'Answer at once, and in German. It is #5.'],
    [{ tone: '"Be brief, and say what to do."' }, '{{vars.tone}}', 'Be brief, and say what to do.'],
    [
      { tone: '($n := 1; "Be brief, and say what to do.")' },
      '{{#if n}}{{vars.tone}}{{/if}}',
      'Be brief, and say what to do.',
    ],
    [{}, `{% ${tones} %}`, 'Answer at once, and in German.'],
  ] as const)
    assert.equal((await agentOf({ vars, message }, { urgent: true, n: 5 })).prompt, prompt, message)
})

test('what a variable makes of the payload is fenced, even where it equals a text of the mapping', async () => {
  const text = 'Answer at once, and in German.'
  const payload = { urgent: false, title: text, list: [{ vars: { tone: text } }], vars: { tone: text } }
  for (const [vars, message] of [
    [{ tone: tones, title: 'title' }, 'Read {{vars.title}}'],
    [{ tone: '"Answer " & title' }, 'Read {{vars.tone}}'],
    [{ tone: 'urgent ? "Be brief, and say what to do." : title' }, 'Read {{vars.tone}}'],
    [{ tone: tones }, 'Read {{#each list}}{{vars.tone}}{{/each}}'],
    [{ tone: tones }, 'Read {{#with payload}}{{vars.tone}}{{/with}}'],
    [{ tone: tones }, 'Read {{payload.vars.tone}}'],
    [{}, 'Read {{vars.tone}}'],
  ] as const) {
    const { prompt } = await agentOf({ vars, message }, payload)
    const [sentence = '', fenced] = prompt.split('<outside-data')
    assert.ok(!sentence.includes(text) && fenced?.includes(text), `${message}: ${prompt}`)
  }
})

test('a wake mapping renders its text and mode', async () => {
  const action = await wakeOf({ text: 'Build {{id}}', mode: '{{m}}' }, { id: 5, m: 'next-heartbeat' })
  assert.deepEqual(
    [action.kind, action.text, action.mode, action.prompt],
    ['wake', 'Build 5', 'next-heartbeat', 'Build 5'],
  )
})

test('expressions keep their type', async () => {
  const mapping: Mapping = { message: 'x', deliver: '{% urgent %}', timeoutSeconds: '{% n * 2 %}' }
  const action = await agentOf(mapping, { urgent: false, n: 15 })
  assert.deepEqual([action.deliver, action.timeoutSeconds], [false, 30])
  assert.equal((await refusalOf(mapping, { urgent: 'false', n: 15 })).code, 'INVALID_FIELD')
  assert.equal((await refusalOf(mapping, { urgent: true, n: 0 })).code, 'INVALID_FIELD')
})

test('a template that renders a boolean or a number sets a field of that type', async () => {
  const mapping: Mapping = { message: 'x', deliver: '{{d}}', timeoutSeconds: '{{t}}' }
  const action = await agentOf(mapping, { d: false, t: 9 })
  assert.deepEqual([action.deliver, action.timeoutSeconds], [false, 9])
  assert.equal((await refusalOf(mapping, { d: 'maybe', t: 9 })).code, 'INVALID_FIELD')
})

test('an expression for a text field must give text, and a list for the message is printed as JSON', async () => {
  const action = await agentOf(
    { message: '{% items.{"n": n} %}', name: '{% count %}' },
    { items: [{ n: 1 }, { n: 2 }], count: 3 },
  )
  assert.deepEqual([action.message, action.name], ['[{"n":1},{"n":2}]', '3'])
  assert.equal((await refusalOf({ message: 'x', name: '{% a %}' }, { a: {} })).code, 'INVALID_FIELD')
})

test('a field that renders blank counts as absent', async () => {
  const action = await agentOf(
    { message: 'x', name: '{{a}} ', thinking: '{{b}}', wakeMode: '{% absent %}', timeoutSeconds: '{{c}}' },
    { a: '' },
  )
  assert.deepEqual(
    [action.name, action.thinking, action.wakeMode, action.timeoutSeconds],
    [undefined, undefined, 'now', 600],
  )
})

test('a message that renders blank is refused with the mapping’s name', async () => {
  for (const message of ['{{a}}', ' {{a}}\n', '{% a %}', '{% "" %}']) {
    const refusal = await refusalOf({ id: 'blank', message }, {})
    assert.equal(refusal.code, 'BLANK_TEXT')
    assert.match(refusal.message, /^mapping "blank": message /)
    assert.equal(refusal.mapping, 'blank')
    assert.equal(refusal.details[0]?.pointer, '/message')
  }
})

test('an absent value in a session key is refused', async () => {
  const mapping: Mapping = { message: 'x', sessionKey: 'hook:pr:{{repo}}:{{n}}' }
  assert.equal((await agentOf(mapping, { repo: 'a/b', n: 1 })).sessionKey, 'hook:pr:a/b:1')
  for (const payload of [{ repo: 'a' }, { repo: '', n: 1 }, { repo: null, n: 1 }, { repo: ' ', n: 1 }]) {
    const refusal = await refusalOf(mapping, payload)
    assert.equal(refusal.code, 'SESSION_KEY_NOT_ALLOWED')
    assert.equal(refusal.details[0]?.pointer, '/sessionKey')
  }
  const repaired = { ...mapping, sessionKey: 'hook:{{default repo "none"}}' }
  assert.equal((await agentOf(repaired, {})).sessionKey, 'hook:none')
})

test('a session key that is only its prefix is refused', async () => {
  const templates = [
    'hook:pr:{{#if id}}{{id}}{{/if}}',
    'hook:{{#each ids}}{{this}}{{/each}}',
    'hook:{{! by owner }}{{#with owner}}{{login}}{{/with}}',
  ]
  for (const sessionKey of templates) {
    const refusal = await refusalOf({ message: 'x', sessionKey }, {})
    assert.deepEqual(
      [refusal.code, refusal.details[0]?.pointer],
      ['SESSION_KEY_NOT_ALLOWED', '/sessionKey'],
      sessionKey,
    )
    const payload = { id: 1, ids: [1], owner: { login: 1 } }
    assert.match((await agentOf({ message: 'x', sessionKey }, payload)).sessionKey, /:1$/)
  }
  const either = { message: 'x', sessionKey: 'hook:{{#if id}}{{id}}{{else}}all{{/if}}' }
  assert.equal((await agentOf(either, {})).sessionKey, 'hook:all')
})

test('rendered routing is checked by the rules for requests', async () => {
  const mapping: Mapping = {
    message: 'x',
    channel: '{{c}}',
    model: '{{m}}',
    thinking: '{{t}}',
    allowPayloadRouting: true,
  }
  const action = await agentOf(mapping, { c: 'slack', m: 'openai/gpt-5', t: 'low' })
  assert.deepEqual([action.channel, action.model, action.thinking], ['slack', 'openai/gpt-5', 'low'])
  assert.equal((await refusalOf(mapping, { c: 'fax' })).code, 'UNKNOWN_CHANNEL')
  assert.equal((await refusalOf(mapping, { c: 'telegram' })).code, 'CHANNEL_NOT_CONFIGURED')
  assert.equal((await refusalOf(mapping, { m: 'gpt' })).code, 'MODEL_NOT_ALLOWED')
  assert.equal((await refusalOf(mapping, { t: 'hard' })).code, 'UNKNOWN_THINKING')
})

test('an expression that fails refuses the request, with mapping, field and column but without a value', async () => {
  const refusal = await refusalOf({ id: 'm', message: '{% $number(a) %}' }, { a: 'sekret' })
  assert.equal(refusal.code, 'EXPRESSION_FAILED')
  assert.equal(
    refusal.message,
    'mapping "m": message: the expression `$number(a)` failed at column 4: text cannot be read as a number (D3030)',
  )
  assert.equal(refusal.details[0]?.pointer, '/message')
})

test('a refusal beside a failing expression leaves no unhandled rejection', async () => {
  const mapping: Mapping = { message: '{{payload}}', name: '{% $error("x") %}' }
  const refusal = await refusalOf(mapping, { a: 'x'.repeat(100) }, { hooks: { maxRenderedBytes: 50 } })
  assert.equal(refusal.code, 'TOO_LARGE_RENDERED')
})

test('rendered bytes are counted across all fields of a request', async () => {
  const fixture = { hooks: { maxRenderedBytes: 20 } }
  const mapping: Mapping = { message: '{{a}}', name: '{{a}}' }
  assert.equal((await agentOf(mapping, { a: '123456789' }, fixture)).name, '123456789')
  const refusal = await refusalOf(mapping, { a: 'ééééé€' }, fixture)
  assert.equal(refusal.code, 'TOO_LARGE_RENDERED')
  assert.match(refusal.message, /more than 20 bytes \(maxRenderedBytes, of its endpoint or of hooks\)/)
  assert.equal(
    (await refusalOf({ message: '{% a %}' }, { a: 'x'.repeat(21) }, fixture)).code,
    'TOO_LARGE_RENDERED',
  )
})

test('no payload makes a decision throw or reject', async () => {
  const snapshot = snapshotOf([
    { id: 'a', match: { source: 'a' }, message: '{{payload}} {{a.b}}', sessionKey: 'k:{{a}}' },
    { id: 'b', match: { when: 'b.c > 1' }, message: '{% b %}', name: '{% $keys(b) %}' },
    { id: 'c', message: '{{#each payload}}{{this}}{{/each}}', timeoutSeconds: '{{a}}', deliver: '{% b %}' },
  ])
  const names = new Set<string>()
  await fc.assert(
    fc.asyncProperty(
      fc.json({ maxDepth: 4 }),
      fc.constantFrom('test', 'wake', 'agent'),
      async (body, endpoint) => {
        const decision = await snapshot.resolve(requestOf(body, { endpoint }))
        names.add(decision.outcome)
        assert.notEqual(decision.outcome, 'failed', JSON.stringify(decision))
      },
    ),
    { seed: 3, numRuns: 500 },
  )
  assert.ok(names.has('accepted') && names.has('refused'))
})

test('a payload too deeply nested for the stack is refused by templates and expressions', async () => {
  const deep = `${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`
  assert.equal((await refusalOf({ message: '{{a}}' }, deep)).code, 'TOO_LARGE_RENDERED')
  assert.equal((await refusalOf({ message: '{% a %}' }, deep)).code, 'EXPRESSION_FAILED')
})
