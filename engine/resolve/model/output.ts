/** Collects what a template renders: segments, which are counted as they come. */

import type { LiteralSegment, Segment } from '../../boundary/segment.ts'
import type { Containment } from './containment.ts'
import { RefusalError } from './refusal.ts'

/** Counts what a request may still render, in UTF-8 bytes, over all fields of all actions. */
export interface Meter {
  readonly limit: number
  left: number
  /** The number of characters that helpers may still produce, including discarded ones. */
  work: number
  /** The number of characters that the boundary may still add for naming values. */
  names: number
  readonly containment: Containment
}

export interface Output {
  readonly segments: Segment[]
  readonly meter: Meter
  readonly strict: Strictness
}

/** The values that are refused instead of being rendered as nothing: absent and null ones, or also blank ones. */
export type Strictness = false | 'absent' | 'blank'

/** The limit in characters, which suffices for any template without nested loops. */
const maxWork = 8 * 1024 * 1024

/** Leaves room for a message with a few values even if the limit on rendered bytes is lower. */
const minNames = 16_384

export function createMeter(limit: number, containment: Containment): Meter {
  return {
    limit,
    left: limit,
    work: maxWork,
    names: Math.max(limit, minNames),
    containment,
  }
}

export function createOutput(meter: Meter, strict: Strictness = false): Output {
  return { segments: [], meter, strict }
}

/** @throws RefusalError `TOO_LARGE_RENDERED` */
export function spend(meter: Meter, bytes: number): void {
  meter.left -= bytes
  if (meter.left >= 0) return
  throw new RefusalError(
    'TOO_LARGE_RENDERED',
    `the request renders to more than ${meter.limit} bytes (maxRenderedBytes, of its endpoint or of hooks)`,
  )
}

/**
 * Counts text that a helper produces, whether or not it is rendered in the end.
 * @throws RefusalError `TOO_LARGE_RENDERED`
 */
export function spendWork(meter: Meter, characters: number): void {
  meter.work -= characters
  if (meter.work >= 0) return
  throw new RefusalError('TOO_LARGE_RENDERED', 'a template makes far more text than it renders')
}

/**
 * Counts what the boundary adds: a value of one character costs some thirty in a prompt.
 * @throws RefusalError `TOO_LARGE_RENDERED`
 */
export function spendName(meter: Meter, characters: number): void {
  meter.names -= characters
  if (meter.names >= 0) return
  throw new RefusalError(
    'TOO_LARGE_RENDERED',
    `it contains so many values of the payload that their names would take more than ${meter.limit} bytes (maxRenderedBytes, of its endpoint or of hooks)`,
  )
}

export function emitLiteral(output: Output, segment: LiteralSegment, bytes: number): void {
  spend(output.meter, bytes)
  output.segments.push(segment)
}

export function emitValue(output: Output, value: unknown, path: string): void {
  refuseAbsent(value, output, path)
  const text = textOf(value, output)
  if (output.strict === 'blank' && text.trim() === '') throw new AbsentValueError(path, true)
  if (text === '') return
  spend(output.meter, Buffer.byteLength(text))
  output.segments.push({ value: text, path })
}

/** @throws AbsentValueError in strict rendering */
export function refuseAbsent(value: unknown, output: Output, path: string): void {
  if (output.strict !== false && (value === undefined || value === null)) throw new AbsentValueError(path)
}

/** Thrown in strict rendering. The caller that renders the field decides which refusal follows. */
export class AbsentValueError extends Error {
  readonly path: string
  /** True if the value is present, but blank. */
  readonly isBlank: boolean

  constructor(path: string, isBlank = false) {
    super(`${path} is ${isBlank ? 'blank' : 'absent'}`)
    this.path = path
    this.isBlank = isBlank
  }
}

/** Returns a value as text: an absent or null one as nothing, an object as compact JSON. */
export function textOf(value: unknown, output: Output): string {
  switch (typeof value) {
    case 'string':
      return value
    case 'number':
      return String(value)
    case 'boolean':
      return value ? 'true' : 'false'
    case 'object':
      return value === null ? '' : jsonOf(value, output)
    default:
      return ''
  }
}

/** Returns a value as compact or indented JSON. @throws RefusalError `TOO_LARGE_RENDERED` */
export function jsonOf(value: unknown, { meter }: Output, indent = 0): string {
  meter.containment.checkTime()
  try {
    return print(value, meter, indent)
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    throw new RefusalError('TOO_LARGE_RENDERED', 'a value nests too deeply to be printed')
  }
}

function print(value: unknown, meter: Meter, indent: number): string {
  const json = JSON.stringify(value) ?? ''
  if (indent === 0) {
    spendWork(meter, json.length)
    return json
  }
  spendWork(meter, indentedLength(json, indent, meter.work))
  return JSON.stringify(value, undefined, indent) ?? ''
}

/**
 * Returns the length of `JSON.stringify(value, undefined, indent)`, computed from the compact JSON. Stops counting
 * above `maxLength`.
 */
export function indentedLength(json: string, indent: number, maxLength: number): number {
  let length = json.length
  let depth = 0
  for (let index = 0; index < json.length && length <= maxLength; index++) {
    const character = json[index]
    if (character === '"') index = endOfText(json, index)
    else if (character === ':') length += 1
    else if (character === ',') length += 1 + depth * indent
    else if (character === ']' || character === '}') length += 1 + --depth * indent
    else if (character === '[' || character === '{') {
      // An empty list or object stays on its line.
      if (json[index + 1] === ']' || json[index + 1] === '}') index++
      else length += 1 + ++depth * indent
    }
  }
  return length
}

/** Returns the index of the quotation mark that ends the text. */
function endOfText(json: string, start: number): number {
  let index = start + 1
  while (json[index] !== '"') index += json[index] === '\\' ? 2 : 1
  return index
}
