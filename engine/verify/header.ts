/** Owns reading one header of a request as one text. */

import type { Headers } from './signed-request.ts'

/** Undefined where it is missing or empty. One that came more than once is joined, as HTTP reads it. */
export function headerOf(headers: Headers, name: string): string | undefined {
  if (!Object.hasOwn(headers, name)) return undefined
  const value = headers[name]
  const text = typeof value === 'object' ? value.join(', ') : value
  return text === '' ? undefined : text
}

/** The first of the names that is there. */
export function firstHeaderOf(headers: Headers, names: readonly string[]): string | undefined {
  for (const name of names) {
    const text = headerOf(headers, name)
    if (text !== undefined) return text
  }
  return undefined
}
