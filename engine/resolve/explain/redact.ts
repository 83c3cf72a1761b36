/** Shows a value of a request to people: hides secrets, shortens long values, and reads no more of a value than is shown. */

import { isLiteral, type Segment } from '../../boundary/segment.ts'
import { addressSecretsOf, isSecretKey, type Span } from '../../config/values/secret.ts'
import { parseTexts } from '../../payload/exact-numbers.ts'
import type { HookRequest } from '../model/decision.ts'
import { type NamedTexts, secretTextsOf } from './secret-texts.ts'

/** The limit in UTF-16 units. */
const maxShownLength = 200
/** A secret is recognised in a text by its first characters, this many. */
const recognised = 16
/** A shorter secret is hidden only as a whole word, because it may be a part of many words. */
const longWord = 8

const hidden = '…'

export interface Redactor {
  /** Returns the value as compact JSON. `path` is its place in the request, as a person would write it or in segments. */
  value(value: unknown, path: string | readonly (string | number)[]): string
  /** Returns a rendered text. */
  text(segments: readonly Segment[]): string
  /** Returns a text as it is, and any other value as compact JSON. */
  plain(value: unknown): string
  /** Returns a text whole. */
  whole(text: string, path: string): string
}

/**
 * Hides the values of fields that are named like a secret, and the same texts elsewhere, because an expression may have
 * copied them. `params` are the values that paths took from the endpoint's name.
 */
export function createRedactor(request: HookRequest, params: readonly NamedTexts[] = []): Redactor {
  const secrets = secretTextsOf(request, params, isSecretName)

  /** Redacts enough of the text to fill what is shown. */
  function scrub(text: string): string {
    const whole = text.length <= maxShownLength + recognised
    const shown = withoutSecrets(whole ? text : text.slice(0, maxShownLength + 2 * recognised), secrets)
    // The end may hold the beginning of a secret that was not recognised.
    return whole ? shown : `${shown.slice(0, -recognised)}${hidden}`
  }

  function json(value: unknown): string {
    let text = ''
    function write(inner: unknown): void {
      if (text.length > maxShownLength) return
      if (typeof inner === 'string') text += JSON.stringify(scrub(inner))
      else if (typeof inner !== 'object' || inner === null) text += scrub(String(inner))
      else if (Array.isArray(inner)) writeList(inner)
      else writeFields(inner as Readonly<Record<string, unknown>>)
    }
    function writeList(list: readonly unknown[]): void {
      text += '['
      for (let index = 0; index < list.length && text.length <= maxShownLength; index++) {
        if (index > 0) text += ','
        write(list[index])
      }
      text += ']'
    }
    function writeFields(fields: Readonly<Record<string, unknown>>): void {
      text += '{'
      let first = true
      for (const name in fields) {
        if (text.length > maxShownLength) break
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
    whole: (text, path) => (isSecretPath(path) ? hidden : withoutSecrets(text, secrets)),
    plain: (value) => (typeof value === 'string' ? shorten(scrub(value)) : json(value)),
    text: (segments) => {
      let text = ''
      for (const segment of segments) {
        if (text.length > maxShownLength) break
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
 * Signatures count as secrets, because a request can be replayed with its body and signature. A mere `key` does not,
 * because senders use it for the name of an issue or a project, and mappings are often about it.
 */
function isSecretName(name: string): boolean {
  if (name === 'key') return false
  const start = name.slice(0, maxShownLength)
  return isSecretKey(start) || /signature|hmac/i.test(start)
}

/**
 * Finds every place before it hides any: secrets may share a beginning, and hiding one must not reveal the rest of
 * another.
 */
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

/** Matches JSON inside a text, escaped or not, and `name=value` of forms and addresses. */
const assigned = /([\w-]{2,64})(?:=|\\*"\s*:\s*)(?:\\*"([^"\\]+)|([^\s"\\&,;<>{}[\]]+))/dg

function assignedSecretsOf(text: string): Span[] {
  const spans: Span[] = []
  assigned.lastIndex = 0
  for (let match = assigned.exec(text); match !== null; match = assigned.exec(text)) {
    const { 1: name = '', index, indices } = match
    const [start, end] = indices?.[2] ?? indices?.[3] ?? [index, index]
    if (isSecretName(name)) spans.push({ start, end })
    // The value of a harmless name may contain a secret.
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
  return text.length > maxShownLength ? `${text.slice(0, maxShownLength)}${hidden}`.toWellFormed() : text
}

/**
 * Returns what mappings read of a request, whole and as plain data, with its secrets hidden. Headers that are secrets are left
 * out. An integer beyond 2^53 is a bigint.
 */
export function redactRequest(request: HookRequest): Pick<HookRequest, 'payload' | 'headers' | 'query'> {
  const secrets = secretTextsOf(request, [], isSecretName)
  const exact = request.isForm === true ? undefined : parseTexts(request.unwrapped ?? request.rawBody)

  /** `exact` is the same with strings for integers beyond 2^53. */
  function copy(value: unknown, exact: unknown = value): unknown {
    if (typeof value === 'string') return withoutSecrets(value, secrets)
    if (typeof value === 'number') return typeof exact === 'string' ? BigInt(exact) : value
    if (typeof value !== 'object' || value === null) return value
    const exactOf = (name: string | number) => (exact as Readonly<Record<string, unknown>> | null)?.[name]
    if (Array.isArray(value)) return value.map((inner, index) => copy(inner, exactOf(index)))
    return Object.fromEntries(
      Object.entries(value).map(([name, inner]) => [
        name,
        isSecretName(name) ? hidden : copy(inner, exactOf(name)),
      ]),
    )
  }

  const open = Object.entries(request.headers).filter(([name]) => !isSecretName(name))
  return {
    payload: copy(request.payload, exact),
    headers: copy(Object.fromEntries(open)) as HookRequest['headers'],
    query: copy(request.query) as HookRequest['query'],
  }
}
