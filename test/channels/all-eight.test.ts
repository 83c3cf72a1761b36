/** Tests all eight channels in one gateway: a review of a GitHub event arrives everywhere, whatever fails. */

import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { type TestContext, test } from 'node:test'
import type { FakeVendor, Fault } from '@reveille/kit/fake-server'
import type { ChannelState } from '../../runtime/dispatch/delivery/channel-state.ts'
import type { DeliveryRecord, RunRecord } from '../../runtime/store/port.ts'
import { startModelServer } from '../agents/model-server.ts'
import { gatewayToken, hookToken, type Installation, install, until } from '../installation.ts'
import { octokitSamples } from '../sample-data.ts'
import {
  failureWords,
  openVendors,
  recognisesRepeats,
  type VendorName,
  type Vendors,
  vendorNames,
} from './eight.ts'

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

interface Bed extends Omit<Installation, 'ended'> {
  readonly vendors: Vendors
  /** Posts a GitHub event, and returns the run whose reply is sent to all eight channels. */
  review(): Promise<string>
  delivery(runId: string, channel: VendorName): Promise<DeliveryRecord>
  /** Returns the delivery once it is delivered or parked. */
  ended(runId: string, channel: VendorName): Promise<DeliveryRecord>
}

async function open(t: TestContext): Promise<Bed> {
  const vendors = await openVendors(t)
  const { url } = await startModelServer(t, review)
  const installed = await install(t, {
    'reveille.yaml': `gateway: { port: 0, auth: { token: ${gatewayToken} }, log: { level: debug, format: json } }
hooks: { enabled: true, token: ${hookToken} }
agents:
  defaults: { runner: ai, model: local/small }
  providers: { local: { kind: openai-compatible, baseUrl: "${url}", apiKey: none } }
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
  const { post, read, line } = installed

  async function delivery(runId: string, channel: VendorName): Promise<DeliveryRecord> {
    const { deliveries } = await read<RunRecord & { deliveries: DeliveryRecord[] }>(`/api/runs/${runId}`)
    const found = deliveries.find((each) => each.channel === channel)
    assert.ok(found, `a delivery to ${channel}`)
    return found
  }

  return {
    ...installed,
    vendors,
    delivery,
    async review() {
      const { status, body } = await post('/hooks/github', submittedReview(), {
        'x-github-event': 'pull_request_review',
      })
      assert.equal(status, 202)
      const runId = String(body['runId'])
      return runId
    },
    async ended(runId, channel) {
      const isOver = (event: string) =>
        line(event, (each) => each['runId'] === runId && each['channel'] === channel)
      await Promise.race([isOver('delivery-delivered'), isOver('delivery-parked')])
      return until(async () => {
        const found = await delivery(runId, channel)
        return found.state === 'pending' ? undefined : found
      }, `the delivery to ${channel}`)
    },
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

function shownIn({ messages }: FakeVendor): string {
  return messages.map(({ text }) => text).join('\n')
}

/** Scripts a fault of its own for each vendor's next message. */
function befall(vendors: Vendors, faultFor: (vendor: FakeVendor) => Fault): void {
  for (const name of vendorNames) vendors.byName[name].script(faultFor(vendors.byName[name]))
}

test('in one gateway', async (t) => {
  const { review: send, vendors, ended, read, log } = await open(t)

  await t.test(
    'a recipient that may not be written to parks its delivery with what the vendor said',
    async () => {
      befall(vendors, ({ refusals }) => ({ kind: 'answer', answer: refusals.forbidden }))
      const runId = await send()
      for (const name of vendorNames) {
        const { state, reason = '', attempts } = await ended(runId, name)
        assert.deepEqual([state, attempts], ['parked', 1], `${name}: ${reason}`)
        assert.notEqual(reason.trim(), '')
        assert.deepEqual(vendors.byName[name].messages, [], name)
        for (const secret of vendors.byName[name].secrets)
          assert.ok(!log().includes(secret), `${name} logs no secret`)
      }
    },
  )

  await t.test(
    'a GitHub review gives a run whose reply arrives on all eight surfaces and mentions no one',
    async () => {
      const runId = await send()
      for (const name of vendorNames) await ended(runId, name)
      const run = await read<RunRecord>(`/api/runs/${runId}`)
      assert.deepEqual([run.state, run.stage, run.reply], ['succeeded', 'delivered', review])
      assert.match(run.message, /reviewed pull request/)
      for (const name of vendorNames) {
        const vendor = vendors.byName[name]
        const shown = shownIn(vendor)
        for (const each of words) assert.ok(shown.includes(each), `${name} shows ${each}:\n${shown}`)
        assert.ok(!shown.includes('**right**') || name === 'signal', `${name} shows what is bold as bold`)
        assert.deepEqual(vendor.pings ?? [], [], `${name} mentions no one`)
      }
      const { channels } = await read<{ channels: readonly ChannelState[] }>('/api/status')
      assert.deepEqual(channels.map(({ channel, state }) => `${channel} ${state}`).sort(), [
        ...vendorNames.map((name) => `${name} open`).sort(),
      ])
    },
  )

  await t.test("a vendor's request to wait is respected, and costs no attempt and no message", async () => {
    befall(vendors, ({ refusals }) => {
      const { headers, ...answer } = refusals.rateLimited(1)
      // Vendors that do not say how long are included.
      return { kind: 'answer', answer: { ...answer, headers: { ...headers, 'retry-after': '1' } } }
    })
    const runId = await send()
    for (const name of vendorNames) {
      const { state, attempts } = await ended(runId, name)
      assert.deepEqual([state, attempts], ['delivered', 1], name)
      assert.equal(vendors.byName[name].messages.length, 2, `${name} has one message more`)
    }
  })

  await t.test('a vendor that answers 503 once gets the reply later, without an operator', async () => {
    for (const name of vendorNames) {
      const body = failureWords[name](503)
      const answer = { status: 503, headers: { 'retry-after': '1' }, body }
      vendors.byName[name].script({ kind: 'answer', answer })
    }
    const runId = await send()
    for (const name of vendorNames) {
      const { state, attempts } = await ended(runId, name)
      assert.deepEqual([state, attempts], ['delivered', 2], name)
      assert.equal(vendors.byName[name].messages.length, 3, `${name} has one message more`)
    }
  })
})

test('a connection cut after the message was stored gives one message: retried if repeats are recognised, or else parked', async (t) => {
  const { review: send, vendors, ended } = await open(t)
  befall(vendors, () => ({ kind: 'cut-after' }))
  const runId = await send()
  for (const name of vendorNames) {
    const { state, reason, receipts } = await ended(runId, name)
    if (recognisesRepeats.has(name)) assert.deepEqual([state, receipts.length], ['delivered', 1], name)
    else {
      assert.equal(state, 'parked', name)
      assert.match(String(reason), /^it may have arrived: /, name)
    }
    assert.equal(vendors.byName[name].messages.length, 1, `${name} has one message`)
  }
})

test('a refused credential holds its channel without using up attempts, and the reply arrives once it is fixed', async (t) => {
  const { review: send, vendors, ended, delivery, line, read, write, folder, gateway } = await open(t)
  for (const name of vendorNames) {
    const vendor = vendors.byName[name]
    vendor.always({ kind: 'answer', answer: vendor.refusals.badCredential })
  }
  const runId = await send()
  for (const name of vendorNames) await line('channel-held', ({ channel }) => channel === name)
  for (const name of vendorNames) {
    const { state, code, attempts } = await until(async () => {
      const found = await delivery(runId, name)
      return found.code === undefined ? undefined : found
    }, `what ${name} said`)
    assert.deepEqual([state, code, attempts], ['pending', 'bad-credential', 0], name)
  }
  const states = async () => (await read<{ channels: readonly ChannelState[] }>('/api/status')).channels
  for (const { channel, state, code } of await states())
    assert.deepEqual([state, code], ['held', 'bad-credential'], channel)
  for (const name of vendorNames) vendors.byName[name].always(undefined)

  const before = await readFile(`${folder}/reveille.yaml`, 'utf8')
  const fixed = Object.fromEntries(
    vendorNames.map((name) => [name, { ...vendors.byName[name].config, defaultTo: vendors.byName[name].to }]),
  )
  await write('reveille.yaml', before.replace(/^channels: .*$/m, `channels: ${JSON.stringify(fixed)}`))
  assert.equal((await gateway.reload()).outcome, 'live')
  for (const name of vendorNames) {
    await ended(runId, name)
    assert.equal(vendors.byName[name].messages.length, 1, `${name} has one message`)
  }
  for (const { channel, health } of await states()) assert.equal(health?.ok, true, channel)
})
