/** Owns how long matching goes on before everything else has a turn. */

import type { Steps } from './program.ts'

/** Some 10 ms. */
const stepsOfTurn = 400_000
/** What the test of one mapping may cost: some 25 ms. */
const stepsOfMapping = 1_000_000

export interface Turns {
  /** The steps of the next mapping, which may go on to its own limit. */
  readonly begin: () => Steps
  readonly isOver: () => boolean
  /** Resolves when everything else has had a turn. */
  readonly next: () => Promise<void>
}

/** `spent`: what this turn has already cost. */
export function createTurns(spent = 0): Turns {
  const steps: Steps = { spent, limit: 0 }
  let end = stepsOfTurn
  return {
    begin: () => {
      steps.limit = steps.spent + stepsOfMapping
      return steps
    },
    isOver: () => steps.spent >= end,
    next: async () => {
      await new Promise(setImmediate)
      end = steps.spent + stepsOfTurn
    },
  }
}
