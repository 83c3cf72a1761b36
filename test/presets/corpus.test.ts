/**
 * Sends every recorded body to all presets at once: to its sender's endpoint and to the one that takes everything.
 */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { knownPresets } from '../../runtime/cli/authoring/presets.ts'
import { octokitSamples, recordedSamples, recordedSenders, type Sample } from '../sample-data.ts'
import { oddBodies } from './odd-bodies.ts'
import { type SoundPresets, soundPresets, trySample } from './presets.ts'
import { blankLabel, parsePrompt } from './prompt-check.ts'

const names = knownPresets()
const all = soundPresets(names)
// Each test reports the missing recordings itself.
all.catch(() => undefined)

test("no example of GitHub's own package is refused, and no label lacks its value", async () => {
  const samples = octokitSamples()
  assert.ok(samples.length > 200)
  const presets = await all
  for (const sample of samples) await assertTaken(presets, 'github', sample)
})

const senders = recordedSenders()

test('no recorded body of any sender is refused, and no label lacks its value', {
  skip: senders === undefined && 'no recorded bodies at hand',
}, async () => {
  const presets = await all
  let count = 0
  for (const sender of senders ?? []) {
    for (const sample of recordedSamples(sender) ?? []) {
      await assertTaken(presets, sender, sample)
      count += 1
    }
  }
  assert.ok(count > 100, `${count} bodies`)
})

const stripeTypes = [
  'invoice.payment_failed',
  'charge.dispute.created',
  'customer.subscription.deleted',
  'customer.subscription.updated',
  'payment_intent.payment_failed',
  'invoice.paid',
  'checkout.session.completed',
  'checkout.session.async_payment_succeeded',
  'payout.paid',
  'payout.failed',
]

const stripeFixtures = recordedSamples('stripe')

test('no fixture of Stripe is refused in the envelope of any event that the preset reads', {
  skip: stripeFixtures === undefined && 'no recorded bodies at hand',
}, async () => {
  const presets = await all
  for (const { name, headers, body } of stripeFixtures ?? []) {
    for (const type of stripeTypes) {
      const sample = {
        name: `${name} as ${type}`,
        headers,
        body: JSON.stringify({ ...JSON.parse(body), type }),
      }
      await assertTaken(presets, 'stripe', sample)
    }
  }
})

test('no body that a sender could send is refused, whatever its shape', async () => {
  const presets = await all
  for (const [preset, samples] of Object.entries(oddBodies)) {
    for (const sample of samples) await assertTaken(presets, preset, sample)
  }
})

for (const [count, bytes] of [
  [22, 20_000],
  [60, 20_000],
  [101, 100],
  [100, 20_000],
  [500, 3000],
] as const) {
  test(`${count} mails of ${bytes} bytes that a watcher posts at once cause ${count} runs`, async () => {
    const messages = Array.from({ length: count }, (_, n) => ({
      id: `m${n}`,
      from: 'Ada <ada@example.com>',
      subject: 'The lamp',
      body: 'lamp '.repeat(bytes / 5),
    }))
    const sample = {
      name: 'mails',
      headers: {},
      body: JSON.stringify({ account: 'ada@example.com', messages }),
    }
    const { decision } = await trySample((await all).snapshot, 'gmail', sample)
    assert.equal(decision.outcome === 'accepted' ? decision.actions.length : JSON.stringify(decision), count)
  })
}

/** The endpoint of the sender, if there is a preset, and `generic`, which ignores nothing. */
async function assertTaken(presets: SoundPresets, sender: string, sample: Sample): Promise<void> {
  const endpoints = new Set(names.includes(sender) ? [sender, 'generic'] : ['generic'])
  for (const endpoint of endpoints) {
    const { decision } = await trySample(presets.snapshot, endpoint, sample)
    const at = `${sample.name} to /hooks/${endpoint}`
    assert.ok(!('code' in decision), `${at}: ${JSON.stringify(decision)}`)
    if (endpoint === 'generic') assert.equal(decision.outcome, 'accepted', at)
    if (decision.outcome !== 'accepted') continue
    for (const { prompt } of decision.actions)
      assert.doesNotMatch(parsePrompt(prompt).outside, blankLabel, `${at}:\n${prompt}`)
  }
}
