/** Owns how a source of events is told: how it fares, in a few lines. */

import type { SourceState } from '../../sources/index.ts'
import { shortTime } from '../table.ts'

const states: Readonly<Record<SourceState['state'], string>> = {
  starting: 'starting',
  working: 'working',
  failing: 'failing',
  waiting: 'waits for somebody',
  'held-elsewhere': 'held by another process',
  stopped: 'stopped',
}

/** The state, what the source says of it, its times, and what it counted; what there is none of has no line. */
export function sourceLines(
  { state, since, detail, times = {}, counts = {} }: SourceState,
  now: number,
): string[] {
  return [
    `${states[state]} since ${shortTime(since, now)}`,
    detail,
    Object.entries(times)
      .map(([name, at]) => `${words(name)} ${shortTime(at, now)}`)
      .join(', '),
    Object.entries(counts)
      .map(([name, count]) => `${count.toLocaleString('en')} ${words(name)}`)
      .join(', '),
  ].filter(Boolean)
}

/** `watchEnds` as people say it. */
function words(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
}
