/** Evaluates the steps of a path and their filters by the library's rules of flattening. */

import type { Evaluate, Frame } from './frame.ts'
import { BeyondCoreError, createSequence, fieldOf, isTrue, type Sequence, unwrapSequence } from './values.ts'

/** The content of `[…]`: literal positions, or a condition on each element. */
export type Filter =
  | { readonly kind: 'position'; readonly position: number }
  | { readonly kind: 'positions'; readonly positions: readonly number[] }
  | { readonly kind: 'condition'; readonly evaluate: Evaluate }

export interface Step {
  readonly evaluate: Evaluate
  /** Absent if the step is more than a name. */
  readonly name: string | undefined
  readonly filters: readonly Filter[]
}

export interface Path {
  readonly steps: readonly [Step, ...Step[]]
  /** A variable, or a literal list, is evaluated once even if the input is a list. */
  readonly beginsWith: 'variable' | 'list' | 'other'
  readonly keepArray: boolean
}

export function createPath(path: Path): Evaluate {
  const begin = path.beginsWith === 'variable' ? path.steps[0].evaluate : undefined
  const steps = begin === undefined ? path.steps : path.steps.slice(1)
  const names = steps.flatMap(({ name }) => (name === undefined ? [] : [name]))
  const isPlain = !path.keepArray && path.steps.every(({ filters }) => filters.length === 0)
  if (!isPlain || names.length < steps.length) return (input, frame) => walk(path, input, frame)
  // Most paths lead from object to object, so that there is nothing to flatten.
  return (input, frame) => {
    let value = begin === undefined ? input : begin(input, frame)
    if (Array.isArray(value)) return walk(path, input, frame)
    const last = names.length - 1
    for (let at = 0; at <= last; at++) {
      if (typeof value !== 'object' || value === null) return undefined
      value = fieldOf(value, names[at] as string)
      if (at < last && Array.isArray(value)) return walk(path, input, frame)
    }
    return value
  }
}

function walk(path: Path, input: unknown, frame: Frame): unknown {
  const { steps, beginsWith, keepArray } = path
  let items: Sequence = Array.isArray(input) && beginsWith !== 'variable' ? input : createSequence(input)
  for (const [at, step] of steps.entries()) {
    items =
      at === 0 && beginsWith === 'list'
        ? (step.evaluate(items, frame) as Sequence)
        : takeStep(step, items, at === steps.length - 1, frame)
    if (items.length === 0) break
  }
  if (keepArray && items.cons === true && items.sequence !== true) items = createSequence(items)
  return unwrapSequence(items, keepArray)
}

function takeStep(step: Step, items: readonly unknown[], isLast: boolean, frame: Frame): Sequence {
  const results: unknown[] = []
  for (const item of items) {
    let result = step.evaluate(item, frame)
    for (const filter of step.filters) result = applyFilter(filter, result, frame)
    if (result !== undefined) results.push(result)
  }
  const [only] = results
  if (isLast && results.length === 1 && Array.isArray(only) && (only as Sequence).sequence !== true)
    return only
  const flat = createSequence()
  for (const result of results) {
    if (!Array.isArray(result) || (result as Sequence).cons === true) flat.push(result)
    else for (const element of result) flat.push(element)
  }
  return flat
}

export function applyFilter(filter: Filter, input: unknown, frame: Frame): readonly unknown[] {
  const items: readonly unknown[] = Array.isArray(input) ? input : [input]
  if (filter.kind === 'position') {
    const item = items.at(filter.position)
    if (item === undefined) return createSequence()
    return Array.isArray(item) ? item : createSequence(item)
  }
  const kept = createSequence()
  const wanted = filter.kind === 'positions' ? distinct(placesOf(filter.positions, items.length)) : undefined
  for (const [index, item] of items.entries()) {
    const isKept =
      filter.kind === 'positions' ? wanted?.has(index) === true : isWanted(filter.evaluate(item, frame))
    if (isKept) kept.push(item)
  }
  return kept
}

/** A number would be a position. Any other result of a condition counts as true or false. */
function isWanted(answer: unknown): boolean {
  if (typeof answer === 'boolean') return answer
  if (
    typeof answer === 'number' ||
    (Array.isArray(answer) && answer.every((each) => typeof each === 'number'))
  )
    throw new BeyondCoreError('a condition gives positions')
  return isTrue(answer)
}

function distinct(places: readonly number[]): ReadonlySet<number> {
  const set = new Set(places)
  if (set.size < places.length) throw chosenTwice()
  return set
}

/** If an element were chosen several times, the result could hold more than the payload. */
function chosenTwice(): BeyondCoreError {
  return new BeyondCoreError('an element is chosen more than once')
}

/** Negative positions count from the end. */
function placesOf(positions: readonly number[], length: number): readonly number[] {
  return positions.map((position) => {
    const place = Math.floor(position)
    return place < 0 ? length + place : place
  })
}
