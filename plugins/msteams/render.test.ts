import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readMarkup } from './fake-server/markup.ts'
import { renderReply } from './render.ts'

/** The markup of a reply that is one message. */
function write(markdown: string): string {
  const [part, ...others] = renderReply(markdown)
  assert.deepEqual(others, [])
  return part?.text ?? ''
}

function read(markdown: string): string {
  return readMarkup(write(markdown)).text
}

test('Markdown that Teams shows is sent as it is', () => {
  const markdown = [
    'A **bold** word, an _oblique_ one, ~~an old one~~ and `code <b>`.',
    ...['- one\n- two', '1. one\n2. two', '> quoted', '```ts\nconst a = 1 < 2\n```'],
    '[page](https://example.org/page_(one)?a=1&b=2)',
  ].join('\n\n')
  assert.equal(write(markdown), markdown)
})

test('Markdown that Teams does not show is replaced by markup that it shows', () => {
  assert.equal(write('## A *new* title'), '**A _new_ title**')
  assert.equal(write('a\n\n---\n\nb'), 'a\n\n———\n\nb')
  assert.equal(write('- [x] done\n- [ ] open'), '- ☑ done\n- ☐ open')
  assert.equal(write('| a | b |\n|---|---|\n| 1 | 2 |'), '```\na   | b\n----|----\n1   | 2\n```')
  assert.equal(write('![shot](https://example.org/x.png)'), '[shot](https://example.org/x.png)')
  assert.equal(write('https://example.org/a'), '[https://example.org/a](https://example.org/a)')
})

test('line breaks are kept in paragraphs, quotes and lists', () => {
  assert.equal(read('one\ntwo'), 'one\ntwo')
  assert.equal(read('> one\n> two'), 'one\ntwo')
  assert.equal(read('1. one\n   two\n   - three\n     four'), '1. one\ntwo\n• three\nfour')
})

test('nested lists and code are indented by four, which every reader of Markdown accepts', () => {
  const written = write('- a\n  - b\n    ```sh\n    ls\n\n    ls -l\n    ```\n- c')
  assert.equal(written, '- a\n    - b\n        ```sh\n        ls\n\n        ls -l\n        ```\n- c')
  assert.equal(readMarkup(written).text, '• a\n• b\nls\n\nls -l\n• c')
})

test('a table wider than a screen becomes a list for each row, escaped like all other text', () => {
  const wide = 'some words '.repeat(8).trim()
  const written = write(`| Name | Note |\n|---|---|\n| \\<at>Ada\\</at> | ${wide} https://example.org/a |`)
  assert.equal(
    written,
    `**Name: &lt;at>Ada&lt;/at>**\n\n- Note: ${wide} [https://example.org/a](https://example.org/a)`,
  )
})

test('HTML is shown as text and mentions no one', () => {
  const text = 'a <at>Ada</at> <b>b</b> <at id="0">Ada</at> &lt;at&gt; < 3'
  const written = write('a \\<at>Ada\\</at> \\<b>b\\</b> \\<at id="0">Ada\\</at> &amp;lt;at&amp;gt; < 3')
  assert.deepEqual(readMarkup(written).named, [])
  assert.equal(readMarkup(written).text, text)
})
