import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { vendorConformance } from '@reveille/kit/conformance'
import { factsOf, type Meaning, openBed } from '@reveille/kit/fake-server'
import { createWhatsAppChannel, userAgent, type WhatsAppConfig } from './channel.ts'
import { type FakeWhatsAppOptions, graphError, openVendor, visibleText } from './fake-server/index.ts'

vendorConformance({
  name: 'the channel whatsapp conforms',
  plugin: new URL('./index.ts', import.meta.url),
  open: openVendor,
  visibleText,
  places: [
    ['+16505551234', '16505551234', ' +16505551234 ', 'whatsapp:+16505551234', '+1  (650) 555-1234'],
    ['+16505559876'],
    ['group:Y2FwaV9ncm91cDoxNzA1NTU1MDEzOToxMjAzNjM0MDQ2OTQyMzM4MjAZD'],
  ],
  badAddresses: [
    ...['Ada', '+0123456789', '123', 'whatsapp:', '+1 650 555 1234 x5'],
    ...['group:', 'group:a b', '+1234567890123456'],
  ],
  fences: false,
})

const defaults = { apiVersion: 'v23.0', linkPreviews: false }
async function open(given: Partial<WhatsAppConfig> = {}, options?: FakeWhatsAppOptions, end = '') {
  const vendor = await openVendor(options)
  const baseUrl = `${vendor.url}${end}`
  const config = { ...defaults, ...vendor.config, baseUrl, ...given } as unknown as WhatsAppConfig
  const channel = createWhatsAppChannel({ config, fetch, now: Date.now })
  const bodies = () => vendor.requests.map(({ json }) => json as Record<string, unknown>)
  return { ...openBed(vendor, channel), bodies }
}

const template = { name: 'reply_ready', language: 'en_US' }

test('a text is sent to the number without its plus, without a preview, in the configured API version', async () => {
  await using bed = await open({ apiVersion: 'v24.0' })
  const [receipt] = await bed.send()
  const [request] = bed.vendor.requests
  assert.equal(request?.path, '/v24.0/106540352242922/messages')
  assert.deepEqual(bed.bodies(), [
    {
      messaging_product: 'whatsapp',
      recipient_type: 'individual',
      to: '16505551234',
      type: 'text',
      text: { body: 'Hello', preview_url: false },
    },
  ])
  assert.equal(request?.headers['content-type'], 'application/json')
  assert.deepEqual(receipt, { id: bed.vendor.messages[0]?.id })
})

test('a group is named as a group, and previews are shown if the configuration asks for them', async () => {
  await using bed = await open({ linkPreviews: true })
  await bed.send('Hello', bed.vendor.groupTo)
  const [message] = bed.vendor.messages
  assert.deepEqual([message?.recipientType, message?.hasPreview], ['group', true])
})

test('the base URL may end with a slash, and the check names the owner of the number', async () => {
  await using bed = await open({}, {}, '/')
  const detail = 'Replies come from Ada’s Garage, +1 555-555-5555.'
  assert.deepEqual(await bed.check(), { ok: true, detail })
})

test('the user agent names the version of the package', async () => {
  const { version } = JSON.parse(await readFile(new URL('./package.json', import.meta.url), 'utf8'))
  assert.equal(userAgent, `reveille/${version}`)
})

test('a short reply reaches a user who has not written for 24 hours whole in the template, on one line', async () => {
  await using bed = await open({ template })
  const [receipt] = await bed.send('# Done\n\n- one\n- **two**\n\n\tThree.', bed.vendor.silentTo)
  const [message] = bed.vendor.messages
  assert.equal(message?.type, 'template')
  assert.equal(message?.body, '*Done* - one - *two* Three.')
  assert.deepEqual(receipt, { id: message?.id })
})

test('a named variable is filled by its name', async () => {
  await using bed = await open({ template: { ...template, parameter: 'reply' } })
  await bed.send('Hello', bed.vendor.silentTo)
  assert.deepEqual(bed.bodies().at(-1)?.['template'], {
    name: 'reply_ready',
    language: { code: 'en_US' },
    components: [{ type: 'body', parameters: [{ type: 'text', parameter_name: 'reply', text: 'Hello' }] }],
  })
})

test('a reply too long for the template is sent in part, and the rest waits until the user writes', async () => {
  for (const reply of ['A long line. '.repeat(100), 'A long line.\n\n'.repeat(600)]) {
    await using bed = await open({ template })
    const { vendor } = bed
    const error = await bed.failure(vendor.silentTo, reply)
    assert.equal(factsOf(error), 'window-closed')
    assert.match(error.message, /the template reply_ready has shown them how the reply begins/)
    assert.equal(vendor.messages.length, 1, 'the template is sent once')
    assert.match(vendor.messages[0]?.body ?? '', /^A long line\. A long line\. .{800,}…$/)

    vendor.write(vendor.silentTo)
    await bed.send(reply, vendor.silentTo)
    const words = vendor.messages.slice(1).flatMap(({ text }) => text.trim().split(/\s+/))
    assert.deepEqual(words, reply.trim().split(/\s+/), 'the replay is the whole reply')
  }
})

