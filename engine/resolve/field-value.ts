/** Owns what a field holds: read from the text of a template, or made of what an expression gave. */

import type { FieldName } from '../config/fields.ts'
import { createOutput, jsonOf, type Meter, spend, whenMade } from './output.ts'
import { whenReady } from './when-ready.ts'

/** A template gives text; the two fields that are no text are read from it where it reads as one. */
export function fromText(name: FieldName, text: string): unknown {
  const trimmed = text.trim()
  if (name === 'deliver' && (trimmed === 'true' || trimmed === 'false')) return trimmed === 'true'
  if (name === 'timeoutSeconds' && /^\d{1,9}$/.test(trimmed)) return Number(trimmed)
  return text
}

/** An expression keeps its type; a text or message of another type is printed as a template would print it. */
export function fromResult(name: FieldName, value: unknown, meter: Meter): unknown | Promise<unknown> {
  const content = name === 'text' || name === 'message'
  const text = content && typeof value === 'object' && value !== null
  const printable = typeof value === 'number' || (content && typeof value === 'boolean')
  const result = text
    ? printResult(value, meter)
    : printable && name !== 'timeoutSeconds'
      ? String(value)
      : value
  return whenReady(result, (made) => {
    if (typeof made === 'string') spend(meter, Buffer.byteLength(made))
    return made
  })
}

function printResult(value: object, meter: Meter): string | Promise<string> {
  const output = createOutput(meter, { exact: true, strict: false })
  return whenMade(meter, () => jsonOf(value, output))
}
