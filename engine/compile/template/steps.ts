/** Owns running steps one after another, with a turn for everything else between them. */

import { type Output, rest, whenMade } from '../../resolve/output.ts'
import type { Step } from './frame.ts'

export function inOrder(steps: readonly Step[]): Step {
  const [only] = steps
  if (only !== undefined && steps.length === 1) return only
  return (frame, output) => forEachOf(steps.length, output, (index) => steps[index]?.(frame, output))
}

/** `run` for each index from 0; no promise is made where nothing has to wait. */
export function forEachOf(
  count: number,
  output: Output,
  run: (index: number) => void | Promise<void>,
  start = 0,
): void | Promise<void> {
  for (let index = start; index < count; index++) {
    const wait = run(index) ?? rest(output)
    if (wait !== undefined) return wait.then(() => forEachOf(count, output, run, index + 1))
  }
}

/** A step that reads values before it emits any: where a long text has to be made first, it is run again after that. */
export function withMaking(step: Step): Step {
  return (frame, output) => whenMade(output.meter, () => step(frame, output))
}
