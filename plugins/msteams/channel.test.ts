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
    ...['General', '#general', 'ada@example.org', 'user:ada'],
    ...[`${general};messageid=`, '19:a/../b@thread.tacv2', 'a:b/../c'],
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
  const chat = { isGroup: false, bot: { id: `28:${appId}` }, members: [{ id: person }] }
  const bodies = opened.map(({ json }) => json)
  assert.deepEqual(bodies, [{ ...chat, tenantId, channelData: { tenant: { id: tenantId } } }])
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

const own = (status: number, headers = {}) => {
  return { status, headers, body: { error: { code: 'X', message: 'No.' } } }
}
const elsewhere = /^What answers at `baseUrl` is not /

test('each refusal says whether and when to try again, with its own code and the fix', async () => {
  await using used = await open()
  const { vendor, channel } = used
  await used.assertMeanings([
    [vendor.foreignTo, 'forbidden', /BotNotInConversationRoster\): install the app/],
    [vendor.outsiderTo, 'forbidden', /ForbiddenOperationException\): install the app/],
    [vendor.unknownTo, 'bad-target', /no such conversation/],
    ['user:00000000-0000-0000-0000-000000000000', 'bad-target', /no such person/],
    [own(412), 'unavailable retryable'],
    [own(429), 'rate-limited retryable'],
    [own(502), 'unavailable retryable maybeDelivered'],
    [own(504), 'unavailable retryable maybeDelivered'],
    // An address that is not the connector.
    [{ status: 404, body: '<html>Not here</html>' }, 'unavailable retryable wholeService', elsewhere],
    [
      { status: 404, body: { message: 'No HTTP resource was found.' } },
      'unavailable retryable wholeService',
      elsewhere,
    ],
    [{ status: 200, body: '<html>Welcome</html>' }, 'unavailable retryable', elsewhere],
  ])
  const call = { target: channel.target(vendor.to), key: 'd:1', signal: new AbortController().signal }
  await assert.rejects(channel.send({ text: 'x'.repeat(60_000) }, call), {
    code: 'too-long',
    retryable: false,
    message: /MessageSizeTooBig/,
  })
})
