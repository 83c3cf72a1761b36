/** Reads the text of a mail: its plain text if the writer wrote some, else text made of its HTML. */

import type { RawPart } from '../google/port.ts'
import { type Budget, textOfHtml } from './html/text-of-html.ts'
import { headerOf, type Passage, passagesOf } from './parts.ts'
import { cleanText } from './text/clean.ts'
import { type Cut, cutToBytes } from './text/cut.ts'
import { decodeData } from './text/decode.ts'

/** The budget left for reading one mail, over all of its parts. The README has the figures and measurements. */
interface Room extends Budget {
  /** Bytes of plain text. */
  plain: number
  /** Bytes of HTML. */
  html: number
}

function roomFor(maxBytes: number): Room {
  return {
    plain: Math.min(2 * maxBytes + 16_384, 1_500_000),
    html: Math.min(Math.max(65_536, 20 * maxBytes), 786_432),
    characters: Math.min(2 * maxBytes + 32_768, 262_144),
    steps: 40_000,
  }
}

/** Returns at most `maxBytes` bytes of UTF-8. */
export function textOfMail(payload: unknown, maxBytes: number): Cut {
  const room = roomFor(maxBytes)
  const { passages, isCut } = passagesOf(payload)
  const texts: string[] = []
  let length = 0
  let isPartial = isCut
  for (const passage of passages) {
    if (length > maxBytes) {
      isPartial = true
      break
    }
    const { text, isCut } = textOfPassage(passage, room)
    isPartial ||= isCut
    if (text === '') continue
    texts.push(text)
    length += text.length
  }
  const cut = cutToBytes(texts.join('\n\n'), maxBytes)
  return { text: cut.text, isCut: cut.isCut || isPartial }
}

/** Plain text shorter than this may only be a hint that there is HTML. */
const maxHintLength = 200
/** It is a hint if the HTML says this many times as much. */
const timesAsMuch = 4

function textOfPassage({ plain, html }: Passage, room: Room): Cut {
  const written = readAll(plain, 'plain', room, (text) => ({ text: cleanText(text), isCut: false }))
  if (isMarkup(written.text)) return fromHtml(written.text, room)
  if (html.length === 0 || written.text.length >= maxHintLength) return written
  const made = readAll(html, 'html', room, (text) => fromHtml(text, room))
  return made.text.length > timesAsMuch * written.text.length ? made : written
}

function fromHtml(html: string, room: Room): Cut {
  const { text, isCut } = textOfHtml(html, room)
  return { text: cleanText(text, 1), isCut }
}

/** Some senders send a page and call it plain text. */
function isMarkup(text: string): boolean {
  return /^\s*<(?:!doctype html|html)\b/i.test(text)
}

function readAll(
  parts: readonly RawPart[],
  kind: 'plain' | 'html',
  room: Room,
  read: (text: string) => Cut,
): Cut {
  const texts: string[] = []
  let isPartial = false
  for (const part of parts) {
    const data: unknown = part.body?.data
    if (typeof data !== 'string' || data === '') {
      // Gmail gives large parts out as attachments, which are not fetched.
      isPartial ||= typeof part.body?.attachmentId === 'string'
      continue
    }
    if (room[kind] <= 0) {
      isPartial = true
      break
    }
    const decoded = decodeData(data, charsetOf(part), room[kind])
    room[kind] -= decoded.bytes
    const { text, isCut } = read(decoded.text)
    isPartial ||= decoded.isCut || isCut
    if (text !== '') texts.push(text)
  }
  return { text: texts.join('\n\n'), isCut: isPartial }
}

function charsetOf(part: RawPart): string | undefined {
  const type = headerOf(part, 'content-type')?.slice(0, 1_000)
  const [, quoted, bare] = /;\s*charset\s*=\s*(?:"([^"]{1,40})"|([^\s;"]{1,40}))/i.exec(type ?? '') ?? []
  return quoted ?? bare
}
