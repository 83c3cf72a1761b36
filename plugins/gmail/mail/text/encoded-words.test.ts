/** Tests the examples of RFC 2047, section 8, and texts that are no encoded words. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeWords } from './encoded-words.ts'

const examples: readonly (readonly [encoded: string, text: string])[] = [
  ['=?US-ASCII?Q?Keith_Moore?= <moore@cs.utk.edu>', 'Keith Moore <moore@cs.utk.edu>'],
  ['=?ISO-8859-1?Q?Keld_J=F8rn_Simonsen?= <keld@dkuug.dk>', 'Keld Jørn Simonsen <keld@dkuug.dk>'],
  ['=?ISO-8859-1?Q?Andr=E9?= Pirard <PIRARD@vm1.ulg.ac.be>', 'André Pirard <PIRARD@vm1.ulg.ac.be>'],
  [
    '=?ISO-8859-1?B?SWYgeW91IGNhbiByZWFkIHRoaXMgeW8=?=\r\n =?ISO-8859-2?B?dSB1bmRlcnN0YW5kIHRoZSBleGFtcGxlLg==?=',
    'If you can read this you understand the example.',
  ],
  ['(=?ISO-8859-1?Q?a?=)', '(a)'],
  ['(=?ISO-8859-1?Q?a?= b)', '(a b)'],
  ['(=?ISO-8859-1?Q?a?= =?ISO-8859-1?Q?b?=)', '(ab)'],
  ['(=?ISO-8859-1?Q?a?=  =?ISO-8859-1?Q?b?=)', '(ab)'],
  ['(=?ISO-8859-1?Q?a?=\r\n    =?ISO-8859-1?Q?b?=)', '(ab)'],
  ['(=?ISO-8859-1?Q?a_b?=)', '(a b)'],
  ['(=?ISO-8859-1?Q?a?= =?ISO-8859-2?Q?_b?=)', '(a b)'],
  ['=?iso-8859-8?b?7eXs+SDv4SDp7Oj08A==?= x', 'םולש ןב ילטפנ x'],
]

for (const [encoded, text] of examples) {
  test(`${JSON.stringify(encoded)} reads ${JSON.stringify(text)}`, () =>
    assert.equal(decodeWords(encoded), text))
}

test('a language may follow the charset', () => {
  assert.equal(decodeWords('=?US-ASCII*EN?Q?Keith_Moore?='), 'Keith Moore')
})

test('a character that is split between two words of one charset is read whole', () => {
  assert.equal(decodeWords('=?utf-8?q?Gr=C3?= =?UTF-8?B?vMOfZQ==?= x'), 'Grüße x')
})

test('decoded text is not decoded again', () => {
  const inner = '=?utf-8?q?a?='
  assert.equal(decodeWords(`=?utf-8?b?${Buffer.from(inner).toString('base64')}?=`), inner)
})

const standing = [
  ...['a=?utf-8?q?b?=', '=?utf-8?q?b?=c', '"=?utf-8?q?b?="', '=?utf-8?q?a b?='],
  ...['=?utf-8?x?a?=', '=?no-such-charset?q?a?=', '=?utf-8?q?a=4?='],
  ...['=?utf-8?b?a?=', '=?utf-8?b?YQ=x?=', '=?utf-8?q?a', '=??q?a?=', 'Is 1 =? 2'],
]
for (const text of standing) {
  test(`${JSON.stringify(text)} is no encoded word, and stays as it is`, () =>
    assert.equal(decodeWords(text), text))
}

test('a word that is not decoded keeps the white space around it', () => {
  assert.equal(decodeWords('=?utf-8?q?a?= =?utf-8?x?b?= =?utf-8?q?c?='), 'a =?utf-8?x?b?= c')
})
