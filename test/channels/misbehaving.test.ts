/** Tests services that answer nonsense: a channel throws a PluginError or returns a receipt that can be stored. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { assertNoSecret, assertSentence } from '../../plugins/kit/conformance/assertions.ts'
import { setUp } from '../../plugins/kit/conformance/opened-vendor.ts'
import { badGateway } from '../../plugins/kit/fake-server/index.ts'
import { channelErrorCodes, isPluginError, parseJson, type Receipt } from '../../plugins/kit/index.ts'
import { pluginOf, vendors } from './vendors.ts'

const secretText = 'What the agent wrote is nobody’s business but the reader’s.'

/** The values that replace parts of the vendor's answer. */
const oddities: readonly unknown[] = [
  ...[true, false, null, 0, -1, 1, 5, 400, 429, 131_047, 1e300, 1.5, 8.7e15, Number.MAX_SAFE_INTEGER],
  ...['', 'true', 'ok', '1700000000.000100', 'NaN', '\u0000', 'x'.repeat(100_000), secretText, '2026-13-45'],
  ...[[], [null], [[]], {}, [{}], { toString: 1, valueOf: 1 }],
]

/** Returns each place in a value, as the keys that lead to it. */
function placesIn(value: unknown): string[][] {
  if (typeof value !== 'object' || value === null) return [[]]
  return [
    [],
    ...Object.entries(value).flatMap(([key, inner]) => placesIn(inner).map((rest) => [key, ...rest])),
  ]
}

function changed(value: unknown, [key, ...rest]: readonly string[], odd: unknown): unknown {
  if (key === undefined) return odd
  const copy = structuredClone(value) as Record<string, unknown>
  copy[key] = changed(copy[key], rest, odd)
  return copy
}

/** The vendor's answers with one to three of their values replaced. */
function spoilt(bodies: readonly unknown[], secret: string): fc.Arbitrary<unknown> {
  const change = fc.record({ at: fc.nat(), odd: fc.constantFrom(...oddities, `the token ${secret} is odd`) })
  return fc
    .record({ body: fc.constantFrom(...bodies), changes: fc.array(change, { minLength: 1, maxLength: 3 }) })
    .map(({ body, changes }) =>
      changes.reduce<unknown>((value, { at, odd }) => {
        const places = placesIn(value)
        return changed(value, places[at % places.length] ?? [], odd)
      }, body),
    )
}

const statuses = [200, 200, 200, 201, 204, 301, 400, 401, 403, 404, 412, 413, 429, 429, 500, 502, 503, 504]
const waits = [
  undefined,
  '-1',
  'NaN',
  '1e9',
  '999999999',
  '0',
  '0.001',
  'Thu, 01 Jan 1970 00:00:00 GMT',
  '',
  '5, 5',
]

for (const vendor of vendors) {
  for (const [way, open] of Object.entries(vendor.ways)) {
    test(`${vendor.name} (${way}) understands every answer, however malformed`, async (t) => {
      const bodies: unknown[] = []
      let answers: readonly (() => Response)[] = []
      const honest = globalThis.fetch
      // Each answer comes once, and the last one from then on.
      t.mock.method(globalThis, 'fetch', async (...call: Parameters<typeof fetch>) => {
        const [next, ...more] = answers
        if (more.length > 0) answers = more
        if (next) return next()
        const response = await honest(...call)
        const text = await response.text()
        const body = parseJson(text)
        if (body !== undefined) bodies.push(body)
        return new Response(response.status === 204 ? null : text, response)
      })
      await using used = await setUp({ plugin: pluginOf(vendor), open })
      const { channel, vendor: fakeServer, lines } = used
      const { signal } = new AbortController()
      await used.send(secretText)
      await channel.check?.(signal)
      const { badCredential, forbidden, serverError, rateLimited } = fakeServer.refusals
      for (const answer of [badCredential, forbidden, serverError, badGateway, rateLimited(1)]) {
        fakeServer.script({ kind: 'answer', answer })
        await used.send(secretText).catch(() => {})
      }

      const { secrets } = fakeServer
      const spoiltBody = spoilt(bodies, secrets[0] ?? 'none').map((value) => JSON.stringify(value))
      const noJson = fc.constantFrom('', '<html>no</html>', '{"ok":', `${secrets[0]}`, '[[[[')
      const answer = fc.record({
        status: fc.constantFrom(...statuses),
        body: fc.oneof({ weight: 8, arbitrary: spoiltBody }, { weight: 1, arbitrary: noJson }),
        wait: fc.constantFrom(...waits),
      })
      await fc.assert(
        fc.asyncProperty(fc.array(answer, { minLength: 1, maxLength: 4 }), async (given) => {
          const prepared = given.map(({ status, body, wait }) => () => {
            const headers = { ...(wait !== undefined && { 'retry-after': wait, 'x-ratelimit-reset': wait }) }
            return new Response(status === 204 ? null : body, { status, headers })
          })
          answers = prepared
          await used.send(secretText).then(
            (receipts) => receipts.forEach(assertReceipt),
            (error) => assertError(error, secrets),
          )
          answers = prepared
          const { detail = '' } = (await channel.check?.(signal)) ?? {}
          // The host redacts the secrets.
          assert.ok(detail.length <= 500, detail)
        }),
        { seed: 7, numRuns: 250 },
      )
      assertNoSecret(lines.join('\n'), secrets)
    })
  }
}

function assertReceipt(receipt: unknown): void {
  const { id, at } = receipt as Receipt
  assert.ok(typeof id === 'string' && id !== '', 'a receipt has an id')
  if (at !== undefined) assert.equal(new Date(at).toISOString().length, 24)
}

function assertError(error: unknown, secrets: readonly string[]): void {
  assert.ok(isPluginError(error), `a PluginError, not ${(error as Error)?.stack ?? error}`)
  assert.ok((channelErrorCodes as readonly string[]).includes(error.code), error.code)
  assertSentence(error.message, 'the error’s message')
  assertNoSecret(error.message, secrets)
  const { retryAfter = 0 } = error
  assert.ok(Number.isFinite(retryAfter) && retryAfter >= 0, `${retryAfter}`)
}
