import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createPauses } from './pauses.ts'

const usedUp = (after: string) =>
  new Headers({ 'x-ratelimit-remaining': '0', 'x-ratelimit-reset-after': after })

test('a route pauses as long as the headers say', () => {
  let now = 1000
  const pauses = createPauses(() => now)
  pauses.note('a', usedUp('0.5'))
  assert.equal(pauses.secondsLeft('a'), 0.5)
  assert.equal(pauses.secondsLeft('b'), 0)
  now = 1500
  assert.equal(pauses.secondsLeft('a'), 0)
})

test('no odd answer closes a route for good', () => {
  const pauses = createPauses(() => 0)
  for (const after of ['1e9', 'Infinity']) {
    pauses.note(after, usedUp(after))
    assert.equal(pauses.secondsLeft(after), 60)
  }
})

test('other headers cause no pause', () => {
  const pauses = createPauses(() => 0)
  pauses.note('a', new Headers({ 'x-ratelimit-remaining': '1', 'x-ratelimit-reset-after': '5' }))
  pauses.note('a', new Headers({ 'x-ratelimit-remaining': '0' }))
  for (const after of ['', 'soon', '-1', 'NaN']) pauses.note('a', usedUp(after))
  assert.equal(pauses.secondsLeft('a'), 0)
})

test('only so many routes are remembered, and the newest stay', () => {
  const pauses = createPauses(() => 0)
  for (let route = 0; route < 3000; route += 1) pauses.note(String(route), usedUp('60'))
  const left = Array.from({ length: 3000 }, (_, route) => pauses.secondsLeft(String(route)))
  assert.equal(left.filter((seconds) => seconds > 0).length, 1000)
  assert.equal(left.at(-1), 60)
})
