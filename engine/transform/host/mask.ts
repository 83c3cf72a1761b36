/**
 * Hides kept secrets in what leaves the gateway: what modules print and throw, answers of the API, and the log. A secret that
 * any configuration gave since the start stays hidden: a late call, a stored record or an earlier generation may still hold the
 * one of yesterday.
 */

import { minHiddenLength, type Span } from '../../config/values/secret.ts'
import type { ErrorReport, FromWorker } from '../worker/protocol.ts'

export interface Mask {
  /** Secrets of fewer than eight characters are ignored, because they would hide words of every text. */
  add(secrets: Iterable<string>): void
  /** Returns the text without secrets, in whatever case and encoding they are in it. */
  text(text: string): string
  /** The same for JSON, which stays JSON: a number that is a secret becomes a string. */
  json(json: string): string
  /** The same message without secrets in its text or error. */
  message(message: FromWorker): FromWorker
}

/** Replacement of a secret. */
export const redacted = '[redacted]'
/** The number of secrets that are kept; the oldest are forgotten first. */
const maxSecrets = 2_000

export function createMask(): Mask {
  const kept = new Set<string>()
  let searchText: Search = () => []
  let searchJson: Search = () => []

  function add(secrets: Iterable<string>): void {
    const before = kept.size
    for (const secret of secrets) if (secret.length >= minHiddenLength) kept.add(secret)
    if (kept.size === before) return
    for (const secret of kept) if (kept.size > maxSecrets) kept.delete(secret)
    const forms = new Set([...kept].flatMap(formsOf))
    searchText = compileSearch(forms)
    searchJson = compileSearch(new Set([...forms].map(escaped)))
  }

  function text(original: string): string {
    return replace(original, searchText(original), () => redacted)
  }

  function error({ text: line, stack, stoppedAt, ...rest }: ErrorReport): ErrorReport {
    return {
      ...rest,
      text: text(line),
      ...(stack !== undefined && { stack: text(stack) }),
      ...(stoppedAt !== undefined && { stoppedAt: text(stoppedAt) }),
    }
  }

  return {
    add,
    text,
    json(json) {
      const found = searchJson(json)
      return found.length === 0 ? json : replaceInJson(json, found)
    },
    message(message) {
      if (kept.size === 0) return message
      if ('text' in message) return { ...message, text: text(message.text) }
      return 'error' in message ? { ...message, error: error(message.error) } : message
    },
  }
}

/** Finds the places of all forms in a text, whatever their case, in order and apart. */
type Search = (text: string) => readonly Span[]

function compileSearch(forms: Iterable<string>): Search {
  const long = [...forms].filter(({ length }) => length >= minHiddenLength).map(lowerCase)
  const byBeginning = Map.groupBy(long, beginningOf)
  const beginnings = new RegExp(`(?=${[...byBeginning.keys()].map(RegExp.escape).join('|')})`, 'gi')
  return (text) => {
    const found: { start: number; end: number }[] = []
    for (const { index: start } of text.matchAll(beginnings)) {
      const beginning = lowerCase(text.slice(start, start + minHiddenLength))
      const ends = (byBeginning.get(beginning) ?? []).map((form) => endOf(form, text, start))
      const end = Math.max(0, ...ends)
      const before = found.at(-1)
      if (before !== undefined && start <= before.end) before.end = Math.max(before.end, end)
      else if (end > 0) found.push({ start, end })
    }
    return found
  }
}

/** A form is recognised by its beginning if the text was cut behind it. */
function beginningOf(form: string): string {
  return form.slice(0, minHiddenLength)
}

/** Returns where the form ends that begins at `start`, or where the text was cut in it; 0 if another text is there. */
function endOf(form: string, text: string, start: number): number {
  const there = lowerCase(text.slice(start, start + form.length))
  if (there === form) return start + form.length
  const [shown = ''] = there.split('…')
  const isCut = shown.length >= minHiddenLength && shown.length < form.length && form.startsWith(shown)
  return isCut ? start + shown.length : 0
}

/** Of ASCII letters alone: others would change the length of a text. */
function lowerCase(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())
}

function replace(text: string, found: readonly Span[], by: (place: Span) => string): string {
  let result = ''
  let done = 0
  for (const place of found) {
    result += text.slice(done, place.start) + by(place)
    done = place.end
  }
  return done === 0 ? text : result + text.slice(done)
}

/** Replaces secrets in JSON. A match that begins inside an escape, or within a number, is no secret. */
function replaceInJson(json: string, found: readonly Span[]): string {
  let at = 0
  let isInString = false
  const isStringAt = (index: number): boolean => {
    for (; at < index; at++) {
      if (isInString && json[at] === '\\') at += 1
      else if (json[at] === '"') isInString = !isInString
    }
    return isInString
  }
  return replace(json, found, ({ start, end }) => {
    const isInside = isStringAt(start)
    const isWhole = /[[{:,\s]/.test(json[start - 1] ?? ' ') && /[\]},\s]/.test(json[end] ?? ' ')
    // The place moves beyond `start` where an escape begins before it.
    if (at > start || (!isInside && !isWhole)) return json.slice(start, end)
    return isInside ? redacted : `"${redacted}"`
  })
}

/** A secret as it is, each line of it, and both as others encode them. */
function formsOf(secret: string): string[] {
  const lines = secret.split(/[\r\n]+/).map((line) => line.trim())
  return [...new Set([secret, secret.trim(), ...lines])]
    .filter(({ length }) => length >= minHiddenLength)
    .flatMap((text) => {
      const encoded = encodingsOf(text)
      const inJson = encoded.map(escaped)
      return [...encoded, ...inJson].flatMap((form) => [form, inPointer(form)]).concat(inJson.map(escaped))
    })
}

function encodingsOf(text: string): string[] {
  const bytes = Buffer.from(text)
  const hex = bytes.toString('hex')
  const base64 = base64Of(bytes)
  return [
    text,
    encodeURIComponent(text.toWellFormed()),
    new URLSearchParams([['', text]]).toString().slice(1),
    hex.replaceAll(/../g, '%$&'),
    hex,
    ...base64,
    ...base64.map((each) => each.replaceAll('+', '-').replaceAll('/', '_')),
    Array.from({ length: text.length }, (_, index) => escapeUnit(text.charCodeAt(index))).join(''),
  ]
}

/** The characters of base64 that hold nothing but the secret, where it begins at each of the three places of a group. */
function base64Of(bytes: Buffer): string[] {
  return [0, 1, 2].map((shift) => {
    const text = Buffer.concat([Buffer.alloc(shift), bytes]).toString('base64')
    return text.slice(shift === 0 ? 0 : shift + 1, Math.floor(((shift + bytes.length) * 8) / 6))
  })
}

function escapeUnit(unit: number): string {
  return `\\u${unit.toString(16).padStart(4, '0')}`
}

function escaped(text: string): string {
  return JSON.stringify(text).slice(1, -1)
}

/** Warnings name fields by JSON Pointers (RFC 6901, section 3). */
function inPointer(text: string): string {
  return text.replaceAll('~', '~0').replaceAll('/', '~1')
}
