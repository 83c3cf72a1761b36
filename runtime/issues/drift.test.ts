import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as idle } from 'node:timers/promises'
import type { HookRequest, Snapshot } from '@reveille/engine'
import { configurationOf } from '../../engine/compile/fixture.ts'
import { createDriftWatch } from './drift.ts'
import type { Ledger, Problem } from './ledger.ts'

const { mappings } = configurationOf([{ id: 'sensor', message: '{{reading.celsius}} {{place}}' }])
let snapshots = 0

function createFixture() {
  const noted: Problem[] = []
  const open = new Set<string>()
  const ledger = {
    note: (problem: Problem) => {
      noted.push(problem)
      open.add(problem.subject)
    },
    resolve: (_code: string, subject: string) => open.delete(subject),
    isOpen: (_code: string, subject: string) => open.has(subject),
  } as unknown as Ledger
  const looks = { count: 0 }
  const newSnapshot = () =>
    ({
      digest: String(snapshots++),
      endpoints: {},
      mappings: [{ path: 'sensors' }],
      entriesOf: () => {
        looks.count += 1
        return mappings
      },
    }) as unknown as Snapshot
  let snapshot = newSnapshot()
  const watch = createDriftWatch(ledger)
  let now = 0
  /** Sends so many requests, a second apart. */
  async function send(count: number, payload: unknown, more: Partial<HookRequest> = {}, everyMs = 1000) {
    for (let n = 0; n < count; n++) {
      now += everyMs
      const request = {
        endpoint: 'sensors',
        headers: {},
        query: {},
        payload,
        rawBody: Buffer.of(),
        now,
        ...more,
      }
      watch.sample(request, snapshot)
      await idle()
    }
  }
  function reload(): void {
    snapshot = newSnapshot()
    watch.applied(snapshot)
  }
  return { noted, open, looks, send, reload }
}

const whole = { reading: { celsius: 20 }, place: 'hall' }
const without = { reading: { kelvin: 293 }, place: 'hall' }

test('a field that 95 of 100 requests had and 20 lack is one issue, which ends when it comes again', async () => {
  const { noted, open, looks, send } = createFixture()
  await send(5, without)
  await send(95, whole)
  await send(19, without)
  assert.equal(noted.length, 0)
  await send(1, without)
  assert.deepEqual(
    noted.map(({ code, subject }) => `${code} ${subject}`),
    ['DRIFT sensors:reading.celsius'],
  )
  assert.equal(
    noted[0]?.describe().cause,
    'None of the last 20 requests to /sensors has reading.celsius, which mapping "sensor" uses; 95 of the 100 before had it.',
  )
  await send(3, without)
  assert.equal(noted.length, 4)
  await send(1, whole)
  assert.deepEqual([...open], [])
  assert.equal(looks.count, 1)
})

test('a field that some requests never had is no drift', async () => {
  const { noted, send } = createFixture()
  await send(6, without)
  await send(94, whole)
  await send(40, without)
  assert.equal(noted.length, 0)
})

test('a missing observation counts neither way', async () => {
  const { noted, send } = createFixture()
  await send(100, whole)
  await send(50, { reading: null, place: 'hall' })
  assert.equal(noted.length, 0)
  await send(20, without)
  assert.equal(noted.length, 1)
})

test('a flood is sampled, and requests of unknown endpoints and long bodies are not', async () => {
  const { noted, send } = createFixture()
  await send(150, whole, {}, 1)
  await send(500, without, { endpoint: 'made-up' }, 1)
  await send(500, without, { isUndecoded: true }, 1)
  assert.equal(noted.length, 0)
  // Of the burst of 200 samples 50 are left, and two come with each second.
  await send(1000, without, {}, 1)
  assert.equal(noted.length, 31 + 4)
})

test('a reload reads the mappings of endpoints that get requests, so that the next request does not', async () => {
  const { looks, send, reload } = createFixture()
  reload()
  assert.equal(looks.count, 0)
  await send(1, whole)
  assert.equal(looks.count, 1)
  reload()
  assert.equal(looks.count, 2)
  await send(1, whole)
  assert.equal(looks.count, 2)
})
