/** Owns what becomes of one mail as Gmail gives it: few fields, of text, none longer than it may be. */

import type { RawMessage, RawPart } from '../google/port.ts'
import { textOfMail } from './body.ts'
import { decodeEntities } from './html/text-of-html.ts'
import { headerOf } from './parts.ts'
import { cleanLine } from './text/clean.ts'
import { cutToLength } from './text/cut.ts'
import { decodeWords } from './text/encoded-words.ts'

/** Everything in it but the ids is a stranger's word. */
export interface MailItem {
  readonly id: string
  readonly threadId: string
  readonly from: string
  readonly to: string
  readonly subject: string
  /** As the mail says it; else of when Gmail got it, in the same form (RFC 5322). */
  readonly date: string
  readonly snippet: string
  /** Text; empty where it is not wanted. */
  readonly body: string
  readonly bodyTruncated: boolean
  readonly labels: readonly string[]
}

export interface ReadOptions {
  readonly includeBody: boolean
  /** Of the body, in bytes of UTF-8. */
  readonly maxBytes: number
}

/** Characters of the sender, the recipients and the subject. */
const mostOfHeader = 1_000
const mostOfDate = 100
const mostOfSnippet = 500
const mostLabels = 100
const mostOfLabel = 200

/** Never throws, whatever a stranger wrote. */
export function readMail(raw: RawMessage, { includeBody, maxBytes }: ReadOptions): MailItem {
  const payload: RawPart = isObject(raw.payload) ? raw.payload : {}
  const id = textOr(raw.id, '')
  const body = includeBody ? textOfMail(payload, maxBytes) : { text: '', isCut: false }
  return {
    id,
    threadId: textOr(raw.threadId, id),
    from: headerText(payload, 'from', mostOfHeader),
    to: headerText(payload, 'to', mostOfHeader),
    subject: headerText(payload, 'subject', mostOfHeader),
    date: headerText(payload, 'date', mostOfDate) || dateOf(raw.internalDate),
    snippet: snippetOf(raw.snippet),
    body: body.text,
    bodyTruncated: body.isCut,
    labels: labelsOf(raw)
      .slice(0, mostLabels)
      .map((label) => cutToLength(label, mostOfLabel)),
  }
}

/** Whether it has the label and none of those that are left out; all of them by id. */
export function isWanted(raw: RawMessage, labelId: string, exclude: readonly string[]): boolean {
  const labels = labelsOf(raw)
  return labels.includes(labelId) && !exclude.some((label) => labels.includes(label))
}

/** By their ids. */
export function labelsOf({ labelIds }: RawMessage): string[] {
  return Array.isArray(labelIds) ? labelIds.filter((label) => typeof label === 'string') : []
}

function headerText(payload: RawPart, name: string, most: number): string {
  return cutToLength(cleanLine(decodeWords(headerOf(payload, name) ?? '')), most)
}

/** Entities stand in it, such as `&#39;`, which Google's description of the API does not say. */
function snippetOf(snippet: unknown): string {
  return cutToLength(
    cleanLine(decodeEntities(textOr(snippet, '').slice(0, 10 * mostOfSnippet))),
    mostOfSnippet,
  )
}

/** When Gmail got it, as RFC 5322 writes times (https://www.rfc-editor.org/rfc/rfc5322#section-3.3); empty where nobody knows. */
function dateOf(internalDate: unknown): string {
  const isTime = typeof internalDate === 'string' && /^\d{1,15}$/.test(internalDate)
  const time = isTime ? Number(internalDate) : Number.NaN
  return time <= lastOfYear9999 ? new Date(time).toUTCString().replace('GMT', '+0000') : ''
}

const lastOfYear9999 = 253_402_300_799_999

function textOr(value: unknown, otherwise: string): string {
  return typeof value === 'string' ? value : otherwise
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
