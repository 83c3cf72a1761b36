/** Carries out the commands of the admin surface and of the gateway itself. Each is one transaction, or a part of one. */

import type { Context } from './context.ts'
import { overLimit } from './counters.ts'
import type { Command, CommandResult, Route, RunRecord, SetRoute } from './port.ts'
import type { OwnCommand } from './protocol.ts'
import { addTasks, cancelTask, deleteTasks, expediteTask, findTask, isSessionOpen } from './queue/tasks.ts'
import { endCoalescing } from './records/coalescing.ts'
import { refusedBeforeCommit } from './records/entries.ts'
import { forgetRequests } from './records/forgetting.ts'
import { changeIssues } from './records/issues.ts'
import { beginJob, cancelJob, nextItems, settleItems } from './records/jobs.ts'
import { decodeString, encodeString } from './records/rows.ts'
import { changeRuns, findRecord, insertDeliveries, updateDeliveries } from './records/runs.ts'
import { done, unknown, wrongState } from './results.ts'
import { tables } from './schema.ts'
import { firstRunOf, heartbeatKey, onlyParked, runTask } from './task-keys.ts'

type AnyCommand = Command | OwnCommand

type Of<Type extends AnyCommand['type']> = AnyCommand & { readonly type: Type }

const commands: {
  readonly [Type in AnyCommand['type']]: (tx: Context, command: Of<Type>) => Promise<CommandResult>
} = {
  cancel: cancelRun,
  resume: (tx, command) =>
    queueAgain(
      tx,
      command,
      ({ state }) => (state === 'parked' ? undefined : `only a parked run can be resumed: it is ${state}`),
      () => ({ state: 'queued', error: undefined }),
    ),
  retry: (tx, command) => queueAgain(tx, command, whyNotRetry, (run) => retriedAt(run, command.at)),

  /** @throws StoreError `BACKLOG` */
  async send(tx, { delivery, task }) {
    // A delivery that is sent again may have ended already: it gets no second task.
    if ((await findRecord(tx, 'deliveries', delivery.id, '')) !== undefined) return done
    const refusal = overLimit(tx.counters.backlog, 'runs and deliveries', tx.limits)
    if (refusal !== undefined) throw refusal
    await insertDeliveries(tx, [delivery])
    await addTasks(tx, [task])
    return done
  },

  'replay-delivery': replayDelivery,

  'set-route': (tx, { route, by = '' }) => writeRoute(tx, route, by),

  async 'offer-route'(tx, { route }) {
    await tx.lock(['route'])
    const [current] = await tx.all<{ set_by: string | null }>('SELECT set_by FROM route')
    if (typeof current?.set_by === 'string') return { ok: false, reason: 'an operator set the route' }
    return writeRoute(tx, route, undefined)
  },

  async schedule(tx, { task }) {
    await addTasks(tx, [task])
    return done
  },

  async expedite(tx, { task, dueAt }) {
    await expediteTask(tx, task, dueAt)
    return done
  },

  async 'sign-out'(tx, { signIn, until }) {
    await tx.insert(tables.sign_outs, [[encodeString(signIn), until]], 'ON CONFLICT DO NOTHING')
    return done
  },

  forget: forgetRequests,
  'job-begin': beginJob,
  'job-next': nextItems,
  'job-settle': settleItems,
  'job-cancel': cancelJob,
  issues: changeIssues,

  async 'write-check'(tx) {
    const name = `write-check:${tx.node}`
    await tx.run('INSERT INTO leases (name, owner, until) VALUES (?1, ?2, 0)', [name, tx.node])
    await tx.run('DELETE FROM leases WHERE name = ?1', [name])
    return done
  },

  async 'refused-before-commit'(tx, { request }) {
    await refusedBeforeCommit(tx, request)
    return done
  },
}

export function runCommand(tx: Context, command: AnyCommand): Promise<CommandResult> {
  const ofType: (tx: Context, command: never) => Promise<CommandResult> = commands[command.type]
  return ofType(tx, command as never)
}

/** Locks the task before the run, as a claim does that settles. */
export async function cancelRun(tx: Context, command: Of<'cancel'>): Promise<CommandResult> {
  const { run: id, at } = command
  const kind = (await findRecord(tx, 'runs', id, ''))?.kind
  if (kind === undefined) return unknown('run')
  // All heartbeats share one task, which outlives the heartbeat that is cancelled.
  const key = kind === 'heartbeat' ? heartbeatKey : `run:${id}`
  const found = await findTask(tx, key)
  const run = (await findRecord(tx, 'runs', id)) as RunRecord
  // The run may have been queued again until it was locked.
  const task = found ?? (await findTask(tx, key))
  const { stage, state, attempts } = run
  if (stage !== 'accepted' && stage !== 'running') return wrongState(`its turn is over: it is ${state}`)
  const order = withOrder(run, command)
  if (state !== 'parked' && task !== undefined && task.leased_by !== null) {
    await changeRuns(tx, [{ id, cancelRequestedAt: run.cancelRequestedAt ?? at, ...order }])
    await cancelTask(tx, task)
    return done
  }
  if (kind === 'run' && task !== undefined && task.leased_by === null) await deleteTasks(tx, [task])
  await changeRuns(tx, [
    {
      id,
      state: 'cancelled',
      stage: 'cancelled',
      error: { code: 'CANCELLED', message: 'it was cancelled while it waited', retryable: false },
      // The process did not survive an attempt that is still open.
      attempts: attempts.map((attempt) =>
        attempt.outcome === undefined ? { ...attempt, endedAt: at, outcome: 'interrupted' } : attempt,
      ),
      cancelledAt: at,
      ...order,
    },
  ])
  return done
}

