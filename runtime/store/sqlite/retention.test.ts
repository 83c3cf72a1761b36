import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { createSampler } from '../contract/samples.ts'
import { createIdMinter } from '../id.ts'
import { blobOfId } from './blob.ts'
import { migrate } from './migrations.ts'
import { createRetention } from './retention.ts'

const day = 86_400_000

/** A store with old ignored requests, and a stopwatch that says that each look at it took a while. */
function openOldStore({ requests, msPerLook }: { requests: number; msPerLook: number }) {
  const db = new DatabaseSync(':memory:')
  migrate(db)
  const sample = createSampler({ mintId: createIdMinter(() => day), clock: { now: () => day } })
  const insert = db.prepare('INSERT INTO requests (id, outcome, endpoint, record) VALUES (?, ?, ?, ?)')
  for (let i = 0; i < requests; i++) {
    const request = sample.request({ outcome: 'ignored' })
    insert.run(blobOfId(request.id), request.outcome, request.endpoint, JSON.stringify(request))
  }
  let elapsed = 0
  const retention = createRetention(db, {
    keepMs: day,
    now: 10 * day,
    elapsed: () => {
      elapsed += msPerLook
      return elapsed
    },
  })
  const left = () => Number(db.prepare('SELECT count(*) AS count FROM requests').get()?.['count'])
  return { retention, left }
}

test('a slice ends with its time, and the next one is due soon', () => {
  const { retention, left } = openOldStore({ requests: 1_000, msPerLook: 1 })
  const start = retention.nextAt
  let now = start
  let slices = 0
  let before = left()
  while (left() > 0) {
    retention.sweep(now)
    slices += 1
    assert.ok(before - left() <= 40, 'a slice takes two strides at most')
    assert.ok(retention.nextAt > now && retention.nextAt <= now + 20)
    before = left()
    now = retention.nextAt
  }
  assert.ok(slices > 20)
})

test('after a pass the store rests for a minute', () => {
  const { retention, left } = openOldStore({ requests: 100, msPerLook: 0 })
  const start = retention.nextAt
  retention.sweep(start)
  assert.equal(left(), 0)
  assert.equal(retention.nextAt, start + 60_000)
})
