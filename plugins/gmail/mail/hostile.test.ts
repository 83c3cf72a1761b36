/** Tests that no content of a mail takes the gateway's time or stops it. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { RawMessage, RawPart } from '../google/port.ts'
import { anyText, header, htmlPart, mail, message, multipart, plainPart } from './fixture.ts'
import { readMail } from './read-mail.ts'

const megabyte = 1_000_000
const fill = (text: string, length = megabyte) => text.repeat(Math.ceil(length / text.length))

const pages: Readonly<Record<string, string>> = {
  'nested blocks': fill('<div>'),
  'nested tables': fill('<table><tr><td>'),
  'nested quotes around many lines': fill('<blockquote>', 1_000) + fill('a<br>'),
  'nested lists around many lines': fill('<ul><li>', 1_000) + fill('a<br>'),
  'nested links': fill('<a href=http://a>a<td>'),
  'blocks and ends of what never began': fill('<div>', megabyte / 2) + fill('</b>', megabyte / 2),
  'ends of what never began, within nested blocks': fill('<i>', 2_900) + fill('</q>'),
  'paragraphs that blocks end': fill('<p><div></p>'),
  'unclosed items': fill('<li>a'),
  'hidden elements': fill('<b hidden>'),
  attributes: `<p ${fill('a ')}>`,
  'styles of blanks': fill(`<b style=";${' '.repeat(1_900)}x">`),
  'unclosed quotation marks': fill(`<p a='"`),
  'unclosed comments': fill('<!--'),
  'unclosed scripts': fill('<script></scrip>'),
  'brackets alone': fill('<'),
  entities: fill('&CounterClockwiseContourIntegral;'),
  'blanks to be kept': `<pre>${fill(`${' '.repeat(999)}\n`)}`,
  'blanks that no line breaks at': fill('&nbsp; '),
}

const texts: Readonly<Record<string, string>> = {
  'line ends': fill('\r'),
  'blanks within a line': `a${fill(' ')}b`,
  'joiners and blanks': fill('\u200c '),
  'marks on one letter': `a${fill('\u0301')}`,
  'beginnings of flags': fill('\u{1f3f4}\u{e0067}'),
  'a page that is called plain': `<html>${fill('<p>a')}`,
  'megabytes of text': fill('all work and no play ', 20 * megabyte),
}

const trees: Readonly<Record<string, RawPart>> = {
  'a hundred thousand parts': multipart('mixed', ...Array(100_000).fill(htmlPart('<p>x<br>y'))),
  'parts ten thousand deep': nest('mixed', 10_000),
  'alternatives ten thousand deep': nest('alternative', 10_000),
  'a hundred thousand headers': { headers: Array(100_000).fill({ name: 'Received', value: 'x' }) },
  'a subject of encoded words': header('Subject', fill('=?utf-8?q?a?= ')),
  'a subject that begins encoded words': header('Subject', fill('=?a?q?')),
}

function nest(kind: string, depth: number): RawPart {
  let part = plainPart('x')
  for (let at = 0; at < depth; at++) part = multipart(kind, part)
  return part
}

const mails = [
  ...Object.entries(pages).map(([name, page]) => [name, htmlPart(page)] as const),
  ...Object.entries(texts).map(([name, text]) => [name, plainPart(text)] as const),
  ...Object.entries(trees),
]

/** Far more than is measured, because a machine may be slow. Each of these inputs once took seconds. */
const maxMs = 250

for (const [name, payload] of mails) {
  test(`a mail of ${name} is read within its time, with the smallest body limit and the largest`, () => {
    for (const maxBytes of [1, 20_000, 1_000_000]) {
      const before = process.threadCpuUsage()
      const { body } = readMail(message(payload), { includeBody: true, maxBytes })
      const { user, system } = process.threadCpuUsage(before)
      assert.ok(Buffer.byteLength(body) <= maxBytes)
      assert.ok((user + system) / 1_000 < maxMs, `${(user + system) / 1_000} ms for ${maxBytes} bytes`)
    }
  })
}

/** Words that have a meaning in a mail, at any place. */
const words = fc.oneof(
  anyText(30),
  fc.constantFrom('Subject', 'From', 'Content-Type', 'text/html', 'INBOX', '\ud800', '-1', '__proto__'),
  fc.constantFrom('text/html; charset="utf-16"', 'x; charset=iso-2022-jp', '=?utf-8?b?gA==?=', 'PHA-YQ'),
)
const markup = fc
  .array(
    fc.oneof(
      words,
      fc.constantFrom('<p>', '</p>', '<td', '<a href="http://a">', '</a>', '<ul>', '<li>', '<ol start=9>'),
      fc.constantFrom('<b hidden>', '<pre>', '">', '&#xd800;', '\u001f'),
    ),
  )
  .map((parts) => Buffer.from(parts.join('')).toString('base64url'))
const values = fc.constantFrom(null, undefined, 7, -1.5, true, '17673444000000', [null, 7, {}])
const junk = fc.oneof(words, markup, values)
const mostly = (arbitrary: fc.Arbitrary<unknown>) =>
  fc.oneof({ weight: 1, arbitrary: junk }, { weight: 5, arbitrary })
const { payload: payloads } = fc.letrec((tie) => ({
  payload: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    { weight: 1, arbitrary: junk },
    {
      weight: 5,
      arbitrary: fc.record(
        {
          mimeType: mostly(fc.constantFrom('text/plain', 'text/html', 'multipart/alternative')),
          filename: mostly(fc.constant('')),
          headers: mostly(fc.array(mostly(fc.record({ name: junk, value: junk })), { maxLength: 5 })),
          body: mostly(fc.record({ data: mostly(markup), attachmentId: junk })),
          parts: mostly(fc.array(tie('payload'), { maxLength: 4 })),
        },
        { requiredKeys: [] },
      ),
    },
  ),
}))
const messages = fc.record(
  {
    id: junk,
    threadId: junk,
    labelIds: fc.oneof(junk, fc.array(junk)),
    snippet: junk,
    internalDate: junk,
    payload: payloads,
  },
  { requiredKeys: [] },
)

/** In characters. */
const limits = { from: 1_000, to: 1_000, subject: 1_000, date: 100, snippet: 500 }

test('readMail accepts any JSON in place of a mail and returns fields of the right type', () => {
  let bodies = 0
  fc.assert(
    fc.property(messages, fc.integer({ min: 1, max: 200 }), (raw, maxBytes) => {
      const item = readMail(raw as RawMessage, { includeBody: true, maxBytes })
      assert.deepEqual(Object.keys(item), Object.keys(mail()))
      for (const [name, limit] of Object.entries(limits)) {
        const text = item[name as keyof typeof limits]
        assert.ok(text.length <= limit && text.isWellFormed(), name)
        assert.doesNotMatch(text, unseen, name)
      }
      bodies += item.body === '' ? 0 : 1
      assert.ok(Buffer.byteLength(item.body) <= maxBytes && item.body.isWellFormed())
      assert.doesNotMatch(item.body, unseen)
      assert.equal(typeof item.bodyTruncated, 'boolean')
      const isLabel = (label: unknown) => typeof label === 'string' && label.length <= 200
      assert.ok(item.labels.length <= 100 && item.labels.every(isLabel))
    }),
    { numRuns: 400 },
  )
  assert.ok(bodies > 30, `${bodies} of 400 had a text`)
})

const unseen = /(?![\n\t])\p{Cc}|[\u202a-\u202e\u2066-\u2069]/u
