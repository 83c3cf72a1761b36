import assert from 'node:assert/strict'
import { test } from 'node:test'
import { safeAddress } from './address.ts'
import { parseMarkdown } from './parse.ts'
import { type Block, type Inline, readText } from './tree.ts'

const text = (each: string): Inline => ({ type: 'text', text: each })
const paragraph = (...children: Inline[]): Block => ({ type: 'paragraph', children })
const link = (address: string, label = address): Inline => ({
  type: 'link',
  address,
  children: [text(label)],
})
const shown = (markdown: string) => readText(parseMarkdown(markdown))

test('marks, code, links and line ends become nodes', () => {
  assert.deepEqual(parseMarkdown('A **b _c_** ~~d~~ `e` [f](https://example.com/ "t")\ng  \nh'), [
    paragraph(
      text('A '),
      { type: 'strong', children: [text('b '), { type: 'emphasis', children: [text('c')] }] },
      text(' '),
      { type: 'strike', children: [text('d')] },
      text(' '),
      { type: 'code', text: 'e' },
      text(' '),
      link('https://example.com/', 'f'),
      { type: 'break' },
      text('g'),
      { type: 'break' },
      text('h'),
    ),
  ])
})

test('lists keep their numbers, their boxes and the content of their items', () => {
  assert.deepEqual(parseMarkdown('7. a\n\n   ```ts x\n   b\n   ```\n8. c\n   - [x] d\n   - [ ] e'), [
    {
      type: 'list',
      start: 7,
      items: [
        { blocks: [paragraph(text('a')), { type: 'code', language: 'ts', text: 'b' }] },
        {
          blocks: [
            paragraph(text('c')),
            {
              type: 'list',
              start: undefined,
              items: [
                { checked: true, blocks: [paragraph(text('d'))] },
                { checked: false, blocks: [paragraph(text('e'))] },
              ],
            },
          ],
        },
      ],
    },
  ])
})

test('headings of both kinds, quotes, rules and tables become nodes', () => {
  const table = '| a | b |\n| :-- | --: |\n| `x` | 1 |\n| y |'
  assert.deepEqual(parseMarkdown(`# A #\n\nB\n===\n\n> c\n> > d\n\n***\n\n${table}`), [
    { type: 'heading', level: 1, children: [text('A')] },
    { type: 'heading', level: 1, children: [text('B')] },
    { type: 'quote', blocks: [paragraph(text('c')), { type: 'quote', blocks: [paragraph(text('d'))] }] },
    { type: 'rule' },
    {
      type: 'table',
      align: ['left', 'right'],
      head: [[text('a')], [text('b')]],
      rows: [
        [[{ type: 'code', text: 'x' }], [text('1')]],
        [[text('y')], []],
      ],
    },
  ])
})

test('escapes and character references become their characters', () => {
  assert.equal(
    shown(
      '\\*a\\* &amp; &#38;amp; &#x1F600; &hellip; &lt;b&gt; &nosuch; &CounterClockwiseContourIntegral; `&amp;`',
    ),
    '*a* & &amp; 😀 … <b> &nosuch; \u2233 &amp;',
  )
  assert.equal(shown('a&#0;b &#xD800; &#9999999;'), 'a\ufffdb \ufffd \ufffd')
  assert.deepEqual(parseMarkdown('[a](https://example.com/?b&amp;c=&copy;)'), [
    paragraph(link('https://example.com/?b&c=©', 'a')),
  ])
})

test('raw HTML is text, except the tags that are marks', () => {
  assert.deepEqual(parseMarkdown('a<br>b <b>c</b> <code>d*</code> <a href="https://example.com/">e</a>'), [
    paragraph(
      text('a'),
      { type: 'break' },
      text('b '),
      { type: 'strong', children: [text('c')] },
      text(' '),
      { type: 'code', text: 'd*' },
      text(' '),
      link('https://example.com/', 'e'),
    ),
  ])
  const others =
    '<script>alert(1)</script>\n\n<div class="x">\n<p>y</p>\n</div>\n\nz <!-- w --> <b onclick="v">u</b> <i>t'
  assert.equal(shown(others).replaceAll('\n', ''), others.replaceAll('\n', ''))
})

