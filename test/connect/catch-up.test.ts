/** Tests that what a provider could not deliver is asked for and taken once. The long versions are in `catch-up.soak.ts`. */

import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import type { IssueRecord } from '../../runtime/store/port.ts'
import { until } from '../installation.ts'
import {
  assertTakenOnce,
  createGitHubSite,
  createStripeSite,
  isDone,
  recoverFromGitHub,
  recoverFromStripe,
  source,
} from './recovery.ts'

const hourMs = 3_600_000
const dayMs = 24 * hourMs

test('deliveries that GitHub could not make while the gateway was off are accepted once each', async (t) => {
  const { calls } = await recoverFromGitHub(t, 30)
  assert.ok(calls <= 30 + 6 + 3, `${calls} calls`)
})

test('events that Stripe could not deliver while the gateway was off are accepted once each', async (t) => {
  const { calls } = await recoverFromStripe(t, 200)
  assert.ok(calls <= 10, `${calls} calls`)
})

test('a catch-up that meets the limit of GitHub says when it goes on, and misses nothing', async (t) => {
  const site = await createGitHubSite(t, { callsInHour: 20 })
  const { github, clock } = site
  const ids: string[] = []
  for (let n = 0; n < 30; n++) ids.push(await github.emit('push', { n }))
  await site.start(site.hooks)
  const limited = await site.source(source, ({ detail }) => detail.includes('allows no further calls'))
  assert.equal(limited.state, 'working')
  assert.match(limited.detail, /^GitHub allows no further calls for \d+ min; then it is asked on\./)
  assert.equal(limited.counts?.['callsLeft'], 0)
  await clock.advance(hourMs)
  const done = await site.source(source, isDone)
  assert.match(done.detail, /30 that could not be delivered were taken/)
  await assertTakenOnce(site, ids, 30)
})

test('a token that may not ask is reported with the permission that it lacks, and tried again', async (t) => {
  const site = await createGitHubSite(t)
  const { github, clock } = site
  const id = await github.emit('push', {})
  github.allow(false)
  await site.start(site.hooks)
  const waiting = await site.source(source, ({ state }) => state === 'waiting')
  assert.match(
    waiting.detail,
    /^GitHub does not let the token of `hooks\.endpoints\.forge\.catchUp\.token` ask for the deliveries of the webhook \d+ of octo-org\/harbour \(403\)\. It needs the permission "Webhooks: read and write"/,
  )
  assert.ok(!site.gateway.log().includes(github.token), 'the token is logged')
  github.allow(true)
  await clock.advance(300_000)
  await site.source(source, isDone)
  await assertTakenOnce(site, [id], 1)
})

test('a wrong token and a webhook that is gone are reported as what they are', async (t) => {
  const site = await createGitHubSite(t)
  for (const [hooks, expected, next] of [
    [
      site.hooks.replace(site.github.token, 'ghp_another'),
      /\(401\): it is mistyped, expired or revoked/,
      'reveille doctor',
    ],
    [
      site.hooks.replace(site.github.repo, 'octo-org/quay'),
      /nothing at .* of octo-org\/quay \(404\)/,
      'reveille connect github octo-org/quay --endpoint forge',
    ],
  ] as const) {
    await site.start(hooks)
    assert.match((await site.source(source, ({ state }) => state === 'waiting')).detail, expected)
    const command = await until(async () => {
      const { items } = await site.gateway.read<{ items: readonly IssueRecord[] }>('/api/issues')
      const issue = items.find(({ code, cause }) => code === 'SOURCE_STOPPED' && expected.test(cause))
      return issue?.next.command
    }, 'the issue of the source')
    assert.equal(command, next)
    await site.stop()
  }
})

test('deliveries older than the look-back are not requested, and the gap is reported', async (t) => {
  const site = await createStripeSite(t, '3d')
  const { stripe, clock } = site
  await site.start(site.hooks)
  await site.source(source, isDone)
  await site.stop()
  await stripe.emit('invoice.paid')
  await clock.advance(4 * dayMs)
  const id = await stripe.emit('invoice.paid')
  await site.start(site.hooks)
  const done = await site.source(source, isDone)
  assert.match(
    done.detail,
    /What was sent between .* and .* is older than `lookBack` \(3d\) and was not asked for\./,
  )
  await assertTakenOnce(site, [id], 1)
})

