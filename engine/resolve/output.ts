/** Owns what a template renders into: segments, counted as they come. */

import type { LiteralSegment, Segment } from '../boundary/segment.ts'
import { takeTurn } from '../turn.ts'
import { isExactNumber, isInexact, mayHoldInexact } from './exact-numbers.ts'
import { indentedLength } from './indented-length.ts'
import { isLarge, printInTurns } from './json/print.ts'
import { RefusalError } from './refusal.ts'

/** What a request may still render, in UTF-8 bytes. One for all fields of all actions. */
export interface Meter {
  readonly limit: number
  left: number
  /** Characters that may still be made on the way and thrown away again. */
  work: number
  /** What may still be made before the clock is looked at. */
  untilRest: number
  /** By value and recipe. No more than `work` pays for. */
  readonly made: Map<unknown, Map<string, MadeText>>
  /** Characters that the boundary may still add for naming values. */
  names: number
}

export interface Output {
  readonly segments: Segment[]
  readonly meter: Meter
  /** Whether large integers are exact already. */
  readonly exact: boolean
  readonly strict: Strictness
}

/** Which values are refused instead of being rendered as nothing: absent and null ones, or blank ones as well. */
export type Strictness = false | 'absent' | 'blank'

/** Thrown where a rounded integer would be rendered; the action is then rendered again from exact numbers. */
export class InexactNumberError extends Error {}

/** Thrown where a long text is to be made, which takes turns; whoever needed it tries again when it is made. */
export class UnmadeTextError extends Error {
  /** What it is made of, and how; the same two give the same text. */
  readonly value: unknown
  readonly recipe: string
  readonly make: () => Promise<MadeText>

  constructor(value: unknown, recipe: string, make: () => Promise<MadeText>) {
    super('a long text is not made yet')
    this.value = value
    this.recipe = recipe
    this.make = make
  }
}

interface MadeText {
  readonly text: string
  readonly mayBeInexact: boolean
}

/** What is made between two looks at the clock, in characters: a fraction of a millisecond. */
const betweenRests = 32_768
/** A step that makes none takes as long as so many. */
const stepCost = 32

/** Some hundred milliseconds of printing, with turns between: enough for any template that is not a loop of loops. */
const mostWork = 8 * 1024 * 1024

/** A lower limit on what is rendered is no reason to refuse a message of a few values. */
const leastNames = 16_384

export function createMeter(limit: number): Meter {
  return {
    limit,
    left: limit,
    work: mostWork,
    untilRest: betweenRests,
    made: new Map(),
    names: Math.max(limit, leastNames),
  }
}

export function createOutput(meter: Meter, options: { exact: boolean; strict: Strictness }): Output {
  return { segments: [], meter, ...options }
}

/** @throws RefusalError `TOO_LARGE_RENDERED` */
export function spend(meter: Meter, bytes: number): void {
  meter.left -= bytes
  meter.untilRest -= bytes
  if (meter.left >= 0) return
  throw new RefusalError(
    'TOO_LARGE_RENDERED',
    `the request renders to more than ${meter.limit} bytes (maxRenderedBytes, of its endpoint or of hooks)`,
  )
}

/**
 * Counts text that a helper makes, whether or not it is rendered in the end.
 * @throws RefusalError `TOO_LARGE_RENDERED`
 */
export function spendWork(meter: Meter, characters: number): void {
  meter.work -= characters
  meter.untilRest -= characters
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
    `so many values of the payload stand in it that their names would take more than ${meter.limit} bytes (maxRenderedBytes, of its endpoint or of hooks)`,
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

/** Thrown in strict rendering; the field that is rendered knows which refusal that makes. */
export class AbsentValueError extends Error {
  readonly path: string
  /** It is there, but blank. */
  readonly isBlank: boolean

  constructor(path: string, isBlank = false) {
    super(`${path} is ${isBlank ? 'blank' : 'absent'}`)
    this.path = path
    this.isBlank = isBlank
  }
}

/** A value as text: an absent or null one as nothing, an object as compact JSON, a large integer with all its digits. */
export function textOf(value: unknown, output: Output): string {
  switch (typeof value) {
    case 'string':
      return value
    case 'number':
      if (!output.exact && isInexact(value)) throw new InexactNumberError()
      return String(value)
    case 'boolean':
      return value ? 'true' : 'false'
    case 'object':
      return value === null ? '' : isExactNumber(value) ? value.rawJSON : jsonOf(value, output)
    default:
      return ''
  }
}

/**
 * A value as compact JSON, or indented.
 * @throws UnmadeTextError for a large value
 */
export function jsonOf(value: unknown, output: Output, indent = 0): string {
  const { meter, exact } = output
  if (!exact && isInexact(value)) throw new InexactNumberError()
  if (isLarge(value)) return madeText(value, `json ${indent}`, output, () => printLarge(value, indent, meter))
  const json = printSmall(value, meter, indent)
  if (!exact && mayHoldInexact(json)) throw new InexactNumberError()
  return json
}

/** @throws UnmadeTextError where it is not made yet */
export function madeText(
  value: unknown,
  recipe: string,
  { meter, exact }: Output,
  make: () => Promise<MadeText>,
): string {
  const made = meter.made.get(value)?.get(recipe)
  if (made === undefined) throw new UnmadeTextError(value, recipe, make)
  spendWork(meter, made.text.length)
  if (!exact && made.mayBeInexact) throw new InexactNumberError()
  return made.text
}

function printSmall(value: unknown, meter: Meter, indent: number): string {
  const json = JSON.stringify(value) ?? ''
  if (indent === 0) {
    spendWork(meter, json.length)
    return json
  }
  spendWork(meter, indentedLength(json, indent, meter.work))
  return JSON.stringify(value, undefined, indent) ?? ''
}

async function printLarge(value: unknown, indent: number, meter: Meter): Promise<MadeText> {
  const text = await printInTurns(value, indent, (characters) => spendWork(meter, characters))
  await takeTurn()
  return { text, mayBeInexact: mayHoldInexact(text) }
}

/** What `run` gives, once every long text that it needs is made. A promise only where one is. */
export function whenMade<Result>(
  meter: Meter,
  run: () => Result | Promise<Result>,
): Result | Promise<Result> {
  try {
    return run()
  } catch (error) {
    if (!(error instanceof UnmadeTextError)) throw error
    const { value, recipe, make } = error
    return make().then((made) => {
      const known = meter.made.get(value) ?? new Map<string, MadeText>()
      meter.made.set(value, known.set(recipe, made))
      return whenMade(meter, run)
    })
  }
}

/** Nothing while there is time left; else what resolves when everything else has had a turn. Asked between steps. */
export function rest({ meter }: Output): Promise<void> | undefined {
  meter.untilRest -= stepCost
  if (meter.untilRest >= 0) return undefined
  meter.untilRest = betweenRests
  return takeTurn()
}
