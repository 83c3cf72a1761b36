import assert from 'node:assert/strict'
import { test } from 'node:test'
import { vendorConformance } from '@reveille/kit/conformance'
import { openBed } from '@reveille/kit/fake-server'
import { createTeamsChannel, type TeamsConfig } from './channel.ts'
import { openVendor, visibleText } from './fake-server/index.ts'

const general = '19:general0000000000000000000000000@thread.tacv2'
const person = '5b649834-7412-4cce-9e69-176e95a394f5'

vendorConformance({
  name: 'the msteams channel conforms',
  plugin: new URL('./index.ts', import.meta.url),
  open: openVendor,
  visibleText,
  places: [
    [`conversation:${general}`, general, ` ${general} `],
    [`conversation:${general};messageid=1763682000000`, `${general};messageid=1763682000000`],
    ['19:meeting_group00000000000000@thread.v2'],
    ['a:1pweuGJ44RkB90tiJNQ_I6g3vyuP4CYA', 'conversation:a:1pweuGJ44RkB90tiJNQ_I6g3vyuP4CYA'],
    [`user:${person}`, `user:${person.toUpperCase()}`],
  ],
  badAddresses: [
    'General',
    '#general',
    'ada@example.org',
    'user:ada',
    `${general};messageid=`,
    '19:a/../b@thread.tacv2',
    'a:b/../c',
    `https://teams.microsoft.com/l/channel/${encodeURIComponent(general)}`,
  ],
})

async function open(change: Partial<TeamsConfig> = {}) {
  const vendor = await openVendor()
  const config = { ...(vendor.config as unknown as TeamsConfig), ...change }
  const channel = createTeamsChannel({ config, fetch, now: Date.now })
  return { ...openBed(vendor, channel), config }
}

test('a message becomes an activity in the conversation or its thread, and the receipt has its id', async () => {
  await using used = await open()
  const { vendor, send } = used
  const [receipt] = await send('Hello', vendor.threadTo)
  const [request] = vendor.asked.connector
  assert.equal(
    request?.path,
    `/teams/v3/conversations/${general};messageid=1763682000000/activities`,
    'the id is one segment of the path',
  )
  assert.deepEqual(request?.json, { type: 'message', text: 'Hello', textFormat: 'markdown' })
  assert.deepEqual(receipt, { id: '1763682000001' })
})

test('a person’s chat is opened once, in the tenant of the bot', async () => {
  await using used = await open()
  const { vendor, send } = used
  await send('One', vendor.userTo)
  await send('Two', vendor.userTo)
  const opened = vendor.asked.connector.filter(({ path }) => path === '/teams/v3/conversations')
  const { tenantId, appId } = vendor.config
  assert.deepEqual(
    opened.map(({ json }) => json),
    [
      {
        isGroup: false,
        bot: { id: `28:${appId}` },
        members: [{ id: person }],
        tenantId,
        channelData: { tenant: { id: tenantId } },
      },
    ],
  )
  assert.deepEqual(new Set(vendor.messages.map(({ to }) => to)), new Set(['a:1chat0']))
})

test('a multi-tenant bot refuses users, since it has no tenant to look them up in, before anything is sent', async () => {
  await using used = await open({ tenantId: 'botframework.com' })
  assert.throws(() => used.channel.target(used.vendor.userTo), {
    code: 'bad-target',
    message: /needs `tenantId`/,
  })
  const config = { ...used.config, defaultTo: used.vendor.userTo }
  assert.throws(() => createTeamsChannel({ config, fetch, now: Date.now }), /`defaultTo`.*needs `tenantId`/)
})

test('a refusal of the connector becomes a sentence with its own code and the fix', async () => {
  await using used = await open()
  const { vendor, channel, send } = used
  await assert.rejects(send('x', vendor.foreignTo), {
    code: 'forbidden',
    retryable: false,
    message: /BotNotInConversationRoster\): install the app/,
  })
  await assert.rejects(send('x', vendor.outsiderTo), {
    code: 'forbidden',
    message: /ForbiddenOperationException\): install the app/,
  })
  await assert.rejects(send('x', vendor.unknownTo), { code: 'bad-target', message: /no such conversation/ })
  const nobody = 'user:00000000-0000-0000-0000-000000000000'
  await assert.rejects(send('x', nobody), { code: 'bad-target', message: /no such person/ })
  const call = { target: channel.target(vendor.to), key: 'd:1', signal: new AbortController().signal }
  await assert.rejects(channel.send({ text: 'x'.repeat(60_000) }, call), {
    code: 'too-long',
    retryable: false,
    message: /MessageSizeTooBig/,
  })
})

test('temporary errors of the connector are retried, and only unclear ones may have been delivered', async () => {
  await using used = await open()
  const { vendor, send } = used
  for (const [status, code, maybeDelivered] of [
    [412, 'unavailable', false],
    [429, 'rate-limited', false],
    [500, 'unavailable', true],
    [502, 'unavailable', true],
    [503, 'unavailable', false],
    [504, 'unavailable', true],
  ] as const) {
    vendor.script({ kind: 'answer', answer: { status, body: { error: { code: 'X', message: 'No.' } } } })
    await assert.rejects(send('x'), { code, retryable: true, maybeDelivered, wholeService: false })
  }
})

test('a 429 is waited out as its header says, or by the backoff of the host without one', async () => {
  await using used = await open()
  const { vendor, send } = used
  vendor.script({ kind: 'answer', answer: vendor.refusals.rateLimited(9) })
  await assert.rejects(send('x'), { code: 'rate-limited', retryAfter: 9 })
  const { body } = vendor.refusals.rateLimited(9)
  vendor.script({ kind: 'answer', answer: { status: 429, body } })
  await assert.rejects(send('x'), { code: 'rate-limited', retryAfter: undefined })
})

test('an address that is not the connector is reported as such, and no delivery is lost', async () => {
  await using used = await open()
  const { vendor, send } = used
  for (const answer of [
    { status: 404, body: '<html>Not here</html>' },
    { status: 404, body: { message: 'No HTTP resource was found.' } },
    { status: 200, body: '<html>Welcome</html>' },
  ]) {
    vendor.script({ kind: 'answer', answer })
    const facts = { code: 'unavailable', retryable: true, maybeDelivered: false }
    await assert.rejects(send('x'), { ...facts, message: /^What answers at `baseUrl` is not / })
  }
})
