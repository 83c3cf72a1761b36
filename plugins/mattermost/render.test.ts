import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readMarkup } from './fake-server/markup.ts'
import { rendererOf } from './render.ts'

/** The markup of a reply that is one post. */
function write(markdown: string, linkPreviews = false): string {
  const [part, ...others] = rendererOf(linkPreviews)(markdown)
  assert.deepEqual(others, [])
  return part?.text ?? ''
}

/** Returns what a person reads of a message. */
function read(markdown: string): string {
  return readMarkup(write(markdown)).text.replaceAll('\u2060', '')
}

test('Markdown that Mattermost reads is sent as it is', () => {
  const markdown = [
    ...['# Title', 'A **bold** word, an _oblique_ one, ~~an old one~~ and `code`.\nA second line.'],
    ...['- one\n- two\n  1. three\n  2. four', '- [x] done\n- [ ] open', '> quoted'],
    ...['| a | b |\n| :-- | --: |\n| 1 | 2 |', '```ts\nconst a = 1\n```', '---'],
    '[page](https://example.org/page_(one)?a=1&b=2)',
  ].join('\n\nThen:\n\n')
  assert.equal(write(markdown), markdown)
})

test('no user is mentioned, by a name, by a group mention or by a sign at the end of a word', () => {
  const markdown =
    '@all @Here @ada.lovelace, x.@channel (@channel) _@all_ **@here** @@channel é@all &#64;all `@all`'
  assert.deepEqual(
    [...readMarkup(write(markdown)).words].filter((word) => word.startsWith('@') && word !== '@'),
    [],
  )
  assert.equal(
    read(markdown),
    '@all @Here @ada.lovelace, x.@channel (@channel) @all @here @@channel é@all @all @all',
  )
})

test('an e-mail address can be copied in one piece', () => {
  assert.equal(write('ada@example.org'), '[ada@example.org](mailto:ada@example.org)')
  assert.ok(!write('Write `x` to ops-team@example').includes('\u2060'))
})

test('the server fetches no address of a reply unless previews are configured', () => {
  const markdown =
    'See https://example.org/a_b, www.example.org, ![shot](https://example.org/x.png), [page](https://example.org), ' +
    '<https://example.org/y>, http\\://example.org/z and https://user:pass@example.org/.'
  assert.deepEqual(readMarkup(write(markdown)).bareAddresses, [])
  assert.deepEqual(readMarkup(write(markdown)).images, [])
  assert.equal(readMarkup(write(markdown, true)).bareAddresses[0], 'https://example.org/a_b')
  assert.deepEqual(readMarkup(write(markdown, true)).images, [])
  assert.match(write(markdown), /\[https:\/\/example\.org\/a\\?_b\]\(https:\/\/example\.org\/a_b\)/)
})

test('no backslash is written that the web client would show', () => {
  const text = 'a <b> & &amp;lt; [x] <!-- y --> <https:/x> C:\\new \\\\server = != <'
  assert.equal(
    read(text.replaceAll('\\', '\\\\').replaceAll('<https', '\\<https')),
    text.replace('&amp;', '&'),
  )
  assert.equal(read('a\n\\=\nb'), 'a\n=\nb')
  assert.equal(read('[an \\[odd label](https://example.org)'), 'an [odd label')
})

test('an address that is not one after escaping is written as text', () => {
  assert.equal(read('See http://www.example.org\\+ and `x`'), 'See http://www.example.org\\+ and x')
  assert.equal(read('\\`not code\\` and \\`\\`[page](https://example.org)'), '`not code` and ``page')
})

test('a list directly after another one stays separate', () => {
  const written = write('1. one\n2. two\n\n- a\n- b\n\n1. again')
  assert.deepEqual(written.split('\n\n\u2060\n\n'), ['1. one\n2. two', '- a\n- b', '1. again'])
})

test('a table in a list becomes a code block, because the web client reads no table there', () => {
  const written = write('- sizes\n\n  | a | b |\n  |---|---|\n  | 1 | 2 |')
  assert.match(written, /```\n {2}a {3}\| b\n/)
  const wide = write(`- sizes\n\n  | a | b |\n  |---|---|\n  | 1 | ${'wide '.repeat(20)}|`)
  assert.match(wide, /\*\*a: 1\*\*\n+ {2}- b: wide/)
})
