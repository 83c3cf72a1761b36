/** Provides the formats of `ajv-formats` for JSON Schema, limited to strings of a maximum length. */

import { createRequire } from 'node:module'
import type { Ajv, Format } from 'ajv'

/** Longer strings match no format, which bounds the time of the library's regular expressions. UTF-16 units. */
const maxLength = 2048

const require = createRequire(import.meta.url)

let boundedFormats: Readonly<Record<string, Format>> | undefined

/** The formats by name. The libraries are loaded for the first mapping that has a schema. */
export function formats(): Readonly<Record<string, Format>> {
  if (boundedFormats !== undefined) return boundedFormats
  const { Ajv } = require('ajv') as typeof import('ajv')
  const { default: addFormats } = require('ajv-formats') as typeof import('ajv-formats')
  const libraryFormats = Object.entries(addFormats(new Ajv()).formats)
  boundedFormats = Object.fromEntries(
    libraryFormats.map(([name, format = true]) => [name, boundedFormat(format)]),
  )
  return boundedFormats
}

function boundedFormat(format: NonNullable<Ajv['formats'][string]>): Format {
  if (typeof format === 'boolean') return true
  if (typeof format === 'object' && 'type' in format && format.type === 'number') return format
  const check = typeof format === 'object' && 'validate' in format ? format.validate : format
  const test = check instanceof RegExp ? (text: string) => text.search(check) !== -1 : check
  return (text: string) => text.length <= maxLength && (test as (text: string) => boolean)(text)
}
