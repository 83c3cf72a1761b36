import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createIdMinter } from './id.ts'

test('an id is a UUID of version 7 that carries its time', () => {
  const time = Date.UTC(2026, 0, 1, 12, 34, 56, 789)
  const id = createIdMinter(() => time)()
  assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  assert.equal(Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16), time)
})

test('ids grow within a millisecond, past its counter, and when the clock steps back', () => {
  let time = 1_000_000
  const mintId = createIdMinter(() => time)
  const ids = Array.from({ length: 10_000 }, mintId)
  time -= 5_000
  ids.push(mintId())
  assert.deepEqual(ids, [...ids].sort())
  assert.equal(new Set(ids).size, ids.length)
})

test('a minter that starts after a time mints greater ids than any of that time, although its clock is behind', () => {
  const time = Date.UTC(2026, 0, 1)
  const before = createIdMinter(() => time)
  const earlier = Array.from({ length: 4_096 }, before)
  const mintId = createIdMinter(() => time - 60_000)
  mintId.startAfter(time)
  const later = [mintId(), mintId()]
  mintId.startAfter(time - 1)
  const all = [...earlier, ...later, mintId()]
  assert.deepEqual(all, all.toSorted())
})
