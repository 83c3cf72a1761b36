/** `reveille cancel`, `reveille resume` and `reveille runs retry`: end runs early, or queue parked or failed ones again. */

import type { OrderedAll } from '../../api/index.ts'
import type { RunRecord } from '../../store/port.ts'
import { CommandFailure } from '../command-failure.ts'
import { counted } from '../counted.ts'
import type { CommandOptions, Io } from '../io.ts'
import { giveOrder } from '../orders.ts'
import { doneMs, openAdmin } from '../reading/admin-client.ts'
import { parkedIds, wholeIdOf } from '../reading/find.ts'
import { momentOf } from '../reading/request-filters.ts'
import { shortId } from '../table.ts'

interface OrderOptions extends CommandOptions {
  readonly all?: boolean
  /** Only runs that were parked with this code. */
  readonly code?: string
}

export const cancel = orderRuns.bind(undefined, 'cancel')
export const resume = orderRuns.bind(undefined, 'resume')

/** Checks that each id names one run before it changes the first. @returns 1 where the order failed for one of them */
async function orderRuns(
  order: 'cancel' | 'resume',
  runs: readonly string[],
  { config, all = false, code, json = false }: OrderOptions,
  io: Io,
): Promise<number> {
  if (code !== undefined && !all) throw new CommandFailure(2, '--code goes with --all.')
  if (all === runs.length > 0) throw new CommandFailure(2, 'Name the runs, or all that are parked: --all.')
  const admin = await openAdmin({ config }, io)
  return giveOrder<{ readonly ok: true; readonly state: string }>(
    admin,
    {
      ids: all
        ? await parkedIds(admin, 'runs', {}, (run) => code === undefined || codeOf(run) === code)
        : await Promise.all(runs.map((id) => wholeIdOf(admin, 'runs', id))),
      path: (id) => `/api/runs/${id}/${order}`,
      idName: 'runId',
      describe: ({ state }) => (order === 'resume' ? 'queued again' : endText(state)),
      ...(all && {
        summary: ({ length }) =>
          length > 0 ? `${counted(length, 'run')}.` : `No run is parked${code ? ` with ${code}` : ''}.`,
      }),
    },
    json,
    io,
  )
}

/** Why a run is parked. */
function codeOf({ error }: Readonly<Record<string, unknown>>): unknown {
  return (error as RunRecord['error'])?.code
}

interface RetryOptions extends CommandOptions {
  readonly state?: string
  readonly since?: string
  readonly until?: string
  readonly code?: string
  readonly endpoint?: string
  readonly mapping?: string
  readonly runner?: string
  readonly dryRun?: boolean
}

/** Retries the named runs, or all that the filters choose. @returns 1 where one of them was refused */
export async function retry(
  runs: readonly string[],
  { config, json = false, dryRun = false, since, until, ...filters }: RetryOptions,
  io: Io,
): Promise<number> {
  const chosen = {
    ...filters,
    ...(since !== undefined && { since: String(momentOf('--since', since, io.now())) }),
    ...(until !== undefined && { until: String(momentOf('--until', until, io.now())) }),
  }
  const isFiltered = Object.keys(chosen).length > 0
  if (runs.length > 0 && (isFiltered || dryRun))
    throw new CommandFailure(2, 'An id names one run; filters and --dry-run choose among many.')
  if (runs.length === 0 && !isFiltered)
    throw new CommandFailure(
      2,
      'Name the runs, or choose them: --state failed, --since, --code and the like.',
    )
  const admin = await openAdmin({ config }, io)
  if (runs.length > 0)
    return giveOrder<{ readonly ok: true }>(
      admin,
      {
        ids: await Promise.all(runs.map((id) => wholeIdOf(admin, 'runs', id))),
        path: (id) => `/api/runs/${id}/retry`,
        idName: 'runId',
        describe: () => 'queued again',
      },
      json,
      io,
    )
  const body = { ...chosen, ...(dryRun && { dryRun }) }
  const answer = (await admin.sendJson('POST', '/api/runs/retry', body, { ms: doneMs })) as OrderedAll
  if (json) io.out(`${JSON.stringify(answer, null, 2)}\n`)
  else {
    for (const { id, reason } of answer.refused) io.err(`${shortId(id)}: ${reason}\n`)
    io.out(`${counted(answer.done, 'run')} ${dryRun ? 'would be retried' : 'queued again'}.\n`)
  }
  return answer.refused.length === 0 ? 0 : 1
}

/** Orders a running run to end, which it does a moment later. */
function endText(state: string): string {
  return state === 'cancelled' ? 'cancelled' : 'being cancelled; its turn is stopped'
}
