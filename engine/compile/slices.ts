/** Owns work in slices: a generator that pauses where it may be interrupted, run at once or with turns for all else. */

import { nextTurn } from '../resolve/turn.ts'

/** It pauses after each piece that may take a part of a millisecond. */
export type Work<Result> = Generator<void, Result, void>

/** How long the event loop is held at a time, in milliseconds; what others ask for is to fit in beside it. */
const sliceMs = 4

/** Runs to the end without a pause. */
export function finish<Result>(work: Work<Result>): Result {
  for (;;) {
    const step = work.next()
    if (step.done === true) return step.value
  }
}

/** The first slice begins in a turn of its own. A piece that takes longer than a slice is not interrupted. */
export async function finishInSlices<Result>(work: Work<Result>): Promise<Result> {
  for (;;) {
    await nextTurn()
    const end = performance.now() + sliceMs
    do {
      const step = work.next()
      if (step.done === true) return step.value
    } while (performance.now() < end)
  }
}

/** Of pieces that take a few microseconds each, so many go between two pauses. */
export const smallPieces = 64
