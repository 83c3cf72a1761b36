import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cut } from './cut.ts'

test('a text within the limit stays as it is', () => {
  assert.equal(cut('abc', 3), 'abc')
})

test('plain text is cut at the limit', () => {
  assert.equal(cut('a'.repeat(3000), 2000), 'a'.repeat(2000))
})

test('a family, a flag and an accent are never cut in two', () => {
  assert.equal(cut(`ab👨‍👩‍👧‍👦`, 5), 'ab')
  assert.equal(cut(`${'x'.repeat(199)}🇩🇪 and more`, 202), 'x'.repeat(199))
  assert.equal(cut('🇩🇪🇫🇷'.repeat(50), 203), '🇩🇪🇫🇷'.repeat(25))
  assert.equal(cut(`${'x'.repeat(100)}e\u0301!`, 101), 'x'.repeat(100))
})

test('a first grapheme that does not fit leaves nothing', () => {
  assert.equal(cut('👨‍👩‍👧‍👦', 4), '')
})

test('a very long grapheme is cut between characters', () => {
  const pile = `a${'\u0301'.repeat(500)}`
  assert.equal(cut(pile, 200).length, 200)
  const tags = `🏴${'\u{E0061}'.repeat(300)}`
  const short = cut(tags, 201)
  assert.ok(short.length <= 201 && short.isWellFormed())
})

test('a cut text of any kind stays within its limit', () => {
  const text = 'né👩🏽‍🚀🇫🇷한글\r\n'.repeat(40)
  for (let limit = 1; limit < 200; limit += 1) {
    const short = cut(text, limit)
    assert.ok(short.length <= limit && text.startsWith(short) && short.isWellFormed())
  }
})
