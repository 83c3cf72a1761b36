import assert from 'node:assert/strict'
import { test } from 'node:test'
import { agentOf, type Mapping, refusalOf } from '../../compile/fixture.ts'

const strict = (mapping: Mapping): Mapping => ({ message: 'x', ...mapping, strict: true })

test('a strict mapping refuses an absent or null value in a template, naming its path', async () => {
  const mapping = strict({ id: 'm', message: 'Hi {{user.name}}' })
  for (const payload of [{}, { user: null }, { user: { name: null } }]) {
    const refusal = await refusalOf(mapping, payload)
    assert.equal(refusal.code, 'ABSENT_FIELD')
    assert.equal(refusal.message, 'mapping "m": message: names user.name, which is absent')
    assert.deepEqual(refusal.details, [{ pointer: '/message', message: 'names user.name, which is absent' }])
  }
})

test('an empty text does not count as absent', async () => {
  assert.equal((await agentOf(strict({ message: 'Hi {{name}}!' }), { name: '' })).message, 'Hi !')
  assert.equal((await agentOf(strict({ name: '{{name}}' }), { name: '' })).name, undefined)
  assert.equal((await agentOf(strict({ message: '{{truncate a 3}}{{quote a}}.' }), { a: '' })).message, '.')
})

test('every field of a strict mapping is checked, with vars and items too', async () => {
  assert.equal((await refusalOf(strict({ name: '{{a}}' }), {})).code, 'ABSENT_FIELD')
  const routed = strict({ deliverTo: [{ channel: 'slack', to: '{{room}}' }], allowPayloadRouting: true })
  const refusal = await refusalOf(routed, {})
  assert.deepEqual([refusal.code, refusal.details[0]?.pointer], ['ABSENT_FIELD', '/deliverTo/0/to'])
  const inner = strict({ forEach: '[1]', vars: { v: 'absent' }, message: '{{vars.v}}' })
  assert.match((await refusalOf(inner, {})).message, /names vars\.v, which is absent/)
})

test('conditions and defaults may read absent values', async () => {
  const message = '{{#if a}}A{{else}}B{{/if}}{{default a "C"}}{{#unless (eq a.b 1)}}D{{/unless}}'
  assert.equal((await agentOf(strict({ message }), {})).message, 'BCD')
})

test('an absent argument of a helper is refused as well', async () => {
  for (const message of [
    '{{truncate a 3}}',
    '{{join a}}',
    '{{date a}}',
    '{{quote a}}',
    '{{json a}}',
    '{{plural a "x"}}',
    '{{quote (truncate a 3)}}',
    '{{default b (truncate a 3)}}',
  ]) {
    assert.equal((await refusalOf(strict({ message: `${message}.` }), {})).code, 'ABSENT_FIELD', message)
  }
  for (const message of ['{{truncate (default a "none") 3}}', '{{default (truncate a 3) "no…"}}'])
    assert.equal((await agentOf(strict({ message }), {})).message, 'no…', message)
})

test('without strict an absent value renders as nothing', async () => {
  assert.equal((await agentOf({ message: 'Hi {{user.name}}.' }, {})).message, 'Hi .')
})

test('an absent value in a session key is reported with the rule for session keys', async () => {
  const refusal = await refusalOf(strict({ sessionKey: 'hook:{{id}}' }), {})
  assert.equal(refusal.code, 'SESSION_KEY_NOT_ALLOWED')
})
