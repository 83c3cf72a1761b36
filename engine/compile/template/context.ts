/** Knows at load which value of the request a name in a template means, as far as that can be known without running it. */

import { reservedReader, type ScopeNames } from '../../resolve/model/scope.ts'
import { anyStep, type Reference } from './reference.ts'

export type Target = Pick<Reference, 'root' | 'steps'>

/** Where a name is looked up: at the root, in a value of the request, or in one that cannot be known. */
export type Context = 'root' | 'unknown' | Target

/** A place in a template. */
export interface Place {
  readonly context: Context
  /** The contexts that `../` leads to. */
  readonly outer: readonly Context[]
  /** The surrounding blocks that open a level, innermost first. */
  readonly levels: readonly ('each' | 'with')[]
  /** The block parameters; inner ones take precedence. */
  readonly parameters: ReadonlyMap<string, Context>
  /** Targets that the conditions of the surrounding blocks test. */
  readonly guards: readonly Target[]
}

export const rootPlace: Place = {
  context: 'root',
  outer: [],
  levels: [],
  parameters: new Map(),
  guards: [],
}

/** Returns the place inside a block over `subject`. */
export function insideBlock(
  place: Place,
  block: 'each' | 'with',
  subject: Context,
  names: readonly string[],
): Place {
  // A pass over a list is any of its elements, and over an object any of its values.
  const isPass = block === 'each' && subject !== 'unknown'
  const context = isPass ? (subject === 'root' ? 'unknown' : below(subject, [anyStep])) : subject
  const [value, key] = names
  const parameters = new Map(place.parameters)
  if (value !== undefined) parameters.set(value, context)
  if (key !== undefined) parameters.set(key, 'unknown')
  // `{{#with this}}` opens no level, and what is unknown may be that too.
  const isLevel = context !== 'unknown' && JSON.stringify(context) !== JSON.stringify(place.context)
  const outer: readonly Context[] = isLevel ? [place.context, ...place.outer] : ['unknown']
  return { ...place, context, outer, parameters, levels: [block, ...place.levels] }
}

export function below(context: Context, steps: readonly string[], names?: ScopeNames): Context {
  if (context === 'unknown') return 'unknown'
  if (context !== 'root') return { root: context.root, steps: [...context.steps, ...steps] }
  const [first, ...rest] = steps
  if (first === undefined) return 'root'
  return reservedReader(first, names) ? { root: first, steps: rest } : { root: 'payload', steps }
}

export function isBelow({ root, steps }: Target, guard: Target): boolean {
  return root === guard.root && guard.steps.every((step, index) => steps[index] === step)
}
