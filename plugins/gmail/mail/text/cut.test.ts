import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { anyText } from '../fixture.ts'
import { cutToBytes, cutToLength } from './cut.ts'

test('a text that fits to the byte is not cut', () => {
  assert.deepEqual(cutToBytes('Grüße', 7), { text: 'Grüße', isCut: false })
  assert.deepEqual(cutToBytes('Grüße', 6), { text: 'Grüß', isCut: true })
  assert.equal(cutToLength('Grüße', 5), 'Grüße')
})

test('a text is cut after a near line or word, else between graphemes', () => {
  const line = 'x'.repeat(95)
  assert.equal(cutToLength(`${line}\n${line}`, 100), line)
  assert.equal(cutToLength(`${'word '.repeat(30)}`, 103), 'word '.repeat(20).trim())
  assert.equal(
    cutToLength(`${'long'.repeat(10)}\n${'x'.repeat(200)}`, 100).length,
    100,
    'not if much would be lost',
  )
  assert.equal(cutToLength('👩‍👩‍👧👩‍👩‍👧', 12), '👩‍👩‍👧')
  assert.equal(cutToBytes('e\u0301e\u0301', 5).text, 'e\u0301')
})

test('a grapheme that is longer than the limit is cut between its characters', () => {
  const tower = `a${'\u0301'.repeat(500)}`
  assert.equal(cutToBytes(tower, 101).text, `a${'\u0301'.repeat(50)}`)
  assert.equal(cutToLength('😀', 1), '')
})

test('any cut keeps its limit, is a beginning of the text, and splits no character', () => {
  const texts = anyText(400).map((text) => text.toWellFormed())
  fc.assert(
    fc.property(texts, fc.nat(500), (text, limit) => {
      const { text: cut, isCut } = cutToBytes(text, limit)
      assert.ok(Buffer.byteLength(cut) <= limit)
      assert.ok(text.startsWith(cut) && cut.isWellFormed())
      assert.equal(isCut, Buffer.byteLength(text) > limit)
      const short = cutToLength(text, limit)
      assert.ok(short.length <= limit && text.startsWith(short) && short.isWellFormed())
    }),
    { numRuns: 200 },
  )
})
