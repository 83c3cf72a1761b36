/** Owns how much of the log a source may fill that fares well and badly by turns: some changes are told, the others counted. */

import type { Logger } from 'pino'
import { logState, type SourceState } from './state.ts'

export interface StateLines {
  /**
   * Told where it is another state than the one that was told last, or something else that somebody has to do; with
   * `facts`, in any case.
   */
  tell(state: SourceState, facts?: Readonly<Record<string, unknown>>): void
}

const spanMs = 600_000
/** Of what a source reports, within a span. */
const mostLines = 6

/** What is left out is told with the next report after the span, where it still is so then. */
export function createStateLines(log: Logger, now: () => number, initial: SourceState['state']): StateLines {
  let told: string = initial
  let beganAt = now()
  let lines = 0
  let untold = 0
  let last: string = initial

  function hasRoom(): boolean {
    const age = now() - beganAt
    if (age < 0 || age >= spanMs) {
      beganAt = now()
      lines = 0
    }
    lines += 1
    return lines <= mostLines
  }

  return {
    tell(state, facts) {
      const news = newsOf(state)
      const isChange = news !== last
      last = news
      if (facts === undefined && (news === told || !hasRoom())) {
        if (isChange) untold += 1
        return
      }
      logState(log, state, { ...(untold > 0 && { untold }), ...facts })
      told = news
      untold = 0
    },
  }
}

function newsOf({ state, detail }: SourceState): string {
  return state === 'waiting' ? `${state}: ${detail}` : state
}
