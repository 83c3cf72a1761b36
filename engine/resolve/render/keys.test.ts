/** Tests the keys of actions: which requests are coalesced, and which count as repetitions. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testDecisions } from '../../compile/decision-fixture.ts'
import { agentOf, type Mapping, refusalOf, requestOf, snapshotOf } from '../../compile/fixture.ts'
import type { AnsweredAction } from '../../transform/port.ts'

const dayMs = 86_400_000
const limits = { windowMs: 10_000, maxWaitMs: 300_000, keep: 'latest', maxRunsPerHour: 60 } as const
const coalescing = (key: string): Mapping => ({ message: 'x', coalesce: { ...limits, key } })
const deduping = (key: string): Mapping => ({ message: 'x', dedupe: { enabled: true, key } })

/** The settings of both keys, in short. */
const short = (table: string) =>
  table
    .replaceAll(/dedupe\((.*?)\)~/g, "message: x, dedupe: { enabled: true, key: '$1' }")
    .replaceAll(
      /coalesce\((.*?)\)~/g,
      "message: x, coalesce: { windowMs: 10000, maxWaitMs: 300000, keep: latest, maxRunsPerHour: 60, key: '$1' }",
    )

testDecisions(
  short(String.raw`
# an action has its mapping’s coalesce settings with the rendered key, and its dedupe key for the mapping's window or a day
{ coalesce({{repo}}:{{ref}})~ } ⇒ { repo: a/b, ref: refs/heads/main } ⇒ { coalesce: { windowMs: 10000, maxWaitMs: 300000, keep: latest, maxRunsPerHour: 60, key: 'a/b:refs/heads/main' }, dedupe: null }
{ dedupe({{repo}}:{{id}})~ } ⇒ { repo: a, id: 7 } ⇒ { coalesce: null, dedupe: { key: 'a:7', windowMs: 86400000, isGiven: false } }
{ message: x, dedupe: { enabled: true, key: id, windowMs: 1000 } } ⇒ { id: 7 } ⇒ { dedupe: { key: '7', windowMs: 1000, isGiven: false } }
{ action: wake, text: x, dedupe: { enabled: true, key: '{{headers.x-delivery}}/{{id}}' } } ⇒ { id: e1 } @ { headers: { x-delivery: d1 } } ⇒ { kind: wake, dedupe: { key: d1/e1 } }

# a key with a placeholder is a template, and any other key an expression
{ coalesce({{ref}}/{{n}})~ } ⇒ { ref: main, n: 7 } ¦ { coalesce({% ref & "/" & n %})~ } ⇒ { ref: main, n: 7 } ¦ { coalesce(ref & "/" & n)~ } ⇒ { ref: main, n: 7 } ⇒ { coalesce: { key: main/7 } }
{ coalesce( {{ref}} )~ } ⇒ { ref: main } ⇒ { coalesce: { key: main } }
{ coalesce({% "{{" & ref %})~ } ⇒ { ref: main } ⇒ { coalesce: { key: '{{main' } }
{ coalesce(n)~ } ⇒ { n: 7 } ⇒ { coalesce: { key: '7' } }
{ coalesce(draft)~ } ⇒ { draft: false } ⇒ { coalesce: { key: 'false' } }
{ coalesce(head)~ } ⇒ { head: { id: c0, by: [ada] } } ⇒ { coalesce: { key: '{"id":"c0","by":["ada"]}' } }
{ coalesce(head.by)~ } ⇒ { head: { id: c0, by: [ada] } } ⇒ { coalesce: { key: '["ada"]' } }
{ coalesce("all of them")~ } ⇒ {} ⇒ { coalesce: { key: all of them } }

# a request whose key gives nothing, or lacks a value, is neither coalesced nor a repetition
{ coalesce(absent)~ } ⇒ {} ⇒ { coalesce: null, explain: { coalesce.key: 'expression: nothing, so the request is not coalesced' } }
{ coalesce(none)~ } ⇒ { none: null } ¦ { coalesce(blank)~ } ⇒ { blank: ' ' } ¦ { coalesce("")~ } ⇒ {} ¦ { coalesce([][0])~ } ⇒ {} ¦ { coalesce({{absent}})~ } ⇒ {} ¦ { coalesce({{blank}})~ } ⇒ { blank: ' ' } ⇒ { coalesce: null }
{ coalesce(push:{{repo}}:{{ref}})~ } ⇒ { repo: a, ref: b } ⇒ { coalesce: { key: 'push:a:b' } }
{ coalesce(push:{{repo}}:{{ref}})~ } ⇒ { repo: a } ¦ { coalesce(push:{{repo}}:{{ref}})~ } ⇒ { repo: a, ref: '' } ¦ { coalesce(push:{{#if ref}}{{ref}}{{/if}})~ } ⇒ {} ¦ { strict: true, coalesce({{repo}}:{{ref}})~ } ⇒ { repo: a, ref: ' ' } ⇒ { coalesce: null }
{ coalesce(push:{{#if ref}}{{ref}}{{/if}})~ } ⇒ { ref: b } ⇒ { coalesce: { key: 'push:b' } }
{ coalesce({{#if draft}}drafts{{else}}ready{{/if}})~ } ⇒ {} ⇒ { coalesce: { key: ready } }
{ strict: true, coalesce({{repo}}:{{ref}})~ } ⇒ { repo: a } ⇒ ABSENT_FIELD /coalesce/key
{ dedupe(absent)~ } ⇒ {} ⇒ { dedupe: null, explain: { dedupe.key: 'expression: nothing, so every request counts' } }
{ dedupe({{absent}})~ } ⇒ {} ⇒ { dedupe: null, explain: { dedupe.key: 'template: nothing, so every request counts' } }
{ dedupe(event:{{none}})~ } ⇒ { none: null } ¦ { dedupe(d:{{#if none}}{{none}}{{/if}})~ } ⇒ {} ⇒ { dedupe: null }

# a key sees the same as templates and expressions: vars, params, headers, exact numbers, the elements of forEach
{ vars: { repo: repository.name }, match: { path: 't/:team' }, coalesce({{vars.repo}} {{id}} {{params.team}})~ } ⇒ {"repository":{"name":"a"},"id":9007199254740993} @ { endpoint: t/core } ⇒ { coalesce: { key: a 9007199254740993 core } }
{ vars: { repo: repository.name }, match: { path: 't/:team' }, coalesce(vars.repo & " " & id & " " & params.team)~ } ⇒ {"repository":{"name":"a"},"id":9007199254740993} @ { endpoint: t/core } ⇒ { coalesce: { key: a 9007199254740993 core } }
{ forEach: refs, coalesce({{item.ref}})~ } ⇒ { refs: [{ ref: a }, {}, { ref: c }] } ¦ { forEach: refs, coalesce(item.ref)~ } ⇒ { refs: [{ ref: a }, {}, { ref: c }] } ⇒ [{ coalesce: { key: a } }, { coalesce: null }, { coalesce: { key: c } }]
{ forEach: refs, dedupe(item.ref)~ } ⇒ { refs: [{ ref: a }, {}, { ref: c }] } ⇒ [{ dedupe: { key: a } }, { dedupe: null }, { dedupe: { key: c } }]
{ dedupe(headers.event & "/" & id)~ } ⇒ { id: e1 } @ { headers: { event: d1 } } ⇒ { dedupe: { key: d1/e1 } }

# a key that fails refuses the request, with its place and without a value
{ id: push, coalesce($number(ref))~ } ⇒ { ref: hush } ⇒ { code: EXPRESSION_FAILED /coalesce/key, says: '/^mapping "push": coalesce\.key: (?!.*hush).*D3030/' }
{ id: push, dedupe($number(ref))~ } ⇒ { ref: hush } ⇒ { code: EXPRESSION_FAILED /dedupe/key, says: '/^mapping "push": dedupe\.key: (?!.*hush).*D3030/' }

# a key that cannot be parsed, or a dedupe key that is the same for every request, is refused at load
{ coalesce({{ref)~ } ⇒ {} ⇒ { load: TEMPLATE_SYNTAX, says: '/^.coalesce\.key. of mapping "first"/' }
{ coalesce(ref &)~ } ⇒ {} ¦ { coalesce({% ( %})~ } ⇒ {} ¦ { dedupe(id &)~ } ⇒ {} ¦ { message: x, dedupe: { enabled: false, key: 'id &' } } ⇒ {} ⇒ { load: EXPRESSION_SYNTAX }
{ dedupe("all")~ } ⇒ {} ⇒ { load: CONSTANT_KEY, says: '/^.dedupe\.key. of mapping "first": is the same for every request/' }
{ dedupe({% "all" & 1 %})~ } ⇒ {} ¦ { dedupe(1)~ } ⇒ {} ¦ { dedupe({{! nothing }}all)~ } ⇒ {} ¦ { dedupe(["a", {"b": -2}])~ } ⇒ {} ⇒ { load: CONSTANT_KEY }
{ dedupe($now())~ } ⇒ {} ¦ { dedupe($.id)~ } ⇒ {} ¦ { dedupe({{id}})~ } ⇒ {} ¦ { dedupe(id ? "a" : "b")~ } ⇒ {} ¦ { dedupe(*)~ } ⇒ {} ¦ { message: x, dedupe: { enabled: false, key: '"all"' } } ⇒ {} ⇒ { warn: [] }

# explain shows the key with its origin, with secrets hidden, and that busy was set
{ busy: reject, coalesce({{repo}}:{{ref}})~ } ⇒ { repo: a, ref: b } ⇒ { busy: reject, explain: { busy: 'literal: reject', coalesce.key: 'template: a:b' } }
{ coalesce(token)~ } ⇒ { token: sekret-value } ⇒ { explain: { coalesce.key: 'expression: …' } }
{ dedupe({{id}})~ } ⇒ { id: e1 } ⇒ { explain: { dedupe.key: 'template: e1' } }
{ dedupe(token)~ } ⇒ { token: sekret-value } ⇒ { explain: { dedupe.key: 'expression: …' } }
{ message: x, busy: queue } ⇒ {} ⇒ { busy: null }

# a sender may give its own key, bare or quoted, in OpenClaw’s header or in the body, and the first one counts @ { request: { endpoint: wake } }
{ text: x } @ { headers: { idempotency-key: 8e03978e-40d5 } } ⇒ { dedupe: { key: 8e03978e-40d5, windowMs: 86400000, isGiven: true } }
{ text: x } @ { headers: { idempotency-key: '"8e03978e-40d5"' } } ⇒ { dedupe: { key: 8e03978e-40d5 } }
{ text: x } @ { headers: { idempotency-key: '  two words ' } } ⇒ { dedupe: { key: two words } }
{ text: x } @ { headers: { idempotency-key: '"a \"b\" \\ c"' } } ⇒ { dedupe: { key: 'a "b" \ c' } }
{ text: x, idempotencyKey: b } @ { headers: { x-openclaw-idempotency-key: o, idempotency-key: own } } ⇒ { dedupe: { key: own } }
{ text: x, idempotencyKey: b } @ { headers: { x-openclaw-idempotency-key: o } } ⇒ { dedupe: { key: o } }
{ text: x, idempotencyKey: ' in the body ' } ⇒ { dedupe: { key: in the body, windowMs: 86400000, isGiven: true } }
{ message: x, idempotencyKey: 'ключ' } @ { endpoint: agent } ⇒ { dedupe: { key: 'ключ', windowMs: 86400000, isGiven: true } }
{ text: x, idempotencyKey: null } ⇒ { dedupe: null }

# an invalid key is refused by the name of its header, or at its place in the body @ { request: { endpoint: agent } }
{ message: x } @ { headers: { idempotency-key: '' } } ⇒ { code: INVALID_FIELD, says: '/^the header .Idempotency-Key. must be one key of 1 to 255/' }
{ message: x } @ { headers: { idempotency-key: ' ' } } ¦ { message: x } @ { headers: { idempotency-key: '""' } } ¦ { message: x } @ { headers: { idempotency-key: '" "' } } ¦ { message: x } @ { headers: { idempotency-key: '"open' } } ⇒ INVALID_FIELD
{ message: x } @ { headers: { idempotency-key: ${'x'.repeat(255)} } } ⇒ { dedupe: { key: ${'x'.repeat(255)} } }
{ message: x } @ { headers: { idempotency-key: ${'x'.repeat(256)} } } ⇒ INVALID_FIELD
{ message: x } @ { headers: { idempotency-key: "tab\there" } } ¦ { message: x } @ { headers: { idempotency-key: nül } } ¦ { message: x } @ { headers: { idempotency-key: '"a", "b"' } } ¦ { message: x } @ { headers: { idempotency-key: '"\x"' } } ⇒ INVALID_FIELD
{ message: x } @ { headers: { x-openclaw-idempotency-key: '"open' } } ⇒ { says: '/^the header .X-OpenClaw-Idempotency-Key. must be one key/' }
{ message: x, idempotencyKey: '' } ¦ { message: x, idempotencyKey: ' ' } ¦ { message: x, idempotencyKey: 7 } ¦ { message: x, idempotencyKey: {} } ¦ { message: x, idempotencyKey: [a] } ⇒ INVALID_FIELD /idempotencyKey
{ message: x, idempotencyKey: ${'x'.repeat(256)} } ⇒ INVALID_FIELD /idempotencyKey
{ text: x } @ { endpoint: wake, headers: { idempotency-key: '"open' } } ⇒ INVALID_FIELD

# at a mapped endpoint the mapping’s key comes first, then the delivery’s, then the sender’s @ { endpoints: { test: { verify: { provider: github } } } }
{ message: x } ⇒ { id: 7 } @ { headers: { idempotency-key: given, x-github-delivery: delivered } } ⇒ { dedupe: { key: delivered, windowMs: 259200000, isGiven: false }, explain: { dedupe.key: 'default: delivered' } }
{ message: x } ⇒ { id: 7 } @ { headers: { idempotency-key: given } } ⇒ { dedupe: { key: given, windowMs: 259200000, isGiven: true } }
{ message: x } ⇒ {} ⇒ { dedupe: null, explain: { dedupe.key: 'default: nothing, so every request counts' } }
{ message: x, dedupe: { enabled: true, key: '{{id}}', windowMs: 5000 } } ⇒ { id: 7 } @ { headers: { idempotency-key: given, x-github-delivery: delivered } } ⇒ { dedupe: { key: '7', windowMs: 5000, isGiven: false } }
{ dedupe(id)~ } ⇒ { id: 7 } @ { headers: { x-github-delivery: delivered } } ⇒ { dedupe: { key: '7', windowMs: 259200000 } }
{ message: x, dedupe: { enabled: true, windowMs: 5 } } ⇒ {} @ { headers: { x-github-delivery: delivered } } ⇒ { dedupe: { key: delivered, windowMs: 5 } }
{ message: x, dedupe: { enabled: false } } ⇒ {} @ { headers: { x-github-delivery: delivered } } ⇒ { dedupe: null }
{ message: x, forEach: items } ⇒ { items: [a, b] } @ { headers: { x-github-delivery: g } } ⇒ [{ dedupe: { key: '["g",0]' } }, { dedupe: { key: '["g",1]' } }]

# what may be caught up is remembered for as long as that @ { endpoints: { test: { verify: { provider: github }, catchUp: { repo: a/b, hookId: 1, token: t, every: 10m, lookBack: 3d } } } }
{ message: x } ⇒ {} @ { headers: { x-github-delivery: g } } ¦ { message: x, dedupe: { enabled: true, key: '{{id}}', windowMs: 259200000 } } ⇒ { id: 7 } ⇒ { dedupe: { windowMs: 259200000 } }
[{ id: a, match: { path: other }, message: x, dedupe: { enabled: true, windowMs: 5 } }, { id: b, message: x }] ⇒ {} ⇒ { warn: [] }
{ id: m, message: x, dedupe: { enabled: true, windowMs: 86400000 } } ⇒ {} ⇒ { load: DEDUPE_TOO_SHORT, says: '/^.dedupe\.window. of mapping "m": is shorter than 3d/' }
{ id: m, match: { path: test }, message: x, dedupe: { enabled: false } } ⇒ {} ⇒ { load: DEDUPE_TOO_SHORT, says: '/^.dedupe\.enabled. of mapping "m": is false/' }

# without a provider the sender's key counts, in an element with its position
{ message: x } ⇒ {} @ { headers: { idempotency-key: given } } ⇒ { dedupe: { key: given, windowMs: 86400000, isGiven: true } }
{ message: x } ⇒ {} @ { headers: { x-openclaw-idempotency-key: o } } ⇒ { dedupe: { key: o, windowMs: 86400000, isGiven: true } }
{ message: x, dedupe: { enabled: true, key: '{{absent}}', windowMs: 5000 } } ⇒ {} @ { headers: { idempotency-key: given } } ⇒ { dedupe: { key: given, windowMs: 5000, isGiven: true } }
{ message: x, dedupe: { enabled: false } } ⇒ {} @ { headers: { idempotency-key: given } } ⇒ { dedupe: null }
{ message: '{{item}}', forEach: list } ⇒ { list: [a, b] } @ { headers: { idempotency-key: k } } ⇒ [{ dedupe: { key: '["k",0]' } }, { dedupe: { key: '["k",1]' } }]
{ message: '{{item}}', forEach: list } ⇒ { list: [a] } @ { headers: { idempotency-key: '"open' } } ⇒ INVALID_FIELD
`),
)