test('a template that may have arrived is not sent again automatically', async () => {
  await using bed = await open({ template })
  bed.vendor.script(
    { kind: 'answer', answer: graphError(131047, 'Re-engagement message') },
    { kind: 'cut-after' },
  )
  assert.equal(factsOf(await bed.failure(bed.vendor.silentTo)), 'network retryable maybeDelivered')
  assert.equal(bed.vendor.messages.length, 1)
})

test('a limit for one user holds back only that user', async () => {
  await using bed = await open({}, { burst: 1 })
  await bed.send()
  assert.equal(factsOf(await bed.failure()), 'rate-limited retryable after 6 s')
  await bed.send('Hello', bed.vendor.groupTo)
})

/** What Meta's codes mean, whatever the status is. */
const meanings: Readonly<Record<string, string>> = {
  '0 102 104 190 3 10 33 200 210 299 803': 'bad-credential retryable wholeService',
  '131042 131045 133010': 'forbidden retryable wholeService',
  '368 130497 131030 131031 131049 131050': 'forbidden',
  '4 17 613 80007 130429 131048 133016': 'rate-limited retryable wholeService',
  '131056': 'rate-limited retryable after 6 s',
  '1 2 131000 131016 131057 133004': 'unavailable retryable',
  '100 131008 131009 131051 132000 132001 132005 132007 132012 132015 132016 424242': 'bad-request',
  '131021 131026': 'bad-target',
}

test('only the code decides what a refusal of Meta means', async () => {
  await using bed = await open()
  for (const [codes, facts] of Object.entries(meanings))
    for (const code of codes.split(' ').map(Number)) {
      const answers = [400, 403, 429].map((status) => ({ ...graphError(code, 'In its own words'), status }))
      const words = new RegExp(`\\(${code} In its own words\\)\\.`)
      await bed.assertMeanings(answers.map((answer) => [answer, facts, words]))
    }
})

const limited = graphError(80007, 'Rate limit issues')
const usage = { 1: [{ type: 'whatsapp', estimated_time_to_regain_access: 2 }, { type: 'other' }] }
const inHeader = (value: unknown) => ({ 'x-business-use-case-usage': JSON.stringify(value) })
const paused = { messaging_product: 'whatsapp', messages: [{ id: 'wamid.1', message_status: 'paused' }] }
const unknownTemplate = { name: 'unknown', language: 'en_US' }
const page = (status: number) => ({ status, body: '<html>' })

/** What other answers mean, by the configuration. */
for (const [what, config, expected] of [
  [
    'a user who has not written for 24 hours gets nothing without a template',
    {},
    [
      [
        '+16505559876',
        'window-closed',
        /within 24 hours of a message of theirs.*set `channels\.whatsapp\.template`/,
      ],
    ],
  ],
  [
    'a template that Meta refuses is named',
    { template: unknownTemplate },
    [['+16505559876', 'bad-request', /knows no such template.*`channels\.whatsapp\.template`.*132001/]],
  ],
  [
    'a paused template has reached no one, although Meta accepts it',
    { template },
    [[{ body: paused }, 'bad-request', /paused the template/]],
  ],
  [
    'the time to wait is read wherever an answer has one',
    {},
    [
      [{ ...limited, headers: { 'retry-after': '9' } }, 'rate-limited retryable wholeService after 9 s'],
      [{ ...limited, headers: inHeader(usage) }, 'rate-limited retryable wholeService after 120 s'],
      [{ ...limited, headers: { 'x-business-use-case-usage': '{' } }, 'rate-limited retryable wholeService'],
    ],
  ],
  [
    'an unknown code is retried if Meta says so, or by its status',
    {},
    [
      [graphError(424242, 'For a moment', { is_transient: true }), 'unavailable retryable'],
      [{ ...graphError(424242, 'For a moment'), status: 500 }, 'unavailable retryable'],
    ],
  ],
  [
    'an unknown sender number is retried until the operator fixes it',
    { phoneNumberId: '1' },
    [['+16505551234', 'bad-credential retryable wholeService', /no number with this `phoneNumberId`/]],
  ],
  [
    'an answer of something else may have passed the message on, unless it says that it could not',
    {},
    [
      [page(200), 'unavailable retryable maybeDelivered'],
      [page(404), 'unavailable retryable wholeService'],
      [page(429), 'rate-limited retryable wholeService'],
      [page(502), 'unavailable retryable'],
      [page(504), 'unavailable retryable maybeDelivered'],
    ],
  ],
] as readonly (readonly [string, Partial<WhatsAppConfig>, readonly Meaning[]])[])
  test(what, async () => {
    await using bed = await open(config)
    await bed.assertMeanings(expected)
    assert.deepEqual(bed.vendor.messages, [])
  })
