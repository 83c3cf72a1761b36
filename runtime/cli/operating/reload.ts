/** `reveille reload` and `reveille rollback`: have a running gateway read its files again, or serve a generation that it keeps. */

import type { ReloadResult, Shadow } from '@reveille/engine'
import { changesParts } from '../../observe/changes-text.ts'
import { printable } from '../../observe/printable.ts'
import { wrapWords } from '../../observe/wrap-words.ts'
import type { DryRunResult } from '../../reload/dry-run.ts'
import { CommandFailure } from '../command-failure.ts'
import { formatDiagnostics } from '../configuration.ts'
import { counted } from '../counted.ts'
import { type CommandOptions, type Io, wrapText } from '../io.ts'
import { type Admin, openAdmin } from '../reading/admin-client.ts'
import { errorsOf } from '../reading/generation-item.ts'
import { formatTable, shortId, shortTime } from '../table.ts'

interface ReloadOptions extends CommandOptions {
  readonly dryRun?: boolean
  /** How many stored requests a dry run compares. */
  readonly limit?: number
  /** Whether transforms may leave the process in a dry run. */
  readonly callOut?: boolean
}

export async function reload(options: ReloadOptions, io: Io): Promise<number> {
  const { json = false } = options
  refuseOfDryRun(options)
  const admin = await openAdmin(options, io)
  if (options.dryRun) return tryIt('/api/reload', admin, options, io)
  const result = (await admin.post('/api/reload', {}, refusals)) as ReloadResult
  const texts = {
    json,
    live: `Generation ${result.generation} is live (${tookText(result)}).`,
    unchanged: `Nothing to change: ${servesOn(result)}.`,
    refused: 'Refused',
  }
  return reportReload(result, texts, io)
}

function refuseOfDryRun({ dryRun = false, limit, callOut = false }: ReloadOptions): void {
  if (limit !== undefined && !dryRun) throw new CommandFailure(2, '--limit is for --dry-run.')
  if (callOut && !dryRun) throw new CommandFailure(2, '--call-out is for --dry-run.')
}

async function tryIt(path: string, admin: Admin, options: ReloadOptions, io: Io): Promise<number> {
  const { limit, callOut = false, json = false } = options
  const query = { dryRun: 'true', limit, ...(callOut && { callOut: 'true' }) }
  return reportDryRun((await admin.post(path, query, refusals)) as DryRunResult, json, io)
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

function shadowText(shadow: Shadow, io: Io): string {
  const { stopped = 0, stops = [] } = shadow
  if (stopped === 0) return comparedText(shadow, io)
  const count = stopped === 1 ? '1 was not compared' : `${stopped} were not compared`
  const where = stops.map(printable).join(', ')
  const why = `${count}: a dry run stops transforms where they call out (${where}). --call-out lets them.`
  return `${comparedText(shadow, io)}${wrapText(why, io)}\n`
}

function comparedText({ compared, summary, differences }: Shadow, io: Io): string {
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

export async function rollback(generation: string, options: ReloadOptions, io: Io): Promise<number> {
  refuseOfDryRun(options)
  const admin = await openAdmin(options, io)
  const path = `/api/generations/${generation}/rollback`
  if (options.dryRun) return tryIt(path, admin, options, io)
  const result = (await admin.post(path, {}, refusals)) as ReloadResult
  const texts = {
    json: options.json ?? false,
    live: liveText(Number(generation), result),
    unchanged: `Generation ${result.generation} serves already.`,
    refused: `Generation ${generation} cannot serve any more`,
  }
  return reportReload(result, texts, io)
}

function liveText(asked: number, result: ReloadResult): string {
  const { generation, rolledBack } = result
  // The same files with other variables and secrets than then may be another generation.
  const name =
    generation === asked ? '' : ` as generation ${generation}, for a variable or secret is another now`
  const until = rolledBack
    ? ', in the place of the files until they change or `reveille reload` ends it'
    : ', as the files have it'
  return `Generation ${asked} serves again${name}${until} (${tookText(result)}).`
}

/** The statuses that say that the candidate was refused. */
const refusals = [409]

interface ReloadTexts {
  readonly json?: boolean
  /** The text for a candidate that is live now. */
  readonly live: string
  /** The text where nothing had to change. */
  readonly unchanged: string
  /** The text before the number of errors of a candidate that was refused. */
  readonly refused: string
}

/** @returns the exit code: 1 for a refused candidate */
function reportReload(result: ReloadResult, texts: ReloadTexts, io: Io): number {
  const { ok, outcome, diagnostics } = result
  if (texts.json) io.out(`${JSON.stringify(result, null, 2)}\n`)
  else {
    if (diagnostics.length > 0) io.err(`${formatDiagnostics(diagnostics, io)}\n\n`)
    if (outcome === 'rejected') io.err(`${texts.refused}: ${errorsOf(result)}; ${servesOn(result)}.\n`)
    else if (outcome === 'unchanged') io.out(`${texts.unchanged}\n`)
    else io.out([texts.live, ...changeLines(result, io)].map((line) => `${line}\n`).join(''))
  }
  return ok ? 0 : 1
}

/** An indented line for each kind of change, broken where the terminal ends. */
function changeLines({ changes }: Pick<ReloadResult, 'changes'>, { columns }: Io): string[] {
  const room = columns === undefined ? Number.POSITIVE_INFINITY : Math.max(columns - 4, 20)
  const parts = changesParts(changes)
  if (parts.length === 0) return ['  no mapping, endpoint, transform or setting is different']
  return parts.flatMap((part) =>
    wrapWords(printable(part), room).map((line, index) => `${index === 0 ? '  ' : '    '}${line}`),
  )
}

function servesOn({ generation }: Pick<ReloadResult, 'generation'>): string {
  return generation === undefined ? 'nothing serves' : `generation ${generation} goes on serving`
}

/** `8 ms`, `1.2 s`. */
function tookText({ tookMs }: Pick<ReloadResult, 'tookMs'>): string {
  return tookMs < 1000 ? `${Math.round(tookMs)} ms` : `${(tookMs / 1000).toFixed(1)} s`
}
