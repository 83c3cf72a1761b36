/** Builds messages as Gmail gives them, and any text, for the tests of mails. */

import fc from 'fast-check'
import type { RawMessage, RawPart } from '../google/port.ts'
import type { MailItem } from './read-mail.ts'

export function message(payload: RawPart, more: Partial<RawMessage> = {}): RawMessage {
  return { id: '18c0a1', threadId: '18c0a0', labelIds: ['INBOX'], payload, ...more }
}

export function plainPart(text: string | Buffer, more: Partial<RawPart> = {}): RawPart {
  return {
    mimeType: 'text/plain',
    filename: '',
    body: { data: Buffer.from(text).toString('base64url') },
    ...more,
  }
}

export function htmlPart(html: string | Buffer, more: Partial<RawPart> = {}): RawPart {
  return { ...plainPart(html), mimeType: 'text/html', ...more }
}

export function multipart(kind: string, ...parts: readonly RawPart[]): RawPart {
  return { mimeType: `multipart/${kind}`, filename: '', body: { size: 0 }, parts }
}

export function header(name: string, value: string): Partial<RawPart> {
  return { headers: [{ name, value }] }
}

export function mail(more: Partial<MailItem> = {}): MailItem {
  return {
    id: '18c0a1',
    threadId: '18c0a0',
    from: 'Grace <grace@example.com>',
    to: 'ada@example.com',
    subject: 'Lunch on Friday?',
    date: 'Fri, 02 Jan 2026 09:00:00 +0000',
    snippet: 'Are you free',
    body: 'Are you free at noon?',
    bodyTruncated: false,
    labels: ['INBOX', 'UNREAD'],
    ...more,
  }
}

const character = fc.oneof(
  // The `binary` of fast-check lists all of Unicode first, which takes half a second.
  { weight: 4, arbitrary: fc.integer({ min: 0, max: 0x10ffff }).map((code) => String.fromCodePoint(code)) },
  {
    weight: 1,
    arbitrary: fc.constantFrom('\u0301', '\u200d', '👩', '🇩', '\ud83d', '\ude00', '\r\n', '"', '\u001f'),
  },
)

/** Generates any characters, and often combining ones and halves of surrogate pairs. */
export function anyText(maxLength: number): fc.Arbitrary<string> {
  return fc.array(character, { maxLength }).map((characters) => characters.join(''))
}
