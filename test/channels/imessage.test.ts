import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { isPluginError, type PluginError } from '@reveille/kit'
import { createIMessageChannel, type IMessageConfig } from '../../plugins/imessage/channel.ts'
import { existing, openVendor } from '../../plugins/imessage/fake-server/index.ts'
import { atEnd } from '../at-end.ts'

async function open(t: TestContext) {
  const vendor = await openVendor()
  atEnd(t, () => vendor.close())
  const config = vendor.config as unknown as IMessageConfig
  const channel = createIMessageChannel({ config, fetch, now: Date.now })
  async function send(
    to: string,
    text: string,
    { key = 'delivery:1', signal = new AbortController().signal } = {},
  ) {
    return channel.send({ text }, { target: channel.target(to), key, signal })
  }
  async function failure(sending: Promise<unknown>): Promise<PluginError> {
    const error = await sending.then(
      () => assert.fail('the send fails'),
      (reason: unknown) => reason,
    )
    assert.ok(isPluginError(error))
    return error
  }
  /** The requested and sent paths, without `/api/v1/`. */
  const calls = () => vendor.requests.map(({ method, path }) => `${method} ${path.slice('/api/v1/'.length)}`)
  const stored = () => vendor.messages.map(({ to, text }) => `${to}: ${text}`)
  return { vendor, channel, send, failure, calls, stored }
}

test("a person's chat is looked up once", async (t) => {
  const { send, calls, stored } = await open(t)
  await send(existing.person, 'One.')
  await send(existing.person, 'Two.')
  assert.deepEqual(calls(), [
    `GET chat/iMessage;-;${existing.person}`,
    'POST message/text',
    'POST message/text',
  ])
  assert.deepEqual(stored(), [`iMessage;-;${existing.person}: One.`, `iMessage;-;${existing.person}: Two.`])
})

test('a chat is begun if there is none, and remembered from then on', async (t) => {
  const { send, calls, stored, vendor } = await open(t)
  const receipt = await send(existing.outsider, 'One.')
  await send(existing.outsider, 'Two.')
  assert.deepEqual(calls().slice(-2), ['POST chat/new', 'POST message/text'])
  assert.deepEqual(stored(), [
    `iMessage;-;${existing.outsider}: One.`,
    `iMessage;-;${existing.outsider}: Two.`,
  ])
  assert.match(receipt.id, /^0{8}-/)
  assert.equal(vendor.messages[0]?.['tempGuid'], 'reveille-delivery-1')
})

test('a person is reached by the requested service', async (t) => {
  const { send, stored } = await open(t)
  await send(existing.green, 'By whatever there is.')
  await send(`imessage:${existing.green}`, 'By iMessage.')
  await send(`sms:${existing.person}`, 'By SMS.')
  await send(existing.mail, 'By whatever macOS decides.')
  assert.deepEqual(stored(), [
    `SMS;-;${existing.green}: By whatever there is.`,
    `iMessage;-;${existing.green}: By iMessage.`,
    `SMS;-;${existing.person}: By SMS.`,
    `any;-;${existing.mail}: By whatever macOS decides.`,
  ])
})

test('a group is found by its guid and by its identifier', async (t) => {
  const { send, calls, stored, channel } = await open(t)
  const guid = `iMessage;+;${existing.group}`
  await send(`chat_guid:${guid}`, 'One.')
  assert.deepEqual(calls(), ['POST message/text'], 'a guid needs no looking up')
  await send(`chat_identifier:${existing.group}`, 'Two.')
  assert.deepEqual(stored(), [`${guid}: One.`, `${guid}: Two.`])
  assert.equal(channel.target(`chat_guid:${guid}`).kind, 'group')
})

test('an address of imsg is refused with the alternative', async (t) => {
  const { channel } = await open(t)
  assert.throws(() => channel.target('chat_id:12'), /imsg.*chat_guid/)
  assert.throws(() => channel.target('079 123 45 67'), /begins with \+/)
})

test('an attempt that BlueBubbles is still sending may have arrived, and is not sent twice', async (t) => {
  const { send, failure, stored, vendor } = await open(t)
  const release = vendor.hold()
  const abort = new AbortController()
  const first = failure(send(existing.person, 'Only once.', { signal: abort.signal }))
  while (stored().length === 0) await new Promise((resolve) => setImmediate(resolve))
  abort.abort(new DOMException('The deadline is over.', 'TimeoutError'))
  assert.deepEqual([(await first).code, (await first).maybeDelivered], ['timeout', true])

  const again = await failure(send(existing.person, 'Only once.'))
  assert.deepEqual([again.code, again.retryable, again.maybeDelivered], ['unavailable', true, true])
  assert.match(again.message, /still sending/)
  release()
  assert.equal(stored().length, 1)
})

test('a refusal of Messages is distinguished from a missing confirmation', async (t) => {
  const { send, failure, vendor } = await open(t)
  const unregistered = await failure(send('chat_guid:iMessage;-;+15550199999', 'Hello.'))
  assert.deepEqual(
    [unregistered.code, unregistered.retryable, unregistered.maybeDelivered],
    ['bad-request', false, false],
  )
  assert.match(unregistered.message, /error 22/)

  const error = { type: 'iMessage Error', message: 'Message send timeout' }
  vendor.script({
    kind: 'answer',
    answer: { status: 500, body: { status: 500, message: 'Message Send Error', error } },
  })
  const late = await failure(send(existing.person, 'Hello.'))
  assert.deepEqual([late.code, late.retryable, late.maybeDelivered], ['unavailable', true, true])
})

test('a tunnel that does not reach the Mac has delivered nothing', async (t) => {
  const { send, failure, vendor } = await open(t)
  const facts: [status: number, maybeDelivered: boolean][] = [
    [404, false],
    [503, false],
    [530, false],
    [502, false],
    [504, true],
  ]
  for (const [status, maybeDelivered] of facts) {
    vendor.script({ kind: 'answer', answer: { status, body: '<html>No tunnel</html>' } })
    const error = await failure(send(existing.person, 'Hello.'))
    assert.deepEqual(
      [error.code, error.retryable, error.maybeDelivered],
      ['unavailable', true, maybeDelivered],
    )
  }
})

test('an error quotes neither the password nor the message', async (t) => {
  const { send, failure, vendor } = await open(t)
  const [password = ''] = vendor.secrets
  const text = 'The code is 4711.'
  const error = {
    type: 'iMessage Error',
    message: `execution error: "${text}" with ${password} failed. (-1728)`,
  }
  vendor.script({
    kind: 'answer',
    answer: { status: 500, body: { status: 500, message: 'Message Send Error', error } },
  })
  const { message } = await failure(send(existing.person, text))
  assert.match(message, /-1728/)
  for (const word of ['4711', 'made-up']) assert.ok(!message.includes(word), message)
})

test('the channel declares to the host how long a call of BlueBubbles may take', async (t) => {
  const { channel } = await open(t)
  assert.equal(channel.limits.sendTimeoutMs, 60_000)
})
