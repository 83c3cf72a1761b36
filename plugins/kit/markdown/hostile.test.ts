import assert from 'node:assert/strict'
import { test } from 'node:test'
import { markdownDialect } from './markdown-dialect.ts'
import { parseMarkdown } from './parse.ts'
import { renderParts } from './render-parts.ts'
import { createWriter } from './writer.ts'

const length = 4000
const fill = (unit: string) => unit.repeat(Math.ceil(length / unit.length)).slice(0, length)
const grow = (line: (index: number) => string) => {
  let text = ''
  for (let index = 0; text.length < length; index += 1) text += line(index)
  return text.slice(0, length)
}

/** Each of these has made one parser or another quadratic, exponential or overflow its stack. */
const texts = [
  ...[
    ...['_a_ _', '*a ', '*a **', '**a*', '***a ', 'a**b', '*_', '"*"', '~a ', '~~a~', '**_~~a~~_** '],
    ...['[', ']', '![', '[a](', '[a](b', '[a](<b', '[a](b)'],
    ...['![[', '[]()', '(', '[a]: <', '[a]: b\n', '[a][b]'],
    ...['`', '`a ``', '`` ` ``` ', '<', '<a ', '<b>', '<b></i>'],
    ...['<!--', '<!A ', '<?', '</a>\n', '<div>\n\n', 'a<br>'],
    ...['>', '> ', '> a\n', '> - ', '- ', '1. ', '- > - > a\nb\n'],
    ...['>>>>>>>>> a\n> b\n', '> > > > > > a\nb\n> '],
    ...['- a\n', '1. a\n', '- a\n\n', '-\n', '1)\n2.\n', '- ```\n'],
    ...['~~~\n', '```a\n', '---\n', '- - -\n', '# a\n'],
    ...['|', '|a|\n', '|-|\n', '|a\n|-\n', '&amp;', '&', '\\', '\\*'],
    ...['www.', 'http://a ', 'a@', 'a@b.c ', '\n', ' ', '\t'],
    ...['*_~`[<&!\\', '\u0301', '👩\u200d', '\u202e\u05d0 '],
    ...['漢字', 'ภาษาไทย', '\ud83d', '\0', '\r', '\u200b'],
  ].map(fill),
  `http://a.b/${fill('!')}`,
  `http://a${fill('.a')}`,
  `${fill('a.')}@b`,
  `**${fill('word ')}**`,
  `\`${fill('a b ')}\``,
  `[${fill('a ')}](https://example.com/)`,
  `[a](https://example.com/${fill('b')})`,
  `${'> '.repeat(20)}${fill('word ')}`,
  `|a|b|\n|-|-|\n${fill('|1|2|\n')}`,
  `|a|b|\n|-|-|\n|${fill('word ')}|2|`,
  `|${fill('word ')}|b|\n|-|-|\n|1|2|\n|3|4|`,
  `|${'a|'.repeat(2000)}\n|${'-|'.repeat(2000)}\n${fill('|\n')}`,
  grow((index) => `${'  '.repeat(index % 300)}- a\n`),
  grow((index) => `${'  '.repeat(index % 14)}- a\n`),
  grow((index) => (index % 2 ? `[a${index}]: b\n\n` : `[a${index + 1}] [a0]\n\n`)),
]

const write = createWriter(markdownDialect())
const limit = 1000
const render = (text: string) => renderParts(text, { write, measure: (part) => part.length, limit })

/** Processor time of rendering, in microseconds. */
function timeOf(text: string): number {
  const start = process.cpuUsage()
  for (const part of render(text))
    assert.ok(part.length <= limit && part.trim() !== '', JSON.stringify(text.slice(0, 40)))
  const { user, system } = process.cpuUsage(start)
  return user + system
}

test('no text makes the parser throw, parts too long, or the time much longer than for prose of the same length', () => {
  const prose = fill(
    'The quick brown fox jumps **over** the lazy `dog`, see [docs](https://example.com/a_b).\n\n',
  )
  const times = Array.from({ length: 9 }, () => timeOf(prose)).sort((one, other) => one - other)
  const expected = Math.max(2000, times[4] ?? 0)
  for (const text of texts) {
    let taken = timeOf(text)
    // Other work on the machine only adds to the time.
    for (let tries = 0; taken > 25 * expected && tries < 3; tries += 1) taken = Math.min(taken, timeOf(text))
    assert.ok(
      taken <= 25 * expected,
      `${JSON.stringify(text.slice(0, 40))} took ${taken} µs, prose ${expected} µs`,
    )
  }
})

/** Each of these took sixteen times as long when it was four times as long. */
const growing: readonly ((count: number) => string)[] = [
  (count) => `- ${'a\n  '.repeat(count)}`,
  (count) => 'a\n'.repeat(2 * count),
  (count) => 'a:http://'.repeat(count),
  (count) => 'a\n---\n'.repeat(count),
  (count) => 'a|b\n:-\n'.repeat(count),
]

test('a text four times as long does not take much more than four times the time', () => {
  const least = (text: string) =>
    Math.min(
      ...Array.from({ length: 3 }, () => {
        const start = process.cpuUsage()
        write(parseMarkdown(text))
        const { user, system } = process.cpuUsage(start)
        return user + system
      }),
    )
  for (const text of growing) {
    const [short, long] = [least(text(1500)), least(text(6000))]
    assert.ok(long < 8 * short + 20_000, `${JSON.stringify(text(3))}: ${short} µs, then ${long} µs`)
  }
})
