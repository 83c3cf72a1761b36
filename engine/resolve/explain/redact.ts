/** Shows a value of a request to people: secrets are hidden, long values cut, and no more is read than that takes. */

import { isLiteral, type Segment } from '../../boundary/segment.ts'
import { addressSecretsOf, isSecretKey, type Span } from '../../config/secret.ts'
import { isExactNumber } from '../../payload/exact-numbers.ts'
import type { HookRequest } from '../decision.ts'
import { type NamedTexts, secretTextsOf } from './secret-texts.ts'

/** In UTF-16 units. */
const longestShown = 200
/** By so much of a secret it is recognised in a text. */
const recognised = 16
/** A shorter one is hidden where it stands alone: it may be a part of many words. */
const longWord = 8

const hidden = '…'

export interface Redactor {
  /** As compact JSON; `path` leads to it from the request, as a human would write it or in segments. */
  value(value: unknown, path: string | readonly (string | number)[]): string
  /** A rendered text. */
  text(segments: readonly Segment[]): string
  /** A text as it stands, any other value as compact JSON. */
  plain(value: unknown): string
}

/**
 * Besides what stands under a secret's name it hides the same texts elsewhere: an expression may have moved them.
 * `params`: what paths took from the endpoint's name.
 */
export function createRedactor(request: HookRequest, params: readonly NamedTexts[] = []): Redactor {
  const secrets = secretTextsOf(request, params, isSecretName)

  /** Enough of the text to fill what is shown. */
  function scrub(text: string): string {
    const whole = text.length <= longestShown + recognised
    const shown = withoutSecrets(whole ? text : text.slice(0, longestShown + 2 * recognised), secrets)
    // At its end a secret may begin that was not recognised.
    return whole ? shown : `${shown.slice(0, -recognised)}${hidden}`
  }

  function json(value: unknown): string {
    let text = ''
    function write(inner: unknown): void {
      if (text.length > longestShown) return
      if (typeof inner === 'string') text += JSON.stringify(scrub(inner))
      else if (typeof inner !== 'object' || inner === null) text += scrub(String(inner))
      else if (isExactNumber(inner)) text += scrub(inner.rawJSON)
      else if (Array.isArray(inner)) writeList(inner)
      else writeFields(inner as Readonly<Record<string, unknown>>)
    }
    function writeList(list: readonly unknown[]): void {
      text += '['
      for (let index = 0; index < list.length && text.length <= longestShown; index++) {
        if (index > 0) text += ','
        write(list[index])
      }
      text += ']'
    }
    function writeFields(fields: Readonly<Record<string, unknown>>): void {
      text += '{'
      let first = true
      for (const name in fields) {
        if (text.length > longestShown) break
        if (!Object.hasOwn(fields, name)) continue
        text += `${first ? '' : ','}${JSON.stringify(scrub(name))}:`
        first = false
        write(isSecretName(name) ? hidden : fields[name])
      }
      text += '}'
    }
    write(value)
    return shorten(text)
  }

  return {
    value: (value, path) => (isSecretPath(path) ? `"${hidden}"` : json(value)),
    plain: (value) => (typeof value === 'string' ? shorten(scrub(value)) : json(value)),
    text: (segments) => {
      let text = ''
      for (const segment of segments) {
        if (text.length > longestShown) break
        if (isLiteral(segment)) text += segment.literal
        else text += isSecretPath(segment.path) ? hidden : scrub(segment.value)
      }
      return shorten(text)
    },
  }
}

function isSecretPath(path: string | readonly (string | number)[]): boolean {
  const segments = typeof path === 'string' ? path.split('.') : path
  return segments.some((segment) => typeof segment === 'string' && isSecretName(segment))
}

/**
 * Signatures too: with one and its body a request can be sent again. A mere `key` is what senders call the name of an
 * issue or a project, and what a mapping is most likely to be about.
 */
function isSecretName(name: string): boolean {
  if (name === 'key') return false
  const start = name.slice(0, longestShown)
  return isSecretKey(start) || /signature|hmac/i.test(start)
}

/** Every place is found before any is hidden: secrets begin alike, and one hides no more than it shares with another. */
function withoutSecrets(text: string, secrets: readonly string[]): string {
  const places = [
    ...secrets.flatMap((secret) => placesOf(secret, text)),
    ...assignedSecretsOf(text),
    ...addressSecretsOf(text),
  ]
  places.sort((one, other) => one.start - other.start)
  let result = ''
  let done = 0
  for (const { start, end } of places) {
    if (start >= done) result += text.slice(done, start) + hidden
    done = Math.max(done, end)
  }
  return done === 0 ? text : result + text.slice(done)
}

/** JSON in a text, escaped or not, and `name=value` of forms and addresses. */
const assigned = /([\w-]{2,64})(?:=|\\*"\s*:\s*)(?:\\*"([^"\\]+)|([^\s"\\&,;<>{}[\]]+))/dg

function assignedSecretsOf(text: string): Span[] {
  const spans: Span[] = []
  assigned.lastIndex = 0
  for (let match = assigned.exec(text); match !== null; match = assigned.exec(text)) {
    const { 1: name = '', index, indices } = match
    const [start, end] = indices?.[2] ?? indices?.[3] ?? [index, index]
    if (isSecretName(name)) spans.push({ start, end })
    // The value of a harmless name may hold a secret in turn.
    else assigned.lastIndex = index + name.length
  }
  return spans
}

function placesOf(secret: string, text: string): Span[] {
  const places: Span[] = []
  const beginning = secret.slice(0, recognised)
  for (let start = text.indexOf(beginning); start !== -1; start = text.indexOf(beginning, start + 1)) {
    let end = start + beginning.length
    while (end < text.length && end - start < secret.length && text[end] === secret[end - start]) end++
    if (secret.length >= longWord || !isPartOfWord(text, start, end)) places.push({ start, end })
  }
  return places
}

function isPartOfWord(text: string, start: number, end: number): boolean {
  return /[\p{L}\p{N}]/u.test(`${text[start - 1] ?? ''}${text[end] ?? ''}`)
}

function shorten(text: string): string {
  return text.length > longestShown ? `${text.slice(0, longestShown)}${hidden}`.toWellFormed() : text
}