test('references are resolved, footnotes are text', () => {
  assert.deepEqual(parseMarkdown('[a][1], [b] and [^c]\n\n[1]: https://example.com/1\n[^c]: Word'), [
    paragraph(link('https://example.com/1', 'a'), text(', [b] and [^c]')),
    paragraph(text('[^c]: Word')),
  ])
})

test('an open fence and open marks hide nothing', () => {
  assert.deepEqual(parseMarkdown('```ts\nconst a = 1\n\n# b'), [
    { type: 'code', language: 'ts', text: 'const a = 1\n\n# b' },
  ])
  assert.equal(shown('**a *b `c [d](e <f'), '**a *b `c [d](e <f')
})

test('only http, https, mailto and tel are addresses of links', () => {
  for (const good of [
    ...['https://example.com/a_(b)?c=d#e', 'http://localhost:8080/', 'https://[::1]/'],
    ...['mailto:ada@example.com', 'tel:+15551234', 'HTTPS://EXAMPLE.COM'],
  ])
    assert.equal(safeAddress(good), good)
  for (const bad of [
    ...['javascript:alert(1)', 'java\nscript:alert(1)', 'data:text/html,x', 'file:///etc/passwd'],
    ...['tg://user?id=1', 'slack://user', 'https://user:secret@example.com/'],
    ...['https://example.com\u202e/moc', 'https:example.com', '//example.com', '/a', 'a.md', ''],
    `https://example.com/${'a'.repeat(9000)}`,
  ])
    assert.equal(safeAddress(bad), undefined, bad)
  assert.equal(safeAddress('https://example.com/a b"c>'), 'https://example.com/a%20b%22c%3E')
})

test('an address that cannot be linked is shown beside its label', () => {
  assert.equal(shown('[a](javascript:alert(1))'), 'a (javascript:alert(1))')
  assert.equal(shown('[a](./b.md) [c](#d) ![e](f.png)'), 'a (./b.md) c e (f.png)')
  assert.equal(shown('![a](data:image/png;base64,AAAA)'), 'a')
  assert.equal(shown('[a](tg://user?id=1)'), 'a (tg://user?id=1)')
})

test('a label that names another host than the address is shown with the address', () => {
  const deceptive = (label: string) =>
    shown(`[${label}](https://evil.example/x)`) === `${label} (https://evil.example/x)`
  for (const label of [
    ...['https://bank.com', 'bank.com', 'www.bank.com/login'],
    ...['ada@bank.com', 'Go to https://bank.com now'],
  ])
    assert.ok(deceptive(label), label)
  for (const label of ['evil.example', 'README.md', 'src/index.ts', 'v1.2.3', 'Node.js', 'here', 'path.join'])
    assert.ok(!deceptive(label), label)
})

test('control characters and overrides of direction are removed, and other line ends become line feeds', () => {
  assert.equal(shown('a\0b\x07c\u202ed\x1b[31me\u009bf'), 'abcd[31mef')
  assert.equal(shown('a\r\nb\rc\u2028d'), 'a\nb\nc\nd')
  assert.equal(shown('\ud83da'), '\ufffda')
})

test('invisible content makes no block', () => {
  for (const blank of [
    '',
    ' \n\t\n',
    '\u200b',
    '&nbsp;',
    '```\n\n```',
    '<!-- -->'.slice(0, 0),
    '\u2060\n\n\u00ad',
    '[a]: b',
  ])
    assert.deepEqual(parseMarkdown(blank), [], JSON.stringify(blank))
})

test('letters that are joined or reordered by invisible characters stay so', () => {
  const family = '👩‍👩‍👧 می‌خواهم \u200eabc\u200f \u2068x\u2069'
  assert.equal(shown(family), family)
})