async function queueAgain(
  tx: Context,
  command: Of<'resume' | 'retry'>,
  whyNot: (run: RunRecord) => string | undefined,
  changesOf: (run: RunRecord) => Partial<RunRecord>,
): Promise<CommandResult> {
  const { run: id, at } = command
  const run = await findRecord(tx, 'runs', id)
  if (run === undefined) return unknown('run')
  const reason = whyNot(run) ?? (run.forgottenAt === undefined ? undefined : 'what it was asked is forgotten')
  if (reason !== undefined) return wrongState(reason)
  const { sessionKey, pool } = run
  const isInLane = firstRunOf(sessionKey) !== id || (await isSessionOpen(tx, sessionKey))
  await changeRuns(tx, [{ id, ...changesOf(run), ...withOrder(run, command) }])
  await addTasks(tx, [
    runTask({ id, sessionKey, lane: isInLane, dueAt: at, ...(pool !== undefined && { pool }) }),
  ])
  // The new task was never claimed, so requests could join the run again; it has read those that joined before.
  await endCoalescing(tx, id)
  return done
}

function whyNotRetry({ kind, state }: RunRecord): string | undefined {
  if (kind === 'heartbeat') return 'it is a heartbeat, and a failed one is tried again automatically'
  return state === 'failed' || state === 'timed-out'
    ? undefined
    : `only a failed or timed-out run can be retried: it is ${state}`
}

/** The record keeps how the run had ended, and drops every field about that end. */
function retriedAt(
  { state, error, attempts, retries = [], summaryEventId }: RunRecord,
  at: number,
): Partial<RunRecord> {
  const before = {
    at,
    state: state === 'timed-out' ? state : ('failed' as const),
    ...(error && { error }),
    attempts: attempts.length,
    ...(summaryEventId !== undefined && { summaryEventId }),
  }
  return {
    state: 'queued',
    stage: 'accepted',
    retries: [...retries, before],
    error: undefined,
    cancelRequestedAt: undefined,
    startedAt: undefined,
    ranAt: undefined,
    summarisedAt: undefined,
    deliveredAt: undefined,
    summaryEventId: undefined,
    deliveryIds: [],
  }
}

/** Adds an order to those that a run had. */
function withOrder(
  { orders = [] }: RunRecord,
  { type: order, at, by }: Of<'cancel' | 'resume' | 'retry'>,
): Pick<RunRecord, 'orders'> {
  return by === undefined ? {} : { orders: [...orders, { order, at, by }] }
}

async function replayDelivery(
  tx: Context,
  { delivery: id, at, to, task, by }: Of<'replay-delivery'>,
): Promise<CommandResult> {
  const delivery = await findRecord(tx, 'deliveries', id)
  if (delivery === undefined) return unknown('delivery')
  if (delivery.state !== 'parked') return wrongState(onlyParked(delivery.state))
  if (delivery.forgottenAt !== undefined) return wrongState('its text is forgotten')
  const isElsewhere = to.channel !== delivery.channel || to.to !== delivery.to
  if (isElsewhere && delivery.receipts.length > 0)
    return wrongState('a part of it has arrived somewhere else')
  // Keeps the identity of the delivery and the parts that have arrived, and drops every field about its outcome.
  const { runId, text, receipts, generation, createdAt } = delivery
  await updateDeliveries(tx, [
    {
      id,
      ...(runId !== undefined && { runId }),
      state: 'pending',
      ...to,
      text,
      receipts,
      attempts: 0,
      generation,
      createdAt,
      nextAt: at,
      ...(by !== undefined && { by }),
    },
  ])
  await addTasks(tx, [task])
  return done
}

/** Writes the last route of the main session: one that an operator set wins over the configured one. */
async function writeRoute(
  tx: Context,
  route: Route | undefined,
  setBy: string | undefined,
): Promise<CommandResult> {
  await tx.lock(['route'])
  await tx.run('DELETE FROM route')
  if (route === undefined) return done
  const values = [route.channel, route.to, setBy].map((each) =>
    each === undefined ? null : encodeString(each),
  )
  await tx.insert(tables.route, [[1, ...values]])
  return done
}

export async function readRoute({ all }: Pick<Context, 'all'>): Promise<SetRoute | undefined> {
  const [row] = await all<{ channel: string; target: string | null; set_by: string | null }>(
    'SELECT channel, target, set_by FROM route',
  )
  if (row === undefined) return undefined
  const { channel, target, set_by: by } = row
  return {
    channel: decodeString(channel),
    ...(target !== null && { to: decodeString(target) }),
    ...(by && { by: decodeString(by) }),
  }
}