test('an endpoint whose catch-up is removed is asked about no more', async (t) => {
  const site = await createGitHubSite(t)
  await site.start(site.hooks)
  await site.source(source, isDone)
  const written = await readFile(`${site.folder}/reveille.yaml`, 'utf8')
  await site.gateway.write('reveille.yaml', written.replace(/^ {6}catchUp: .*\n/m, ''))
  assert.equal((await site.gateway.gateway.reload()).outcome, 'live')
  await site.gateway.line('source-stopped')
  const { sources } = await site.gateway.read<{ sources: readonly unknown[] }>('/api/status')
  assert.deepEqual(sources, [])
})

test('a secondary limit of GitHub is waited out as it asks', async (t) => {
  const site = await createGitHubSite(t)
  const { github, clock } = site
  const id = await github.emit('push', {})
  const body = {
    message: 'You have exceeded a secondary rate limit.',
    documentation_url: 'https://docs.github.com',
  }
  github.script({ kind: 'answer', answer: { status: 403, headers: { 'retry-after': '300' }, body } })
  await site.start(site.hooks)
  const limited = await site.source(source, ({ detail }) => detail.includes('allows no further calls'))
  assert.match(limited.detail, /for [45] min/)
  await clock.advance(300_000)
  await site.source(source, isDone)
  await assertTakenOnce(site, [id], 1)
})

test('an event that the gateway refuses for good is recorded, counted, and does not hold up the others', async (t) => {
  const site = await createStripeSite(t)
  const { stripe } = site
  const hooks = site.hooks.replace('    forge:\n', '    forge:\n      maxBodyBytes: 2000\n')
  const first = await stripe.emit('invoice.paid', { note: 'x'.repeat(3000) })
  const second = await stripe.emit('invoice.paid')
  await site.start(hooks)
  const { counts } = await site.source(source, isDone)
  assert.deepEqual([counts?.['caughtUp'], counts?.['notTaken']], [1, 1])
  await assertTakenOnce(site, [second], 1)
  const [refused, ...others] = await site.requests('endpoint=forge&outcome=refused')
  assert.deepEqual([refused?.code, others.length], ['BODY_TOO_LARGE', 0])
  assert.ok(first)
  const line = await site.gateway.line('caught-up')
  assert.deepEqual([line['caughtUp'], line['notTaken'], line['known']], [1, 1, 0])
})

test('a webhook endpoint that Stripe has disabled is reported, since nothing more will come', async (t) => {
  const site = await createStripeSite(t)
  const { stripe } = site
  const id = await stripe.emit('invoice.paid')
  for (const endpoint of stripe.endpoints()) endpoint.status = 'disabled'
  await site.start(site.hooks)
  const waiting = await site.source(source, ({ state }) => state === 'waiting')
  assert.match(
    waiting.detail,
    /^Stripe has disabled the webhook endpoint we_\w+ and sends nothing: .* 1 that could not be delivered were taken\.$/,
  )
  await assertTakenOnce(site, [id], 1)
})

test('a run that ends in the middle is continued, and takes nothing twice', async (t) => {
  const site = await createGitHubSite(t, { callsInHour: 150 })
  const { github, clock } = site
  const ids: string[] = []
  for (let n = 0; n < 160; n++) ids.push(await github.emit('push', { n }))
  await site.start(site.hooks)
  await site.source(source, ({ detail }) => detail.includes('allows no further calls'))
  await site.stop()
  await clock.advance(hourMs)
  await site.start(site.hooks)
  const done = await site.source(source, isDone)
  // A hundred of them were marked as taken, and the others before the limit are recognised.
  assert.ok((done.counts?.['caughtUp'] ?? 0) < 60, JSON.stringify(done.counts))
  await assertTakenOnce(site, ids, 160)
})
