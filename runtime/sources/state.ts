/** Validates and logs the states that sources report. */

import { asNumber, asRecord, asString, oneLine, type SourceReport } from '@reveille/kit'
import type { Logger } from 'pino'

export interface SourceState {
  /** The source's name. */
  readonly source: string
  /**
   * `starting`: it runs and has reported nothing yet. `held-elsewhere`: another process runs it on the same data folder.
   * `failing`: it reports a failure, or its run ended and will be restarted. `stopped`: it is stopping or has stopped.
   */
  readonly state: 'starting' | SourceReport['state'] | 'held-elsewhere' | 'stopped'
  /** A sentence for the operator. */
  readonly detail: string
  /** When this state began, in milliseconds since the Unix epoch. */
  readonly since: number
  /** The times of the last report by their names, in milliseconds since the Unix epoch. */
  readonly times?: Readonly<Record<string, number>>
  /** The counts of the last report by their names. */
  readonly counts?: Readonly<Record<string, number>>
}

/** Maximum length of a detail of a report, in characters. */
const maxDetailLength = 500
const maxFacts = 20
const states: readonly unknown[] = ['working', 'failing', 'waiting'] satisfies SourceReport['state'][]
/** The greatest time that a `Date` can represent, in milliseconds since the Unix epoch: https://tc39.es/ecma262/#sec-time-values-and-time-range */
const maxTimeMs = 8.64e15

/** Validates a report, because a plugin may report anything. Undefined if its state is invalid. */
export function readReport(reported: unknown): SourceReport | undefined {
  const { state, detail, times, counts } = asRecord(reported) ?? {}
  if (!states.includes(state)) return undefined
  return {
    state: state as SourceReport['state'],
    detail: oneLine(asString(detail) ?? '', maxDetailLength),
    ...(times !== undefined && { times: readNumbers(times, (time) => Math.abs(time) <= maxTimeMs) }),
    ...(counts !== undefined && { counts: readNumbers(counts, () => true) }),
  }
}

function readNumbers(reported: unknown, isValid: (value: number) => boolean): Record<string, number> {
  const numbers = Object.entries(asRecord(reported) ?? {}).flatMap(([name, number]) => {
    const value = asNumber(number)
    return /^[a-zA-Z]\w{0,40}$/.test(name) && value !== undefined && isValid(value) ? [[name, value]] : []
  })
  return Object.fromEntries(numbers.slice(0, maxFacts))
}

const events: Readonly<Record<SourceState['state'], string>> = {
  starting: 'source-started',
  working: 'source-working',
  failing: 'source-failing',
  waiting: 'source-waiting',
  'held-elsewhere': 'source-held-elsewhere',
  stopped: 'source-stopped',
}

const warningStates: readonly string[] = [
  'failing',
  'waiting',
  'held-elsewhere',
] satisfies SourceState['state'][]

/** Writes the log line of a state, with times as ISO dates. */
export function logState(
  log: Logger,
  { source, state, detail, times = {}, counts }: SourceState,
  facts: Readonly<Record<string, unknown>> = {},
): void {
  const dates = Object.entries(times).map(([name, time]) => [name, new Date(time).toISOString()])
  log[warningStates.includes(state) ? 'warn' : 'info']({
    event: events[state],
    source,
    ...(detail !== '' && { detail }),
    ...(dates.length > 0 && { times: Object.fromEntries(dates) }),
    ...(counts && { counts }),
    ...facts,
  })
}

/** True if two states are logged apart: they differ, or they ask the operator for different things. */
export function areDifferent(one: StateText, other: StateText): boolean {
  return one.state !== other.state || (one.state === 'waiting' && one.detail !== other.detail)
}

type StateText = Pick<SourceState, 'state' | 'detail'>
