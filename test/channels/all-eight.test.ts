/** Tests all eight channels in one gateway: a review of a GitHub event arrives everywhere, whatever fails. */

import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { type TestContext, test } from 'node:test'
import { type FakeVendor, type Fault, openFakeServer } from '@reveille/kit/fake-server'
import type { ChannelState } from '../../runtime/dispatch/delivery/channel-state.ts'
import type { DeliveryRecord, RunRecord } from '../../runtime/store/port.ts'
import { chatAnswer } from '../agents/model-server.ts'
import { atEnd } from '../at-end.ts'
import { gatewayToken, hookToken, install, until } from '../installation.ts'
import { octokitSamples } from '../sample-data.ts'
import { failureWords, openVendors, recognisesRepeats, type VendorName, vendorNames } from './eight.ts'

const review = `## Review of the tests

The reviewer is **right**: \`lampFor()\` is called twice, see [the line](https://github.com/harbour/lamp/blob/main/lamp.ts#L7).

1. Call it once.
2. Keep what it gives.

\`\`\`ts
const lamp = lampFor(id)
\`\`\`

@everyone, that is all.
`

/** The words of the review that a person reads on every surface. */
const words = [
  'Review of the tests',
  'right',
  'lampFor()',
  'Call it once.',
  'const lamp = lampFor(id)',
  'that is all.',
]

/** Starts the vendors, a model and a gateway that sends the reply to each review to all eight channels. */
async function open(t: TestContext) {
  const vendors = await openVendors(t)
  const model = await openFakeServer({ answer: () => chatAnswer(review) })
  atEnd(t, model.close)
  const installed = await install(t, {
    'reveille.yaml': `gateway: { port: 0, auth: { token: ${gatewayToken} }, log: { level: debug, format: json } }
hooks: { enabled: true, token: ${hookToken} }
agents:
  defaults: { runner: ai, model: local/small }
  providers: { local: { kind: openai-compatible, baseUrl: "${model.url}/v1", apiKey: none } }
channels: ${vendors.configuration}
`,
    'mappings/github.yaml': `mappings:
  - id: reviewed
    match: { path: github, headers: { x-github-event: pull_request_review }, body: { action: submitted } }
    message: "{{sender.login}} reviewed pull request {{pull_request.number}} of {{repository.full_name}}: {{review.body}}"
    wakeMode: next-heartbeat
    deliverTo: ${JSON.stringify(vendors.addresses)}
`,
  })
  const { post, read } = installed
  const { byName } = vendors

  /** Returns the delivery once it has what is asked for. */
  const delivery = (runId: string, channel: VendorName, has: (found: DeliveryRecord) => boolean) =>
    until(async () => {
      const { deliveries } = await read<{ deliveries: DeliveryRecord[] }>(`/api/runs/${runId}`)
      return deliveries.find((each) => each.channel === channel && has(each))
    }, `the delivery to ${channel}`)

  /** Posts a GitHub event, and returns the id of its run. */
  async function send(): Promise<string> {
    const headers = { 'x-github-event': 'pull_request_review' }
    const { status, body } = await post('/hooks/github', submittedReview(), headers)
    assert.equal(status, 202)
    return String(body['runId'])
  }

  return {
    ...installed,
    byName,
    delivery,
    send,
    /** Returns the delivery once it is delivered or parked. */
    ended: (runId: string, channel: VendorName) =>
      delivery(runId, channel, ({ state }) => state !== 'pending'),
    channels: async () => (await read<{ channels: readonly ChannelState[] }>('/api/status')).channels,
  }
}

/** Posts an event as GitHub does. */
function submittedReview(): unknown {
  const reviews = octokitSamples().filter(
    ({ headers }) => headers['x-github-event'] === 'pull_request_review',
  )
  const found = reviews.find(({ body }) => JSON.parse(body).action === 'submitted')
  assert.ok(found)
  return found.body
}

type Ended = readonly [state: DeliveryRecord['state'], attempts: number, stored: number]

/** A fault of each vendor's next message, and the end of its delivery. */
const faults: Readonly<
  Record<string, readonly [fault: (vendor: FakeVendor, name: VendorName) => Fault, ended: Ended]>
