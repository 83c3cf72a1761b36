/** `reveille cancel` and `reveille resume`: end runs early, or queue parked ones again. */

import { CommandFailure } from '../command-failure.ts'
import { counted } from '../counted.ts'
import type { Io } from '../io.ts'
import { openAdmin } from '../reading/admin-client.ts'
import { parkedIds, wholeIdOf } from '../reading/records.ts'
import { shortId } from '../table.ts'

export interface OrderOptions {
  readonly config?: string
  readonly all?: boolean
  readonly json?: boolean
}

type Order = 'cancel' | 'resume'

type Answer =
  | { readonly ok: true; readonly runId: string; readonly state: string; readonly stage: string }
  | { readonly ok: false; readonly error: string; readonly code: string }

/** Checks that each id names one run before it changes the first. @returns 1 where the order failed for one of them */
export async function orderRuns(
  order: Order,
  runs: readonly string[],
  options: OrderOptions,
  io: Io,
): Promise<number> {
  const { all = false, json = false } = options
  if (all === runs.length > 0) throw new CommandFailure(2, 'Name the runs, or all that are parked: --all.')
  const admin = await openAdmin(options, io)
  const ids = all
    ? await parkedIds(admin, 'runs')
    : await Promise.all(runs.map((id) => wholeIdOf(admin, 'runs', id)))

  const items: { readonly id: string; readonly answer: Answer }[] = []
  for (const id of new Set(ids)) {
    const answer = (await admin.post(`/api/runs/${id}/${order}`, {}, [404, 409])) as Answer
    items.push({ id, answer })
    if (!json) report(order, id, answer, io)
  }
  if (json)
    io.out(
      `${JSON.stringify({ items: items.map(({ answer, id }) => ({ runId: id, ...answer })) }, null, 2)}\n`,
    )
  else if (all) io.out(items.length === 0 ? 'No run is parked.\n' : `${counted(items.length, 'run')}.\n`)
  return items.every(({ answer }) => answer.ok) ? 0 : 1
}

function report(order: Order, id: string, answer: Answer, io: Io): void {
  if (!answer.ok) io.err(`${shortId(id)}: ${answer.error}\n`)
  else io.out(`${shortId(id)}: ${order === 'resume' ? 'queued again' : endText(answer.state)}\n`)
}

/** A run under way is asked to end, and ends a moment later. */
function endText(state: string): string {
  return state === 'cancelled' ? 'cancelled' : 'being cancelled; its turn is stopped'
}
