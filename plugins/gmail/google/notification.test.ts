import assert from 'node:assert/strict'
import { test } from 'node:test'
import { recordedSamples } from '../../../test/sample-data.ts'
import { readNotification } from './notification.ts'

const encode = (text: string) => Buffer.from(text).toString('base64')
const push = (data: unknown) => ({
  message: { data, messageId: '11' },
  subscription: 'projects/p/subscriptions/s',
})
const samples = recordedSamples('gmail')?.filter(({ name }) => name.includes('pubsub-push'))
const skip = samples === undefined && 'the recorded bodies are not at hand'

test('recorded notifications are read, with the history id as a number or a text', { skip }, () => {
  assert.deepEqual(
    samples?.map(({ body }) => readNotification(JSON.parse(body))),
    [
      {
        messageId: '11536453612345678',
        about: { emailAddress: 'user@example.com', historyId: '9876543210' },
      },
      { messageId: '2070443601311542', about: { emailAddress: 'user@example.com', historyId: '1234567890' } },
    ],
  )
})

test('a history id beyond the exact numbers keeps each digit', () => {
  for (const written of ['18446744073709551615', '"18446744073709551615"', '9007199254740993']) {
    const data = encode(`{"emailAddress":"ada@example.com","historyId":${written}}`)
    assert.equal(readNotification(push(data))?.about?.historyId, written.replaceAll('"', ''))
  }
})

test('both alphabets of base64 are read, and a message without its envelope too', () => {
  const text = '{"emailAddress":"ädä>?@example.com","historyId":1}'
  const url = Buffer.from(text).toString('base64url')
  assert.notEqual(url, encode(text))
  assert.equal(readNotification(push(url))?.about?.emailAddress, 'ädä>?@example.com')
  const message = { data: encode(text), message_id: '12' }
  assert.deepEqual(readNotification(message), {
    messageId: '12',
    about: { emailAddress: 'ädä>?@example.com', historyId: '1' },
  })
})

test('a pulled notification has an id for its acknowledgement', () => {
  assert.deepEqual(readNotification({ ackId: 'ack-1', message: { messageId: '11' } }), {
    ackId: 'ack-1',
    messageId: '11',
  })
})

test("a message that is not Gmail's has no history id", () => {
  const historyIds = ['1.5', '-1', '1e3', '"1 OR 1"', '9'.repeat(1000), 'true']
  const texts = [
    'hello',
    'null',
    '[1]',
    '['.repeat(100_000),
    '{"emailAddress":"ada@example.com"}',
    '{"historyId":1}',
    '{"emailAddress":"","historyId":1}',
    '{"emailAddress":7,"historyId":1}',
    '{"__proto__":{"emailAddress":"ada@example.com","historyId":"1"}}',
    ...historyIds.map((each) => `{"emailAddress":"ada@example.com","historyId":${each}}`),
  ]
  for (const data of [undefined, 7, '', '%%%', ...texts.map(encode)])
    assert.deepEqual(readNotification(push(data)), { messageId: '11' }, String(data))
})

test('data that is no Pub/Sub message is no notification', () => {
  const empty = [{ message: {} }, { message: { messageId: '' } }]
  for (const strange of [undefined, null, 'message', 7, [], {}, ...empty])
    assert.equal(readNotification(strange), undefined)
})
