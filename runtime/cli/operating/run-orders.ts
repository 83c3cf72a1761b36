/** `reveille cancel` and `reveille resume`: end runs early, or queue parked ones again. */

import type { RunRecord } from '../../store/port.ts'
import { CommandFailure } from '../command-failure.ts'
import { counted } from '../counted.ts'
import type { CommandOptions, Io } from '../io.ts'
import { giveOrder } from '../orders.ts'
import { openAdmin } from '../reading/admin-client.ts'
import { parkedIds, wholeIdOf } from '../reading/find.ts'

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

/** Orders a running run to end, which it does a moment later. */
function endText(state: string): string {
  return state === 'cancelled' ? 'cancelled' : 'being cancelled; its turn is stopped'
}
