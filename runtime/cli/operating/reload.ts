/** `reveille reload` and `reveille rollback`: have a running gateway read its files again, or serve a generation that it keeps. */

import type { Answer, Asked } from '../../api/routes/client.ts'
import { changesParts } from '../../observe/changes-text.ts'
import { printable } from '../../observe/printable.ts'
import { openClient } from '../client.ts'
import { badUsage } from '../command-failure.ts'
import { formatDiagnostics } from '../configuration.ts'
import type { CommandOptions, Io } from '../io.ts'
import { counted, errorsOf, formatTable, print, shortId, shortTime } from '../print.ts'

type DryReload = Extract<Answer<'reload'>, { readonly reload: unknown }>
type Result = Exclude<Answer<'reload'>, DryReload>
type Shadow = NonNullable<DryReload['shadow']>

export function reload(io: Io, options: CommandOptions): Promise<number> {
  return change('reload', {}, io, options, {
    live: (result) => `Generation ${result.generation} is live (${tookText(result)}).`,
    unchanged: (result) => `Nothing to change: ${servesOn(result)}.`,
    refused: 'Refused',
  })
}

export function rollback(generation: string, io: Io, options: CommandOptions): Promise<number> {
  return change('rollBack', { number: generation }, io, options, {
    live: (result) => liveText(Number(generation), result),
    unchanged: (result) => `Generation ${result.generation} serves already.`,
    refused: `Generation ${generation} cannot serve any more`,
  })
}

function liveText(asked: number, result: Result): string {
  const { generation, rolledBack } = result
  // The same files with other variables and secrets than then may be another generation.
  const name =
    generation === asked ? '' : ` as generation ${generation}, for a variable or secret is another now`
  const until = rolledBack
    ? ', in the place of the files until they change or `reveille reload` ends it'
    : ', as the files have it'
  return `Generation ${asked} serves again${name}${until} (${tookText(result)}).`
}

interface Texts {
  /** The text for a candidate that is live now. */
  live(result: Result): string
  /** The text where nothing had to change. */
  unchanged(result: Result): string
  /** The text before the number of errors of a candidate that was refused. */
  readonly refused: string
}

const dryTexts: Texts = {
  live: (result) => `This would go live; ${servesOn(result)}:`,
  unchanged: (result) => `Nothing would change: ${servesOn(result)}.`,
  refused: 'This would be refused',
}

/** @returns 1 for a refused candidate */
async function change(
  route: 'reload' | 'rollBack',
  params: NonNullable<Asked<'rollBack'>['params']>,
  io: Io,
  { dryRun = false, limit, callOut = false }: CommandOptions,
  texts: Texts,
): Promise<number> {
  if (limit !== undefined && !dryRun) throw badUsage('--limit is for --dry-run.')
  if (callOut && !dryRun) throw badUsage('--call-out is for --dry-run.')
  const client = await openClient(io)
  const query = {
    ...(dryRun && { dryRun }),
    ...(limit !== undefined && { limit }),
    ...(callOut && { callOut }),
  }
  const answer = await client.ask(route, { params, query }, [409])
  const result = 'reload' in answer ? answer.reload : answer
  if (io.json) print(io, answer)
  else report(result, dryRun ? dryTexts : texts, io)
  if (!io.json && 'shadow' in answer && answer.shadow) io.out(`\n${shadowText(answer.shadow, io)}`)
  return result.ok ? 0 : 1
}

function report(result: Result, texts: Texts, io: Io): void {
  const { outcome, diagnostics } = result
  if (diagnostics.length > 0) io.err(`${formatDiagnostics(diagnostics, io)}\n\n`)
  if (outcome === 'rejected') io.err(`${texts.refused}: ${errorsOf(result)}; ${servesOn(result)}.\n`)
  else if (outcome === 'unchanged') io.out(`${texts.unchanged(result)}\n`)
  else io.out([texts.live(result), ...changeLines(result)].map((line) => `${line}\n`).join(''))
}

/** An indented line for each kind of change. */
function changeLines({ changes }: Result): string[] {
  const parts = changesParts(changes)
  if (parts.length === 0) return ['  no mapping, endpoint, transform or setting is different']
  return parts.map((part) => `  ${printable(part)}`)
}

function servesOn({ generation }: Result): string {
  return generation === undefined ? 'nothing serves' : `generation ${generation} stays live`
}

/** `8 ms`, `1.2 s`. */
function tookText({ tookMs }: Result): string {
  return tookMs < 1000 ? `${Math.round(tookMs)} ms` : `${(tookMs / 1000).toFixed(1)} s`
}

/** The differences that are shown; `--json` has all. */
const shownRequests = 20

function shadowText({ compared, summary, differences, stopped = 0, stops = [] }: Shadow, io: Io): string {
  if (compared === 0 && stopped === 0)
    return 'No stored request has its body kept, so none was compared; history.bodies decides.\n'
  const looked = `Of ${counted(compared, 'stored request')}`
  const rows = differences
    .slice(0, shownRequests)
    .map((each) => [shortTime(each.receivedAt, io.now()), shortId(each.id), each.endpoint, each.change])
  const more = differences.length - rows.length
  const count = stopped === 1 ? '1 was not compared' : `${stopped} were not compared`
  const why = `${count}: a dry run stops transforms where they call out (${stops.map(printable).join(', ')}). --call-out lets them.`
  return [
    `${looked} ${differences.length === 0 ? 'none' : differences.length} would end otherwise${rows.length > 0 ? ':' : '.'}\n`,
    ...summary.map((line) => `  ${printable(line)}\n`),
    rows.length > 0 ? `\n${formatTable(['TIME', 'ID', 'ENDPOINT', 'CHANGE'], rows, io.columns)}` : '',
    more > 0 ? `${more} more; --json has them all.\n` : '',
    stopped > 0 ? `${why}\n` : '',
  ].join('')
}
