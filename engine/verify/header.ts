/** Reads one header of a request as one text. */

import type { Headers } from './verifier.ts'

/** Returns undefined if the header is missing or empty. A header that came more than once is joined, as HTTP defines. */
export function headerOf(headers: Headers, name: string): string | undefined {
  if (!Object.hasOwn(headers, name)) return undefined
  const value = headers[name]
  const text = typeof value === 'object' ? value.join(', ') : value
  return text === '' ? undefined : text
}

/** Returns the first of the headers that is present. */
export function firstHeaderOf(headers: Headers, names: readonly string[]): string | undefined {
  return names
    .values()
    .map((name) => headerOf(headers, name))
    .find((text) => text !== undefined)
}
