/** Tests that recorded requests of GitHub and Stripe pass through the gateway and cause the intended runs. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { RunRecord } from '../../runtime/store/port.ts'
import { install, until } from '../installation.ts'
import { octokitSamples, recordedSamples, type Sample } from '../sample-data.ts'

const github = `mappings:
  - id: github
    match: { path: github }
    action: agent
    name: GitHub
    deliver: false
    message: "{{headers.x-github-event}} {{action}} in {{repository.full_name}} by {{sender.login}}: {{pull_request.title}}{{issue.title}}"
`
const stripe = `mappings:
  - id: stripe-money
    match: { path: stripe, when: "$exists(data.object.amount) or $exists(data.object.amount_paid)" }
    action: agent
    name: Stripe
    deliver: false
    sessionKey: "hook:stripe:{{id}}"
    message: "{{type}} of {{data.object.id}}"
  - id: stripe-rest
    match: { path: stripe }
    action: wake
    text: "{{type}} {{data.object.id}}"
`

test('every example delivery of GitHub is accepted and causes a readable run', async (t) => {
  const { post, read } = await install(t, { 'mappings/github.yaml': github })
  const samples = octokitSamples()
  assert.ok(samples.length > 200, `${samples.length} examples`)

  const ids: string[] = []
  for (const sample of samples) {
    const answer = await post('/hooks/github', sample.body, sample.headers)
    assert.equal(answer.status, 202, `${sample.name}: ${JSON.stringify(answer.body)}`)
    ids.push(answer.body['runId'] as string)
  }
  for (const [index, id] of ids.entries()) {
    const run = await until(async () => {
      const run = await read<RunRecord>(`/api/runs/${id}`)
      return run.stage === 'delivered' ? run : undefined
    }, `the run of ${samples[index]?.name}`)
    assert.equal(run.state, 'succeeded')
    assert.equal(run.reply, run.prompt, 'the echo answers with what it was asked')
    assert.match(run.message, new RegExp(`^${samples[index]?.headers['x-github-event']} `))
  }
})

const recordedGithub = recordedSamples('github')
test('recorded deliveries of GitHub are accepted', skipWithout(recordedGithub), async (t) => {
  const { post } = await install(t, { 'mappings/github.yaml': github })
  for (const sample of recordedGithub ?? []) {
    const answer = await post('/hooks/github', sample.body, withoutLength(sample))
    assert.equal(answer.status, 202, `${sample.name}: ${JSON.stringify(answer.body)}`)
  }
})

const recordedStripe = recordedSamples('stripe')
test('recorded deliveries of Stripe are accepted', skipWithout(recordedStripe), async (t) => {
  const { post } = await install(t, { 'mappings/stripe.yaml': stripe })
  const statuses: number[] = []
  for (const sample of recordedStripe ?? []) {
    const answer = await post('/hooks/stripe', sample.body, withoutLength(sample))
    assert.ok(answer.status < 300, `${sample.name}: ${JSON.stringify(answer.body)}`)
    statuses.push(answer.status)
  }
  assert.ok(statuses.includes(202), 'some are about money and run the agent')
  assert.ok(statuses.includes(200), 'the others wake the main session')
})

test('a documented Stripe invoice runs the agent, and a subscription wakes the main session', async (t) => {
  const { post } = await install(t, { 'mappings/stripe.yaml': stripe })
  const invoice = {
    id: 'evt_1',
    type: 'invoice.paid',
    data: { object: { id: 'in_1', object: 'invoice', amount_paid: 1999, currency: 'usd' } },
  }
  const subscription = {
    id: 'evt_2',
    type: 'customer.subscription.created',
    data: { object: { id: 'sub_1', object: 'subscription' } },
  }
  const money = await post('/hooks/stripe', invoice)
  assert.deepEqual([money.status, money.body['sessionKey']], [202, 'hook:stripe:evt_1'])
  assert.equal((await post('/hooks/stripe', subscription)).status, 200)
})

function skipWithout(samples: readonly Sample[] | undefined) {
  return { skip: samples ? false : 'the folder of recorded payloads is not at hand' }
}

/** Sends the body as it was recorded, with its own length and signature. */
function withoutLength({ headers }: Sample): Record<string, string> {
  const { 'content-length': _, ...rest } = headers
  return rest
}
