/** Owns how a dry run is told to a person: what would go live, and which stored requests would end otherwise. */

import type { Shadow } from '@reveille/engine'
import { printable } from '../../observe/printable.ts'
import type { DryRunResult } from '../../reload/dry-run.ts'
import { counted } from '../counted.ts'
import type { Io } from '../io.ts'
import { formatTable, shortId, shortTime } from '../table.ts'
import { servesOn, tellAnswer } from './reload-answer.ts'

/** Of the differences; `--json` has all. */
const shownRequests = 20

/** @returns the exit code: 1 for a candidate that would be refused */
export function tellDryRun(answer: DryRunResult, json: boolean, io: Io): number {
  const { reload, shadow } = answer
  if (json) {
    io.out(`${JSON.stringify(answer, null, 2)}\n`)
    return reload.ok ? 0 : 1
  }
  const told = {
    live: `This would go live; ${servesOn(reload)}:`,
    unchanged: `Nothing would change: ${servesOn(reload)}.`,
    refused: 'This would be refused',
  }
  const code = tellAnswer(reload, told, io)
  if (shadow) io.out(`\n${shadowText(shadow, io)}`)
  return code
}

function shadowText({ compared, summary, differences }: Shadow, io: Io): string {
  if (compared === 0)
    return 'No stored request has its body kept, so none was compared; history.bodies decides.\n'
  const looked = `Of ${counted(compared, 'stored request')}`
  if (differences.length === 0) return `${looked} none would end otherwise.\n`
  const rows = differences
    .slice(0, shownRequests)
    .map(({ id, endpoint, receivedAt, change }) => [
      shortTime(receivedAt, io.now()),
      shortId(id),
      endpoint,
      change,
    ])
  const more = differences.length - rows.length
  return [
    `${looked} ${differences.length} would end otherwise:\n`,
    ...summary.map((line) => `  ${printable(line)}\n`),
    '\n',
    formatTable(['TIME', 'ID', 'ENDPOINT', 'CHANGE'], rows, io.columns),
    more > 0 ? `${more} more; --json has them all.\n` : '',
  ].join('')
}
