/** Makes the value of a field from the text of a template or from the result of an expression. */

import type { FieldName } from '../../config/values/fields.ts'
import { createOutput, jsonOf, type Meter, spend } from '../model/output.ts'

/** A template gives text. The two fields that are not texts are parsed from it if it has their form. */
export function fromText(name: FieldName, text: string): unknown {
  const trimmed = text.trim()
  if (name === 'deliver' && (trimmed === 'true' || trimmed === 'false')) return trimmed === 'true'
  if (name === 'timeoutSeconds' && /^\d{1,9}$/.test(trimmed)) return Number(trimmed)
  return text
}

/** An expression keeps its type. A text or message of another type is printed as a template would print it. */
export function fromResult(name: FieldName, value: unknown, meter: Meter): unknown {
  const content = name === 'text' || name === 'message'
  const text = content && typeof value === 'object' && value !== null
  const printable = typeof value === 'number' || (content && typeof value === 'boolean')
  const result = text
    ? jsonOf(value, createOutput(meter))
    : printable && name !== 'timeoutSeconds'
      ? String(value)
      : value
  if (typeof result === 'string') spend(meter, Buffer.byteLength(result))
  return result
}
