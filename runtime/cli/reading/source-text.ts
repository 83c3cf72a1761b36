/** Writes the state of a source of events in a few lines. */

import { printable } from '../../observe/printable.ts'
import { wrapWords } from '../../observe/wrap-words.ts'
import type { SourceState } from '../../sources/index.ts'
import type { Io } from '../io.ts'
import { shortTime } from '../table.ts'

const states: Readonly<Record<SourceState['state'], string>> = {
  starting: 'starting',
  working: 'working',
  failing: 'failing',
  waiting: 'waits for an operator',
  'held-elsewhere': 'held by another process',
  stopped: 'stopped',
}

/** The lines are indented below the source's name, which is below `sources`. */
const indent = 4

/**
 * The state, what the source says about it, its times, and its counts; what is empty has no line. Lines are broken to the
 * terminal's width and never cut, since they say what to do.
 */
export function sourceLines(
  { state, since, detail, times = {}, counts = {} }: SourceState,
  io: Pick<Io, 'now' | 'columns'>,
): string[] {
  const now = io.now()
  const room = (io.columns ?? Number.POSITIVE_INFINITY) - indent
  const lines = [
    `${states[state]} since ${shortTime(since, now)}`,
    detail,
    Object.entries(times)
      .map(([name, at]) => `${words(name)} ${shortTime(at, now)}`)
      .join(', '),
    Object.entries(counts)
      .map(([name, count]) => `${count.toLocaleString('en')} ${words(name)}`)
      .join(', '),
  ]
  return lines.filter(Boolean).flatMap((line) => wrapWords(printable(line), room))
}

/** `watchEnds` in plain words: `watch ends`. */
function words(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
}
