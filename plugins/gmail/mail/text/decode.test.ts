import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeBytes, decodeData } from './decode.ts'

const utf8 = Buffer.from('Grüße – 日本')

test('valid UTF-8 is read as UTF-8, whatever charset it claims', () => {
  for (const charset of [undefined, 'utf-8', 'iso-8859-1', 'shift_jis', 'utf-16', 'nonsense'])
    assert.equal(decodeBytes(utf8, charset), 'Grüße – 日本', charset)
})

test('other bytes are read by the named charset, else as browsers read them', () => {
  assert.equal(decodeBytes(Buffer.from([0xb1, 0xea]), 'iso-8859-2'), 'ąę')
  assert.equal(decodeBytes(Buffer.from([0x93, 0xfa, 0x96, 0x7b]), ' Shift_JIS '), '日本')
  assert.equal(decodeBytes(Buffer.from([0x80, 0x93, 0xe9]), undefined), '€“é')
  assert.equal(decodeBytes(Buffer.from([0x80, 0xe9]), 'utf-7'), '€é')
  assert.equal(
    decodeBytes(Buffer.from([0x61, 0xff, 0x62]), 'utf-8'),
    'a\ufffdb',
    'one bad byte spoils no more',
  )
})

test('charsets whose bytes look like UTF-8 are recognised by a byte that no text contains', () => {
  assert.equal(decodeBytes(Buffer.from('1b2442467c4b5c1b2842', 'hex'), 'iso-2022-jp'), '日本')
  assert.equal(decodeBytes(Buffer.from('Hi!', 'utf16le'), 'utf-16le'), 'Hi!')
  assert.equal(decodeBytes(Buffer.from('\ufeffHi!', 'utf16le'), 'utf-16'), 'Hi!')
})

test('a byte order mark is removed', () => {
  assert.equal(decodeBytes(Buffer.from('\ufeffHi'), undefined), 'Hi')
})

test('only the beginning of long data is decoded, without half a character at its end', () => {
  const data = Buffer.from('é'.repeat(50)).toString('base64url')
  const { text, isCut, bytes } = decodeData(data, undefined, 10)
  assert.deepEqual([text, isCut, bytes], ['é'.repeat(6), true, 12])
  const odd = decodeData(Buffer.from(`a${'é'.repeat(50)}`).toString('base64url'), undefined, 10)
  assert.deepEqual([odd.text, odd.isCut], [`a${'é'.repeat(5)}`, true])
  assert.deepEqual(decodeData('SGk', undefined, 10), { text: 'Hi', isCut: false, bytes: 2 })
})

test('both alphabets of base64 are read, and malformed base64 does not throw', () => {
  assert.equal(decodeData('8J-YgA', undefined, 100).text, '😀')
  assert.equal(decodeData('8J+YgA==', undefined, 100).text, '😀')
  assert.equal(decodeData('%%%', undefined, 100).text, '')
})
