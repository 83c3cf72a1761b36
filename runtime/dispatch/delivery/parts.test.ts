import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Channel } from '@reveille/kit'
import type { DeliveryRecord } from '../../store/port.ts'
import { planParts } from './parts.ts'

const channel: Channel = {
  id: 'wall',
  limits: { part: 1000, unit: 'utf16', parts: 10 },
  target: (to) => ({ key: to, kind: 'user' }),
  render: (markdown) => markdown.split('|').map((text) => ({ text })),
  send: async () => ({ id: '1' }),
}

function deliveryOf(messages: number, fields: Partial<DeliveryRecord> = {}): DeliveryRecord {
  return {
    id: '019a7c3e-1111-7222-8333-44445c1d09aa',
    runId: '019a7c3e-1111-7222-8333-444455bf3f9a',
    state: 'pending',
    channel: 'wall',
    to: 'Ada',
    text: Array.from({ length: messages }, (_, index) => `m${index + 1}`).join('|'),
    receipts: [],
    attempts: 0,
    generation: 1,
    createdAt: 0,
    ...fields,
  }
}

const textsOf = (...given: Parameters<typeof planParts>) => planParts(...given).parts.map(({ text }) => text)

const note = (rest: string, command = 'runs bf3f9a') =>
  `… ${rest} not sent. The whole reply: \`reveille ${command}\``
const noteOnDelivery = note('2 more messages are', 'deliveries 1d09aa')
const unbounded = { ...channel, limits: { part: 1000, unit: 'utf16' } } as const
const elevenSent = { receipts: Array.from({ length: 11 }, (_, index) => ({ id: `w${index}` })) }

/** How many messages a reply has and how many are allowed; then how many are sent, and which is the last of them. */
for (const [what, messages, allowed, sent, last, fields, on] of [
  ['a reply of exactly as many messages as are allowed is sent whole', 5, 5, 5, 'm5'],
  ['the last message of a longer reply says how many are not sent', 20, 5, 5, note('16 more messages are')],
  ['where one message is allowed it says that none is sent', 2, 1, 1, note('2 more messages are')],
  ['in a text that an operator sent it names the delivery', 6, 5, 5, noteOnDelivery, { runId: undefined }],
  ['a channel without a bound is sent everything', 200, 5, 200, 'm200', {}, unbounded],
  ['the operator may allow more messages than the channel declares', 12, 20, 12, 'm12'],
  ['messages that were sent under another bound stay', 20, 5, 12, note('9 more messages are'), elevenSent],
  ['a reply that was sent whole under another bound stays whole', 11, 5, 11, 'm11', elevenSent],
] as const)
  test(what, () => {
    const texts = textsOf(on ?? channel, deliveryOf(messages, fields), allowed)
    const before = Array.from({ length: sent - 1 }, (_, index) => `m${index + 1}`)
    assert.deepEqual(texts, [...before, last])
  })

test('malformed parts and targets are refused before one message is sent', () => {
  const plan = (faults: object) => () => planParts({ ...channel, ...faults }, deliveryOf(1), 10)
  const nonsense = [undefined, Promise.resolve([{ text: 'm1' }]), 'm1']
  for (const parts of nonsense) assert.throws(plan({ render: () => parts }), /as no list of parts/)
  for (const part of [undefined, null, {}, { text: 5 }])
    assert.throws(plan({ render: () => [{ text: 'm1' }, part] }), /a part that has no text/)
  for (const target of [undefined, null, {}, { key: 5 }])
    assert.throws(plan({ target: () => target }), /a target without a key/)
})

test('only the part of a far too long reply that can be sent is rendered, and the last message says that there is more', () => {
  const read: number[] = []
  const reading: Channel = {
    ...channel,
    render(markdown) {
      read.push(markdown.length)
      return channel.render(markdown)
    },
  }
  const line = 'a'.repeat(999)
  const text = Array.from({ length: 1000 }, (_, index) => `${index}|${line}\n`).join('')
  const sent = textsOf(reading, deliveryOf(0, { text }), 5)
  assert.deepEqual([sent.length, sent.at(-1)], [5, note('The rest is')])
  assert.ok((read[0] ?? 0) <= 2 * 5 * 1000, `${read[0]} of ${text.length}`)

  const sparse = `${'&nbsp;'.repeat(4000)}|end`
  assert.match(textsOf(channel, deliveryOf(0, { text: sparse }), 2).at(-1) ?? '', /The rest is not sent/)
})
