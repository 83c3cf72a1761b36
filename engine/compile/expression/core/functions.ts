/** Provides the functions that compiled expressions call. Each takes time in proportion to its arguments. */

import { type Regex, RegexLimitError } from '../../../regex/regex.ts'
import { libraryDefinition } from '../library.ts'
import { fromMillis } from '../times.ts'
import type { Evaluate, Frame } from './frame.ts'
import { BeyondCoreError, isTrue, locateFault, writeText } from './values.ts'

// biome-ignore lint/suspicious/noExplicitAny: each function has values of its own.
type Implementation = (this: Frame, ...values: any[]) => unknown

export interface CoreFunction {
  /** The types of arguments that need no check: a `string`, a `number` or `any` value. */
  readonly types: readonly ('string' | 'number' | 'any')[]
  /** The fewest arguments for which that holds. Default: one. */
  readonly fewest?: number
  /** With more or fewer arguments than `types` has, the library's own check applies. */
  readonly most?: number
  /**
   * The positions of arguments that must be literals, because with values of the payload the call would take longer or
   * produce more.
   */
  readonly literals?: readonly number[]
  /** How much larger than its first argument a result can be. By default it is a number, a short text or a boolean. */
  readonly growth?: number
  readonly neverFails?: true
  /** Replaces the library's implementation, which is asynchronous or not linear. */
  readonly implementation?: Implementation
}

const ofNumber: CoreFunction = { types: ['number'] }

export const coreFunctions: ReadonlyMap<unknown, CoreFunction> = new Map<string, CoreFunction>([
  ['abs', ofNumber],
  [
    'boolean',
    { types: ['any'], implementation: (value) => (value === undefined ? undefined : isTrue(value)) },
  ],
  ['ceil', ofNumber],
  ['contains', { types: ['string', 'string'], fewest: 2, literals: [1], implementation: contains }],
  ['count', { types: ['any'], neverFails: true, implementation: count }],
  ['exists', { types: ['any'], neverFails: true }],
  ['floor', ofNumber],
  ['formatNumber', { types: ['number', 'string'], fewest: 2, most: 2, literals: [1] }],
  ['fromMillis', { types: ['number', 'string', 'string'], literals: [1, 2], implementation: fromMillis }],
  ['join', { types: [], literals: [1], growth: 1 }],
  ['length', { types: ['string'], implementation: length }],
  ['lowercase', { types: ['string'], growth: 3 }],
  ['max', { types: [], implementation: (values) => extreme(values, Math.max) }],
  ['min', { types: [], implementation: (values) => extreme(values, Math.min) }],
  ['not', { types: ['any'], implementation: (value) => (value === undefined ? undefined : !isTrue(value)) }],
  ['number', { types: ['number'] }],
  [
    'replace',
    {
      types: ['string', 'string', 'string', 'number'],
      fewest: 3,
      literals: [1, 2],
      growth: 1,
      implementation: replace,
    },
  ],
  ['round', { types: ['number', 'number'] }],
  [
    'split',
    { types: ['string', 'string', 'number'], fewest: 2, literals: [1], growth: 1, implementation: split },
  ],
  ['string', { types: ['any'], most: 1, growth: 2, implementation: string }],
  ['substring', { types: ['string', 'number', 'number'], fewest: 2, growth: 1, implementation: substring }],
  ['substringAfter', { types: ['string', 'string'], fewest: 2, literals: [1], growth: 1 }],
  ['substringBefore', { types: ['string', 'string'], fewest: 2, literals: [1], growth: 1 }],
  ['sum', { types: [] }],
  ['trim', { types: ['string'], growth: 1 }],
  ['type', { types: ['any'] }],
  ['uppercase', { types: ['string'], growth: 3 }],
])

/** Compiles `$contains` with a regular expression. */
export function createSearch(regex: Regex, text: Evaluate, position: unknown): Evaluate {
  return (input, frame) => {
    const value = text(input, frame)
    if (value === undefined) return undefined
    if (typeof value !== 'string') throw { code: 'T0410', position, token: 'contains', value, index: 1 }
    try {
      return regex.test(value)
    } catch (error) {
      if (error instanceof RegexLimitError) throw new BeyondCoreError(error.message)
      throw error
    }
  }
}

