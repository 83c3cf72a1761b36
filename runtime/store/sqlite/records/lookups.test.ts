import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { createSampler } from '../../contract/bench/samples.ts'
import { createIdMinter } from '../../id.ts'
import type { RequestRecord } from '../../port.ts'
import type { Filters, ListQuery } from '../../reading.ts'
import { blobOfId } from '../database/ids.ts'
import { migrate } from '../database/migrations.ts'
import { createQueries } from '../reader/queries.ts'
import { createLookups, rangesWith } from './lookups.ts'
import { createRequests, valuesOfRequest } from './requests.ts'

const hour = 3_600_000

function openWithLookups() {
  const db = new DatabaseSync(':memory:')
  migrate(db)
  const state = { now: Date.UTC(2026, 0, 1) }
  const clock = { now: () => state.now }
  const sample = createSampler({ mintId: createIdMinter(clock.now), clock })
  const requests = createRequests(db)
  const lookups = createLookups(db)
  const { list } = createQueries(db)
  return {
    db,
    state,
    sample,
    lookups,
    add(...records: RequestRecord[]) {
      for (const record of records) requests.add(blobOfId(record.id), valuesOfRequest(record))
      requests.rows.flush()
    },
    indexAll() {
      for (;;) if (!lookups.indexSome(state.now)) return
    },
    find: (filters: Filters, more: Partial<ListQuery> = {}) =>
      list({ table: 'requests', filters, limit: 50, ...more }).records.map((text) => JSON.parse(text).id),
  }
}

test('what is found by a value is the same before and after it is indexed, for each column and with a limit', () => {
  const store = openWithLookups()
  const { sample, state } = store
  const records: RequestRecord[] = []
  for (let i = 0; i < 1_000; i++) {
    state.now += (i * 7919) % 9_000
    records.push(
      sample.request({
        endpoint: `e${i % 3}`,
        generation: Math.floor(i / 400),
        ...(i % 11 === 0 && { code: 'IDEMPOTENCY_CONFLICT' }),
        ...(i % 2 === 0 && { mapping: `m${i % 10}`, deliveryId: `d${i}` }),
        client: `10.0.0.${i % 7}`,
        ...(i === 500 && records[3] && { replayOf: records[3].id }),
        ...(i % 5 === 0 && { generationDigest: 'abc', node: 'n' }),
      }),
    )
  }
  store.add(...records)
  const cases: [Filters, (record: RequestRecord) => boolean][] = [
    [{ endpoint: 'e1' }, ({ endpoint }) => endpoint === 'e1'],
    [{ generation: '1' }, ({ generation }) => generation === 1],
    [{ code: 'IDEMPOTENCY_CONFLICT' }, ({ code }) => code !== undefined],
    [
      { mapping: 'm4', client: '10.0.0.2' },
      (record) => record.mapping === 'm4' && record.client === '10.0.0.2',
    ],
    [{ delivery: 'd600' }, ({ deliveryId }) => deliveryId === 'd600'],
    [{ replay_of: records[3]?.id }, ({ replayOf }) => replayOf !== undefined],
    [{ digest: 'abc', node: 'n' }, ({ node }) => node !== undefined],
    [{ client: 'none' }, () => false],
  ]
  const check = () => {
    for (const [filters, isWanted] of cases) {
      const wanted = records
        .filter(isWanted)
        .map(({ id }) => id)
        .toReversed()
      assert.deepEqual(store.find(filters), wanted.slice(0, 50))
      const before = wanted[20]
      if (before !== undefined)
        assert.deepEqual(store.find(filters, { before, limit: 5 }), wanted.slice(21, 26))
      const [since, until] = [records[400]?.receivedAt ?? 0, records[500]?.receivedAt ?? 0]
      const isInTime = ({ receivedAt }: RequestRecord) => receivedAt >= since && receivedAt < until
      const inTime = records.filter((record) => isWanted(record) && isInTime(record)).map(({ id }) => id)
      assert.deepEqual(store.find(filters, { since, until, limit: 500 }), inTime.toReversed())
    }
  }
  check()
  // The index grows in small steps, and stops in the middle of a block.
  for (let step = 0; step < 5; step++) store.lookups.indexSome(state.now)
  check()
  store.indexAll()
  check()
  state.now += hour
  store.indexAll()
  check()
})

test('a request that comes to a place that was indexed before is found', () => {
  const store = openWithLookups()
  const { sample, state } = store
  const late = sample.request({ deliveryId: 'late' })
  state.now += hour
  store.add(sample.request({ deliveryId: 'in time' }))
  state.now += hour
  store.indexAll()
  store.add(late)
  assert.deepEqual(store.find({ delivery: 'late' }), [])
  const place = store.db.prepare('SELECT min(place) AS place FROM requests').get()?.['place']
  assert.ok(store.lookups.covers(Number(place)))
  store.lookups.indexLate(Number(place))
  assert.deepEqual(store.find({ delivery: 'late' }), [late.id])
})

test('a search for a rare value reads the blocks that hold it and nothing else', () => {
  const store = openWithLookups()
  const { sample, state, db } = store
  const records: RequestRecord[] = []
  const [blockMs, stepMs] = [4_096, 10]
  for (let i = 0; i < 5_000; i++) {
    state.now += stepMs
    records.push(sample.request({ mapping: i === 5 ? 'rare' : 'usual' }))
  }
  store.add(...records)
  state.now += hour
  const count = db.prepare('SELECT count(*) AS count FROM requests WHERE place >= ? AND place < ?')
  const countRead = () => {
    assert.equal(store.find({ mapping: 'rare' }).length, 1)
    const ranges = [...rangesWith(db, 'mapping', 'rare', Number.MAX_SAFE_INTEGER)]
    return ranges.reduce((sum, range) => sum + Number(count.get(...range)?.['count']), 0)
  }
  assert.equal(countRead(), records.length)
  store.indexAll()
  const most = blockMs / stepMs
  const read = countRead()
  assert.ok(read > 0 && read <= most, `${read} requests`)
})

test('what leads to requests that are gone is deleted', () => {
  const store = openWithLookups()
  const { sample, state, db } = store
  for (let i = 0; i < 300; i++) {
    state.now += 5_000
    store.add(sample.request({ deliveryId: `d${i}` }))
  }
  state.now += 5_000
  const kept = sample.request({ deliveryId: 'kept' })
  store.add(kept)
  state.now += hour
  store.indexAll()
  db.prepare('DELETE FROM requests WHERE id <> ?').run(blobOfId(kept.id))
  while (store.lookups.forgetSome());
  const left = db.prepare('SELECT DISTINCT value FROM lookups ORDER BY value').all()
  assert.deepEqual(
    left.map((row) => row['value']),
    [1, 'github', 'kept'],
  )
  assert.deepEqual(store.find({ delivery: 'kept' }), [kept.id])
})
