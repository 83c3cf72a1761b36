/** Tests what `item`, `index`, `params`, `vars` and the list of `forEach` mean in a mapping. */

import { testDecisions } from '../decision-fixture.ts'

const template = "'New: {{item.title}} #{{index}} {{params.tenant}} {{vars.x}}'"
const expression = `'{% "New: " & item.title & " #" & index & " " & params.tenant & " " & vars.x %}'`
const payload = '{ item: { title: Launch }, index: 4, params: { tenant: b }, vars: { x: 9 } }'
const mails = '{ messages: [{ id: m1, subject: One }, { id: m2, subject: Two }] }'

for (const message of [template, expression])
  testDecisions(`
# ${message}: a reserved name is the payload’s own where it has no value, and has its own meaning where it has one
{ message: ${message} } ⇒ ${payload} ⇒ { message: 'New: Launch #4 b 9', explain: { message: '/: New: Launch #4 b 9$/' } }
{ message: ${message}, match: { when: 'item.title = "Launch" and index = 4' } } ⇒ ${payload} ⇒ { message: 'New: Launch #4 b 9' }
{ message: ${message}, forEach: '[{"title": "a"}, {"title": "b"}]' } ⇒ ${payload} ⇒ [{ message: 'New: a #0 b 9' }, { message: 'New: b #1 b 9' }]
{ message: ${message}, vars: { x: '1' } } ⇒ ${payload} ⇒ { message: 'New: Launch #4 b 1' }
{ message: ${message}, match: { path: 'of/:tenant' } } ⇒ ${payload} @ { endpoint: of/c } ⇒ { message: 'New: Launch #4 c 9' }
`)

testDecisions(
  String.raw`
# the payload's own names are found in blocks, and forEach may iterate over a list called item
{ message: '{{#each item}}{{../index}}{{@root.vars.x}}{{/each}}' } ⇒ ${payload} ⇒ { message: '49' }
{ forEach: item.lines, message: '{{item}}' } ⇒ { item: { lines: [1, 2] } } ⇒ [{ message: '1' }, { message: '2' }]

# the first element of the list in forEach is the current element, as in OpenClaw
{ forEach: messages, sessionKey: 'hook:gmail:{{messages[0].id}}', message: 'Subject: {{messages[0].subject}} of {{messages.length}}' } ⇒ ${mails} ⇒ [{ message: 'Subject: One of 1', sessionKey: 'hook:gmail:m1' }, { message: 'Subject: Two of 1', sessionKey: 'hook:gmail:m2' }]
{ forEach: messages, vars: { subject: 'messages[0].subject' }, dedupe: { enabled: true, key: 'messages[0].id' }, message: '{% vars.subject & " " & payload.messages[0].id %}' } ⇒ ${mails} ⇒ [{ message: One m1, dedupe: { key: m1 } }, { message: Two m1, dedupe: { key: m2 } }]

# the list stays the payload’s if the element is read as item, and a mapping that reads both is refused
{ forEach: messages, message: '{{item.subject}} of {{messages.length}}, first {{payload.messages[0].id}}' } ⇒ ${mails} ⇒ [{ message: 'One of 2, first m1' }, { message: 'Two of 2, first m1' }]
{ forEach: messages, sessionKey: 'hook:m:{{messages[0].id}}', message: '{{item.subject}}' } ⇒ {} ⇒ { load: AMBIGUOUS_ELEMENT, says: '/^.sessionKey. of mapping "first": reads messages\[0\] beside .item., so that it is not clear which element is meant$/' }

# a transform gets the whole list, and the mapping gets a warning about that
{ forEach: messages, transform: { module: mail.ts }, message: '{{messages[0].subject}}' } ⇒ {} ⇒ { warn: ELEMENT_IN_TRANSFORM }

# a reserved name that has no value yet is refused where it is read
{ message: x, forEach: items, match: { when: item.id = 1 } } ⇒ {} ⇒ { load: NAME_WITHOUT_VALUE, says: '/reads item, which has no value yet: it is asked once, before forEach$/' }
{ message: x, vars: { a: '1' }, match: { when: vars.a = 1 } } ⇒ {} ⇒ { load: NAME_WITHOUT_VALUE, says: '/reads vars, which are computed after it$/' }
{ message: x, vars: { a: '1' }, forEach: vars.a } ⇒ {} ⇒ { load: NAME_WITHOUT_VALUE, says: '/reads vars, which are computed after it$/' }
{ message: x, vars: { c: vars.d, d: '1' } } ⇒ {} ⇒ { load: NAME_WITHOUT_VALUE, says: '/reads vars\.d, which is computed after it$/' }
{ message: x, vars: { d: vars.d } } ⇒ {} ⇒ { load: NAME_WITHOUT_VALUE, says: '/reads vars\.d, which is itself$/' }
`,
  {},
  { transforms: { 'mail.ts': async () => ({ kind: 'one', action: null }) } },
)