/** `position` is that of the call, for errors. */
export function createCall(
  name: string,
  { types, fewest = 1, implementation }: CoreFunction,
  args: readonly Evaluate[],
  position: unknown,
): Evaluate {
  const { signature, implementation: ofLibrary } = libraryDefinition(name)
  const call = implementation ?? ofLibrary
  const isEnough = args.length >= fewest && args.length <= types.length
  const fits = (value: unknown, index: number) => types[index] === 'any' || typeof value === types[index]
  const callWith = (given: readonly unknown[], input: unknown, frame: Frame): unknown => {
    try {
      if (isEnough && given.every(fits)) return call.call(frame, ...given)
      return call.call(frame, ...signature.validate(given, input))
    } catch (error) {
      throw locateFault(error, position, name)
    }
  }
  const [first, second] = args
  if (first === undefined || args.length > 2 || !isEnough)
    return (input, frame) =>
      callWith(
        args.map((evaluate) => evaluate(input, frame)),
        input,
        frame,
      )
  const firstType = types[0] ?? 'any'
  const secondType = second === undefined ? 'any' : (types[1] ?? 'any')
  return (input, frame) => {
    const value = first(input, frame)
    const other = second?.(input, frame)
    if (!fitsAsScalar(value, firstType) || !fitsAsScalar(other, secondType))
      return callWith(second === undefined ? [value] : [value, other], input, frame)
    try {
      return second === undefined ? call.call(frame, value) : call.call(frame, value, other)
    } catch (error) {
      throw locateFault(error, position, name)
    }
  }
}

function fitsAsScalar(value: unknown, type: CoreFunction['types'][number]): boolean {
  return typeof value === type || (type === 'any' && typeof value !== 'object')
}

function count(values: unknown): number {
  if (values === undefined) return 0
  return Array.isArray(values) ? values.length : 1
}

function extreme(values: readonly number[] | undefined, better: typeof Math.max): number | undefined {
  if (values === undefined || values.length === 0) return undefined
  return values.reduce((best, value) => better(best, value))
}

function string(value: unknown): string | undefined {
  return value === undefined ? undefined : writeText(value)
}

const halfCharacter = /[\ud800-\udfff]/

function length(this: Frame, text: string | undefined): unknown {
  if (text === undefined) return undefined
  return halfCharacter.test(text) ? libraryDefinition('length').implementation.call(this, text) : text.length
}

/** Cuts by characters, because some characters have two UTF-16 units. */
function substring(this: Frame, text: string | undefined, start: number, size?: number): unknown {
  if (text === undefined || halfCharacter.test(text))
    return libraryDefinition('substring').implementation.call(this, text, start, size)
  const from = text.length + start < 0 ? 0 : start
  if (size === undefined) return text.slice(from)
  if (size <= 0) return ''
  return text.slice(from, from >= 0 ? from + size : text.length + from + size)
}

function contains(text: string | undefined, part: string | undefined): boolean | undefined {
  return text === undefined || part === undefined ? undefined : text.includes(part)
}

function split(text: string | undefined, separator: string, limit?: number): readonly string[] | undefined {
  if (text === undefined) return undefined
  if (limit !== undefined && limit < 0) throw { code: 'D3020', value: limit, index: 3 }
  return limit === undefined || limit > 0 ? text.split(separator, limit) : []
}

function replace(text: string | undefined, part: string, by: string, limit = Infinity): string | undefined {
  if (text === undefined) return undefined
  if (part === '') throw { code: 'D3010', value: part, index: 2 }
  if (limit < 0) throw { code: 'D3011', value: limit, index: 4 }
  const pieces: string[] = []
  let from = 0
  for (let count = 0; count < limit; count++) {
    const at = text.indexOf(part, from)
    if (at === -1) break
    pieces.push(text.slice(from, at), by)
    from = at + part.length
  }
  return pieces.join('') + text.slice(from)
}
