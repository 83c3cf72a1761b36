/** Closes what a test has opened, the last first, because it may depend on the others. */

import type { TestContext } from 'node:test'

const tidied = new WeakMap<TestContext, (() => unknown)[]>()

/** `TestContext.after` runs its hooks in the order in which they were added, and stops at the first that fails. */
export function atEnd(t: TestContext, tidy: () => unknown): void {
  const known = tidied.get(t)
  if (known) {
    known.push(tidy)
    return
  }
  const steps = [tidy]
  tidied.set(t, steps)
  t.after(async () => {
    const errors: unknown[] = []
    for (const step of steps.toReversed()) {
      try {
        await step()
      } catch (error) {
        errors.push(error)
      }
    }
    if (errors.length > 0) throw new AggregateError(errors, 'not everything could be tidied up')
  })
}
