/** Owns how a source fares, as it is shown, and the one line of the log for each change of it. */

import { numberOf, oneLine, recordOf, type SourceReport, textOf } from '@reveille/kit'
import type { Logger } from 'pino'

export interface SourceState {
  /** The source's name. */
  readonly source: string
  /**
   * `starting`: it runs and has said nothing yet. `held-elsewhere`: another process runs it on the same data folder.
   * `failing` is what it says of itself, or that its run ended and is begun again. `stopped`: it ends, or has ended.
   */
  readonly state: 'starting' | SourceReport['state'] | 'held-elsewhere' | 'stopped'
  /** A sentence for the operator. */
  readonly detail: string
  /** When it came to be in this state, in milliseconds since the Unix epoch. */
  readonly since: number
  /** Milliseconds since the Unix epoch, by what happens then. Of the last report. */
  readonly times?: Readonly<Record<string, number>>
  /** Numbers by what they count. Of the last report. */
  readonly counts?: Readonly<Record<string, number>>
}

/** Of a report. Characters. */
const longestDetail = 500
const mostFacts = 20
const states: readonly unknown[] = ['working', 'failing', 'waiting'] satisfies SourceReport['state'][]
/** What a date can be. Milliseconds from the Unix epoch, either way: https://tc39.es/ecma262/#sec-time-values-and-time-range */
const farthest = 8.64e15

/** What a plugin reports is no more than promised: undefined where nothing can be made of it. */
export function readReport(told: unknown): SourceReport | undefined {
  const { state, detail, times, counts } = recordOf(told) ?? {}
  if (!states.includes(state)) return undefined
  return {
    state: state as SourceReport['state'],
    detail: oneLine(textOf(detail) ?? '', longestDetail),
    ...(times !== undefined && { times: readNumbers(times, (time) => Math.abs(time) <= farthest) }),
    ...(counts !== undefined && { counts: readNumbers(counts, () => true) }),
  }
}

function readNumbers(told: unknown, isGood: (value: number) => boolean): Record<string, number> {
  const numbers = Object.entries(recordOf(told) ?? {}).flatMap(([name, told]) => {
    const value = numberOf(told)
    return /^[a-zA-Z]\w{0,40}$/.test(name) && value !== undefined && isGood(value) ? [[name, value]] : []
  })
  return Object.fromEntries(numbers.slice(0, mostFacts))
}

const events: Readonly<Record<SourceState['state'], string>> = {
  starting: 'source-started',
  working: 'source-working',
  failing: 'source-failed',
  waiting: 'source-waiting',
  'held-elsewhere': 'source-held-elsewhere',
  stopped: 'source-stopped',
}

const warned: readonly string[] = ['failing', 'waiting', 'held-elsewhere'] satisfies SourceState['state'][]

/** Times as people and machines read them. */
export function logState(
  log: Logger,
  { source, state, detail, times = {}, counts }: SourceState,
  facts: Readonly<Record<string, unknown>> = {},
): void {
  const dates = Object.entries(times).map(([name, time]) => [name, new Date(time).toISOString()])
  log[warned.includes(state) ? 'warn' : 'info']({
    event: events[state],
    source,
    ...(detail !== '' && { detail }),
    ...(dates.length > 0 && { times: Object.fromEntries(dates) }),
    ...(counts && { counts }),
    ...facts,
  })
}
