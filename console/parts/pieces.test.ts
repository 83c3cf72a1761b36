import assert from 'node:assert/strict'
import { test } from 'node:test'
import { piecesOf } from './pieces.ts'

const shown = (text: string, isLine = false) =>
  piecesOf(text, { isLine })
    .map((piece) => (piece.title === undefined ? piece.text : `<${piece.text}>`))
    .join('')

test('characters that could mislead a reader become marks, and all other text stays unchanged', () => {
  const cases: [text: string, expected: string][] = [
    ['plain text, with tabs\tand\nlines\r\nof it', 'plain text, with tabs\tand\nlines\r\nof it'],
    ['<b onload="x()">&amp;</b>', '<b onload="x()">&amp;</b>'],
    ['a\u202egnp.exe', 'a<U+202E>gnp.exe'],
    ['\u2066x\u2069', '<U+2066>x<U+2069>'],
    ['\u001b[31mred\u0007', '<U+001B>[31mred<U+0007>'],
    ['nul\0 del\u007f', 'nul<U+0000> del<U+007F>'],
    ['in\u200bvisible\ufeff', 'in<U+200B>visible<U+FEFF>'],
    ['tag \u{e0041}\u{e0042}', 'tag <U+E0041><U+E0042>'],
    ['lone \ud800 half', 'lone <U+D800> half'],
    ['line\u2028end', 'line<U+2028>end'],
    ['alone\rreturn', 'alone<U+000D>return'],
    ['שלום عربى 日本語 é e\u0301', 'שלום عربى 日本語 é e\u0301'],
    ['👩‍💻 👍🏽 ❤️', '👩‍💻 👍🏽 ❤️'],
    ['a\u200db', 'a<U+200D>b'],
  ]
  for (const [text, expected] of cases) assert.equal(shown(text), expected, JSON.stringify(text))
})

test('in one line a line break is a mark too', () => {
  assert.equal(shown('a\r\nb\nc', true), 'a<U+000D><U+000A>b<U+000A>c')
})

test('a mark says what kind of character it is', () => {
  const titles = piecesOf(`\u202e\u001b\ud800${'\u{e0041}'}`).map(({ title }) => title)
  assert.deepEqual(titles, [
    'changes the reading order',
    'control character',
    'half of a character',
    'invisible character',
  ])
})
