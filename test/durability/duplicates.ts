/**
 * Tests that a request which a sender repeats counts once, even if the gateway dies between its commit and its
 * answer.
 */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deliveryHooks, deliveryOf, type Way } from './delivery.ts'
import { killAtRandom, seeded, token, useKilledGateways } from './killed-gateway.ts'
import { createSender } from './sender.ts'

const ways: readonly Way[] = ['signed', 'keyed', 'given']
const deliveries = 50

/** The same seed gives the same kills at the same moments. */
export function testDuplicates(kills: number): void {
  const install = useKilledGateways()

  test(`${deliveries} deliveries that are repeated while the gateway is killed ${kills} times cause one run each`, async (t) => {
    const random = seeded(20261122)
    const gateway = await install(deliveryHooks)
    await gateway.start()
    const posts = Array.from({ length: deliveries }, (_, index) =>
      deliveryOf(ways[index % ways.length] ?? 'given', `d${index}`),
    )
    // Requests are sent little by little, so that each kill meets some new ones.
    let known = 1
    const sender = createSender({
      url: gateway.url,
      token,
      connections: 8,
      next: () => posts[Math.floor(random() * known)] as (typeof posts)[number],
    })
    t.after(() => sender.stop())
    await killAtRandom(gateway, {
      kills,
      random,
      async next(kill) {
        await sender.answered()
        known = Math.ceil((deliveries * kill) / kills)
      },
    })
    const isKnown = () => new Set(sender.acknowledged.map(({ post }) => post)).size === deliveries
    while (!isKnown()) await sender.answered()
    await sender.stop()
    await gateway.everythingEnded()
    const runs = await gateway.runs()
    await gateway.endInOrder()

    assert.deepEqual(sender.unexpected, [])
    const byMessage = new Map(runs.map((run) => [run.message, run]))
    assert.equal(runs.length, deliveries, 'one run for each delivery')
    assert.equal(byMessage.size, deliveries, 'and none of them twice')
    const first = new Set<unknown>()
    for (const { post, runId, requestId, outcome, status } of sender.acknowledged) {
      const { delivery, message = `delivery ${delivery}` } = post.body as Record<string, string>
      const run = byMessage.get(message)
      assert.deepEqual(
        [runId, requestId],
        [run?.id, run?.requestId],
        `${message}: every answer names its run`,
      )
      assert.equal(status, outcome === 'duplicate' ? 200 : 202)
      if (outcome === 'duplicate') continue
      assert.ok(!first.has(post), `${message} was accepted once`)
      first.add(post)
    }
    const unheard = deliveries - first.size
    t.diagnostic(
      `${sender.acknowledged.length} answers; of ${unheard} deliveries the first answer was lost, and a duplicate named the run`,
    )
  })
}
