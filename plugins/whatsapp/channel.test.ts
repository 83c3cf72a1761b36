import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { vendorConformance } from '@reveille/kit/conformance'
import { type FakeServerAnswer, openBed } from '@reveille/kit/fake-server'
import { createWhatsAppChannel, userAgent, type WhatsAppConfig } from './channel.ts'
import {
  type FakeWhatsApp,
  type FakeWhatsAppOptions,
  graphError,
  openVendor,
  visibleText,
} from './fake-server/index.ts'

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
    'Ada',
    '+0123456789',
    '123',
    'whatsapp:',
    '+1 650 555 1234 x5',
    'group:',
    'group:a b',
    '+1234567890123456',
  ],
  fences: false,
})

const defaults = { apiVersion: 'v23.0', linkPreviews: false }
const configOf = ({ config }: FakeWhatsApp) => ({ ...defaults, ...config }) as unknown as WhatsAppConfig

async function open(given: Partial<WhatsAppConfig> = {}, options?: FakeWhatsAppOptions) {
  const vendor = await openVendor(options)
  const config = { ...configOf(vendor), ...given }
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

test('previews are shown if the configuration asks for them', async () => {
  await using bed = await open({ linkPreviews: true })
  await bed.send()
  assert.equal(bed.vendor.messages[0]?.hasPreview, true)
})

test('a group is named as a group', async () => {
  await using bed = await open()
  await bed.send('Hello', bed.vendor.groupTo)
  assert.equal(bed.vendor.messages[0]?.recipientType, 'group')
})

test('the base URL may end with a slash, and the check names the owner of the number', async () => {
  await using vendor = { ...(await openVendor()), [Symbol.asyncDispose]: () => vendor.close() }
  const config = { ...configOf(vendor), baseUrl: `${vendor.url}/` }
  const channel = createWhatsAppChannel({ config, fetch, now: Date.now })
  assert.deepEqual(await channel.check?.(new AbortController().signal), {
    ok: true,
    detail: 'Replies come from Ada’s Garage, +1 555-555-5555.',
  })
})

test('the user agent names the version of the package', async () => {
  const { version } = JSON.parse(await readFile(new URL('./package.json', import.meta.url), 'utf8'))
  assert.equal(userAgent, `reveille/${version}`)
})

test('a user who has not written for 24 hours gets nothing without a template, and the error says why', async () => {
  await using bed = await open()
  const { code, retryable, maybeDelivered, message } = await bed.failure(bed.vendor.silentTo)
  assert.deepEqual([code, retryable, maybeDelivered], ['window-closed', false, false])
  assert.match(message, /within 24 hours of a message of theirs.*set `channels\.whatsapp\.template`/)
  assert.deepEqual(bed.vendor.messages, [])
})

test('a short reply reaches such a user whole in the template, on one line', async () => {
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
    assert.deepEqual([error.code, error.retryable, error.maybeDelivered], ['window-closed', false, false])
    assert.match(error.message, /the template reply_ready has shown them how the reply begins/)
    assert.equal(vendor.messages.length, 1, 'the template is sent once')
    assert.match(vendor.messages[0]?.body ?? '', /^A long line\. A long line\. .{800,}…$/)

    vendor.write(vendor.silentTo)
    await bed.send(reply, vendor.silentTo)
    const words = vendor.messages.slice(1).flatMap(({ text }) => text.trim().split(/\s+/))
    assert.deepEqual(words, reply.trim().split(/\s+/), 'the replay is the whole reply')
  }
})

test('an error names a template that Meta refuses', async () => {
  await using bed = await open({ template: { name: 'unknown', language: 'en_US' } })
  const { code, retryable, message } = await bed.failure(bed.vendor.silentTo)
  assert.deepEqual([code, retryable], ['bad-request', false])
  assert.match(message, /knows no such template.*`channels\.whatsapp\.template`.*132001/)
})

test('a paused template has reached no one, although Meta accepts it', async () => {
  await using bed = await open({ template })
  const messages = [{ id: 'wamid.1', message_status: 'paused' }]
  bed.vendor.script({ kind: 'answer', answer: { body: { messaging_product: 'whatsapp', messages } } })
  const { code, retryable, message } = await bed.failure()
  assert.deepEqual([code, retryable], ['bad-request', false])
  assert.match(message, /paused the template/)
})

