/** Shows a mail as Gmail does: the tree of its parts, its snippet, and the mail as it was sent. */

import type { NewMail } from '../google.ts'

export interface Part {
  readonly partId?: string
  readonly mimeType?: string
  readonly filename?: string
  readonly headers?: readonly { readonly name?: string; readonly value?: string }[]
  readonly body?: { readonly data?: string; readonly size?: number; readonly attachmentId?: string }
  readonly parts?: readonly Part[]
}

/** Builds the tree that `users.messages.get` answers with format `full`. */
export function payloadOf(mail: NewMail, id: string, account: string, at: number): Part {
  if (mail.payload !== undefined) return mail.payload as Part
  const { from = 'Grace <grace@example.com>', to = account, subject = 'Hello', text, html } = mail
  const headers = [
    { name: 'Delivered-To', value: account },
    { name: 'MIME-Version', value: '1.0' },
    { name: 'Date', value: new Date(at).toUTCString().replace('GMT', '+0000') },
    { name: 'Message-ID', value: `<${id}@mail.example.com>` },
    { name: 'Subject', value: subject },
    { name: 'From', value: from },
    { name: 'To', value: to },
  ]
  const plain = leaf('text/plain', text ?? (html === undefined ? 'Are you free at noon?' : ''))
  const rich = leaf('text/html', html ?? '')
  if (text === undefined || html === undefined) {
    const one = html === undefined ? plain : rich
    return { ...one, partId: '', headers: [...headers, ...one.headers] }
  }
  const type = { name: 'Content-Type', value: `multipart/alternative; boundary="${boundaryOf(id)}"` }
  return {
    partId: '',
    mimeType: 'multipart/alternative',
    filename: '',
    headers: [...headers, type],
    body: { size: 0 },
    parts: [
      { ...plain, partId: '0' },
      { ...rich, partId: '1' },
    ],
  }
}

function leaf(mimeType: string, text: string) {
  const bytes = Buffer.from(text, 'utf8')
  return {
    mimeType,
    filename: '',
    headers: [{ name: 'Content-Type', value: `${mimeType}; charset="UTF-8"` }],
    body: bytes.length === 0 ? { size: 0 } : { size: bytes.length, data: base64url(bytes) },
  }
}

/** Returns the first words of the text, with the entities that Gmail's snippets have. */
export function snippetOf(payload: Part): string {
  const text = textOf(payload, 'text/plain') || textOf(payload, 'text/html').replace(/<[^>]*>/g, ' ')
  const words = text.replace(/\s+/g, ' ').trim()
  const short = words.length <= 200 ? words : words.slice(0, 200).replace(/\s+\S*$/, '')
  const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }
  return short.replace(/[&<>"]/g, (sign) => entities[sign] ?? sign).replaceAll("'", '&#39;')
}

/** Tests give malformed payloads, so any field may be wrong. */
function partsOf({ parts }: Part): readonly Part[] {
  return Array.isArray(parts) ? parts.filter((part) => typeof part === 'object' && part !== null) : []
}

function dataOf({ body }: Part): string {
  const data: unknown = body?.data
  return typeof data === 'string' ? Buffer.from(data, 'base64url').toString('utf8') : ''
}

function textOf(part: Part, mimeType: string): string {
  if (part.mimeType === mimeType) return dataOf(part)
  for (const each of partsOf(part)) {
    const text = textOf(each, mimeType)
    if (text !== '') return text
  }
  return ''
}

/** Writes the mail as it was sent (RFC 5322), for format `raw`. */
export function rawOf(part: Part, id: string): string {
  const headers = Array.isArray(part.headers) ? part.headers : []
  const head = headers.map((header) => `${header?.name}: ${header?.value}\r\n`).join('')
  const parts = partsOf(part)
  if (parts.length === 0) return `${head}\r\n${dataOf(part)}`
  const boundary = boundaryOf(id)
  const inner = parts.map((each) => `--${boundary}\r\n${rawOf(each, id)}\r\n`).join('')
  return `${head}\r\n${inner}--${boundary}--\r\n`
}

function boundaryOf(id: string): string {
  return `000000000000${id}`
}

/** Google writes padding, and readers have to accept both. */
export function base64url(bytes: Buffer): string {
  const text = bytes.toString('base64url')
  return text.padEnd(Math.ceil(text.length / 4) * 4, '=')
}

/** Estimates the size of the mail in bytes. */
export function sizeOf(payload: Part): number {
  return Math.floor((JSON.stringify(payload).length * 3) / 4)
}
