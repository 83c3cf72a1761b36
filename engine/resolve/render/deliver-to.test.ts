import assert from 'node:assert/strict'
import { test } from 'node:test'
import { agentOf, compileFixture, type Mapping, refusalOf } from '../../compile/fixture.ts'

const routed = (deliverTo: Mapping['deliverTo'], more?: Partial<Mapping>): Mapping => ({
  message: 'x',
  deliverTo,
  allowPayloadRouting: true,
  ...more,
})

test('a reply goes to every target once, and the first target is the action’s own', async () => {
  const action = await agentOf(
    routed([
      { channel: 'slack', to: '{{room}}' },
      { channel: 'terminal' },
      { channel: 'slack', to: 'C1' },
      { channel: '{% other %}', to: '{% "C" & $string(2) %}' },
    ]),
    { room: 'C1', other: 'slack' },
  )
  assert.deepEqual(action.deliverTo, [
    { channel: 'slack', to: 'C1' },
    { channel: 'terminal' },
    { channel: 'slack', to: 'C2' },
  ])
  assert.deepEqual([action.channel, action.to], ['slack', 'C1'])
  assert.ok(Object.isFrozen(action.deliverTo) && Object.isFrozen(action.deliverTo[0]))
})

test('every target is checked by the rules for channels, and each invalid one is reported', async () => {
  const mapping = routed([{ channel: '{{a}}' }, { channel: 'slack', to: '{% b %}' }, { channel: '{{c}}' }])
  const refusal = await refusalOf(mapping, { a: 'fax', b: 5, c: 'telegram' })
  assert.deepEqual(
    [refusal.code, refusal.details.map(({ pointer }) => pointer)],
    ['UNKNOWN_CHANNEL', ['/deliverTo/0/channel', '/deliverTo/2/channel']],
  )
  assert.match(
    refusal.message,
    / deliverTo\[0\]\.channel must be "last" or one of .*; deliverTo\[2\]\.channel is not configured \(configured: /,
  )
})

test('a target whose channel renders blank is left out, and without any target nothing is delivered', async () => {
  const mapping = routed([{ channel: '{{#if urgent}}slack{{/if}}' }, { channel: '{{also}}' }])
  const action = await agentOf(mapping, { also: 'terminal' })
  assert.deepEqual(action.deliverTo, [{ channel: 'terminal' }])
  const none = await agentOf(mapping, {})
  assert.deepEqual([none.deliver, none.deliverTo, none.channel], [false, undefined, 'last'])
})

test('placeholders in a target need allowPayloadRouting, and literals are checked at load', () => {
  const compiled = compileFixture([
    {
      message: 'x',
      deliverTo: [{ channel: 'slack', to: 'C{{a}}' }, { channel: '{{a}}' }, { channel: 'slak' }],
    },
  ])
  assert.ok(!compiled.ok)
  assert.deepEqual(
    compiled.diagnostics.map(({ code, message }) => [code, message.split(' ')[0]]),
    [
      ['PAYLOAD_ROUTING', '`deliverTo[0].to`'],
      ['PAYLOAD_ROUTING', '`deliverTo[1].channel`'],
      ['UNKNOWN_CHANNEL', '`deliverTo[2].channel`'],
    ],
  )
})
