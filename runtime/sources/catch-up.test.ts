/** Tests how a catch-up fares while the provider is slow, and while the gateway can take nothing. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pino } from 'pino'
import type { InternalReply } from '../http/index.ts'
import { createPluginHost } from '../plugin/index.ts'
import { catchUpSource, createCatchUps } from './catch-up.ts'
import type { SourcesOptions } from './index.ts'
import type { SourceState } from './state.ts'
import { createBed } from './test-bed.ts'

const start = Date.UTC(2026, 0, 1)
const secondMs = 1000

/** Answers as GitHub's API does: a list of deliveries that failed, and each of them whole. */
function answerOf(url: URL, count: number): unknown {
  const delivery = (n: number) => ({
    id: n,
    guid: `guid-${n}`,
    delivered_at: new Date(start - (count - n) * secondMs).toISOString(),
    status: 'failed to connect to host',
    status_code: 502,
    event: 'push',
  })
  const one = /\/deliveries\/(\d+)$/.exec(url.pathname)?.[1]
  if (one === undefined) return Array.from({ length: count }, (_, index) => delivery(count - index))
  const headers = {
    'X-GitHub-Delivery': `guid-${one}`,
    'X-Hub-Signature-256': 'sha256=0',
    'X-GitHub-Event': 'push',
  }
  return { ...delivery(Number(one)), request: { headers, payload: { n: Number(one) } } }
}

async function openBed(
  count: number,
  post: (request: Parameters<SourcesOptions['post']>[0], number: number) => InternalReply,
) {
  const posts: Parameters<SourcesOptions['post']>[0][] = []
  const states: SourceState[] = []
  const catchUp = { repo: 'octo-org/harbour', hookId: 1, token: 'secret-token', every: '10m', lookBack: '3d' }
  const fetch: typeof globalThis.fetch = async (input) => {
    const url = new URL(String(input))
    assert.equal(url.origin, 'https://api.github.com')
    if (/\/\d+$/.test(url.pathname)) bed.clock.advance(secondMs)
    return Response.json(answerOf(url, count))
  }
  const host = createPluginHost({ log: pino({ level: 'silent' }), fetch })
  const agents = { providers: {}, runners: {}, defaults: { runner: 'echo' } }
  const prepared = await host.prepare({
    settings: { agents, channels: {}, plugins: [], sources: {}, observers: {} },
    endpoints: { 'team/forge': { verify: { provider: 'github' }, catchUp } },
  } as unknown as Parameters<typeof host.prepare>[0])
  prepared.commit()
  const sources = createCatchUps({ live: host.providers, log: { info() {} } })
  const bed = await createBed([...sources()], {
    post: async (request) => post(request, posts.push(request)),
    onState: (state) => states.push(state),
  })
  assert.equal(sources()[0], bed.live[0], 'an unchanged endpoint keeps its source')
  return {
    ...bed,
    posts,
    states,
    clock: bed.clock,
    async [Symbol.asyncDispose]() {
      await bed[Symbol.asyncDispose]()
      await host.close()
    },
  }
}

test('missed deliveries are posted oldest first with the headers of GitHub, and the remaining time is shown', async () => {
  await using bed = await openBed(60, () => ({ status: 202 }))
  bed.apply()
  await bed.until(() => bed.states.some(({ times }) => times?.['asked'] !== undefined), 'it is done')
  assert.deepEqual(
    bed.posts.map(({ body }) => JSON.parse(body).n),
    Array.from({ length: 60 }, (_, index) => index + 1),
  )
  assert.deepEqual(
    { ...bed.posts[0], body: undefined, signal: undefined },
    {
      endpoint: 'team/forge',
      headers: { 'x-github-delivery': 'guid-1', 'x-github-event': 'push' },
      client: "GitHub's API",
      authenticatedBy: 'provider-api',
      body: undefined,
      signal: undefined,
    },
  )
  const details = bed.states.map(({ detail }) => detail)
  assert.ok(
    details.includes('GitHub could not deliver 60: 25 are done, about 35 s left.'),
    details.join('\n'),
  )
  assert.equal(bed.states.at(-1)?.source, catchUpSource('team/forge'))
  assert.ok(!JSON.stringify([bed.states, bed.lines]).includes('secret-token'))
})

test('while the gateway can take nothing the catch-up waits, and then goes on with the same delivery', async () => {
  await using bed = await openBed(3, (_request, number) =>
    number === 2 ? { status: 503, code: 'BACKLOG', retryAfter: 7 } : { status: 202 },
  )
  bed.apply()
  await bed.sleepThrough(7 * secondMs)
  await bed.until(() => bed.states.some(({ times }) => times?.['asked'] !== undefined), 'it is done')
  assert.deepEqual(
    bed.posts.map(({ body }) => JSON.parse(body).n),
    [1, 2, 2, 3],
  )
  const failing = bed.states.find(({ state }) => state === 'failing')
  assert.match(
    failing?.detail ?? '',
    /^The gateway takes nothing now \(BACKLOG\); what GitHub could not deliver waits\./,
  )
})

test('deliveries that were accepted are not posted again the next time', async () => {
  await using bed = await openBed(3, () => ({ status: 202 }))
  bed.apply()
  await bed.sleepThrough(600_000)
  await bed.until(
    () => bed.states.filter(({ times }) => times?.['asked'] !== undefined).length === 2,
    'it asks again',
  )
  assert.equal(bed.posts.length, 3)
})
