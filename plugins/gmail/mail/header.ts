/** Owns reading one header of a mail or of one of its parts. */

import type { RawPart } from '../google/port.ts'

/** No mail has more headers that matter, nor longer ones. */
const mostHeaders = 1_000
const mostCharacters = 16_384

/** The first of that name, in lower case; undefined where there is none. Lines that were folded are one. */
export function headerOf(part: RawPart, name: string): string | undefined {
  const { headers } = part
  if (!Array.isArray(headers)) return undefined
  for (let at = 0; at < Math.min(headers.length, mostHeaders); at++) {
    const header = headers[at] as { name?: unknown; value?: unknown } | null | undefined
    if (typeof header?.name !== 'string' || typeof header.value !== 'string') continue
    if (header.name.length !== name.length || header.name.toLowerCase() !== name) continue
    return header.value.slice(0, mostCharacters).replaceAll(/\r?\n(?=[ \t])/g, '')
  }
  return undefined
}
