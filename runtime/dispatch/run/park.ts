/** Parks runs: a run that a guard stops waits for an operator's decision. The observer says why, and one event a day that a budget is spent. */

import { ownEvent } from '../../session/summary.ts'
import type { Effects, RunError, Settlement, Work } from '../../store/port.ts'
import type { Exhausted } from '../budget.ts'
import { type Changed, changesOf, names } from '../changes.ts'
import type { BudgetKey } from '../options.ts'
import type { PerformerOptions } from '../performer-options.ts'
import { heartbeatFor } from '../posting.ts'
import { isComposed } from './coalesced.ts'

export interface ParkedRun extends Changed {
  readonly at: number
  readonly spend?: Effects['spend']
}

export function createParking(options: PerformerOptions) {
  const { log, mintId } = options

  function park(
    { claimedRun, run, at, spend }: ParkedRun,
    error: RunError,
    text?: string,
    budget?: BudgetKey,
  ): Settlement {
    options.observer?.runParked?.(run, error, budget)
    log.warn({ event: 'run-parked', ...names(run), code: error.code, reason: error.message }, 'run parked')
    // A resumed run has all of its time again.
    const parked = { ...run, state: 'parked', stage: 'accepted', startedAt: undefined } as const
    const events = text === undefined ? [] : [ownEvent(run, text, { id: mintId(), at })]
    return {
      effects: {
        run: { ...changesOf({ claimedRun, run: parked }), error },
        spend,
        events,
        tasks: events.flatMap((event) => heartbeatFor(event, options)),
      },
      done: true,
    }
  }

  return {
    /**
     * Parks a run if there are too many runs of its coalesce key, and returns undefined otherwise. It is checked at the first
     * claim only, so that a resumed run is performed.
     */
    loop(held: ParkedRun, { ofKey = 0 }: Work): Settlement | undefined {
      const { coalesce } = held.claimedRun
      if (!coalesce || isComposed(held.claimedRun) || ofKey <= coalesce.maxPerHour) return undefined
      const message = `more than ${coalesce.maxPerHour} runs of one coalesce key were accepted within an hour`
      return park(held, { code: 'LOOP', message, retryable: true })
    },
    /** Parks a run whose budget is spent. It is parked again if it is resumed too early, unlike one of a loop. */
    spent(held: ParkedRun, { what, key, day, report }: Exhausted): Settlement {
      const message = `${what} is spent for ${day} (UTC)`
      const error = { code: 'BUDGET', message, retryable: true } as const
      const { id } = held.run
      const text =
        `No more runs are performed: ${message}. The run ${id} and those after it are parked. Once the budget has room again, ` +
        `raised or on a new day (UTC), "reveille resume --all" performs them; "reveille cancel ${id}" ends it.`
      const spend = report ? { ...report, runs: report.runs + (held.spend?.runs ?? 0) } : held.spend
      return park({ ...held, spend }, error, report ? text : undefined, key)
    },
    /** Parks a run whose cost a budget in USD could not count. */
    unpriced(held: ParkedRun, why: string): Settlement {
      return park(held, { code: 'NO_PRICE', message: why, retryable: true })
    },
  }
}
