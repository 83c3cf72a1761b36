/** Tests which actions count as repetitions: by their mapping's key, or by the id of their delivery. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { answering, dayMs, dedupesOf, deduping, keysOf } from '../../compile/dedupe-fixture.ts'
import { actionOf, agentOf, compileFixture, refusalOf, requestOf, snapshotOf } from '../../compile/fixture.ts'
import type { AnsweredAction } from '../../transform/port.ts'

test("an action has the key that its mapping renders, for the mapping's window or for a day", async () => {
  const action = await agentOf(deduping('{{repo}}:{{id}}'), { repo: 'a', id: 7 })
  assert.deepEqual(action.dedupe, { key: 'a:7', windowMs: dayMs, isGiven: false })
  assert.ok(Object.isFrozen(action.dedupe))
  const short = await agentOf(
    { message: 'x', dedupe: { enabled: true, key: 'id', windowMs: 1000 } },
    { id: 7 },
  )
  assert.deepEqual(short.dedupe, { key: '7', windowMs: 1000, isGiven: false })
  assert.ok(!('dedupe' in (await agentOf({ message: 'x' }, { id: 7 }))))
})

test('a wake has a key like a run, from an expression or a template', async () => {
  const request = requestOf({ id: 'e1' }, { headers: { 'x-delivery': 'd1' } })
  for (const [key, rendered] of [
    ['headers.`x-delivery` & "/" & id', 'd1/e1'],
    ['{{headers.x-delivery}}/{{id}}', 'd1/e1'],
  ] as const) {
    const snapshot = snapshotOf([{ action: 'wake', text: 'x', dedupe: { enabled: true, key } }])
    const action = actionOf(await snapshot.resolve(request))
    assert.deepEqual([action.kind, action.dedupe?.key], ['wake', rendered])
  }
})

test('if its key gives nothing, every request counts, and explain says so', async () => {
  const payload = { blank: ' ', none: null }
  for (const key of [
    'absent',
    'none',
    'blank',
    '{{absent}}',
    'event:{{none}}',
    'd:{{#if none}}{{none}}{{/if}}',
  ]) {
    assert.ok(!('dedupe' in (await agentOf(deduping(key), payload))), key)
    const [explained] = (await snapshotOf([deduping(key)]).explain(requestOf(payload))).actions
    const field = explained?.fields.find(({ field }) => field === 'dedupe.key')
    assert.equal(field?.value, 'nothing, so every request counts', key)
  }
})

test('with forEach each element has a key of its own', async () => {
  const snapshot = snapshotOf([deduping('item.id', { forEach: 'events' })])
  const decision = await snapshot.resolve(requestOf({ events: [{ id: 'a' }, {}, { id: 'c' }] }))
  assert.deepEqual(keysOf(decision), ['a', undefined, 'c'])
})

test('actions that a transform makes of one request never count as repetitions of each other', async () => {
  const mapping = deduping('id', { transform: { module: 'a.ts' } })
  const wake: AnsweredAction = { action: { value: 'wake' }, text: { value: 'w' } }
  const fixture = { transforms: answering(wake, null, {}) }
  const decision = await snapshotOf([mapping], fixture).resolve(requestOf({ id: 'e1' }))
  assert.deepEqual(keysOf(decision), ['e1', '["e1",2]'])
})

test('a key that is the same for every request is refused at load, with its place', () => {
  for (const key of ['"all"', "{% 'all' & 1 %}", '1', '{{! nothing }}all', '["a", {"b": -2}]']) {
    const compiled = compileFixture([deduping(key)])
    assert.ok(!compiled.ok, key)
    const [{ code, message, place } = assert.fail()] = compiled.diagnostics
    assert.equal(code, 'CONSTANT_KEY')
    assert.match(message, /^`dedupe\.key` of mapping "first": is the same for every request/)
    assert.ok(place?.text.includes('key: '))
  }
  for (const key of ['$now()', '$.id', '{{id}}', 'id ? "a" : "b"', '*'])
    assert.ok(compileFixture([deduping(key)]).ok, key)
  assert.ok(compileFixture([{ message: 'x', dedupe: { enabled: false, key: '"all"' } }]).ok)
})

test('a key that does not parse is refused at load, also if dedupe is disabled', () => {
  for (const enabled of [true, false]) {
    const compiled = compileFixture([{ message: 'x', dedupe: { enabled, key: 'id &' } }])
    assert.deepEqual(!compiled.ok && compiled.diagnostics.map(({ code }) => code), ['EXPRESSION_SYNTAX'])
  }
})

test('a key that fails refuses the request, with its place and without a value', async () => {
  const { code, message, details } = await refusalOf(deduping('$number(ref)', { id: 'push' }), {
    ref: 'hush',
  })
  assert.equal(code, 'EXPRESSION_FAILED')
  assert.match(message, /^mapping "push": dedupe\.key: .*D3030/)
  assert.equal(details[0]?.pointer, '/dedupe/key')
  assert.doesNotMatch(message, /hush/)
})

test('shortening keys, or writing them as UTF-8, never makes two keys the same', async () => {
  const whole = 'x'.repeat(512)
  const texts = [whole, `${whole}a`, `${whole}b`, 'x\ud800', 'x\ud801', 'x\ufffd']
  const keys = await Promise.all(
    texts.map(async (text) => (await agentOf(deduping('{{text}}'), { text })).dedupe?.key),
  )
  assert.equal(new Set(keys.map((key) => Buffer.from(key ?? '').toString())).size, texts.length)
  for (const key of keys) assert.ok(key && key.length <= 512)
})

test('explain shows the key with its values, with secrets hidden', async () => {
  const [explained] = (await snapshotOf([deduping('{{id}}')]).explain(requestOf({ id: 'e1' }))).actions
  assert.deepEqual(explained?.fields.at(-1), {
    field: 'dedupe.key',
    value: 'e1',
    from: 'template',
    sources: [{ path: 'id', value: '"e1"' }],
  })
  const [hidden] = (await snapshotOf([deduping('token')]).explain(requestOf({ token: 'sekret-value' })))
    .actions
  assert.partialDeepStrictEqual(hidden?.fields.at(-1), {
    field: 'dedupe.key',
    value: '…',
    from: 'expression',
  })
})

for (const kind of ['wake', 'agent'] as const) {
  const body = { text: 'x', message: 'x' }
  const post = (key: string) =>
    snapshotOf([]).resolve(requestOf(body, { endpoint: kind, headers: { 'idempotency-key': key } }))

  test(`a sender may give its own key to /${kind}, bare or quoted`, async () => {
    for (const [given, key] of [
      ['8e03978e-40d5-43e3', '8e03978e-40d5-43e3'],
      ['"8e03978e-40d5-43e3"', '8e03978e-40d5-43e3'],
      ['  two words ', 'two words'],
      [String.raw`"a \"b\" \\ c"`, String.raw`a "b" \ c`],
      ['x'.repeat(255), 'x'.repeat(255)],
    ] as const)
      assert.deepEqual(dedupesOf(await post(given)), [{ key, windowMs: dayMs, isGiven: true }], given)
    assert.ok(!('dedupe' in actionOf(await snapshotOf([]).resolve(requestOf(body, { endpoint: kind })))))
  })

  test(`an invalid key in a header to /${kind} is refused by the name of the header`, async () => {
    const given = ['', ' ', '""', '" "', '"open', 'x'.repeat(256), 'tab\there', 'nül', '"a", "b"', '"\\x"']
    for (const key of given) {
      const decision = await post(key)
      assert.ok('code' in decision, key)
      assert.equal(decision.code, 'INVALID_FIELD')
      assert.match(decision.message, /^the header `Idempotency-Key` must be one key of 1 to 255/)
      assert.deepEqual(decision.details, [])
    }
  })
}

for (const kind of ['wake', 'agent'] as const) {
  const post = (headers: Record<string, string>, body: object) =>
    snapshotOf([]).resolve(requestOf({ text: 'x', message: 'x', ...body }, { endpoint: kind, headers }))

  test(`a key to /${kind} may stand in OpenClaw’s header or in the body, and the first one counts`, async () => {
    const own = { 'idempotency-key': 'own' }
    const openClaw = { 'x-openclaw-idempotency-key': 'openclaw' }
    const body = { idempotencyKey: ' in the body ' }
    for (const [headers, fields, key] of [
      [{ ...openClaw, ...own }, body, 'own'],
      [openClaw, body, 'openclaw'],
      [{}, body, 'in the body'],
      [{}, { idempotencyKey: 'ключ' }, 'ключ'],
    ] as const)
      assert.deepEqual(dedupesOf(await post(headers, fields)), [{ key, windowMs: dayMs, isGiven: true }], key)
    assert.ok(!('dedupe' in actionOf(await post({}, { idempotencyKey: null }))))
  })

  test(`an invalid key in the body to /${kind} is refused at its place`, async () => {
    for (const idempotencyKey of ['', ' ', 7, {}, ['a'], 'x'.repeat(256)]) {
      const decision = await post({}, { idempotencyKey })
      assert.ok('code' in decision, String(idempotencyKey))
      assert.deepEqual([decision.code, decision.details[0]?.pointer], ['INVALID_FIELD', '/idempotencyKey'])
    }
    const decision = await post({ 'x-openclaw-idempotency-key': '"open' }, {})
    assert.ok('code' in decision)
    assert.match(decision.message, /^the header `X-OpenClaw-Idempotency-Key` must be one key/)
  })
}

test('at a mapped endpoint the mapping’s key comes first, then the delivery’s, then the sender’s', async () => {
  const headers = { 'idempotency-key': 'given', 'x-github-delivery': 'delivered' }
  const github = { endpoints: { github: { verify: { provider: 'github' } } } }
  for (const [mapping, fixture, sent, dedupe] of [
    [{}, {}, headers, { key: 'given', windowMs: dayMs, isGiven: true }],
    [{}, {}, { 'x-openclaw-idempotency-key': 'o' }, { key: 'o', windowMs: dayMs, isGiven: true }],
    [{}, github, headers, { key: 'delivered', windowMs: 3 * dayMs, isGiven: false }],
    [{}, github, { 'idempotency-key': 'given' }, { key: 'given', windowMs: 3 * dayMs, isGiven: true }],
    [
      { dedupe: { enabled: true, key: '{{id}}', windowMs: 5000 } },
      github,
      headers,
      { key: '7', windowMs: 5000, isGiven: false },
    ],
    [
      { dedupe: { enabled: true, key: '{{absent}}', windowMs: 5000 } },
      {},
      headers,
      { key: 'given', windowMs: 5000, isGiven: true },
    ],
    [{ dedupe: { enabled: false } }, {}, headers, undefined],
  ] as const) {
    const snapshot = snapshotOf([{ message: 'x', ...mapping }], fixture)
    const decision = await snapshot.resolve(requestOf({ id: 7 }, { endpoint: 'github', headers: sent }))
    assert.deepEqual(dedupesOf(decision), [dedupe])
  }
})

test('a key of the sender gets the element’s position added, and an invalid one is refused', async () => {
  const snapshot = snapshotOf([{ forEach: 'list', message: '{{item}}' }])
  const of = (key: string) =>
    snapshot.resolve(requestOf({ list: ['a', 'b'] }, { headers: { 'idempotency-key': key } }))
  assert.deepEqual(
    dedupesOf(await of('k')).map((dedupe) => dedupe?.key),
    ['["k",0]', '["k",1]'],
  )
  const decision = await of('"open')
  assert.ok('code' in decision)
  assert.equal(decision.code, 'INVALID_FIELD')
})
