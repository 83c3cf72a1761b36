import assert from 'node:assert/strict'
import { test } from 'node:test'
import { recordedSamples } from '../../../test/sample-data.ts'
import type { RawMessage, RawPart } from '../google/port.ts'
import { header, htmlPart, message, multipart, plainPart } from './fixture.ts'
import { isWanted, readMail } from './read-mail.ts'

const all = { includeBody: true, maxBytes: 20_000 }
const read = (payload: RawPart, more: Partial<RawMessage> = {}) => readMail(message(payload, more), all)
const bodyOf = (payload: RawPart) => read(payload).body

test('a mail of Gmail becomes the fields that are posted', (t) => {
  const samples = recordedSamples('gmail')
  if (samples === undefined) return t.skip('the folder of real bodies is not at hand')
  const sample = (name: string) =>
    JSON.parse(samples.find((each) => each.name === `gmail/${name}`)?.body ?? '')
  const item = readMail(sample('api.message.get.json'), all)
  const [posted] = sample('gog-watch-hook.json').messages
  assert.deepEqual(Object.keys(item).sort(), Object.keys(posted).sort())
  assert.deepEqual(item, { ...posted, body: posted.body.trimEnd(), snippet: item.snippet })
  assert.ok(item.snippet.startsWith(posted.snippet.slice(0, 20)))
})

test('sender, recipients, subject and date are those of the mail, on one line each', () => {
  const headers = [
    { name: 'FROM', value: '=?utf-8?q?Gr=C3=A4ce?= <grace@example.com>' },
    { name: 'To', value: 'ada@example.com,\r\n bo@example.com' },
    { name: 'Cc', value: 'carl@example.com' },
    { name: 'Subject', value: ' Lunch \u202eon\tFriday? ' },
    { name: 'Subject', value: 'another' },
    { name: 'Date', value: 'Fri, 2 Jan 2026 10:00:00 +0100' },
  ]
  assert.partialDeepStrictEqual(read({ ...plainPart('x'), headers }), {
    from: 'Gräce <grace@example.com>',
    to: 'ada@example.com, bo@example.com',
    subject: 'Lunch on Friday?',
    date: 'Fri, 2 Jan 2026 10:00:00 +0100',
  })
})

test('a mail without a date gets the time when Gmail received it, in the same form', () => {
  const dateOf = (internalDate: unknown) => read(plainPart('x'), { internalDate } as Partial<RawMessage>).date
  assert.equal(dateOf('1767344400000'), 'Fri, 02 Jan 2026 09:00:00 +0000')
  for (const odd of [undefined, '', '-1', '1e9', '999999999999999', 7, {}]) assert.equal(dateOf(odd), '')
})

test('entities of the snippet are decoded', () => {
  const { snippet } = read(plainPart('x'), { snippet: 'It&#39;s &lt;free&gt; &amp;\u200c  easy' })
  assert.equal(snippet, "It's <free> & easy")
})

test('when bodies are not wanted the body is empty and does not count as cut', () => {
  const { body, bodyTruncated } = readMail(message(plainPart('x')), { includeBody: false, maxBytes: 1 })
  assert.deepEqual([body, bodyTruncated], ['', false])
})

test('a body has at most the configured bytes, and says if it is cut', () => {
  const text = 'Grüße an alle. '.repeat(100)
  const { body, bodyTruncated } = readMail(message(plainPart(text)), { includeBody: true, maxBytes: 100 })
  assert.ok(bodyTruncated && text.startsWith(`${body} `))
  assert.ok(Buffer.byteLength(body) <= 100 && Buffer.byteLength(body) > 80)
  assert.equal(read(plainPart(text)).bodyTruncated, false)
  const far = message(plainPart(`here${'\n'.repeat(100_000)}far away`))
  const { body: near, bodyTruncated: isFar } = readMail(far, { includeBody: true, maxBytes: 1_000 })
  assert.deepEqual([near, isFar], ['here', true], 'not all of it was looked at')
})

test('each field has a limit', () => {
  const headers = ['From', 'To', 'Subject', 'Date'].map((name) => ({ name, value: 'ab '.repeat(50_000) }))
  const labelIds = Array.from({ length: 500 }, (_, index) => `${index}${'l'.repeat(999)}`)
  const item = read({ headers }, { snippet: 'ab '.repeat(50_000), labelIds })
  assert.deepEqual(
    [item.from, item.to, item.subject, item.date, item.snippet].map(
      ({ length }) => Math.ceil(length / 100) * 100,
    ),
    [1_000, 1_000, 1_000, 100, 500],
  )
  assert.deepEqual([item.labels.length, item.labels[0]?.length], [100, 200])
})

test('plain text is preferred to HTML that says the same', () => {
  const sentence = 'Are you free at noon? It is about the signal box, of which I wrote you.'
  const plain = plainPart(`${sentence}\r\n\r\n-- \r\nGrace`)
  const html = htmlPart(`<p>${sentence.replace('free', '<b>free</b>')}</p>`)
  for (const parts of [
    [plain, html],
    [html, plain],
  ])
    assert.equal(bodyOf(multipart('alternative', ...parts)), `${sentence}\n\n--\nGrace`)
})