test('a long key is shortened with a digest of all of it, and no two keys become one, in UTF-8 either', async () => {
  const whole = 'x'.repeat(512)
  const texts = [whole, `${whole}a`, `${whole}b`, `${whole}\ud800`, `${whole}\ud801`]
  const coalesced: (string | undefined)[] = []
  for (const text of texts) coalesced.push((await agentOf(coalescing('{{text}}'), { text })).coalesce?.key)
  assert.equal(coalesced[0], whole)
  assert.equal(new Set(coalesced).size, texts.length)
  for (const key of coalesced.slice(1)) assert.match(key ?? '', /^x{64}… sha256:[0-9a-f]{64}$/)
  const deduped = new Set<string>()
  for (const text of [...texts, 'x\ud800', 'x\ud801', 'x\ufffd']) {
    const key = (await agentOf(deduping('{{text}}'), { text })).dedupe?.key ?? ''
    assert.ok(key !== '' && key.length <= 512)
    deduped.add(Buffer.from(key).toString())
  }
  assert.equal(deduped.size, texts.length + 3)
  const large = await refusalOf(coalescing('{{text}}'), { text: whole }, { hooks: { maxRenderedBytes: 100 } })
  assert.deepEqual([large.code, large.details[0]?.pointer], ['TOO_LARGE_RENDERED', '/coalesce/key'])
})

