/** Reads the few fields of a mail that are posted, each of limited length. */

import { asList, asString } from '@reveille/kit'
import type { RawMessage, RawPart } from '../google/port.ts'
import { textOfMail } from './body.ts'
import { decodeEntities } from './html/text-of-html.ts'
import { headerOf, partOf } from './parts.ts'
import { cleanLine } from './text/clean.ts'
import { cutToLength } from './text/cut.ts'
import { decodeWords } from './text/encoded-words.ts'

/** A mail as it is posted. A sender wrote everything in it but the ids. */
export interface MailItem {
  readonly id: string
  readonly threadId: string
  readonly from: string
  readonly to: string
  readonly subject: string
  /** The date of the mail's header; else the time when Gmail received it, in the same form (RFC 5322). */
  readonly date: string
  readonly snippet: string
  /** The text of the mail. Empty if it is not wanted. */
  readonly body: string
  readonly bodyTruncated: boolean
  readonly labels: readonly string[]
}

export interface ReadOptions {
  readonly includeBody: boolean
  /** Maximum size of the body, in bytes of UTF-8. */
  readonly maxBytes: number
}

/** Maximum length of the sender, the recipients and the subject, in characters. */
const maxHeaderLength = 1_000
const maxDateLength = 100
const maxSnippetLength = 500
const maxLabels = 100
const maxLabelLength = 200

/** Never throws, whatever a sender wrote. */
export function readMail(raw: RawMessage, { includeBody, maxBytes }: ReadOptions): MailItem {
  const payload = partOf(raw.payload)
  const id = asString(raw.id) ?? ''
  const body = includeBody ? textOfMail(payload, maxBytes) : { text: '', isCut: false }
  return {
    id,
    threadId: asString(raw.threadId) ?? id,
    from: headerText(payload, 'from', maxHeaderLength),
    to: headerText(payload, 'to', maxHeaderLength),
    subject: headerText(payload, 'subject', maxHeaderLength),
    date: headerText(payload, 'date', maxDateLength) || dateOf(raw.internalDate),
    snippet: snippetOf(raw.snippet),
    body: body.text,
    bodyTruncated: body.isCut,
    labels: labelsOf(raw)
      .slice(0, maxLabels)
      .map((label) => cutToLength(label, maxLabelLength)),
  }
}

/** Returns whether a mail has the label and none of those that are left out. All of them are ids. */
export function isWanted(raw: RawMessage, labelId: string, exclude: readonly string[]): boolean {
  const labels = labelsOf(raw)
  return labels.includes(labelId) && !exclude.some((label) => labels.includes(label))
}

/** Returns the ids of the labels. */
export function labelsOf({ labelIds }: RawMessage): string[] {
  return asList(labelIds).filter((label) => typeof label === 'string')
}

function headerText(payload: RawPart, name: string, maxLength: number): string {
  return cutToLength(cleanLine(decodeWords(headerOf(payload, name) ?? '')), maxLength)
}

/** Snippets contain entities such as `&#39;`, though Google's description of the API does not say so. */
function snippetOf(snippet: unknown): string {
  const text = (asString(snippet) ?? '').slice(0, 10 * maxSnippetLength)
  return cutToLength(cleanLine(decodeEntities(text)), maxSnippetLength)
}

/**
 * Returns when Gmail received the mail, in the form of RFC 5322 (https://www.rfc-editor.org/rfc/rfc5322#section-3.3),
 * or an empty text.
 */
function dateOf(internalDate: unknown): string {
  const isTime = typeof internalDate === 'string' && /^\d{1,15}$/.test(internalDate)
  const time = isTime ? Number(internalDate) : Number.NaN
  return time <= lastOfYear9999 ? new Date(time).toUTCString().replace('GMT', '+0000') : ''
}

const lastOfYear9999 = 253_402_300_799_999
