import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  beginCursor,
  maxRecent,
  maxRefused,
  movedTo,
  parseCursor,
  unknownHistory,
  withPosted,
  withRefused,
} from './cursor.ts'
import { listedAfter } from './mailbox.ts'

const now = Date.UTC(2026, 0, 5)
const hourMs = 3_600_000
const cursor = beginCursor('ada@example.com', '1000', now)

test('any value on disk is read as a usable cursor or as none', () => {
  fc.assert(
    fc.property(
      fc.anything(),
      fc.anything(),
      fc.anything(),
      fc.anything(),
      (historyId, recent, refused, watch) => {
        for (const value of [historyId, { account: 'ada@example.com', historyId, recent, refused, watch }]) {
          const parsed = parseCursor(value, now)
          if (parsed === undefined) continue
          assert.equal(typeof movedTo(parsed, '5').historyId, 'string')
          assert.deepEqual(parseCursor(JSON.parse(JSON.stringify(parsed)), now), parsed)
        }
      },
    ),
  )
})

test('a cursor of an older or newer version is read as far as it is understood', () => {
  const refused = [{ id: 'a', shape: 2 }, 'b', { code: 'C' }]
  const value = {
    account: 'ada@example.com',
    historyId: '12',
    readAt: 5,
    recent: ['x', 3],
    refused,
    more: {},
  }
  assert.deepEqual(parseCursor(value, now), {
    ...{ account: 'ada@example.com', historyId: '12', readAt: 5, recent: ['x'] },
    refused: [{ id: 'a', code: 'UNKNOWN', tries: 1, since: now, nextTryAt: now }],
  })
  for (const historyId of ['', '-1', '1e3', 12, '1'.repeat(21), '0x10', '١'])
    assert.equal(parseCursor({ ...value, historyId }, now)?.historyId, unknownHistory)
})

test('history ids are compared as whole numbers, beyond the exact numbers of JavaScript', () => {
  const far = movedTo(cursor, '18446744073709551614')
  assert.equal(movedTo(far, '18446744073709551613').historyId, '18446744073709551614')
  assert.equal(movedTo(far, '18446744073709551615').historyId, '18446744073709551615')
  assert.equal(movedTo(cursor, '999').historyId, '1000')
})

test('only the latest posted mails are remembered, each once', () => {
  const ids = Array.from({ length: maxRecent + 5 }, (_, index) => `${index}`)
  const { recent } = withPosted(withPosted(cursor, ids), ['7', '9000', '7'])
  assert.equal(recent.length, maxRecent)
  assert.deepEqual(recent.slice(-2), ['7', '9000'])
  assert.equal(new Set(recent).size, maxRecent)
})

test('a refused mail is retried after growing waits of at most an hour, and a posted mail is no longer refused', () => {
  let next = cursor
  const waits = Array.from({ length: 9 }, () => {
    next = withRefused(next, 'a', 'C', now)
    return ((next.refused[0]?.nextTryAt ?? 0) - now) / 60_000
  })
  assert.deepEqual(waits, [1, 2, 4, 8, 16, 32, 60, 60, 60])
  assert.equal(next.refused[0]?.tries, 9)
  assert.deepEqual(withPosted(next, ['a']).refused, [])
})

test('the list of refused mails has a limit', () => {
  let next = cursor
  for (let index = 0; index <= maxRefused; index++) next = withRefused(next, `${index}`, 'C', now)
  assert.equal(next.refused.length, maxRefused)
  assert.equal(next.refused[0]?.id, '1')
})

test('a listing begins an hour before the last reading, at most thirty days ago, and a day ago if the last reading is in the future', () => {
  assert.equal(listedAfter(cursor, now + hourMs), now - hourMs)
  assert.equal(listedAfter({ ...cursor, readAt: 0 }, now), now - 30 * 24 * hourMs)
  assert.equal(listedAfter({ ...cursor, readAt: now + 1 }, now), now - 24 * hourMs)
})
