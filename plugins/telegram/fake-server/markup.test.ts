import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseHtml } from './markup.ts'

for (const [html, words] of [
  ['a <p>b</p>', 'Unsupported start tag "p" at byte offset 2'],
  ['ä < b', 'Unclosed start tag at byte offset 3'],
  ['<b>a', 'Can\'t find end tag corresponding to start tag "b"'],
  ['a</b>', 'Unexpected end tag at byte offset 1'],
  ['<b><i>a</b></i>', 'Unmatched end tag at byte offset 7, expected "</i>", found "</b>"'],
  ['<a href>x</a>', 'Expected equal sign in declaration of an attribute of the tag "a" at byte offset 0'],
] as const) {
  test(`${html} is refused`, () => {
    assert.throws(() => parseHtml(html), new Error(words))
  })
}