> = {
  'a recipient that may not be written to parks its delivery with what the vendor said': [
    ({ refusals }) => ({ kind: 'answer', answer: refusals.forbidden }),
    ['parked', 1, 0],
  ],
  "a vendor's request to wait is respected, and costs no attempt and no message": [
    ({ refusals }) => {
      const { headers, ...answer } = refusals.rateLimited(1)
      // Vendors that do not say how long are included.
      return { kind: 'answer', answer: { ...answer, headers: { ...headers, 'retry-after': '1' } } }
    },
    ['delivered', 1, 1],
  ],
  'a vendor that answers 503 once gets the reply later, without an operator': [
    (_, name) => {
      const body = failureWords[name](503)
      return { kind: 'answer', answer: { status: 503, headers: { 'retry-after': '1' }, body } }
    },
    ['delivered', 2, 1],
  ],
}

test('in one gateway', async (t) => {
  const { send, byName, ended, read, log, channels } = await open(t)

  for (const [what, [fault, expected]] of Object.entries(faults))
    await t.test(what, async () => {
      const before = vendorNames.map((name) => byName[name].messages.length)
      for (const name of vendorNames) byName[name].script(fault(byName[name], name))
      const runId = await send()
      for (const [index, name] of vendorNames.entries()) {
        const { state, reason = '', attempts } = await ended(runId, name)
        const stored = byName[name].messages.length - (before[index] ?? 0)
        assert.deepEqual([state, attempts, stored], expected, `${name}: ${reason}`)
        if (state === 'parked') assert.notEqual(reason.trim(), '')
        for (const secret of byName[name].secrets)
          assert.ok(!log().includes(secret), `${name} logs no secret`)
      }
    })

  await t.test(
    'a GitHub review gives a run whose reply arrives on all eight surfaces and mentions no one',
    async () => {
      const runId = await send()
      for (const name of vendorNames) await ended(runId, name)
      const run = await read<RunRecord>(`/api/runs/${runId}`)
      assert.deepEqual([run.state, run.stage, run.reply], ['succeeded', 'delivered', review])
      assert.match(run.message, /reviewed pull request/)
      for (const name of vendorNames) {
        const { messages, pings = [] } = byName[name]
        const shown = messages.at(-1)?.text ?? ''
        for (const each of words) assert.ok(shown.includes(each), `${name} shows ${each}:\n${shown}`)
        assert.ok(!shown.includes('**right**') || name === 'signal', `${name} shows what is bold as bold`)
        assert.deepEqual(pings, [], `${name} mentions no one`)
      }
      assert.deepEqual(
        (await channels()).map(({ channel, state }) => `${channel} ${state}`).sort(),
        vendorNames.map((name) => `${name} open`).sort(),
      )
    },
  )

  await t.test(
    'a connection cut after the message was stored gives one message: retried if repeats are recognised, or else parked',
    async () => {
      const before = vendorNames.map((name) => byName[name].messages.length)
      for (const name of vendorNames) byName[name].script({ kind: 'cut-after' })
      const runId = await send()
      for (const [index, name] of vendorNames.entries()) {
        const { state, reason, receipts } = await ended(runId, name)
        if (recognisesRepeats.has(name)) assert.deepEqual([state, receipts.length], ['delivered', 1], name)
        else {
          assert.equal(state, 'parked', name)
          assert.match(String(reason), /^it may have arrived: /, name)
        }
        assert.equal(byName[name].messages.length, (before[index] ?? 0) + 1, `${name} has one message more`)
      }
    },
  )
})

test('a refused credential holds its channel without using up attempts, and the reply arrives once it is fixed', async (t) => {
  const { send, byName, ended, delivery, channels, line, write, folder, gateway } = await open(t)
  for (const name of vendorNames)
    byName[name].always({ kind: 'answer', answer: byName[name].refusals.badCredential })
  const runId = await send()
  for (const name of vendorNames) {
    await line('channel-held', ({ channel }) => channel === name)
    const { state, code, attempts } = await delivery(runId, name, (found) => found.code !== undefined)
    assert.deepEqual([state, code, attempts], ['pending', 'bad-credential', 0], name)
  }
  for (const { channel, state, code } of await channels())
    assert.deepEqual([state, code], ['held', 'bad-credential'], channel)
  for (const name of vendorNames) byName[name].always(undefined)

  const before = await readFile(`${folder}/reveille.yaml`, 'utf8')
  const fixed = Object.fromEntries(
    vendorNames.map((name) => [name, { ...byName[name].config, defaultTo: byName[name].to }]),
  )
  await write('reveille.yaml', before.replace(/^channels: .*$/m, `channels: ${JSON.stringify(fixed)}`))
  assert.equal((await gateway.reload()).outcome, 'live')
  for (const name of vendorNames) {
    await ended(runId, name)
    assert.equal(byName[name].messages.length, 1, `${name} has one message`)
  }
  for (const { channel, health } of await channels()) assert.equal(health?.ok, true, channel)
})
