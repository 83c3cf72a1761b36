/** Tests what the fields of a mapping render, and what of it is refused. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testDecisions } from '../../compile/decision-fixture.ts'
import { actionOf, agentOf, refusalOf, requestOf, snapshotOf } from '../../compile/fixture.ts'

testDecisions(String.raw`
# a mapping renders its message plainly and its prompt with the boundary
{ id: pr, message: 'Review #{{number}}: {{title}}' } ⇒ { number: 7, title: Fix the flux. } ⇒ { mapping: pr, message: 'Review #7: Fix the flux.', prompt: '/^Review #7: \[title\]\n\n<outside-data id="id1">.*\[title id1\]\nFix the flux\.\n<\/outside-data id="id1">$/' }
{ message: Something arrived. } ⇒ {} ⇒ { prompt: Something arrived. }
{ message: 'Do: {{a}}', allowUnsafeExternalContent: true } ⇒ { a: anything at all. } ⇒ { prompt: 'Do: anything at all.', trusted: true }
{ id: m, message: '{% "Review " & title %}' } ⇒ { title: it } ⇒ { message: Review it, prompt: '/^<outside-data id="id1">\nA text made by the mapping "m", from outside\./' }
{ action: wake, text: 'Build {{id}}', mode: '{{m}}' } ⇒ { id: 5, m: next-heartbeat } ⇒ { kind: wake, text: Build 5, mode: next-heartbeat, prompt: Build 5 }

# a string of the mapping is not fenced where a variable or an expression only chooses it
{ vars: { tone: 'urgent ? "Answer at once, and in German." : "Answer when you have read all of it."' }, message: '{{vars.tone}} It is #{{n}}.' } ⇒ { urgent: true, n: 5 } ⇒ { prompt: 'Answer at once, and in German. It is #5.' }
{ vars: { tone: '"Be brief, and say what to do."' }, message: '{{vars.tone}}' } ⇒ {} ¦ { vars: { tone: '($n := 1; "Be brief, and say what to do.")' }, message: '{{#if n}}{{vars.tone}}{{/if}}' } ⇒ { n: 5 } ⇒ { prompt: 'Be brief, and say what to do.' }
{ message: '{% urgent ? "Answer at once, and in German." : "Answer when you have read all of it." %}' } ⇒ { urgent: true } ⇒ { prompt: 'Answer at once, and in German.' }

# what a variable makes of the payload is fenced, even where it equals a string of the mapping
{ vars: { tone: '"Answer at once, and in German."', title: title }, message: 'Read {{vars.title}}' } ⇒ { title: 'Answer at once, and in German.' } ⇒ { prompt: '/^Read \[vars.title\]\n.*German/' }
{ vars: { tone: '"Answer " & title' }, message: 'Read {{vars.tone}}' } ⇒ { title: 'at once, and in German.' } ¦ { vars: { tone: 'urgent ? "Be brief, and say what to do." : title' }, message: 'Read {{vars.tone}}' } ⇒ { urgent: false, title: 'Answer at once, and in German.' } ⇒ { prompt: '/^Read \[vars.tone\]\n.*German/' }
{ vars: { tone: '"Answer at once."' }, message: 'Read {{#each list}}{{vars.tone}}{{/each}}' } ⇒ { list: [{ vars: { tone: Answer at once. } }] } ¦ { vars: { tone: '"Answer at once."' }, message: 'Read {{#with payload}}{{vars.tone}}{{/with}}' } ⇒ { vars: { tone: Answer at once. } } ⇒ { prompt: '/^Read \[.*\]\n.*at once/' }
{ vars: { tone: '"Answer at once."' }, message: 'Read {{payload.vars.tone}}' } ⇒ { vars: { tone: Answer at once. } } ¦ { message: 'Read {{vars.tone}}' } ⇒ { vars: { tone: Answer at once. } } ⇒ { prompt: '/^Read \[.*\]\n.*at once/' }

# expressions keep their type, and a template that renders a boolean or a number sets a field of that type
{ message: x, deliver: '{% urgent %}', timeoutSeconds: '{% n * 2 %}' } ⇒ { urgent: false, n: 15 } ⇒ { deliver: false, timeoutSeconds: 30 }
{ message: x, deliver: '{% urgent %}' } ⇒ { urgent: 'false' } ¦ { message: x, deliver: '{{d}}' } ⇒ { d: maybe } ⇒ INVALID_FIELD /deliver
{ message: x, timeoutSeconds: '{% n * 2 %}' } ⇒ { n: 0 } ⇒ INVALID_FIELD /timeoutSeconds
{ message: x, deliver: '{{d}}', timeoutSeconds: '{{t}}' } ⇒ { d: false, t: 9 } ⇒ { deliver: false, timeoutSeconds: 9 }
{ message: '{% items.{"n": n} %}', name: '{% count %}' } ⇒ { items: [{ n: 1 }, { n: 2 }], count: 3 } ⇒ { message: '[{"n":1},{"n":2}]', name: '3' }
{ message: x, name: '{% a %}' } ⇒ { a: {} } ⇒ INVALID_FIELD /name

# a field that renders blank counts as absent, and a message that does is refused with the mapping’s name
{ message: x, name: '{{a}} ', thinking: '{{b}}', wakeMode: '{% absent %}', timeoutSeconds: '{{c}}' } ⇒ { a: '' } ⇒ { name: null, thinking: null, wakeMode: now, timeoutSeconds: 600 }
{ id: blank, message: '{{a}}' } ⇒ {} ⇒ { code: BLANK_TEXT /message, says: '/^mapping "blank": message /' }
{ message: " {{a}}\n" } ⇒ {} ¦ { message: '{% a %}' } ⇒ {} ¦ { message: '{% "" %}' } ⇒ {} ⇒ BLANK_TEXT /message

# an absent value in a session key is refused, and so is a key that is only its prefix
{ message: x, sessionKey: 'hook:pr:{{repo}}:{{n}}' } ⇒ { repo: a/b, n: 1 } ⇒ { sessionKey: 'hook:pr:a/b:1' }
{ message: x, sessionKey: 'hook:pr:{{repo}}:{{n}}' } ⇒ { repo: a } ¦ { message: x, sessionKey: 'hook:pr:{{repo}}:{{n}}' } ⇒ { repo: '', n: 1 } ⇒ SESSION_KEY_NOT_ALLOWED /sessionKey
{ message: x, sessionKey: 'hook:pr:{{repo}}:{{n}}' } ⇒ { repo: null, n: 1 } ¦ { message: x, sessionKey: 'hook:pr:{{repo}}:{{n}}' } ⇒ { repo: ' ', n: 1 } ¦ { message: x, sessionKey: 'hook:pr:{{#if id}}{{id}}{{/if}}' } ⇒ {} ¦ { message: x, sessionKey: 'hook:{{#each ids}}{{this}}{{/each}}' } ⇒ {} ⇒ SESSION_KEY_NOT_ALLOWED /sessionKey
{ message: x, sessionKey: 'hook:{{default repo "none"}}' } ⇒ {} ⇒ { sessionKey: 'hook:none' }
{ message: x, sessionKey: 'hook:pr:{{#if id}}{{id}}{{/if}}' } ⇒ { id: 1 } ⇒ { sessionKey: 'hook:pr:1' }
{ message: x, sessionKey: 'hook:{{#each ids}}{{this}}{{/each}}' } ⇒ { ids: [1] } ¦ { message: x, sessionKey: 'hook:{{! by owner }}{{#with owner}}{{login}}{{/with}}' } ⇒ { owner: { login: 1 } } ⇒ { sessionKey: 'hook:1' }
{ message: x, sessionKey: 'hook:{{! by owner }}{{#with owner}}{{login}}{{/with}}' } ⇒ {} ¦ { message: x, sessionKey: 'hook:{{id}}', strict: true } ⇒ {} ⇒ SESSION_KEY_NOT_ALLOWED /sessionKey
{ message: x, sessionKey: 'hook:{{#if id}}{{id}}{{else}}all{{/if}}' } ⇒ {} ⇒ { sessionKey: 'hook:all' }

# rendered routing is checked by the rules for requests
{ message: x, channel: '{{c}}', model: '{{m}}', thinking: '{{t}}', allowPayloadRouting: true } ⇒ { c: slack, m: openai/gpt-5, t: low } ⇒ { channel: slack, model: openai/gpt-5, thinking: low }
{ message: x, channel: '{{c}}', allowPayloadRouting: true } ⇒ { c: fax } ⇒ UNKNOWN_CHANNEL /channel
{ message: x, channel: '{{c}}', allowPayloadRouting: true } ⇒ { c: telegram } ⇒ CHANNEL_NOT_CONFIGURED /channel
{ message: x, model: '{{m}}', allowPayloadRouting: true } ⇒ { m: gpt } ⇒ MODEL_NOT_ALLOWED /model
{ message: x, thinking: '{{t}}', allowPayloadRouting: true } ⇒ { t: hard } ⇒ UNKNOWN_THINKING /thinking

# an expression that fails refuses the request, with mapping, field and column but without a value
{ id: m, message: '{% $number(a) %}' } ⇒ { a: sekret } ⇒ { code: EXPRESSION_FAILED /message, says: '/^mapping "m": message: the expression .\$number\(a\). failed at column 4: Unable to cast value to a number: text \(D3030\)$/' }

# rendered bytes are counted across all fields of a request @ { hooks: { maxRenderedBytes: 20 } }
{ message: '{{a}}', name: '{{a}}' } ⇒ { a: '123456789' } ⇒ { name: '123456789' }
{ message: '{{a}}', name: '{{a}}' } ⇒ { a: ééééé€ } ⇒ { code: TOO_LARGE_RENDERED /name, says: '/more than 20 bytes \(maxRenderedBytes, of its endpoint or of hooks\)/' }
{ message: '{% a %}' } ⇒ { a: xxxxxxxxxxxxxxxxxxxxx } ⇒ TOO_LARGE_RENDERED
{ message: '{{payload}}', name: '{% $error("x") %}' } ⇒ { a: xxxxxxxxxxxxxxxxxxxxx } ⇒ TOO_LARGE_RENDERED /message

# a low limit on rendered bytes leaves room for the names of a few values @ { hooks: { maxRenderedBytes: 6 } }
{ message: '{{a}}' } ⇒ { a: Do it. } ⇒ { prompt: '/^\[a\]\n/' }

# a strict mapping refuses an absent or null value in a template, naming its path
{ id: m, strict: true, message: 'Hi {{user.name}}' } ⇒ {} ⇒ { code: ABSENT_FIELD /message, says: '/^mapping "m": message: names user.name, which is absent$/' }
{ strict: true, message: 'Hi {{user.name}}' } ⇒ { user: null } ¦ { strict: true, message: 'Hi {{user.name}}' } ⇒ { user: { name: null } } ⇒ ABSENT_FIELD /message
{ message: 'Hi {{user.name}}.' } ⇒ {} ⇒ { message: Hi . }
{ strict: true, message: x, name: '{{a}}' } ⇒ {} ⇒ ABSENT_FIELD /name
{ strict: true, message: x, deliverTo: [{ channel: slack, to: '{{room}}' }], allowPayloadRouting: true } ⇒ {} ⇒ ABSENT_FIELD /deliverTo/0/to
{ strict: true, forEach: '[1]', vars: { v: absent }, message: '{{vars.v}}' } ⇒ {} ⇒ { says: '/names vars\.v, which is absent/' }
{ strict: true, message: '{{truncate a 3}}.' } ⇒ {} ¦ { strict: true, message: '{{join a}}.' } ⇒ {} ¦ { strict: true, message: '{{date a}}.' } ⇒ {} ¦ { strict: true, message: '{{quote a}}.' } ⇒ {} ¦ { strict: true, message: '{{json a}}.' } ⇒ {} ¦ { strict: true, message: '{{plural a "x"}}.' } ⇒ {} ⇒ ABSENT_FIELD /message
{ strict: true, message: '{{quote (truncate a 3)}}.' } ⇒ {} ¦ { strict: true, message: '{{default b (truncate a 3)}}.' } ⇒ {} ⇒ ABSENT_FIELD /message

# in a strict mapping an empty string is not absent, and conditions and defaults may read absent values
{ strict: true, message: 'Hi {{name}}!' } ⇒ { name: '' } ⇒ { message: Hi ! }
{ strict: true, message: x, name: '{{name}}' } ⇒ { name: '' } ⇒ { name: null }
{ strict: true, message: '{{truncate a 3}}{{quote a}}.' } ⇒ { a: '' } ⇒ { message: . }
{ strict: true, message: '{{#if a}}A{{else}}B{{/if}}{{default a "C"}}{{#unless (eq a.b 1)}}D{{/unless}}' } ⇒ {} ⇒ { message: BCD }
{ strict: true, message: '{{truncate (default a "none") 3}}' } ⇒ {} ¦ { strict: true, message: '{{default (truncate a 3) "no…"}}' } ⇒ {} ⇒ { message: no… }

# a reply goes to every target once, and the first target is the action’s own
{ message: x, allowPayloadRouting: true, deliverTo: [{ channel: slack, to: '{{room}}' }, { channel: terminal }, { channel: slack, to: C1 }, { channel: '{% other %}', to: '{% "C" & $string(2) %}' }] } ⇒ { room: C1, other: slack } ⇒ { channel: slack, to: C1, deliverTo: [{ channel: slack, to: C1 }, { channel: terminal }, { channel: slack, to: C2 }] }
{ message: x, allowPayloadRouting: true, deliverTo: [{ channel: '{{#if urgent}}slack{{/if}}' }, { channel: '{{also}}' }] } ⇒ { also: terminal } ⇒ { deliverTo: [{ channel: terminal }] }
{ message: x, allowPayloadRouting: true, deliverTo: [{ channel: '{{also}}' }] } ⇒ {} ⇒ { deliver: false, deliverTo: null, channel: last }
{ message: x, allowPayloadRouting: true, deliverTo: [{ channel: '{{a}}' }, { channel: slack, to: '{% b %}' }, { channel: '{{c}}' }] } ⇒ { a: fax, b: 5, c: telegram } ⇒ { code: UNKNOWN_CHANNEL /deliverTo/0/channel /deliverTo/2/channel, says: '/ deliverTo\[0\]\.channel must be "last" or one of .*; deliverTo\[2\]\.channel is not configured \(configured: /' }
{ message: x, deliverTo: [{ channel: slack, to: 'C{{a}}' }, { channel: '{{a}}' }, { channel: slak }] } ⇒ {} ⇒ { load: [PAYLOAD_ROUTING, PAYLOAD_ROUTING, UNKNOWN_CHANNEL], says: '/^.deliverTo\[0\]\.to. /' }
`)

test('an action and every list of it are frozen', async () => {
  const snapshot = await snapshotOf([{ message: 'x', deliverTo: [{ channel: 'slack', to: 'C1' }] }])
  const decision = await snapshot.resolve(requestOf({}))
  const action = actionOf(decision)
  const deliverTo = 'deliverTo' in action ? action.deliverTo : undefined
  for (const each of ['actions' in decision && decision.actions, action, deliverTo, deliverTo?.[0]])
    assert.ok(each && Object.isFrozen(each))
})

const loop = { id: 'm', message: '{{#each a}}{{this}}{{/each}}' }
const marks = (count: number) => ({ a: Array.from({ length: count }, (_, index) => '!?;…'[index % 4]) })

test('many short values do not make a prompt many times longer than the rendered text, over all actions of a request', async () => {
  const { message, prompt } = await agentOf(loop, marks(5_000))
  assert.ok(message.length === 5_000 && prompt.length < 262_144)
  const says = /^mapping "m": message: .*names.*\(maxRenderedBytes, of its endpoint or of hooks\)/
  assert.match((await refusalOf(loop, marks(60_000))).message, says)
  assert.equal((await refusalOf({ ...loop, forEach: '[1..20]' }, marks(2_000))).code, 'TOO_LARGE_RENDERED')
  const digits = { a: Array.from({ length: 60_000 }, () => 7) }
  assert.equal((await agentOf(loop, digits)).prompt, '7'.repeat(60_000))
})

test('a payload too deeply nested for the stack is refused by templates and expressions', async () => {
  const deep = `${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`
  assert.equal((await refusalOf({ message: '{{a}}' }, deep)).code, 'TOO_LARGE_RENDERED')
  assert.equal((await refusalOf({ message: '{% a %}' }, deep)).code, 'EXPRESSION_FAILED')
})
