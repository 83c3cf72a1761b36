import assert from 'node:assert/strict'
import test from 'node:test'
import { createPlaces } from './places.ts'

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
