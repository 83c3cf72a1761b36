/** Owns how the state of the main session is told in one line. */

import { counted } from '../counted.ts'
import { shortTime } from '../table.ts'

/** As the gateway answers it. Times are milliseconds since the Unix epoch. */
export interface Heartbeat {
  readonly state: 'idle' | 'running' | 'failing' | 'quiet' | 'budget'
  /** Turns in a row that failed. */
  readonly failures: number
  readonly since?: number
  readonly nextAt?: number
  readonly code?: string
}

export function heartbeatText({ state, failures, since, nextAt, code }: Heartbeat, now: number): string {
  const at = (word: string, time: number | undefined) =>
    time === undefined ? '' : ` ${word} ${shortTime(time, now)}`
  switch (state) {
    case 'running':
      return `running${at('since', since)}`
    case 'failing': {
      const why = [code, counted(failures, 'failure')].filter(Boolean).join(', ')
      return `failing${at('since', since)} (${why})${nextAt === undefined ? '' : `, tried again at ${shortTime(nextAt, now)}`}`
    }
    case 'quiet':
      return `quiet hours${at('until', nextAt)}`
    case 'budget':
      return `the budget of today is spent, it waits${at('until', nextAt)}`
    default:
      return `idle${nextAt === undefined ? '' : `, next heartbeat at ${shortTime(nextAt, now)}`}`
  }
}
