/** Carries out the commands of the admin surface and of the gateway itself, each in a transaction of its own. */

import {
  cancelledAt,
  pendingAgain,
  retriedAt,
  taskOf,
  unknown,
  whyNotCancel,
  whyNotReplay,
  whyNotResume,
  whyNotRetry,
  withOrder,
  wrongState,
} from '../decisions.ts'
import { isId } from '../id.ts'
import type { Command, CommandResult, DeliveryRecord, Id, Route, RunRecord } from '../port.ts'
import { firstRunOf, laneOf, runTask } from '../tasks.ts'
import { forgetRequests } from './forgetting.ts'
import { changeIssues } from './issues.ts'
import { beginJob, cancelJob, nextOfJob, settleJob } from './jobs.ts'
import type { Changing } from './parts.ts'
import {
  changedRun,
  columnOfText,
  type DeliveryRow,
  deliveryColumns,
  deliveryOf,
  type RunRow,
  rowOfDelivery,
  runColumns,
  runOf,
} from './rows.ts'

type Commands = {
  [Type in Command['type']]: (command: Command & { type: Type }, changing: Changing) => Promise<CommandResult>
}

const done: CommandResult = { ok: true }

/** Rows are locked in the order tasks, runs, deliveries, as in every other transaction. */
const commands: Commands = {
  async cancel(command, changing) {
    const { run: id, at } = command
    const { query, schedule } = changing
    const [named] = isId(id) ? await query<RunRow>('SELECT id, kind FROM runs WHERE id = $1', [id]) : []
    if (named === undefined) return unknown('run')
    const task = taskOf(named)
    const state = (await schedule.lock([task])).get(task)
    const row = await lockRun(changing, id)
    if (row === undefined) return unknown('run')
    const run = runOf(row)
    const reason = whyNotCancel(run)
    if (reason !== undefined) return wrongState(reason)
    const order = withOrder(run, command)
    if (run.state !== 'parked' && state === 'claimed') {
      writeRun(changing, row, { id, cancelRequestedAt: run.cancelRequestedAt ?? at, ...order })
      changing.cancelled(task)
      return done
    }
    if (run.kind === 'run' && state === 'open') await schedule.remove(task)
    writeRun(changing, row, { ...cancelledAt(run, at), ...order })
    return done
  },

  resume: (command, changing) =>
    queueAgain(changing, command, whyNotResume, () => ({ state: 'queued', error: undefined })),

  retry: (command, changing) =>
    queueAgain(changing, command, whyNotRetry, (run) => retriedAt(run, command.at)),

  /** @throws StoreError `BACKLOG` */
  async send({ delivery, task }, changing) {
    const { query, schedule, changed } = changing
    const { id, state } = delivery
    const select = `SELECT 1 FROM deliveries WHERE id = $1`
    // A delivery that is sent again may have ended already: it gets no second task.
    if ((await query(select, [id])).length > 0) return done
    changing.refuseOverBacklog()
    const row = rowOfDelivery(delivery)
    const added = await query(
      `INSERT INTO deliveries (${deliveryColumns.join(', ')}) VALUES ($1, $2, $3, $4, $5)
       ON CONFLICT (id) DO NOTHING RETURNING 1`,
      deliveryColumns.map((column) => row[column]),
    )
    if (added.length === 0) return done
    changed('delivery', id, state)
    await schedule.add([task])
    return done
  },

  async 'replay-delivery'({ delivery: id, at, to, task, by }, changing) {
    const delivery = isId(id) ? await lockDelivery(changing, id) : undefined
    if (delivery === undefined) return unknown('delivery')
    const reason = whyNotReplay(delivery, to)
    if (reason !== undefined) return wrongState(reason)
    writeDelivery(changing, pendingAgain(delivery, to, at, by))
    await changing.schedule.add([task])
    return done
  },

  'set-route': ({ route, by = '' }, changing) => writeRoute(changing, route, by),

  async 'offer-route'({ route }, changing) {
    const [current] = await changing.query<{ set_by: string | null }>('SELECT set_by FROM route FOR UPDATE')
    if (typeof current?.set_by === 'string') return { ok: false, reason: 'the route was set by hand' }
    if (route !== undefined) return writeRoute(changing, route, null)
    if (current !== undefined) changing.send('DELETE FROM route WHERE set_by IS NULL')
    return done
  },

  async schedule({ task }, { schedule }) {
    await schedule.add([task])
    return done
  },

  async expedite({ task, dueAt }, { schedule }) {
    await schedule.expedite(task, dueAt)
    return done
  },

  forget: forgetRequests,
  'job-begin': beginJob,
  'job-next': nextOfJob,
  'job-settle': settleJob,
  'job-cancel': cancelJob,
  issues: changeIssues,
}

