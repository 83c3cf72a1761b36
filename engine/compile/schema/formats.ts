/** Provides the formats of JSON Schema: the library's own, for texts up to a length. */

import type { Format } from 'ajv'
import { fullFormats } from 'ajv-formats/dist/formats.js'

/** The library's expressions were written for addresses and times, so a longer text has no format. In UTF-16 units. */
const longestText = 2048

const names = Object.keys(fullFormats)

export const isFormat = Object.assign((name: string): boolean => names.includes(name), { names })

type Known = (typeof fullFormats)[keyof typeof fullFormats]

function bounded(format: Known): Format {
  if (typeof format === 'boolean') return format
  if (typeof format === 'object' && 'type' in format && format.type === 'number') return format as Format
  const check = typeof format === 'object' && 'validate' in format ? format.validate : format
  const test =
    check instanceof RegExp
      ? (text: string) => {
          check.lastIndex = 0
          return check.test(text)
        }
      : (check as (text: string) => boolean)
  return (text: string) => text.length <= longestText && test(text)
}

export const formats: Record<string, Format> = Object.fromEntries(
  names.map((name) => [name, bounded(fullFormats[name as keyof typeof fullFormats])]),
)
