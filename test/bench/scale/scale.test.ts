import assert from 'node:assert/strict'
import test from 'node:test'
import { createPlaces } from './places.ts'
import { type ScaleReport, targetsOf } from './report.ts'

test('a slice ends when the task after its last one comes, and measures how long places were free', async () => {
  const places = createPlaces()
  const work = async () => {
    for (let task = 0; task < 6; task++) await places.enter()
  }
  const workers = [work(), work()]
  const first = await places.measure(4, 60)
  assert.equal(first.ended, 4)
  assert.ok(first.waits.length >= 3, 'two places had no task before')
  const second = await places.measure(5, 60)
  assert.equal(second.ended, 5)
  places.close()
  await Promise.all(workers)
})

test('a slice without tasks ends with its time', async () => {
  const { ended, waits } = await createPlaces().measure(10, 0.001)
  assert.deepEqual([ended, waits], [0, []])
})

test('a report says of each promise what was measured', () => {
  const variant = (name: string, sample: Record<string, number>) => ({ name, samples: [sample] })
  const report: Pick<ScaleReport, 'measures' | 'backlogs'> = {
    backlogs: [1000, 50_000],
    measures: [
      {
        name: 'accept to start of the run, 100 accepts a second',
        compared: 'p50Ms',
        variants: [variant('SQLite', { p50Ms: 3 }), variant('PostgreSQL, one gateway', { p50Ms: 9 })],
      },
      {
        name: 'claims while others wait',
        compared: 'claimsPerSecond',
        variants: [
          variant('1,000 waiting', { claimsPerSecond: 900, p99Ms: 10 }),
          variant('50,000 waiting', { claimsPerSecond: 600, p99Ms: 10 }),
          variant('1,000 waiting, an old transaction open', { claimsPerSecond: 900, p99Ms: 15 }),
          variant('50,000 waiting, an old transaction open', { claimsPerSecond: 900, p99Ms: 30 }),
        ],
      },
    ],
  }
  assert.deepEqual(
    targetsOf(report).map(({ most, measured }) => [most, measured]),
    [
      [20, 9],
      [1.2, 1.5],
      [2, 1.5],
      [2, 3],
    ],
  )
  assert.deepEqual(targetsOf({ ...report, measures: [] }), [])
})
