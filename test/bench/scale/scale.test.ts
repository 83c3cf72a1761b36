import assert from 'node:assert/strict'
import test from 'node:test'
import { createSlots } from './slots.ts'

test('a slice ends when the task after its last one comes, and measures how long slots were free', async () => {
  const slots = createSlots()
  const work = async () => {
    for (let task = 0; task < 6; task++) await slots.enter()
  }
  const workers = [work(), work()]
  const first = await slots.measure(4, 60)
  assert.equal(first.ended, 4)
  assert.ok(first.waits.length >= 3, 'two slots had no task before')
  const second = await slots.measure(5, 60)
  assert.equal(second.ended, 5)
  slots.close()
  await Promise.all(workers)
})

test('a slice without tasks ends with its time', async () => {
  const { ended, waits } = await createSlots().measure(10, 0.001)
  assert.deepEqual([ended, waits], [0, []])
})
