import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import type { Ledger, Problem } from './ledger.ts'
import { createSilenceWatch, type SilenceOptions } from './silence.ts'

const hour = 3_600_000
const start = Date.UTC(2026, 0, 31, 12)

/** `newest`: when the store's newest request of an endpoint came. */
function createFixture(
  policies: Record<string, number>,
  newest: Record<string, number> = {},
  others: Partial<SilenceOptions> = {},
) {
  const state = { now: start, policies }
  const noted: Problem[] = []
  const resolved: string[] = []
  const open = new Set<string>()
  let due: { run: () => void; at: number } | undefined
  const ledger = {
    note: (problem: Problem) => {
      noted.push(problem)
      open.add(problem.subject)
    },
    resolve: (_code: string, subject: string) => open.delete(subject) && resolved.push(subject),
    isOpen: (_code: string, subject: string) => open.has(subject),
  } as unknown as Ledger
  const watch = createSilenceWatch({
    ledger,
    current: () =>
      ({
        snapshot: {
          endpoints: Object.fromEntries(
            Object.entries(state.policies).map(([name, ms]) => [name, { expectEvery: `${ms / hour}h` }]),
          ),
          effectivePolicyOf: (name: string) => ({
            expectEvery: { policy: name, value: state.policies[name] },
          }),
        },
      }) as never,
    read: {
      requests: async ({ endpoint = '' } = {}) => ({
        items: newest[endpoint] === undefined ? [] : [{ endpoint, receivedAt: newest[endpoint] } as never],
      }),
    },
    now: () => state.now,
    ...others,
    timers: {
      setTimeout: (run, ms) => {
        due = { run, at: state.now + ms }
        return due
      },
      clearTimeout: () => {
        due = undefined
      },
    },
  })
  function passUntil(time: number): void {
    while (due !== undefined && due.at <= time) {
      state.now = due.at
      due.run()
    }
    state.now = time
  }
  return { watch, state, noted, resolved, open, passUntil }
}

test('a request that another process received ends the silence, and only the leader looks for it', async () => {
  const newest = { stripe: start }
  const [leading, following] = [true, false].map((isLeading) =>
    createFixture({ stripe: hour }, newest, { isShared: true, leads: () => isLeading }),
  )
  assert.ok(leading && following)
  await Promise.all([leading.watch.apply(), following.watch.apply()])
  newest.stripe = start + hour - 1000
  for (const { passUntil } of [leading, following]) passUntil(start + hour)
  await setImmediate()
  assert.deepEqual([leading.noted, following.noted], [[], []])
  for (const { passUntil } of [leading, following]) passUntil(start + 3 * hour)
  await setImmediate()
  assert.deepEqual([leading.noted.length, following.noted.length], [1, 0])
})

test('an endpoint is silent when nothing has come for longer than expected, once, until something comes', async () => {
  const { watch, noted, resolved, passUntil } = createFixture({ stripe: hour, github: 24 * hour })
  await watch.apply()
  watch.seen('stripe', start + 1000)
  passUntil(start + hour)
  assert.equal(noted.length, 0)
  passUntil(start + hour + 1000)
  assert.deepEqual(
    noted.map(({ code, subject }) => `${code} ${subject}`),
    ['SILENCE stripe'],
  )
  assert.equal(
    noted[0]?.describe().cause,
    'No request has arrived at /stripe since 2026-01-31T12:00:01.000Z, and endpoints.stripe.expectEvery expects a request every 1h.',
  )
  passUntil(start + 5 * hour)
  assert.equal(noted.length, 1)
  watch.seen('stripe', start + 5 * hour)
  assert.deepEqual(resolved, ['stripe'])
})

test('after a start a sender that was last seen long ago has five minutes', async () => {
  const { watch, noted, passUntil } = createFixture({ stripe: hour }, { stripe: start - 10 * hour })
  await watch.apply()
  passUntil(start + 299_000)
  assert.equal(noted.length, 0)
  const [silence] = watch.silences()
  assert.deepEqual(
    [silence?.isSilent, silence?.lastSeen, silence?.silentForMs],
    [false, start - 10 * hour, 10 * hour + 299_000],
  )
  passUntil(start + 300_000)
  assert.equal(noted.length, 1)
})

test('an endpoint that expects nothing any more is not silent', async () => {
  const { watch, state, resolved, passUntil } = createFixture({ stripe: hour })
  await watch.apply()
  passUntil(start + hour)
  state.policies = {}
  await watch.apply()
  assert.deepEqual(resolved, ['stripe'])
  assert.deepEqual(watch.silences(), [])
})
