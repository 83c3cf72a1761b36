import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { createClient } from './client.ts'
import { createSampler } from './contract/bench/samples.ts'
import { createIdMinter } from './id.ts'
import type { Post } from './protocol.ts'

function openClient() {
  const posts: Post[] = []
  const now = () => 1_000
  const client = createClient({
    post: (post) => void posts.push(post),
    maxActions: 512,
    now,
    onLate: () => undefined,
    onStalled: () => undefined,
  })
  const sample = createSampler({ mintId: createIdMinter(now), clock: { now } })
  const accept = (count: number) => {
    for (let i = 0; i < count; i++) void client.accept(sample.entry(sample.eventAction()))
  }
  return { accept, sizes: () => posts.map(({ actions }) => actions.length) }
}

test('a request that comes alone is posted at the end of its turn of the event loop', async () => {
  const { accept, sizes } = openClient()
  accept(1)
  await turn()
  assert.deepEqual(sizes(), [1])
})

test('while the writer is busy, requests of successive turns are posted together, as soon as a turn brings none', async () => {
  const { accept, sizes } = openClient()
  for (const count of [1, 5, 4]) {
    accept(count)
    await turn()
  }
  assert.deepEqual(sizes(), [1])
  await turn()
  assert.deepEqual(sizes(), [1, 9])
})

test('while the writer is busy, requests that never end to come are posted after a few turns', async () => {
  const { accept, sizes } = openClient()
  accept(1)
  await turn()
  for (let i = 0; i < 4; i++) {
    accept(2)
    await turn()
  }
  assert.deepEqual(sizes(), [1, 8])
})
