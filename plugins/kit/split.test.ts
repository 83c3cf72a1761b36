import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { splitMarkdown } from './split.ts'

const units = (part: number) => ({ part, unit: 'utf16' }) as const

test('text within the limit is one unchanged part', () => {
  assert.deepEqual(splitMarkdown('# Hello\n\n- one\n  - two', units(100)), ['# Hello\n\n- one\n  - two'])
})

test('blank text gives no parts', () => {
  for (const blank of ['', ' ', '\n\n \t\r\n']) assert.deepEqual(splitMarkdown(blank, units(10)), [])
})

test('the cut falls between blocks before it falls between lines', () => {
  assert.deepEqual(splitMarkdown('one\ntwo\n\nthree\nfour', units(12)), ['one\ntwo', 'three\nfour'])
})

test('a block that is too long is cut between lines, a line between sentences, a sentence between words', () => {
  assert.deepEqual(splitMarkdown('one one\ntwo two', units(10)), ['one one', 'two two'])
  assert.deepEqual(splitMarkdown('Go on. Stop it. Now.', units(15)), ['Go on. Stop it.', 'Now.'])
  assert.deepEqual(splitMarkdown('alpha beta gamma', units(11)), ['alpha beta', 'gamma'])
})

test('a word that is too long is cut between graphemes', () => {
  const family = '👨‍👩‍👧‍👦'
  assert.deepEqual(splitMarkdown(family.repeat(3), units(family.length * 2 + 3)), [family.repeat(2), family])
  assert.deepEqual(splitMarkdown('e\u0301e\u0301', units(3)), ['e\u0301', 'e\u0301'])
})

test('an accent on a space is not separated from it', () => {
  assert.deepEqual(splitMarkdown('abc \u0301defg', units(4)), ['abc', ' \u0301de', 'fg'])
})

test('a grapheme longer than a part is cut between code points', () => {
  const parts = splitMarkdown(`a${'\u0301'.repeat(10)}`, units(4))
  assert.deepEqual(
    parts.map((part) => part.length),
    [4, 4, 3],
  )
})

test('a fence that runs over a cut is closed and opened again with its language', () => {
  const code = ['```ts title="a"', 'const a = 1', 'const b = 2', '', 'const c = 3', '```'].join('\n')
  assert.deepEqual(splitMarkdown(code, units(48)), [
    '```ts title="a"\nconst a = 1\nconst b = 2\n\n```',
    '```ts title="a"\nconst c = 3\n```',
  ])
})

test('a fence that fits a part of its own is not cut', () => {
  const code = '```sh\nnpm test\n```'
  assert.deepEqual(splitMarkdown(`Some words.\n\n${code}\n\nMore words.`, units(24)), [
    'Some words.',
    code,
    'More words.',
  ])
})

test('a fence is closed only by its own kind', () => {
  const code = ['~~~~md', '~~~', '```', 'text', '~~~~'].join('\n')
  const parts = splitMarkdown(`${'word '.repeat(8)}\n\n${code}`, units(40))
  assert.deepEqual(parts.slice(-1), [code])
})

test('an open fence is closed where it is cut', () => {
  assert.deepEqual(splitMarkdown('```\naaaa\nbbbb\ncccc', units(17)), [
    '```\naaaa\nbbbb\n```',
    '```\ncccc\n```',
  ])
})

test('a fence line as long as a part is treated as text', () => {
  const parts = splitMarkdown(`${'`'.repeat(30)}\ncode`, units(12))
  assert.ok(parts.every((part) => part.length <= 12))
  assert.equal(parts.join('').replaceAll(/\s/g, ''), `${'`'.repeat(30)}code`)
})

test('bytes are counted if the vendor counts bytes', () => {
  const parts = splitMarkdown('ä'.repeat(10), { part: 6, unit: 'utf8' })
  assert.deepEqual(parts, ['äää', 'äää', 'äää', 'ä'])
})

const word = fc
  .oneof(
    fc.string({ unit: 'grapheme', minLength: 1, maxLength: 30 }),
    fc.constantFrom('👩🏽‍🚀👩🏽‍🚀', 'e\u0301', '🇨🇭🇯🇵🇧🇷', '\u0301', 'Go. Stop! Now'),
  )
  .map((text) => text.toWellFormed().replaceAll(/[\s`~]/g, '') || 'x')
const gap = fc.constantFrom(' ', '  ', '\n', '\n\n', '. ', '\t')

test('parts of any prose fit, lose nothing but white space, and begin and end on grapheme borders', () => {
  const prose = fc.array(fc.tuple(word, gap), { minLength: 1, maxLength: 40 })
  const segmenter = new Intl.Segmenter('en', { granularity: 'grapheme' })
  fc.assert(
    fc.property(prose, fc.integer({ min: 24, max: 80 }), (pieces, limit) => {
      const text = pieces.flat().join('')
      const borders = new Set(Array.from(segmenter.segment(text), (each) => each.index)).add(text.length)
      let at = 0
      for (const part of splitMarkdown(text, units(limit))) {
        assert.ok(part.length <= limit)
        const found = text.indexOf(part, at)
        assert.equal(text.slice(at, found).trim(), '')
        at = found + part.length
        assert.ok(borders.has(found) && borders.has(at), JSON.stringify(part))
      }
      assert.equal(text.slice(at).trim(), '')
    }),
    { seed: 20261121, numRuns: 300 },
  )
})

test('parts of any mixture of prose and fences fit, and hold every character in order', () => {
  const fence = fc.constantFrom('```', '```ts', '~~~~', '```` a b', ' ```js {1,2}')
  const line = fc.oneof(fence, fence, word, fc.constant(''))
  fc.assert(
    fc.property(fc.array(line, { maxLength: 30 }), fc.integer({ min: 24, max: 80 }), (lines, limit) => {
      const text = lines.join('\n')
      const parts = splitMarkdown(text, units(limit))
      for (const part of parts) assert.ok(part.length <= limit && part.trim() !== '', JSON.stringify(parts))
      const shown = parts.join('').replaceAll(/\s/g, '')
      let at = -1
      for (const character of text.replaceAll(/\s/g, '')) {
        at = shown.indexOf(character, at + 1)
        assert.notEqual(at, -1, JSON.stringify({ parts, lost: character }))
      }
    }),
    { seed: 20261121, numRuns: 300 },
  )
})
