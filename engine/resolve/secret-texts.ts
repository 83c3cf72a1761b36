/** Owns finding the texts of a request that may not be shown, wherever an expression puts them. */

import type { HookRequest } from './decision.ts'

/** A shorter text is found in too many others. */
const shortestSecret = 8
const mostSecrets = 100
/** A sender hides its own secrets beyond them. */
const mostValues = 5000

/** Longest first, so that none leaves a part of another. */
export function secretTextsOf(request: HookRequest, isSecretName: (name: string) => boolean): string[] {
  const found = new Set<string>()
  for (const fields of [request.headers, request.query]) {
    for (const [name, value] of Object.entries(fields)) {
      if (!isSecretName(name)) continue
      for (const text of [value ?? []].flat()) for (const part of partsOf(text)) found.add(part)
    }
  }
  for (const text of textsBelow(request.payload, isSecretName)) {
    if (found.size >= mostSecrets) break
    if (text.length >= shortestSecret) found.add(text)
  }
  return [...found].sort((one, other) => other.length - one.length)
}

/** `Bearer abc`, `t=1,v1=abc`: the whole, and each piece that is long enough to be the secret itself. */
function partsOf(text: string): string[] {
  return [text, ...text.split(/[\s,;=]+/)].filter((part) => part.length >= shortestSecret)
}

function* textsBelow(payload: unknown, isSecretName: (name: string) => boolean): Iterable<string> {
  const waiting: { readonly value: unknown; readonly secret: boolean }[] = [{ value: payload, secret: false }]
  let seen = 0
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { value, secret } = next
    if (secret && typeof value === 'string') yield value
    if (typeof value !== 'object' || value === null) continue
    for (const name in value) {
      if (seen++ > mostValues) return
      const inner = (value as Readonly<Record<string, unknown>>)[name]
      waiting.push({ value: inner, secret: secret || (!Array.isArray(value) && isSecretName(name)) })
    }
  }
}
