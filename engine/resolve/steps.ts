/** Owns counting what matching costs: how far one mapping may go, and when everything else is to have a turn. */

import { nextTurn, takeTurn } from '../turn.ts'
import type { Steps } from './program.ts'

/** What the test of one mapping may cost: some 20 ms. */
const stepsOfMapping = 1_600_000
/** The clock is asked after so many: some 2 ms. */
const stepsBetweenLooks = 200_000

interface StepCounter {
  /** The steps of the next mapping, which may go on to its own limit. */
  readonly begin: () => Steps
  /** Nothing while there is time left; else what resolves when everything else has had a turn. */
  readonly rest: () => Promise<void> | undefined
}

/** `spent`: what has been counted elsewhere in this turn, where nobody looked at the clock. */
export function createStepCounter(spent = 0): StepCounter {
  const steps: Steps = { spent, limit: 0 }
  let nextLook = stepsBetweenLooks
  let isDue = spent > stepsBetweenLooks
  return {
    begin: () => {
      steps.limit = steps.spent + stepsOfMapping
      return steps
    },
    rest: () => {
      if (steps.spent < nextLook) return undefined
      nextLook = steps.spent + stepsBetweenLooks
      if (!isDue) return takeTurn()
      isDue = false
      return nextTurn()
    },
  }
}
