/** Parks runs: a run that a guard stops waits for an operator's decision, and one event says why. */

import { BoundedMap } from '@reveille/kit'
import { ownEvent } from '../../session/summary.ts'
import type { Effects, RunError, RunRecord, Settlement, Work } from '../../store/port.ts'
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

const dayMs = 86_400_000
/** How many keys of reported loops are remembered. The oldest is dropped first. */
const mostReported = 1000

export function createParking(options: PerformerOptions) {
  const { log, mintId } = options
  /** When the loop of each coalesce key was reported last. */
  const reported = new BoundedMap<string, number>(mostReported)

  /** A loop goes on, so there is one event a day for each key. The parked runs and the open issue show the rest. */
  function isDueForReport(key: string, at: number): boolean {
    const before = reported.get(key)
    if (before !== undefined && at - before < dayMs) return false
    reported.delete(key)
    reported.set(key, at)
    return true
  }

  function park(
    { claimedRun, run, at, spend }: ParkedRun,
    error: RunError,
    text: string | undefined,
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
      if (!coalesce || isComposed(held.claimedRun) || ofKey <= coalesce.mostPerHour) return undefined
      const message = `more than ${coalesce.mostPerHour} runs of one coalesce key were accepted within an hour`
      const error = { code: 'LOOP', message, retryable: true } as const
      const where = held.run.mapping === undefined ? '' : ` in the mapping "${held.run.mapping}"`
      const text = `A loop is suspected${where}: ${message}. ${wayOut(held.run, error.code)}`
      return park(held, error, isDueForReport(coalesce.key, held.at) ? text : undefined)
    },
    /** Parks a run whose budget is spent. */
    spent(held: ParkedRun, { what, key, day, report }: Exhausted): Settlement {
      const message = `${what} is spent for ${day} (UTC)`
      const error = { code: 'BUDGET', message, retryable: true } as const
      const text = `No more runs are performed: ${message}. ${wayOut(held.run, error.code)}`
      const spend = report ? { ...report, runs: report.runs + (held.spend?.runs ?? 0) } : held.spend
      return park({ ...held, spend }, error, report ? text : undefined, key)
    },
    /** Parks a run whose cost a budget in USD could not count. */
    unpriced(held: ParkedRun, why: string): Settlement {
      const error = { code: 'NO_PRICE', message: why, retryable: true } as const
      const text = `A run is parked: ${why}. "reveille resume ${held.run.id}" performs it once that is mended.`
      return park(held, error, isDueForReport(`unpriced ${why}`, held.at) ? text : undefined)
    },
  }
}

/** A spent budget parks a run again that is resumed too early. The loop guard does not. */
function wayOut({ id }: RunRecord, code: 'LOOP' | 'BUDGET'): string {
  const parked = `The run ${id} and those after it are parked`
  const end = `"reveille cancel ${id}" ends it.`
  return code === 'LOOP'
    ? `${parked}; "reveille resume ${id}" performs it, ${end}`
    : `${parked}. Once the budget has room again, raised or on a new day (UTC), "reveille resume --all" performs them; ${end}`
}
