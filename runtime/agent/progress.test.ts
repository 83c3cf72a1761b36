import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createProgressBoard, maxTextLength } from './progress.ts'

function boardAt(...times: number[]) {
  return createProgressBoard({ now: () => times.shift() ?? 0 })
}

test('a turn is shown from its start to its end, and not before or after', () => {
  const board = boardAt(10)
  assert.equal(board.ofRun('a'), undefined)
  board.start('a')
  assert.deepEqual(board.ofRun('a'), { text: '', characters: 0, at: 10 })
  board.end('a')
  assert.equal(board.ofRun('a'), undefined)
})

test('text adds up, and a note replaces the one before', () => {
  const board = boardAt(1, 2, 3, 4)
  board.start('a')
  board.note('a', { text: 'one ', note: 'thinking' })
  board.note('a', { text: 'two' })
  assert.deepEqual(board.ofRun('a'), { text: 'one two', characters: 7, note: 'thinking', at: 3 })
  board.note('a', { note: 'running a tool' })
  assert.deepEqual(board.ofRun('a'), { text: 'one two', characters: 7, note: 'running a tool', at: 4 })
})

test('the end of a long reply is kept, in whole characters', () => {
  const board = boardAt()
  board.start('a')
  board.note('a', { text: '🌊'.repeat(maxTextLength) })
  board.note('a', { text: '.' })
  const shown = board.ofRun('a')
  assert.equal(shown?.characters, maxTextLength * 2 + 1)
  assert.equal(shown?.text, `${'🌊'.repeat(maxTextLength / 2 - 1)}.`)
})

test('progress of a run that is not under way, and progress that is no text, is ignored', () => {
  const board = boardAt(1, 2)
  board.note('a', { text: 'early' })
  board.start('a')
  board.note('a', { text: 7, note: {} } as never)
  assert.deepEqual(board.ofRun('a'), { text: '', characters: 0, at: 2 })
  board.end('a')
  board.note('a', { text: 'late' })
  assert.equal(board.ofRun('a'), undefined)
})

test('a turn that begins again begins from nothing', () => {
  const board = boardAt()
  board.start('a')
  board.note('a', { text: 'first try' })
  board.start('a')
  assert.equal(board.ofRun('a')?.text, '')
})