test('actions that a transform makes of one request are neither coalesced with nor repetitions of each other', async () => {
  const message = { message: { value: 'x' } }
  const wake: AnsweredAction = { action: { value: 'wake' }, text: { value: 'w' } }
  const delivery = { headers: { 'x-github-delivery': 'g' } }
  const decide = async (mapping: Mapping, actions: readonly AnsweredAction[], request = {}) => {
    const transforms = { 'a.ts': async () => ({ kind: 'list' as const, actions }) }
    const endpoints = { test: { verify: { provider: 'github' } } }
    const snapshot = await snapshotOf([{ ...mapping, transform: { module: 'a.ts' } }], {
      transforms,
      endpoints,
    })
    const decision = await snapshot.resolve(requestOf({ id: 'e1', items: [1, 2] }, request))
    assert.ok(decision.outcome === 'accepted')
    return decision.actions.map((action) => {
      const coalesced = 'coalesce' in action ? action.coalesce?.key : undefined
      return [coalesced, action.dedupe?.key, 'busy' in action]
    })
  }
  const keysOf = async (mapping: Mapping, actions: readonly AnsweredAction[], request = {}) =>
    (await decide(mapping, actions, request)).map(([coalesced, deduped]) => `${coalesced} ${deduped}`)
  assert.deepEqual(await keysOf(coalescing('id'), [message]), ['e1 undefined'])
  const three = ['e1 undefined', '["e1",1] undefined', '["e1",2] undefined']
  assert.deepEqual(await keysOf(coalescing('id'), [message, message, message]), three)
  // A wake is not coalesced, and has no busy.
  const woken = await decide({ ...coalescing('id'), busy: 'reject' }, [wake])
  assert.deepEqual(woken, [[undefined, undefined, false]])
  assert.deepEqual(await keysOf(deduping('id'), [wake, null, {}]), ['undefined e1', 'undefined ["e1",2]'])
  const each = await keysOf({ message: 'x', forEach: 'items' }, [{}, {}], delivery)
  assert.equal(new Set(each).size, 4)
  assert.deepEqual(await keysOf({ message: 'x' }, [{}, {}], delivery), ['undefined g', 'undefined ["g",1]'])
})

