import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PluginError } from '@reveille/kit'
import { openBed } from '@reveille/kit/fake-server'
import { createIMessageChannel, type IMessageConfig } from '../../plugins/imessage/channel.ts'
import { existing, openVendor } from '../../plugins/imessage/fake-server/index.ts'

async function open() {
  const vendor = await openVendor()
  const config = vendor.config as unknown as IMessageConfig
  /** The requested and sent paths, without `/api/v1/`. */
  const calls = () => vendor.requests.map(({ method, path }) => `${method} ${path.slice('/api/v1/'.length)}`)
  const stored = () => vendor.messages.map(({ to, text }) => `${to}: ${text}`)
  return { ...openBed(vendor, createIMessageChannel({ config, fetch, now: Date.now })), calls, stored }
}

const factsOf = ({ code, retryable, maybeDelivered }: PluginError) => [code, retryable, maybeDelivered]

test("a person's chat is looked up once", async () => {
  await using used = await open()
  const { send, calls, stored } = used
  await send('One.', existing.person)
  await send('Two.', existing.person)
  const sent = 'POST message/text'
  assert.deepEqual(calls(), [`GET chat/iMessage;-;${existing.person}`, sent, sent])
  assert.deepEqual(stored(), [`iMessage;-;${existing.person}: One.`, `iMessage;-;${existing.person}: Two.`])
})

test('a chat is begun if there is none, and remembered from then on', async () => {
  await using used = await open()
  const { send, calls, stored, vendor } = used
  const [receipt] = await send('One.', existing.outsider)
  await send('Two.', existing.outsider)
  assert.deepEqual(calls().slice(-2), ['POST chat/new', 'POST message/text'])
  const chat = `iMessage;-;${existing.outsider}`
  assert.deepEqual(stored(), [`${chat}: One.`, `${chat}: Two.`])
  assert.match(receipt?.id ?? '', /^0{8}-/)
  assert.equal(vendor.messages[0]?.['tempGuid'], 'reveille-d-1')
})

const group = `iMessage;+;${existing.group}`
for (const [to, chat] of [
  [existing.green, `SMS;-;${existing.green}`],
  [`imessage:${existing.green}`, `iMessage;-;${existing.green}`],
  [`sms:${existing.person}`, `SMS;-;${existing.person}`],
  [existing.mail, `any;-;${existing.mail}`],
  [`chat_guid:${group}`, group],
  [`chat_identifier:${existing.group}`, group],
] as const)
  test(`${to} is reached as ${chat}`, async () => {
    await using used = await open()
    await used.send('Hello.', to)
    assert.deepEqual(used.stored(), [`${chat}: Hello.`])
    if (!to.startsWith('chat_guid')) return
    assert.deepEqual(used.calls(), ['POST message/text'], 'a guid needs no looking up')
    assert.equal(used.channel.target(to).kind, 'group')
  })

test('an address of imsg is refused with the alternative, and a call of BlueBubbles may take a minute', async () => {
  await using used = await open()
  assert.throws(() => used.channel.target('chat_id:12'), /imsg.*chat_guid/)
  assert.throws(() => used.channel.target('079 123 45 67'), /begins with \+/)
  assert.equal(used.channel.limits.sendTimeoutMs, 60_000)
})

test('an attempt that BlueBubbles is still sending may have arrived, and is not sent twice', async () => {
  await using used = await open()
  const { channel, failure, stored, vendor } = used
  const release = vendor.hold()
  const abort = new AbortController()
  const target = channel.target(existing.person)
  const sending = channel.send({ text: 'Only once.' }, { target, key: 'd:1', signal: abort.signal })
  const first = assert.rejects(sending, { code: 'timeout', maybeDelivered: true })
  while (stored().length === 0) await new Promise((resolve) => setImmediate(resolve))
  abort.abort(new DOMException('The deadline is over.', 'TimeoutError'))
  await first

  const again = await failure(existing.person, 'Only once.')
  assert.deepEqual(factsOf(again), ['unavailable', true, true])
  assert.match(again.message, /still sending/)
  release()
  assert.equal(stored().length, 1)
})

const failed = (message: string) => ({
  status: 500,
  body: { status: 500, message: 'Message Send Error', error: { type: 'iMessage Error', message } },
})

test('a refusal of Messages is distinguished from a missing confirmation', async () => {
  await using used = await open()
  const unregistered = await used.failure('chat_guid:iMessage;-;+15550199999')
  assert.deepEqual(factsOf(unregistered), ['bad-request', false, false])
  assert.match(unregistered.message, /error 22/)
  used.vendor.script({ kind: 'answer', answer: failed('Message send timeout') })
  assert.deepEqual(factsOf(await used.failure()), ['unavailable', true, true])
})

test('a tunnel that does not reach the Mac has delivered nothing', async () => {
  await using used = await open()
  for (const status of [404, 503, 530, 502, 504]) {
    used.vendor.script({ kind: 'answer', answer: { status, body: '<html>No tunnel</html>' } })
    assert.deepEqual(factsOf(await used.failure()), ['unavailable', true, status === 504])
  }
})

test('an error quotes neither the password nor the message', async () => {
  await using used = await open()
  const text = 'The code is 4711.'
  const quoting = `execution error: "${text}" with ${used.vendor.secrets[0]} failed. (-1728)`
  used.vendor.script({ kind: 'answer', answer: failed(quoting) })
  const { message } = await used.failure(existing.person, text)
  assert.match(message, /-1728/)
  assert.doesNotMatch(message, /4711|made-up/)
})