export function runCommand(command: Command, changing: Changing): Promise<CommandResult> {
  const ofType: Readonly<
    Record<Command['type'], (command: never, changing: Changing) => Promise<CommandResult>>
  > = commands
  return ofType[command.type](command as never, changing)
}

async function queueAgain(
  changing: Changing,
  command: Extract<Command, { readonly run: Id }>,
  whyNot: (run: RunRecord) => string | undefined,
  changesOf: (run: RunRecord) => Partial<RunRecord>,
): Promise<CommandResult> {
  const { run: id, at } = command
  const { send, schedule } = changing
  const row = isId(id) ? await lockRun(changing, id) : undefined
  if (row === undefined) return unknown('run')
  const run = runOf(row)
  const reason = whyNot(run)
  if (reason !== undefined) return wrongState(reason)
  const { sessionKey, pool } = run
  const hasLane = firstRunOf(sessionKey) !== id || (await schedule.isOccupied(laneOf(sessionKey)))
  writeRun(changing, row, { id, ...changesOf(run), ...withOrder(run, command) })
  await schedule.add([runTask({ id, sessionKey, lane: hasLane, dueAt: at, pool })])
  // The new task was never claimed, so requests could join the run again; it has read those that joined before.
  send('UPDATE coalesced SET deadline = NULL WHERE run = $1', [id])
  return done
}

/** Writes the last route of the main session: one that an operator set wins over the configured one. */
async function writeRoute(
  { send }: Changing,
  { channel, to }: Route,
  setBy: string | null,
): Promise<CommandResult> {
  send(
    `INSERT INTO route AS old (one, channel, target, set_by) VALUES (1, $1, $2, $3)
     ON CONFLICT (one) DO UPDATE SET channel = $1, target = $2, set_by = $3 WHERE $3 IS NOT NULL OR old.set_by IS NULL`,
    [columnOfText(channel), to === undefined ? null : columnOfText(to), setBy && columnOfText(setBy)],
  )
  return done
}

async function lockRun({ query }: Changing, id: Id): Promise<RunRow | undefined> {
  const [row] = await query<RunRow>(`SELECT ${runColumns.join(', ')} FROM runs WHERE id = $1 FOR UPDATE`, [
    id,
  ])
  return row
}

function writeRun({ send, changed }: Changing, row: RunRow, patch: Partial<RunRecord>): void {
  const { state, stage, changes } = changedRun(row, patch)
  send('UPDATE runs SET state = $2, stage = $3, changes = $4 WHERE id = $1', [row.id, state, stage, changes])
  changed('run', row.id, state, stage)
}

async function lockDelivery({ query }: Changing, id: Id): Promise<DeliveryRecord | undefined> {
  const sql = `SELECT ${deliveryColumns.join(', ')} FROM deliveries WHERE id = $1 FOR UPDATE`
  const [row] = await query<DeliveryRow>(sql, [id])
  return row && deliveryOf(row)
}

/** Writes all of a delivery but its text. */
function writeDelivery({ send, changed }: Changing, delivery: DeliveryRecord): void {
  const { id, state, channel, record } = rowOfDelivery(delivery)
  send('UPDATE deliveries SET state = $2, channel = $3, record = $4 WHERE id = $1', [
    id,
    state,
    channel,
    record,
  ])
  changed('delivery', id, state)
}
