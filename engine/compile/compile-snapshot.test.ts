import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testDecisions } from './decision-fixture.ts'
import { compileFixture, type Mapping, snapshotOf } from './fixture.ts'

/** Fields of a mapping, the code, the text at the place, the text in the hint. */
const refused: readonly (readonly [Mapping, string, string, RegExp])[] = [
  [{ message: 'Hi {{name' }, 'TEMPLATE_SYNTAX', '{{name', /Close every/],
  [{ message: 'Hi {{trunkate a 3}}!' }, 'TEMPLATE_SYNTAX', 'trunkate a 3}}!', /Did you mean truncate/],
  [{ message: '{% a + %}' }, 'EXPRESSION_SYNTAX', '%}', /JSONata/],
  [{ name: '{% $sum( %}' }, 'EXPRESSION_SYNTAX', '%}', /JSONata/],
  [{ match: { when: 'a = 1 b' } }, 'EXPRESSION_SYNTAX', 'b', /JSONata/],
  [{ message: '{% a & $eval(b) %}' }, 'EXPRESSION_SYNTAX', '$eval(b) %}', /Write out the expression/],
  [{ match: { when: 'a ~> $eval' } }, 'EXPRESSION_SYNTAX', '$eval', /Write out the/],
  [{ to: 'C{{a}}' }, 'PAYLOAD_ROUTING', '{{a}}', /allowPayloadRouting/],
  [{ channel: '{{a}}' }, 'PAYLOAD_ROUTING', '{{a}}', /allowPayloadRouting/],
  [{ model: '{% a %}' }, 'PAYLOAD_ROUTING', '{% a %}', /allowPayloadRouting/],
  [{ sessionKey: '{{a}}' }, 'SESSION_KEY_PREFIX', '{{a}}', /hook:github:/],
  [{ sessionKey: 'pr{{a}}' }, 'SESSION_KEY_PREFIX', '{{a}}', /hook:github:/],
  [{ sessionKey: ':{{a}}' }, 'SESSION_KEY_PREFIX', '{{a}}', /hook:github:/],
  [{ sessionKey: '{{#if a}}p:{{/if}}{{b}}' }, 'SESSION_KEY_PREFIX', '{{#if a}}p:{{/if}}{{b}}', /./],
  [{ sessionKey: '{% "pr:" & a %}' }, 'SESSION_KEY_PREFIX', '{% "pr:" & a %}', /./],
  [{ sessionKey: 'MAIN' }, 'RESERVED_SESSION_KEY', 'MAIN', /^$/],
  [{ channel: 'slak' }, 'UNKNOWN_CHANNEL', 'slak', /Did you mean slack/],
  [{ channel: 'fax', deliver: false }, 'UNKNOWN_CHANNEL', 'fax', /^There is no such channel; a plugin of/],
  [{ channel: 'telegram' }, 'CHANNEL_NOT_CONFIGURED', 'telegram', /Configure/],
  [{ model: 'gpt-5' }, 'MODEL_NOT_ALLOWED', 'gpt-5', /like openai\/gpt-5/],
  [{ thinking: 'hihg' }, 'UNKNOWN_THINKING', 'hihg', /Did you mean high/],
  [{ wakeMode: 'soon' }, 'INVALID_FIELD', 'soon', /^$/],
  [{ runner: 'claud' }, 'UNKNOWN_RUNNER', 'claud', /Did you mean claude/],
  [{ message: ' ' }, 'BLANK_TEXT', ' ', /^$/],
  [{ deliver: 'false' }, 'INVALID_FIELD', 'false', /without quotes/],
  [{ timeoutSeconds: '30' }, 'INVALID_FIELD', '30', /without quotes/],
  [{ timeoutSeconds: '10m' }, 'INVALID_FIELD', '10m', /without a unit/],
  [{ timeoutSeconds: 0 }, 'INVALID_FIELD', '0', /^$/],
]

