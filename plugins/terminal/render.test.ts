import assert from 'node:assert/strict'
import { test } from 'node:test'
import { widthOf } from '@reveille/kit'
import fc from 'fast-check'
import { wrapLine } from './render.ts'

test('a line that fits is left alone', () => {
  assert.deepEqual(wrapLine('  two  spaces ', 20), ['  two  spaces '])
})

test('a line breaks between words and keeps its indentation', () => {
  assert.deepEqual(wrapLine('  one two three four', 12), ['  one two', '  three four'])
})

test('a word wider than the terminal breaks between graphemes', () => {
  assert.deepEqual(wrapLine('👩🏽‍🚀👩🏽‍🚀👩🏽‍🚀', 4), ['👩🏽‍🚀👩🏽‍🚀', '👩🏽‍🚀'])
})

test('emoji and East Asian characters take two columns, combining marks none', () => {
  assert.equal(widthOf('日本語'), 6)
  assert.equal(widthOf('e\u0301👍❤️'), 5)
})

test('in any line, no piece is wider than allowed, and only spaces are lost', () => {
  const line = fc.string({ unit: 'grapheme', maxLength: 200 })
  fc.assert(
    fc.property(line, fc.integer({ min: 18, max: 60 }), (text, width) => {
      const pieces = wrapLine(text, width)
      for (const piece of pieces) assert.ok(widthOf(piece) <= width, piece)
      assert.equal(pieces.join('').replaceAll(' ', ''), text.replaceAll(' ', ''))
    }),
    { seed: 20261121, numRuns: 300 },
  )
})
