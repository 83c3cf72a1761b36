import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sourceLines } from './source-text.ts'

const noon = new Date(2026, 0, 31, 12).getTime()
const io = { now: () => noon }

test('a working source shows its detail, its times and its counts', () => {
  const state = {
    source: 'gmail',
    state: 'working',
    detail: 'ada@example.com is watched',
    since: noon - 60_000,
    times: { watchEnds: noon + 7 * 86_400_000, lastMail: noon - 1000 },
    counts: { posted: 1204, refused: 0 },
  } as const
  assert.deepEqual(sourceLines(state, io), [
    'working since 11:59:00',
    'ada@example.com is watched',
    'watch ends 2026-02-07 12:00:00, last mail 11:59:59',
    '1,204 posted, 0 refused',
  ])
})

test('a source without detail has a line for its state alone', () => {
  const bare = { source: 'gmail', detail: '', since: noon }
  assert.deepEqual(sourceLines({ ...bare, state: 'starting' }, io), ['starting since 12:00:00'])
  assert.deepEqual(sourceLines({ ...bare, state: 'waiting', detail: 'run setup' }, io), [
    'waits for an operator since 12:00:00',
    'run setup',
  ])
  assert.deepEqual(sourceLines({ ...bare, state: 'held-elsewhere' }, io), [
    'held by another process since 12:00:00',
  ])
})

test('advice is broken between words for a terminal, and a command in it stays whole', () => {
  const detail = 'The consent has ended. Run `reveille webhooks gmail setup`.'
  const waiting = { source: 'gmail', detail, since: noon, state: 'waiting' } as const
  assert.deepEqual(sourceLines(waiting, { ...io, columns: 40 }).slice(1), [
    'The consent has ended. Run',
    '`reveille webhooks gmail setup`.',
  ])
})
