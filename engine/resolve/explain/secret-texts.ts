/** Lists the texts of a request that may not be shown, wherever an expression puts them. */

import { parseTexts } from '../../payload/exact-numbers.ts'
import type { HookRequest } from '../model/decision.ts'

/** A shorter text occurs in too many others; a shorter number is a year, a count or a price. */
const minTextLength = 4
const minNumberLength = 6
/** Pieces of a header are secret too if they are long enough to be the secret itself. */
const minPieceLength = 8
const maxSecrets = 100
/** A sender that puts its secrets beyond this limit shows only its own secrets. */
const maxValues = 5000

/** The named values of a request besides its payload. */
export type NamedTexts = Readonly<Record<string, string | readonly string[] | undefined>>

/**
 * Lists the longest first, so that hiding one leaves no part of another. `params` are the values that paths took from
 * the endpoint's name.
 */
export function secretTextsOf(
  request: HookRequest,
  params: readonly NamedTexts[],
  isSecretName: (name: string) => boolean,
): string[] {
  const found = new Set<string>()
  for (const fields of [request.headers, request.query, ...params]) {
    for (const [name, value] of Object.entries(fields)) {
      if (!isSecretName(name)) continue
      for (const text of [value ?? []].flat()) for (const part of partsOf(text)) add(part, found)
    }
  }
  const payload = parseTexts(request.unwrapped ?? request.rawBody) ?? request.payload
  for (const value of valuesBelow(payload, isSecretName)) {
    if (found.size >= maxSecrets) break
    add(String(value), found)
  }
  return [...found].sort((one, other) => other.length - one.length)
}

/** Adds the text as it is, and as JSON writes it. */
function add(text: string, found: Set<string>): void {
  if (text.length < (/^-?[\d.]+$/.test(text) ? minNumberLength : minTextLength)) return
  found.add(text)
  found.add(JSON.stringify(text).slice(1, -1))
}

/** Returns a header such as `Bearer abc` or `t=1,v1=abc`, and its pieces. */
function partsOf(text: string): string[] {
  return [text, ...text.split(/[\s,;=]+/).filter((part) => part.length >= minPieceLength)]
}

function* valuesBelow(payload: unknown, isSecretName: (name: string) => boolean): Iterable<string | number> {
  const waiting: { readonly value: unknown; readonly secret: boolean }[] = [{ value: payload, secret: false }]
  let seen = 0
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { value, secret } = next
    if (secret && (typeof value === 'string' || typeof value === 'number')) yield value
    if (typeof value !== 'object' || value === null) continue
    // Listing the indexes of a long list would take longer than visiting its elements.
    const names = Array.isArray(value) ? undefined : Object.keys(value)
    const length = names?.length ?? (value as readonly unknown[]).length
    for (let index = 0; index < length; index++) {
      if (seen++ > maxValues) return
      const name = names?.[index]
      const inner = (value as Readonly<Record<string | number, unknown>>)[name ?? index]
      waiting.push({ value: inner, secret: secret || (name !== undefined && isSecretName(name)) })
    }
  }
}
