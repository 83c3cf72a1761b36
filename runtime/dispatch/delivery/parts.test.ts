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

test('a reply of exactly as many messages as are allowed is sent whole', () => {
  assert.equal(textsOf(channel, deliveryOf(5), 5).at(-1), 'm5')
})

test('the last message of a longer reply says how many are not sent, and where the whole can be read', () => {
  assert.deepEqual(textsOf(channel, deliveryOf(20), 5), [
    'm1',
    'm2',
    'm3',
    'm4',
    '… 16 more messages are not sent. The whole reply: `reveille runs bf3f9a`',
  ])
  assert.equal(
    textsOf(channel, deliveryOf(2), 1)[0],
    '… 2 more messages are not sent. The whole reply: `reveille runs bf3f9a`',
  )
})

test('for a text that an operator sent, the last message names the delivery', () => {
  assert.match(
    textsOf(channel, deliveryOf(6, { runId: undefined }), 5).at(-1) ?? '',
    /2 more messages .* `reveille deliveries 1d09aa`$/,
  )
})

test('a channel without a bound is sent everything', () => {
  const unbounded = { ...channel, limits: { part: 1000, unit: 'utf16' } } as const
  assert.equal(textsOf(unbounded, deliveryOf(200), 5).length, 200)
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

test('the operator may allow more messages than the channel declares', () => {
  assert.equal(textsOf(channel, deliveryOf(12), 20).length, 12)
})

test('messages that were sent under another bound stay as they were', () => {
  const receipts = Array.from({ length: 11 }, (_, index) => ({ id: `w${index}` }))
  const under = (messages: number) => textsOf(channel, deliveryOf(messages, { receipts }), 5)
  assert.deepEqual(under(20).slice(10), [
    'm11',
    '… 9 more messages are not sent. The whole reply: `reveille runs bf3f9a`',
  ])
  assert.deepEqual(under(11).at(-1), 'm11')
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
  assert.deepEqual(
    [sent.length, sent.at(-1)],
    [5, '… The rest is not sent. The whole reply: `reveille runs bf3f9a`'],
  )
  assert.ok((read[0] ?? 0) <= 2 * 5 * 1000, `${read[0]} of ${text.length}`)

  const sparse = `${'&nbsp;'.repeat(4000)}|end`
  assert.match(textsOf(channel, deliveryOf(0, { text: sparse }), 2).at(-1) ?? '', /The rest is not sent/)
})