test('HTML is used if there is no plain text, or only a hint at HTML', () => {
  const story = '<p>Once upon a time there was a signal box by the sea, and nobody in it.</p>'.repeat(9)
  const hint = 'To see this mail, open it in a program that shows HTML.'
  for (const plain of ['', ' \r\n', 'This is an HTML mail', hint])
    assert.match(bodyOf(multipart('alternative', plainPart(plain), htmlPart(story))), /^Once upon a time/)
  assert.match(bodyOf(htmlPart(story)), /^Once upon a time/)
  assert.match(bodyOf(plainPart(`<!DOCTYPE html><title>x</title>${story}`)), /^Once upon/, 'called plain')
})

test('plain text is used if the HTML says hardly more, or nothing', () => {
  assert.equal(bodyOf(multipart('alternative', plainPart('Yes.'), htmlPart('<p>Yes.</p><p>Bo</p>'))), 'Yes.')
  assert.equal(bodyOf(multipart('alternative', plainPart('Yes.'), htmlPart('<img src="x">'))), 'Yes.')
})

test('the text is found in nested parts of every kind', () => {
  const image: RawPart = { mimeType: 'image/png', filename: 'logo.png', body: { attachmentId: 'a', size: 9 } }
  const key: RawPart = { mimeType: 'application/pgp-signature', filename: '', body: { data: 'eA' } }
  const related = multipart('related', htmlPart('<p>html</p>'), image)
  assert.equal(
    bodyOf(multipart('mixed', multipart('alternative', plainPart('plain'), related), image)),
    'plain',
  )
  assert.equal(bodyOf(multipart('signed', multipart('mixed', plainPart('plain')), key)), 'plain')
  assert.equal(bodyOf(multipart('mixed', related, image)), 'html')
  assert.equal(bodyOf({ parts: [{ body: plainPart('no type').body }] }), 'no type')
})

test('consecutive texts are all read, and alternatives once', () => {
  const image = { mimeType: 'image/png' }
  const mixed = multipart('mixed', plainPart('one'), htmlPart('<p>two'), image, plainPart('three'))
  assert.equal(bodyOf(mixed), 'one\n\ntwo\n\nthree')
  const inner = multipart('alternative', plainPart('one'), htmlPart('one'))
  assert.equal(bodyOf(multipart('alternative', plainPart('one'), multipart('related', inner))), 'one')
  const pages = multipart('mixed', htmlPart('a'), image, htmlPart('b'))
  const apple = multipart('alternative', plainPart(''), pages)
  assert.equal(bodyOf(apple), 'a\n\nb')
})

test('attachments are no text, by file name, by disposition, or as an enclosed mail', () => {
  const attached = [
    plainPart('secret', { filename: 'notes.txt' }),
    plainPart('secret', header('Content-Disposition', ' Attachment; x=y')),
    { ...multipart('mixed', plainPart('secret')), mimeType: 'message/rfc822' },
    { mimeType: 'text/calendar', body: { data: 'c2VjcmV0' } },
  ]
  assert.equal(bodyOf(multipart('mixed', plainPart('text'), ...attached)), 'text')
  for (const part of attached) assert.equal(bodyOf(part), '')
  assert.equal(bodyOf(plainPart('shown', header('Content-Disposition', 'inline'))), 'shown')
})

test('the named charset is used if the bytes are not UTF-8', () => {
  const type = (charset: string) => header('Content-Type', `text/plain; format=flowed; charset=${charset}`)
  assert.equal(bodyOf(plainPart(Buffer.from('b1ea', 'hex'), type('ISO-8859-2'))), 'ąę')
  assert.equal(bodyOf(plainPart(Buffer.from('93fa967b', 'hex'), type('"shift_jis"; x=y'))), '日本')
  assert.equal(bodyOf(plainPart(Buffer.from('80e9', 'hex'))), '€é')
})

test('a text that Gmail gives out as an attachment is missing, and the body counts as cut', () => {
  const { body, bodyTruncated } = read({
    ...plainPart(''),
    body: { attachmentId: 'ANGjdJ8', size: 9_000_000 },
  })
  assert.deepEqual([body, bodyTruncated], ['', true])
})

test('a mail is wanted if it has the label and no excluded label', () => {
  const wanted = (labelIds: unknown, label = 'INBOX') =>
    isWanted({ id: 'a', labelIds } as RawMessage, label, ['SPAM', 'TRASH', 'DRAFT', 'SENT'])
  assert.equal(wanted(['UNREAD', 'INBOX']), true)
  assert.equal(wanted(['UNREAD', 'Label_7'], 'Label_7'), true)
  assert.equal(wanted(['UNREAD']), false)
  assert.equal(wanted(['inbox']), false, 'ids are compared as they are')
  assert.equal(wanted(['SPAM', 'INBOX']), false)
  assert.equal(wanted(['SENT', 'INBOX']), false, 'written to oneself')
  for (const odd of [undefined, null, 'INBOX', 7, [7, null]]) assert.equal(wanted(odd), false)
})
