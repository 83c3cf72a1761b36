/** `reveille reload`: has a running gateway read its files again, or say what that would change. */

import type { ReloadResult, Shadow } from '@reveille/engine'
import { printable } from '../../observe/printable.ts'
import type { DryRunResult } from '../../reload/dry-run.ts'
import { CommandFailure } from '../command-failure.ts'
import { counted } from '../counted.ts'
import type { Io } from '../io.ts'
import { openAdmin } from '../reading/admin-client.ts'
import { formatTable, shortId, shortTime } from '../table.ts'
import { answers, reportReload, servesOn, tookText } from './reload-report.ts'

export interface ReloadOptions {
  readonly config?: string
  readonly dryRun?: boolean
  /** How many stored requests a dry run compares. */
  readonly limit?: string
  readonly json?: boolean
}

export async function reload(options: ReloadOptions, io: Io): Promise<number> {
  const { dryRun = false, limit, json = false } = options
  if (limit !== undefined && !dryRun) throw new CommandFailure(2, '--limit is for --dry-run.')
  const admin = await openAdmin(options, io)
  if (dryRun) {
    const query = { dryRun: 'true', limit }
    return reportDryRun((await admin.post('/api/reload', query, [answers.refused])) as DryRunResult, json, io)
  }
  const result = (await admin.post('/api/reload', {}, [answers.refused])) as ReloadResult
  const texts = {
    json,
    live: `Generation ${result.generation} is live (${tookText(result)}).`,
    unchanged: `Nothing to change: ${servesOn(result)}.`,
    refused: 'Refused',
  }
  return reportReload(result, texts, io)
}

/** The differences that are shown; `--json` has all. */
const shownRequests = 20

/** Reports what would go live, and which stored requests would end otherwise. @returns 1 for a candidate that would be refused */
function reportDryRun(answer: DryRunResult, json: boolean, io: Io): number {
  const { reload, shadow } = answer
  if (json) {
    io.out(`${JSON.stringify(answer, null, 2)}\n`)
    return reload.ok ? 0 : 1
  }
  const texts = {
    live: `This would go live; ${servesOn(reload)}:`,
    unchanged: `Nothing would change: ${servesOn(reload)}.`,
    refused: 'This would be refused',
  }
  const code = reportReload(reload, texts, io)
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