for (const [fields, code, pointed, hint] of refused)
  test(`${JSON.stringify(fields)} is refused at load with ${code}, at its place`, async () => {
    const compiled = await compileFixture([{ message: 'x', ...fields }])
    const [first = assert.fail('it compiled'), ...others] = compiled.ok ? [] : compiled.diagnostics
    const { place, message } = first
    assert.deepEqual([first.code, place?.text.slice(place.column - 1), others], [code, pointed, []])
    assert.match(first.hint ?? '', hint)
    assert.match(message, /^`[\w.]+` of mapping "first": /)
  })

test('every error of every mapping is reported together, in the order of the file', async () => {
  const compiled = await compileFixture([
    { id: 'a', message: '{{a', channel: 'fax', model: '{{b}}' },
    { id: 'b', message: 'x', match: { when: '(' }, runner: 'nobody' },
  ])
  assert.ok(!compiled.ok)
  const found = compiled.diagnostics.map(({ code, place }) => `${place?.line} ${code}`)
  const ofFirst = ['1 PAYLOAD_ROUTING', '1 TEMPLATE_SYNTAX', '1 UNKNOWN_CHANNEL']
  assert.deepEqual(found, [...ofFirst, '2 EXPRESSION_SYNTAX', '2 UNKNOWN_RUNNER'])
})

testDecisions(String.raw`
# with prefixes set, a session key must begin with one, as far as load can know @ { hooks: { allowedSessionKeyPrefixes: ['hook:ci:'] } }
{ message: x, sessionKey: 'hook:ci:7' } ⇒ {} ¦ { message: x, sessionKey: 'hook:ci:{{a}}' } ⇒ {} ¦ { message: x, sessionKey: 'hook:{{a}}' } ⇒ {} ⇒ { warn: [] }
{ message: x, sessionKey: 'hook:7' } ⇒ {} ¦ { message: x, sessionKey: 'pr:{{a}}' } ⇒ {} ⇒ { load: SESSION_KEY_NOT_ALLOWED }

# the default runner must exist @ { defaults: { runner: eccho } }
{ message: x } ⇒ {} ⇒ { load: UNKNOWN_RUNNER, says: '/^.agents\.defaults\.runner. must be one of claude, command, echo$/' }

# content without a boundary, and an expression in the middle of a string, give a warning
{ message: '{{a}}', allowUnsafeExternalContent: true } ⇒ {} ⇒ { warn: UNSAFE_CONTENT }
{ message: 'Review {% title %}' } ⇒ {} ⇒ { warn: PARTIAL_EXPRESSION }
`)

test('a snapshot lists its mappings in matching order and covers their endpoints', async () => {
  const snapshot = await snapshotOf([
    { id: 'a', match: { path: 'github' }, message: 'x', description: 'Reviews' },
    { id: 'b', match: { path: 'ci' }, action: 'wake', text: 'x' },
  ])
  assert.deepEqual(snapshot.mappings, [
    { id: 'a', description: 'Reviews', path: 'github', action: 'agent', place: 'mappings/test.yaml:1:1' },
    { id: 'b', description: undefined, path: 'ci', action: 'wake', place: 'mappings/test.yaml:2:1' },
  ])
  const names = ['github', 'ci', 'wake', 'agent', 'other', 'constructor']
  assert.deepEqual(names.filter(snapshot.covers), names.slice(0, 4))
  assert.equal((await snapshotOf([{ message: 'x' }])).covers('anything'), true)
})

test('a snapshot is deeply frozen', async () => {
  const snapshot = await snapshotOf([{ message: 'x' }], { endpoints: { github: { maxBodyBytes: 5 } } })
  const thawed: string[] = []
  const visit = (value: unknown, path: string): void => {
    if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return
    if (!Object.isFrozen(value)) thawed.push(path)
    if (typeof value === 'object')
      for (const [key, child] of Object.entries(value)) visit(child, `${path}.${key}`)
  }
  visit(snapshot, 'snapshot')
  assert.deepEqual(thawed, [])
})
