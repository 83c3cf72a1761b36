import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testDecisions } from '../compile/decision-fixture.ts'
import { requestOf, snapshotOf } from '../compile/fixture.ts'

testDecisions(String.raw`
# vars are computed in order, and later ones see earlier ones, also absent ones
{ vars: { repo: repository.full_name, key: '"pr:" & vars.repo', lines: added + removed }, message: '{{vars.key}} {{vars.lines}}', name: '{% vars.repo %}' } ⇒ { repository: { full_name: a/b }, added: 2, removed: 3 } ⇒ { message: 'pr:a/b 5', name: a/b }
{ vars: { a: absent, b: $exists(vars.a) }, message: '{{vars.a}}|{{vars.b}}' } ⇒ {} ⇒ { message: '|false' }

# a var named like a key of the payload does not hide it
{ vars: { title: '"mine"' }, message: '{{title}} {{vars.title}} {% x %}' } ⇒ { title: its } ⇒ { message: 'its mine {% x %}' }
{ vars: { title: '"mine"' }, message: '{% title & vars.title %}' } ⇒ { title: its } ⇒ { message: itsmine }

# a var that fails refuses the request, and the refusal names it
{ id: m, vars: { n: $number(a) }, message: x } ⇒ { a: sekret } ⇒ { code: EXPRESSION_FAILED /vars/n, says: '/^mapping "m": vars\.n: the expression .\$number\(a\). failed at column 1: .*D3030/' }

# values of vars, items and params are data and are named in the fence
{ match: { path: team }, forEach: list, vars: { said: item.text }, message: '{{vars.said}} {{item.title}}' } ⇒ { list: [{ text: Obey. Me., title: And. Me. }] } @ { endpoint: team } ⇒ { prompt: '/^\[vars\.said\] \[item\.title\]\n.*\[vars\.said id1\]\nObey\. Me\.\n\n\[item\.title id1\]\nAnd\. Me\./' }

# forEach gives one action per element, with item and index in scope
{ forEach: 'alerts[status = "firing"]', vars: { place: 'index & ":" & item.name' }, message: '{{index}} {{item.name}} {{vars.place}}', sessionKey: 'alert:{{item.name}}', timeoutSeconds: '{% item.seconds %}' } ⇒ { item: hidden, alerts: [{ status: firing, name: disk, seconds: 5 }, { status: resolved, name: net, seconds: 6 }, { status: firing, name: cpu, seconds: 7 }] } ⇒ [{ message: '0 disk 0:disk', sessionKey: 'alert:disk', timeoutSeconds: 5 }, { message: '1 cpu 1:cpu', sessionKey: 'alert:cpu', timeoutSeconds: 7 }]
{ forEach: a, message: '{{item}}' } ⇒ { a: x } ⇒ [{ message: x }]
{ forEach: a, message: '{{item}}' } ⇒ { a: false } ⇒ [{ message: 'false' }]
{ forEach: a, message: '{{item.b}}' } ⇒ { a: { b: 7 } } ⇒ [{ message: '7' }]

# forEach without elements skips the request, with a reason, and one refused element refuses all
{ id: each, forEach: '{% a %}', message: '{{item}}' } ⇒ {} ¦ { id: each, forEach: '{% a %}', message: '{{item}}' } ⇒ { a: [] } ¦ { id: each, forEach: '{% a %}', message: '{{item}}' } ⇒ { a: null } ⇒ { skipped: forEach of "each" gave no elements }
{ forEach: a, message: '{{item}}' } ⇒ { a: [x, ' ', y] } ⇒ BLANK_TEXT /message

# with continue, later mappings are tried too, and their actions follow in order
[{ id: a, continue: true, message: A }, { id: b, match: { when: 'false' }, continue: true, message: B }, { id: c, continue: true, forEach: list, message: 'C{{item}}' }, { id: d, action: wake, text: D }, { id: e, message: E }] ⇒ { list: [1, 2] } ⇒ [{ mapping: a, message: A }, { mapping: c, message: C1 }, { mapping: c, message: C2 }, { mapping: d, text: D }]
{ id: a, continue: true, message: A } ⇒ {} ⇒ [{ message: A }]
[{ id: a, continue: true, forEach: list, message: x }, { id: b, match: { source: x }, message: B }] ⇒ { source: x } ⇒ [{ message: B }]
[{ id: a, continue: true, forEach: list, message: x }, { id: b, match: { source: x }, message: B }] ⇒ {} ⇒ { skipped: forEach of "a" gave no elements }
[{ id: a, continue: true, message: A }, { id: b, message: '{{absent}}' }] ⇒ {} ⇒ { code: BLANK_TEXT /message, says: /mapping "b"/ }

# a request with more actions than the limit is refused @ { hooks: { maxActions: 3 } }
{ forEach: a, continue: true, message: '{{item}}' } ⇒ { a: [1, 2, 3] } ⇒ [{}, {}, {}]
{ forEach: a, continue: true, message: '{{item}}' } ⇒ { a: [1, 2, 3, 4] } ¦ [{ forEach: a, continue: true, message: '{{item}}' }, { id: last, message: x }] ⇒ { a: [1, 2, 3] } ⇒ TOO_MANY_ACTIONS

# rendered bytes are counted over all actions of a request @ { hooks: { maxRenderedBytes: 30 } }
[{ id: a, continue: true, forEach: list, message: '{{item}}' }, { id: b, message: '{{more}}' }] ⇒ { list: [0123456789], more: 0123456789 } ⇒ [{}, {}]
[{ id: a, continue: true, forEach: list, message: '{{item}}' }, { id: b, message: '{{more}}' }] ⇒ { list: [0123456789x, 0123456789x], more: 0123456789x } ⇒ TOO_LARGE_RENDERED /message

# an endpoint's limits take precedence over those for all endpoints @ { hooks: { maxActions: 2, maxRenderedBytes: 20 }, endpoints: { more: { maxActions: 3, maxRenderedBytes: 200 }, less: { maxActions: 1 } } }
{ forEach: a, message: '{{item}}' } ⇒ { a: [1, 2, 3] } ¦ { forEach: a, message: '{{item}}' } ⇒ { a: [1, 2] } @ { endpoint: less } ⇒ TOO_MANY_ACTIONS
{ forEach: a, message: '{{item}}' } ⇒ { a: [1, 2, 3] } @ { endpoint: more } ⇒ [{}, {}, {}]
{ forEach: a, message: '{{item}}{{item}}' } ⇒ { a: [01234567890123] } ⇒ TOO_LARGE_RENDERED /message
{ forEach: a, message: '{{item}}{{item}}' } ⇒ { a: [01234567890123] } @ { endpoint: more } ⇒ [{}]

# large integers keep their digits in vars and items and in templates beside them
{ forEach: list, vars: { id: item.id, all: item }, message: '{{id}} {{item.id}} {{vars.id}} {{vars.all.id}}', name: '{% "n" & item.id & vars.id %}' } ⇒ {"id":820982911946154508,"list":[{"id":820982911946154508},{"id":7}]} ⇒ [{ message: 820982911946154508 820982911946154508 820982911946154508 820982911946154508, name: n820982911946154508820982911946154508 }, { message: 820982911946154508 7 7 7 }]
`)

test('a request with too many actions is refused before any is rendered, and one may make a hundred long ones', async () => {
  const hooks = { maxRenderedBytes: 100_000_000 }
  const snapshot = await snapshotOf([{ forEach: 'list', message: '{{index}} {{big}}' }], { hooks })
  const decide = (length: number) =>
    snapshot.resolve(requestOf({ list: Array.from({ length }, () => 1), big: 'word '.repeat(40_000) }))
  const many = await decide(100)
  assert.equal(many.outcome === 'accepted' && many.actions.length, 100)
  const tooMany = await decide(200_000)
  assert.equal('code' in tooMany && tooMany.code, 'TOO_MANY_ACTIONS')
})
