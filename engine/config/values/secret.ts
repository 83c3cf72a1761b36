/** Decides what may not be shown: which keys hold secrets, and how a line of text is shown without them. */

import { editDistance } from './nearest.ts'

const secretWords =
  /token|secret|passw|passphrase|credential|cookie|authorization|webhookurl|key$|^(?:auth|pass|pwd|bearer)$/i
const openNames = new Set([
  'ackToken',
  'allowRequestSessionKey',
  'allowQueryToken',
  'allowedSessionKeyPrefixes',
  'defaultSessionKey',
  'sessionKey',
  'idempotencyKey',
  'idempotency-key',
  'x-openclaw-idempotency-key',
])
/** A misspelt key still holds a value that must be hidden. */
const oftenMisspelt = ['token', 'secret', 'password', 'apikey']

export function isSecretKey(name: string): boolean {
  return isCalledSecret(name) || (!openNames.has(name) && isLikeSecret(name))
}

/** Tests the name as it is and ignores possible misspellings, for names that operators choose. */
export function isCalledSecret(name: string): boolean {
  return !openNames.has(name) && secretWords.test(name)
}

function isLikeSecret(name: string): boolean {
  return oftenMisspelt.some((word) => editDistance(name.toLowerCase(), word, 3) < 3)
}

/** A part of a text, without the character at `end`. */
export interface Span {
  readonly start: number
  readonly end: number
}

/** Returns the replacement of a hidden text. References stay readable, and their defaults do not. */
export function maskText(text: string): string {
  const reference = /^(["']?)\$\{([^{}]*)\}(["']?)$/.exec(text.trim())
  if (!reference) return '…'
  const [, open, body = '', close] = reference
  const fallback = body.indexOf(':-')
  return `${open}\${${fallback < 0 ? body : `${body.slice(0, fallback)}:-…`}}${close}`
}

/** Returns the spans of a line that a key before them marks as secret, for text that could not be parsed. */
export function secretSpansOf(line: string): Span[] {
  const keys = line.matchAll(/["']?([\w-]+)["']?\s*[:=]\s*(?=\S)/g)
  const found = keys.find(([, key = '']) => isSecretKey(key))
  return found === undefined ? [] : [{ start: found.index + found[0].length, end: line.length }]
}

/** True if a line without a key continues a secret of the lines `before`, for text that could not be parsed. */
export function continuesSecret(before: string, line: string): boolean {
  const [, lone] = /^\s*(?:-\s+)?["']?([\w-]+)["']?\s+\S/.exec(line) ?? []
  if (lone !== undefined && isSecretKey(lone)) return true
  if (line.trim() === '' || keyOf(line) !== undefined) return false
  for (let end = before.length; end > 0; ) {
    const start = before.lastIndexOf('\n', end - 1) + 1
    const key = keyOf(before.slice(start, end))
    if (key !== undefined) return isSecretKey(key)
    end = start - 1
  }
  return false
}

function keyOf(line: string): string | undefined {
  return /^\s*(?:-\s+)?["']?([\w-]+)["']?\s*:/.exec(line)?.[1]
}

/** Returns the spans of credentials inside addresses: `postgres://user:secret@host`. */
export function addressSecretsOf(line: string): Span[] {
  return Array.from(line.matchAll(/(?<=:\/{1,2})[^/\s@"']+(?=@)/g), (found) => ({
    start: found.index,
    end: found.index + found[0].length,
  }))
}

/**
 * Returns the spans of secrets in addresses that an operator wrote: credentials, and values of the query whose names mark secrets. Senders
 * name harmless values so, operators do not.
 */
export function operatorAddressSecretsOf(line: string): Span[] {
  return [...addressSecretsOf(line), ...querySecretsOf(line)]
}

export function querySecretsOf(line: string): Span[] {
  const found = [...line.matchAll(/[?&]([\w-]+)=(?!\$\{|\{\{)([^\s&#"']+)/g)]
  return found.flatMap(({ 0: all, 1: name = '', 2: value = '', index }) => {
    const end = index + all.length
    return isCalledSecret(name) ? { start: end - value.length, end } : []
  })
}

/** The shortest secret that is hidden, in UTF-16 units. Hiding shorter ones would hide words of every text. */
export const minHiddenLength = 8

/**
 * Returns the secrets of a tree of settings: strings under the name of a secret, and credentials inside addresses.
 * `others` are known to be secret as well. Each is listed once, if it has at least eight characters.
 */
export function secretsIn(tree: unknown, others: Iterable<string> = []): readonly string[] {
  const found = new Set(others)
  const walk = (value: unknown, isSecret: boolean, isHeaders = false): void => {
    if (typeof value === 'string') {
      if (isSecret) found.add(value)
      // `Bearer` and other schemes before a credential are no part of it.
      const credential = isSecret && /^[A-Za-z]+ (\S+)$/.exec(value)?.[1]
      if (credential) found.add(credential)
      for (const { start, end } of operatorAddressSecretsOf(value))
        addCredentials(value.slice(start, end), found)
    } else if (typeof value === 'object' && value !== null) {
      const isList = Array.isArray(value)
      for (const [name, inner] of Object.entries(value))
        walk(
          inner,
          isSecret || (!isList && isSecretKey(name)) || (isHeaders && /auth/i.test(name)),
          name === 'headers',
        )
    }
  }
  walk(tree, false)
  return [...found].filter(({ length }) => length >= minHiddenLength)
}

/** Adds `user:password`, and the password as it is written and as it is meant. */
function addCredentials(text: string, found: Set<string>): void {
  found.add(text)
  const colon = text.indexOf(':')
  if (colon < 0) return
  const password = text.slice(colon + 1)
  found.add(password)
  try {
    found.add(decodeURIComponent(password))
  } catch {
    // A password that cannot be decoded is sent as it is written.
  }
}

export interface MaskedLine {
  readonly text: string
  /** The column from 1. */
  readonly caret: number
}

/** Returns the line with its spans hidden, and where a column of the line has moved. Both columns count from 1. */
export function maskLine(line: string, spans: readonly Span[], column: number): MaskedLine {
  let text = ''
  let caret = column
  let done = 0
  for (const { start, end } of [...spans].sort((one, other) => one.start - other.start)) {
    if (start < done) continue
    const hidden = maskText(line.slice(start, end))
    text += line.slice(done, start) + hidden
    if (column > end) caret += hidden.length - (end - start)
    else if (column > start + 1) caret += start + 1 - column
    done = end
  }
  return { text: text + line.slice(done), caret }
}