test('a template that may have arrived is not sent again automatically', async () => {
  await using bed = await open({ template })
  bed.vendor.script(
    { kind: 'answer', answer: graphError(131047, 'Re-engagement message') },
    { kind: 'cut-after' },
  )
  const { retryable, maybeDelivered } = await bed.failure(bed.vendor.silentTo)
  assert.deepEqual([retryable, maybeDelivered], [true, true])
  assert.equal(bed.vendor.messages.length, 1)
})

test('a limit for one user holds back only that user', async () => {
  await using bed = await open({}, { burst: 1 })
  await bed.send()
  const { code, retryable, retryAfter, wholeService } = await bed.failure()
  assert.deepEqual(
    { code, retryable, retryAfter, wholeService },
    {
      code: 'rate-limited',
      retryable: true,
      retryAfter: 6,
      wholeService: false,
    },
  )
  await bed.send('Hello', bed.vendor.groupTo)
})

test('the time to wait is read wherever an answer has one', async () => {
  await using bed = await open()
  const usage = { 1: [{ type: 'whatsapp', estimated_time_to_regain_access: 2 }, { type: 'other' }] }
  const { status, body } = graphError(80007, 'Rate limit issues')
  for (const [headers, retryAfter] of [
    [{ 'retry-after': '9' }, 9],
    [{ 'x-business-use-case-usage': JSON.stringify(usage) }, 120],
    [{ 'x-business-use-case-usage': '{' }, undefined],
  ] as const) {
    bed.vendor.script({ kind: 'answer', answer: { status, body, headers } as FakeServerAnswer })
    assert.equal((await bed.failure()).retryAfter, retryAfter)
  }
})

type Facts = readonly [code: string, retryable: boolean, wholeService: boolean, maybeDelivered: boolean]

/** The expected results by Meta's code, whatever the status is. */
const meanings: Readonly<Record<string, Facts>> = {
  '0 102 104 190 3 10 33 200 210 299 803': ['bad-credential', true, true, false],
  '131042 131045 133010': ['forbidden', true, true, false],
  '368 130497 131030 131031 131049 131050': ['forbidden', false, false, false],
  '4 17 613 80007 130429 131048 133016': ['rate-limited', true, true, false],
  '131056': ['rate-limited', true, false, false],
  '1 2 131000 131016 131057 133004': ['unavailable', true, false, false],
  '100 131008 131009 131051 132000 132001 132005 132007 132012 132015 132016 424242': [
    'bad-request',
    false,
    false,
    false,
  ],
  '131021 131026': ['bad-target', false, false, false],
}

test('only the code decides what a refusal of Meta means', async () => {
  await using bed = await open()
  for (const [codes, expected] of Object.entries(meanings)) {
    for (const given of codes.split(' ')) {
      for (const status of [400, 403, 429]) {
        const answer = { ...graphError(Number(given), 'In its own words'), status }
        bed.vendor.script({ kind: 'answer', answer })
        const { code, retryable, wholeService, maybeDelivered, message } = await bed.failure()
        assert.deepEqual([code, retryable, wholeService, maybeDelivered], expected, `${given} (${status})`)
        assert.ok(message.includes(`(${given} In its own words).`), message)
      }
    }
  }
})

test('an unknown code is retried if Meta says so', async () => {
  await using bed = await open()
  const transient = graphError(424242, 'For a moment', { is_transient: true })
  bed.vendor.script({ kind: 'answer', answer: transient })
  bed.vendor.script({ kind: 'answer', answer: { ...graphError(424242, 'For a moment'), status: 500 } })
  for (const _ of ['said so', 'by its status']) {
    const { code, retryable } = await bed.failure()
    assert.deepEqual([code, retryable], ['unavailable', true])
  }
})

test('an unknown sender number is retried until the operator fixes it', async () => {
  await using bed = await open({ phoneNumberId: '1' })
  const { retryable, wholeService, message } = await bed.failure()
  assert.deepEqual([retryable, wholeService], [true, true])
  assert.match(message, /knows no number with this `phoneNumberId`/)
})

test('an answer of something else may have passed the message on, unless it says that it could not', async () => {
  await using bed = await open()
  for (const [status, ...expected] of [
    [200, 'unavailable', true, false, true],
    [502, 'unavailable', true, false, false],
    [504, 'unavailable', true, false, true],
    [503, 'unavailable', true, false, false],
    [429, 'rate-limited', true, true, false],
    [404, 'unavailable', true, true, false],
  ]) {
    bed.vendor.script({ kind: 'answer', answer: { status: Number(status), body: '<html>' } })
    const { code, retryable, wholeService, maybeDelivered } = await bed.failure()
    assert.deepEqual([code, retryable, wholeService, maybeDelivered], expected, `${status}`)
  }
})
