import assert from 'node:assert/strict'
import { test } from 'node:test'
import { waitSecondsOf } from './prefer.ts'

const seconds: readonly (readonly [string | string[] | undefined, number | undefined])[] = [
  ['wait=10', 10],
  ['Wait = 10', 10],
  ['wait="10"', 10],
  ['respond-async, wait=10', 10],
  ['respond-async,wait=10;with=parameters', 10],
  [', ,wait=3', 3],
  [['return=minimal', 'wait=4'], 4],
  ['wait=1, wait=2', 1],
  ['wait=soon, wait=2', undefined],
  ['wait=301', 300],
  [`wait=${'9'.repeat(400)}`, 300],
  ['wait=007', 7],
  ['wait=0', undefined],
  ['wait', undefined],
  ['wait=', undefined],
  ['wait=-1', undefined],
  ['wait=1.5', undefined],
  ['wait=1e2', undefined],
  ['await=1', undefined],
  ['', undefined],
  [undefined, undefined],
]

for (const [prefer, expected] of seconds) {
  const title = String(JSON.stringify(prefer)).slice(0, 60)
  test(`Prefer: ${title} asks for ${expected ?? 'no'} seconds`, () => {
    assert.equal(waitSecondsOf(prefer), expected)
  })
}

test('a header as long as headers may be is read in no time', () => {
  for (const piece of ['"\\', '; ', ',=', ' ', '"']) {
    const startedAt = process.cpuUsage().user / 1000
    waitSecondsOf(piece.repeat(8192))
    assert.ok(process.cpuUsage().user / 1000 - startedAt < 250, JSON.stringify(piece))
  }
})
