/** Owns looking into a payload: own fields only, lists whatever their nesting, and never more than the steps allow. */

import type { Steps } from '../../resolve/program.ts'

/** What was to be looked at is more than the steps allow. */
export class StepLimitError extends Error {
  constructor() {
    super('the payload holds too much to look at')
    this.name = 'StepLimitError'
  }
}

/** @throws StepLimitError */
export function spend(steps: Steps, count: number): void {
  steps.spent += count
  if (steps.spent > steps.limit) throw new StepLimitError()
}

/** An element is one step. */
export const stepsOfField = 2

/** Elements that are paid for at once. */
const batch = 256

/**
 * Whether `holds` says so of any element that is no list itself. Lists in lists are kept on a list of their own: a
 * payload may nest deeper than the stack is.
 * @throws StepLimitError
 */
export function anyElement(
  list: readonly unknown[],
  holds: (element: unknown, steps: Steps) => boolean,
  steps: Steps,
): boolean {
  let nested: (readonly unknown[])[] | undefined
  for (let current: readonly unknown[] | undefined = list; current !== undefined; current = nested?.pop()) {
    const { length } = current
    // Of a list in a list also when it is empty: there may be many.
    if (length === 0) spend(steps, 1)
    for (let at = 0; at < length; at++) {
      if (at % batch === 0) spend(steps, Math.min(batch, length - at))
      const element = current[at]
      if (Array.isArray(element)) {
        nested ??= []
        nested.push(element)
      } else if (holds(element, steps)) return true
    }
  }
  return false
}

/** The field of an object; nothing where there is no object, or no such field of its own. */
export function fieldOf(value: unknown, key: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined
  return (value as Readonly<Record<string, unknown>>)[key]
}
