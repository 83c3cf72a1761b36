/**
 * `reveille cancel`, `resume`, `retry`, `resolve`, `mute`, `reopen`, and `replay` of deliveries: give an order about named records, or
 * about all that are chosen.
 */

import type { Asked } from '../../api/routes/client.ts'
import { type Client, openClient, type Refused } from '../client.ts'
import { badUsage, failure } from '../command-failure.ts'
import type { CommandOptions, Io } from '../io.ts'
import { counted, print, shortId } from '../print.ts'
import { queryOf } from '../records/filters.ts'
import { findOne } from '../records/records.ts'
import { addressText } from '../status-text.ts'

const orders = {
  cancel: { one: 'cancelRun', kind: 'run' },
  resume: { one: 'resumeRun', all: 'resumeRuns', kind: 'run' },
  retry: { one: 'retryRun', all: 'retryRuns', kind: 'run' },
  replay: { one: 'replayDelivery', all: 'replayDeliveries', kind: 'delivery' },
  resolve: { one: 'resolveIssue', kind: 'issue' },
  mute: { one: 'muteIssue', kind: 'issue' },
  reopen: { one: 'reopenIssue', kind: 'issue' },
} as const

type Order = keyof typeof orders
type Done = { readonly ok: true; readonly state: string; readonly channel?: string; readonly to?: string }

/** Gives the order about each of these ids, or keys of issues. @returns 1 where it was refused for one of them */
export async function orderEach(
  order: Order,
  client: Client,
  ids: readonly string[],
  io: Io,
  more: object = {},
): Promise<number> {
  const { one, kind } = orders[order]
  const isIssue = kind === 'issue'
  const items: ({ readonly ok: boolean } & object)[] = []
  for (const id of new Set(ids)) {
    const asked = isIssue ? { body: { key: id, ...more } } : { params: { id } }
    const answer = (await client.order(one, asked as never)) as Done | Refused
    items.push({ [isIssue ? 'key' : `${kind}Id`]: id, ...answer })
    if (io.json) continue
    const name = isIssue ? id : shortId(id)
    if (answer.ok) io.out(`${name}: ${doneText(order, answer)}\n`)
    else io.err(`${name}: ${answer.error}\n`)
  }
  if (io.json) print(io, { items })
  return items.every(({ ok }) => ok) ? 0 : 1
}

const doneTexts = {
  resume: 'queued again',
  retry: 'queued again',
  resolve: 'resolved',
  mute: 'muted',
  reopen: 'open again',
}

/** A running run ends a moment after the order. */
function doneText(order: Order, { state, channel = '', to }: Done): string {
  if (order === 'replay') return `on its way again to ${addressText({ channel, ...(to && { to }) })}`
  if (order !== 'cancel') return doneTexts[order]
  return state === 'cancelled' ? 'cancelled' : 'being cancelled; its turn is stopped'
}

/** Gives the order about all that are chosen. @returns 1 where it was refused for one of them */
export async function orderAll<Name extends 'resume' | 'retry' | 'replay'>(
  order: Name,
  client: Client,
  body: NonNullable<Asked<(typeof orders)[Name]['all']>['body']>,
  io: Io,
): Promise<number> {
  const { all, kind } = orders[order]
  const answer = await client.ask(all, { body } as never)
  const many = kind === 'run' ? counted(answer.done, 'run') : counted(answer.done, 'delivery', 'deliveries')
  const isDryRun = (body as { readonly dryRun?: boolean }).dryRun === true
  const done = order === 'replay' ? 'on the way again' : isDryRun ? 'would be retried' : 'queued again'
  if (!io.json) io.err(answer.refused.map(({ id, reason }) => `${shortId(id)}: ${reason}\n`).join(''))
  return print(io, answer, () => `${many} ${done}.`, answer.refused.length === 0 ? 0 : 1)
}

/** Finds what each id names before it gives the first order. */
async function orderRuns(order: Order, runs: readonly string[], io: Io) {
  const client = await openClient(io)
  const ids = await Promise.all(runs.map((text) => findOne(client, 'run', text)))
  return orderEach(order, client, ids, io)
}

export const cancel = (runs: readonly string[], io: Io) => orderRuns('cancel', runs, io)

export async function resume(runs: readonly string[], io: Io, options: CommandOptions): Promise<number> {
  const { all = false, code } = options
  if (code !== undefined && !all) throw badUsage('--code goes with --all.')
  if (all === runs.length > 0) throw badUsage('Name the runs, or all that are parked: --all.')
  if (!all) return orderRuns('resume', runs, io)
  return orderAll('resume', await openClient(io), code === undefined ? {} : { code }, io)
}

export async function retry(runs: readonly string[], io: Io, options: CommandOptions): Promise<number> {
  const { dryRun = false, failed = false } = options
  if (failed && options.state !== undefined && options.state !== 'failed')
    throw badUsage('--failed is the same as --state failed; give one of the two.')
  const chosen = queryOf(io, { ...options, ...(failed && { state: 'failed' }) })
  const isFiltered = Object.keys(chosen).length > 0
  if (runs.length > 0 && (isFiltered || dryRun))
    throw badUsage('An id names one run; filters and --dry-run choose among many.')
  if (runs.length > 0) return orderRuns('retry', runs, io)
  if (!isFiltered) throw badUsage('Name the runs, or choose them: --failed, --since, --code and the like.')
  return orderAll('retry', await openClient(io), { ...chosen, ...(dryRun && { dryRun }) }, io)
}

export async function changeIssues(
  order: 'resolve' | 'mute' | 'reopen',
  keys: readonly string[],
  io: Io,
  { for: forMs }: CommandOptions,
): Promise<number> {
  const client = await openClient(io)
  const { items } = await client.ask('listIssues', { query: { limit: 500 } })
  const known = items.map(({ key }) => key)
  const whole = keys.map((given) => wholeKeyOf(known, given))
  return orderEach(order, client, whole, io, forMs === undefined ? {} : { until: io.now() + forMs })
}

/** Completes the beginning of a key, or a code alone. @throws CommandFailure */
function wholeKeyOf(known: readonly string[], given: string): string {
  if (known.includes(given)) return given
  const found = known.filter((key) => key.toLowerCase().startsWith(given.toLowerCase()))
  const [only, other] = found
  if (only !== undefined && other === undefined) return only
  throw failure(
    only === undefined
      ? `There is no issue ${given}; \`reveille issues --all\` lists them.`
      : `More than one issue begins with ${given}: ${found.slice(0, 5).join(', ')}.`,
  )
}
