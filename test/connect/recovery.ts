/** Lets deliveries pile up while the gateway is off, and asserts that each is taken once when it is back. */

import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { SourceState } from '../../runtime/sources/index.ts'
import { createSite, publicUrl, type Site, signingSecret } from './fixture.ts'
import { type FakeGitHub, type FakeGitHubOptions, openFakeGitHub } from './github.ts'
import { type FakeStripe, openFakeStripe } from './stripe.ts'

export interface GitHubSite extends Site {
  readonly github: FakeGitHub
  readonly hooks: string
}

/** A gateway that catches up what GitHub sends to its endpoint `forge`. */
export async function createGitHubSite(
  t: TestContext,
  options: Partial<FakeGitHubOptions> = {},
): Promise<GitHubSite> {
  const site = await createSite(t)
  const github = await openFakeGitHub({ ...options, now: site.clock.now, reach: site.reach })
  t.after(() => github.close())
  const hookId = github.addHook(`${publicUrl}/hooks/forge`, signingSecret)
  const catchUp = `{ repo: ${github.repo}, hookId: ${hookId}, token: ${github.token}, api: "${github.url}" }`
  const verify = `{ provider: github, secret: ${signingSecret} }`
  return Object.assign(site, { github, hooks: hooksWith(verify, catchUp) })
}

export interface StripeSite extends Site {
  readonly stripe: FakeStripe
  readonly hooks: string
}

/** The same for Stripe, whose endpoint is made by its API. */
export async function createStripeSite(t: TestContext, lookBack = '30d'): Promise<StripeSite> {
  const site = await createSite(t)
  const stripe = await openFakeStripe({ now: site.clock.now, targetOf: site.reach })
  t.after(() => stripe.close())
  const response = await fetch(`${stripe.url}/v1/webhook_endpoints`, {
    method: 'POST',
    headers: { authorization: `Bearer ${stripe.key}` },
    body: new URLSearchParams({
      url: `${publicUrl}/hooks/forge`,
      'enabled_events[0]': 'invoice.paid',
      'enabled_events[1]': 'invoice.payment_failed',
    }),
  })
  const { id, secret } = (await response.json()) as { id: string; secret: string }
  const catchUp = `{ hookId: ${id}, token: ${stripe.key}, lookBack: ${lookBack}, api: "${stripe.url}" }`
  return Object.assign(site, { stripe, hooks: hooksWith(`{ provider: stripe, secret: ${secret} }`, catchUp) })
}

function hooksWith(verify: string, catchUp: string): string {
  return `  mappings: [{ id: note, match: { path: forge }, action: wake, mode: next-heartbeat, text: noted }]
  endpoints:
    forge:
      verify: ${verify}
      catchUp: ${catchUp}
`
}

export const source = 'catch-up.forge'

/** The gateway was asked since it started, and nothing is left to do. */
export const isDone = ({ times }: SourceState) => times?.['asked'] !== undefined

/** Asserts that each of these ids was accepted once, and how many of them the API brought. */
export async function assertTakenOnce(site: Site, ids: readonly string[], fromApi: number): Promise<void> {
  const accepted = await site.requests('endpoint=forge&outcome=accepted')
  assert.deepEqual(accepted.map(({ deliveryId }) => deliveryId).sort(), [...ids].sort())
  const asked = accepted.filter(({ authenticatedBy }) => authenticatedBy === 'provider-api')
  assert.equal(asked.length, fromApi)
  for (const { client } of asked) assert.match(client ?? '', /^(GitHub|Stripe)'s API$/)
}

/** Milliseconds that a recovery may take on a busy machine. */
const timeoutMs = 300_000

/** @returns the calls that the recovery took */
export async function recoverFromGitHub(
  t: TestContext,
  missed: number,
): Promise<{ calls: number; ms: number }> {
  const site = await createGitHubSite(t)
  const { github, clock } = site
  const ids: string[] = []
  const emit = async (n: number) => void ids.push(await github.emit('push', { ref: 'main', n }))
  await site.start(site.hooks)
  for (let n = 0; n < 10; n++) await emit(n)
  await site.source(source, isDone)
  // The gateway took these, and its replies were lost.
  for (const delivery of github.deliveries.slice(0, 5)) Object.assign(delivery.item, { status_code: 504 })
  await site.stop()
  for (let n = 0; n < missed; n++) {
    await emit(n)
    await clock.advance(1000)
  }
  const before = github.requests.length
  const began = performance.now()
  await site.start(site.hooks)
  const state = await site.source(source, isDone, timeoutMs)
  const figures = { calls: github.requests.length - before, ms: Math.round(performance.now() - began) }
  assert.equal(state.counts?.['caughtUp'], missed, state.detail)
  for (let n = 0; n < 5; n++) await emit(n)
  await assertTakenOnce(site, ids, missed)
  return figures
}

/** @returns the calls that the recovery took */
export async function recoverFromStripe(
  t: TestContext,
  missed: number,
): Promise<{ calls: number; ms: number }> {
  const site = await createStripeSite(t)
  const { stripe, clock } = site
  const ids: string[] = []
  const emit = async (n: number) =>
    void ids.push(await stripe.emit(n % 2 ? 'invoice.paid' : 'invoice.payment_failed'))
  await site.start(site.hooks)
  for (let n = 0; n < 10; n++) await emit(n)
  await site.source(source, isDone)
  await site.stop()
  await clock.advance(60_000)
  for (let n = 0; n < missed; n++) {
    await emit(n)
    if (n % 10 === 0) {
      await stripe.emit('customer.created')
      await clock.advance(1000)
    }
  }
  const before = stripe.requests.length
  const began = performance.now()
  await site.start(site.hooks)
  const state = await site.source(source, isDone, timeoutMs)
  const figures = { calls: stripe.requests.length - before, ms: Math.round(performance.now() - began) }
  assert.equal(state.counts?.['caughtUp'], missed, state.detail)
  // Stripe sends them again all the same.
  await stripe.retry()
  assert.equal(stripe.pending(), 0)
  for (let n = 0; n < 5; n++) await emit(n)
  await assertTakenOnce(site, ids, missed)
  return figures
}
