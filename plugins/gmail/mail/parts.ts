/** Finds the parts of a mail that are its text, in one or more forms, and leaves out attachments. Reads headers. */

import type { RawPart } from '../google/port.ts'

/** One passage of the text, in the forms that the mail has of it. */
export interface Passage {
  readonly plain: readonly RawPart[]
  readonly html: readonly RawPart[]
}

/** No mail that a person wrote has this many parts. */
const maxParts = 1_000

interface PassageForm {
  /** The alternative that the parts are in. */
  readonly choice: number
  readonly parts: RawPart[]
}

interface OpenPassage {
  plain?: PassageForm
  html?: PassageForm
}

interface PendingPart {
  readonly part: RawPart
  /** The outermost `multipart/alternative` around the part. */
  readonly within?: { readonly passage: OpenPassage; readonly choice: number }
}

/**
 * Returns the passages in order, and whether the mail has more parts than are read. A list replaces the stack, because a sender's tree may be deeper than the stack.
 */
export function passagesOf(payload: unknown) {
  const passages: OpenPassage[] = []
  const waiting: PendingPart[] = [{ part: partOf(payload) }]
  let seen = 0
  let isCut = false
  for (let place = waiting.pop(); place !== undefined; place = waiting.pop()) {
    if (++seen > maxParts) return { passages: passages.map(toPassage), isCut: true }
    const { part, within } = place
    const type = typeOf(part)
    if (isAttached(part) || type.startsWith('message/')) continue
    const children = Array.isArray(part.parts) ? part.parts : []
    if (children.length === 0) {
      const kind = type === 'text/html' ? 'html' : type === 'text/plain' ? 'plain' : undefined
      if (kind === undefined) continue
      const passage = within?.passage ?? beginPassage(passages)
      const choice = within?.choice ?? 0
      const form = passage[kind] ?? { choice, parts: [] }
      passage[kind] = form
      // Another alternative has the same text again.
      if (form.choice === choice) form.parts.push(part)
      continue
    }
    isCut ||= children.length > maxParts
    const alternatives =
      type === 'multipart/alternative' && within === undefined ? beginPassage(passages) : undefined
    for (let choice = Math.min(children.length, maxParts) - 1; choice >= 0; choice--) {
      const child = partOf(children[choice])
      waiting.push({ part: child, within: alternatives ? { passage: alternatives, choice } : within })
    }
  }
  return { passages: passages.map(toPassage), isCut }
}

function beginPassage(passages: OpenPassage[]): OpenPassage {
  const passage: OpenPassage = {}
  passages.push(passage)
  return passage
}

function toPassage({ plain, html }: OpenPassage): Passage {
  return { plain: plain?.parts ?? [], html: html?.parts ?? [] }
}

/** Reads a part as an object, whatever a sender sent in its place. */
export function partOf(value: unknown): RawPart {
  return typeof value === 'object' && value !== null ? value : {}
}

/** https://www.rfc-editor.org/rfc/rfc2045#section-5.2 has it that what says nothing is plain text. */
function typeOf({ mimeType }: RawPart): string {
  const type = typeof mimeType === 'string' ? mimeType.trim().toLowerCase() : ''
  return type === '' ? 'text/plain' : type
}

function isAttached(part: RawPart): boolean {
  const { filename } = part
  if (typeof filename === 'string' && filename.trim() !== '') return true
  return /^\s*attachment\b/i.test(headerOf(part, 'content-disposition') ?? '')
}

/** No mail has more headers that matter, nor longer ones. */
const maxHeaders = 1_000
const maxCharacters = 16_384

/** Returns the first header of a name, which is in lower case. Folded lines are joined. */
export function headerOf(part: RawPart, name: string): string | undefined {
  const { headers } = part
  if (!Array.isArray(headers)) return undefined
  for (let at = 0; at < Math.min(headers.length, maxHeaders); at++) {
    const header = headers[at] as { name?: unknown; value?: unknown } | null | undefined
    if (typeof header?.name !== 'string' || typeof header.value !== 'string') continue
    if (header.name.length !== name.length || header.name.toLowerCase() !== name) continue
    return header.value.slice(0, maxCharacters).replaceAll(/\r?\n(?=[ \t])/g, '')
  }
  return undefined
}
