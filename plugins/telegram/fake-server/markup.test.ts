import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseHtml } from './markup.ts'

test('HTML is read as text and entities, in UTF-16 units', () => {
  assert.deepEqual(parseHtml('👍 <b>a &lt; <i>b</i></b> <a href="https://example.org/?a=1&amp;b=2">x</a>'), {
    text: '👍 a < b x',
    entities: [
      { type: 'bold', offset: 3, length: 5 },
      { type: 'italic', offset: 7, length: 1 },
      { type: 'text_link', offset: 9, length: 1, url: 'https://example.org/?a=1&b=2' },
    ].toSorted((left, right) => left.offset - right.offset),
  })
})

test('code with a language in a block is one entity', () => {
  const { entities } = parseHtml('<pre><code class="language-ts">let x</code></pre><code>y</code>')
  assert.deepEqual(entities, [
    { type: 'pre', offset: 0, length: 5, language: 'ts' },
    { type: 'code', offset: 5, length: 1 },
  ])
})

test('a link to a person calls that person, and a link to no host is dropped', () => {
  const { entities } = parseHtml('<a href="tg://user?id=42">Ada</a> <a href="http://localhost/">here</a>')
  assert.deepEqual(entities, [{ type: 'text_mention', offset: 0, length: 3, user: '42' }])
})

test('only four characters have names; others stay as they are written', () => {
  assert.equal(parseHtml('&lt;&gt;&amp;&quot; &#64;&#x40; &nbsp; & &copy;').text, '<>&" @@ &nbsp; & &copy;')
})

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
