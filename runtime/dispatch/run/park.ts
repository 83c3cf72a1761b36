/** Owns parking: a run that a guard holds back waits for somebody's decision, and one event says why. */

import type { Effects, RunError, RunRecord, Settlement, Work } from '../../store/port.ts'
import type { Exhausted } from '../budget.ts'
import { type Changed, changesOf, names } from '../changes.ts'
import type { PerformerOptions } from '../options.ts'
import { heartbeatFor, ownEvent } from '../posting.ts'
import { isComposed } from './coalesced.ts'

export interface Parking {
  /** Undefined where there are not too many runs of its coalesce key. */
  loop(parked: Held, work: Work): Settlement | undefined
  spent(parked: Held, exhausted: Exhausted): Settlement
}

export interface Held extends Changed {
  readonly at: number
  readonly spend?: Effects['spend']
}

const hourMs = 3_600_000
/** Keys whose loops are remembered to have been told; the longest known is forgotten first. */
const mostTold = 1000

export function createParking(options: PerformerOptions): Parking {
  const { log, mintId } = options
  /** Coalesce key -> when its loop was told. */
  const told = new Map<string, number>()

  /** One event an hour for each key, since a loop goes on: the runs themselves say the rest. */
  function isNews(key: string, at: number): boolean {
    const before = told.get(key)
    if (before !== undefined && at - before < hourMs) return false
    told.delete(key)
    if (told.size >= mostTold) told.delete(told.keys().next().value ?? '')
    told.set(key, at)
    return true
  }

  function park({ found, run, at, spend }: Held, error: RunError, text: string | undefined): Settlement {
    log.warn({ event: 'run-parked', ...names(run), code: error.code, reason: error.message }, 'run parked')
    // Once resumed it has all its time again.
    const parked = { ...run, state: 'parked', stage: 'accepted', startedAt: undefined } as const
    const events = text === undefined ? [] : [ownEvent(run, text, { id: mintId(), at })]
    return {
      effects: {
        run: { ...changesOf({ found, run: parked }), error },
        spend,
        events,
        tasks: events.flatMap((event) => heartbeatFor(event, options)),
      },
      done: true,
    }
  }

  return {
    /** Looked at when the run is claimed first: resumed, it is performed. */
    loop(held, { ofKey = 0 }) {
      const { coalesce } = held.found
      if (!coalesce || isComposed(held.found) || ofKey <= coalesce.mostPerHour) return undefined
      const message = `more than ${coalesce.mostPerHour} runs of one coalesce key were accepted within an hour`
      const error = { code: 'LOOP', message, retryable: true } as const
      const where = held.run.mapping === undefined ? '' : ` in the mapping "${held.run.mapping}"`
      const text = `A loop is suspected${where}: ${message}. ${wayOut(held.run, error.code)}`
      return park(held, error, isNews(coalesce.key, held.at) ? text : undefined)
    },
    spent(held, { what, day, telling }) {
      const message = `${what} is spent for ${day} (UTC)`
      const error = { code: 'BUDGET', message, retryable: true } as const
      const text = `No more runs are performed: ${message}. ${wayOut(held.run, error.code)}`
      const spend = telling ? { ...telling, runs: telling.runs + (held.spend?.runs ?? 0) } : held.spend
      return park({ ...held, spend }, error, telling ? text : undefined)
    },
  }
}

/** A run that is resumed too early is parked anew by a spent budget, but not by the loop guard. */
function wayOut({ id }: RunRecord, code: 'LOOP' | 'BUDGET'): string {
  const parked = `The run ${id} and those after it are parked`
  const end = `"reveille cancel ${id}" ends it.`
  return code === 'LOOP'
    ? `${parked}; "reveille resume ${id}" performs it, ${end}`
    : `${parked}. Once the budget has room again, raised or on a new day (UTC), "reveille resume --all" performs them; ${end}`
}