test('the settings of a key are frozen, and explain lists the values in it and the policy of a delivery', async () => {
  const { coalesce, dedupe } = await agentOf({ ...coalescing('id'), ...deduping('id') }, { id: 7 })
  assert.ok(Object.isFrozen(coalesce) && Object.isFrozen(dedupe))
  assert.equal(dedupe?.windowMs, dayMs)
  const sourcesOf = async (mapping: Mapping, field: string, headers = {}) => {
    const snapshot = await snapshotOf([mapping], { endpoints: { test: { verify: { provider: 'github' } } } })
    const { actions } = await snapshot.explain(requestOf({ repo: 'a', ref: 'b' }, { headers }))
    const found = actions[0]?.fields.find((each) => each.field === field)?.sources ?? []
    return found.map(({ path, value }) => `${path} ${value}`).join()
  }
  assert.equal(await sourcesOf(coalescing('{{repo}}:{{ref}}'), 'coalesce.key'), 'repo "a",ref "b"')
  assert.equal(await sourcesOf(deduping('{{ref}}'), 'dedupe.key'), 'ref "b"')
  const delivered = await sourcesOf({ message: 'x' }, 'dedupe.key', { 'x-github-delivery': 'g' })
  assert.equal(delivered, 'endpoints.test.verify "g"')
})
