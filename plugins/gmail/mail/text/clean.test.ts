import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cleanLine, cleanText } from './clean.ts'

test('line ends become line feeds, trailing white space goes, and at most two blank lines follow each other', () => {
  assert.equal(cleanText('\r\n  a \r\nb\t\rc\u2028d\n\n\n\n\ne\n\n'), '  a\nb\nc\nd\n\n\ne')
  assert.equal(cleanText('a\n\n\n\nb', 1), 'a\n\nb')
  assert.equal(cleanText(' \n\t\n'), '')
})

test('invisible characters and marks that turn the reading order are removed', () => {
  assert.equal(cleanText('a\u0000b\u001b[31mc\u0007\td\u009be'), 'ab[31mc\tde')
  assert.equal(cleanText('invoice\u202egpj.exe \u2066x\u2069 \u200ey\u061c'), 'invoicegpj.exe x y')
  assert.equal(cleanText('soft\u00adhyphen zero\u200bwidth \ufeffmark'), 'softhyphen zerowidth mark')
  const order = [...'obey'].map((letter) => String.fromCodePoint(0xe0000 + letter.charCodeAt(0))).join('')
  assert.equal(cleanText(`hello${order}!`), 'hello!')
  assert.equal(cleanText(`a\ufe0f${'\u{e0101}\ufe01'.repeat(9)}b`), 'a\ufe0fb')
})

test('words with joiners, flags with tags and emoji with selectors stay whole', () => {
  for (const text of ['👩‍👩‍👧', 'می‌خواهم', '❤️', '🏴󠁧󠁢󠁷󠁬󠁳󠁿', 'नमस्ते', '葛\u{e0100}'])
    assert.equal(cleanText(text), text)
})

test('joiners between spaces, with which newsletters fill a preview, are removed', () => {
  assert.equal(cleanLine(`Hello ${'\u00a0\u200c'.repeat(50)} there`), 'Hello there')
})

test('half a surrogate pair becomes a replacement character', () => {
  assert.equal(cleanText('a\ud83db'), 'a\ufffdb')
  assert.ok(cleanLine('\udc00').isWellFormed())
})

test('cleanLine returns one line', () => {
  assert.equal(cleanLine(' Re:\r\n\tan\u0085offer \u00a0 '), 'Re: an offer')
})
