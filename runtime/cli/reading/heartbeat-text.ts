/** Writes the state of the main session in one line. */

import type { HeartbeatState } from '../../dispatch/index.ts'
import { counted } from '../counted.ts'
import { shortTime } from '../table.ts'

export function heartbeatText({ state, failures, since, nextAt, code }: HeartbeatState, now: number): string {
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
