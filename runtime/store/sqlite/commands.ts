/** Carries out the commands of the admin surface and of the gateway itself, each inside the batch's transaction. */

import { refuseOverBacklog } from '../counters.ts'
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
import type { Command, CommandResult, Id, Route, RunRecord } from '../port.ts'
import { firstRunOf, laneOf, runTask } from '../tasks.ts'
import type { Parts } from './parts.ts'
import { createForgetting } from './records/forgetting.ts'
import { createIssues } from './records/issues.ts'
import type { Jobs } from './records/jobs.ts'

/** `claimed` names the task whose claim is notified of the cancel once this is committed. */
type Result = CommandResult & { readonly claimed?: string }

type Commands = { [Type in Command['type']]: (command: Command & { type: Type }) => Result }

const done: Result = { ok: true }

export function createCommands(parts: Parts, jobs: Jobs): (command: Command) => Result {
  const { db, counters, schedule, runs, deliveries, coalescing, limits } = parts
  const selectSetBy = db.prepare('SELECT set_by FROM route')
  const upsertRoute = db.prepare('INSERT OR REPLACE INTO route VALUES (1, ?, ?, ?)')
  const deleteRoute = db.prepare('DELETE FROM route')

  /** Writes the last route of the main session: one that an operator set wins over the configured one. */
  function writeRoute({ channel, to }: Route, setBy: string | null): Result {
    upsertRoute.run(channel, to ?? null, setBy)
    return done
  }

  function queueAgain(
    command: Extract<Command, { readonly run: Id }>,
    whyNot: (run: RunRecord) => string | undefined,
    changesOf: (run: RunRecord) => Partial<RunRecord>,
  ): Result {
    const { run: id, at } = command
    const run = runs.find(id)
    if (run === undefined) return unknown('run')
    const reason = whyNot(run)
    if (reason !== undefined) return wrongState(reason)
    const { sessionKey, pool } = run
    const lane = firstRunOf(sessionKey) !== id || schedule.isOccupied(laneOf(sessionKey))
    runs.change({ id, ...changesOf(run), ...withOrder(run, command) })
    schedule.add(runTask({ id, sessionKey, lane, dueAt: at, pool }))
    // The new task was never claimed, so requests could join the run again; it has read those that joined before.
    coalescing.end(id)
    return done
  }

  const commands: Commands = {
    cancel(command) {
      const { run: id, at } = command
      const run = runs.find(id)
      if (run === undefined) return unknown('run')
      const reason = whyNotCancel(run)
      if (reason !== undefined) return wrongState(reason)
      const task = taskOf(run)
      const order = withOrder(run, command)
      const isClaimed = run.state !== 'parked' && schedule.stateOf(task) === 'claimed'
      if (isClaimed) {
        runs.change({ id, cancelRequestedAt: run.cancelRequestedAt ?? at, ...order })
        return { ok: true, claimed: task }
      }
      if (run.kind === 'run' && schedule.stateOf(task) === 'open') schedule.remove(task)
      runs.change({ ...cancelledAt(run, at), ...order })
      return done
    },

    resume(command) {
      return queueAgain(command, whyNotResume, () => ({ state: 'queued', error: undefined }))
    },

    retry(command) {
      return queueAgain(command, whyNotRetry, (run) => retriedAt(run, command.at))
    },

    /** @throws StoreError `BACKLOG` */
    send({ delivery, task }) {
      // A delivery that is sent again may have ended already: it gets no second task.
      if (deliveries.find(delivery.id) !== undefined) return done
      refuseOverBacklog(counters, limits)
      deliveries.insert(delivery)
      schedule.add(task)
      return done
    },

    'replay-delivery'({ delivery: id, at, to, task, by }) {
      const delivery = deliveries.find(id)
      if (delivery === undefined) return unknown('delivery')
      const reason = whyNotReplay(delivery, to)
      if (reason !== undefined) return wrongState(reason)
      deliveries.update(pendingAgain(delivery, to, at, by))
      schedule.add(task)
      return done
    },

    'set-route': ({ route, by = '' }) => writeRoute(route, by),

    'offer-route'({ route }) {
      const current = selectSetBy.get() as { set_by: string | null } | undefined
      if (typeof current?.set_by === 'string') return { ok: false, reason: 'the route was set by hand' }
      if (route !== undefined) return writeRoute(route, null)
      deleteRoute.run()
      return done
    },

    schedule({ task }) {
      schedule.add(task)
      return done
    },

    expedite({ task, dueAt }) {
      schedule.expedite(task, dueAt)
      return done
    },

    forget: createForgetting(parts),
    'job-begin': jobs.begin,
    'job-next': jobs.next,
    'job-settle': jobs.settle,
    'job-cancel': jobs.cancel,
    issues: createIssues(parts),
  }

  const ofType: Readonly<Record<Command['type'], (command: never) => Result>> = commands
  return (command) => ofType[command.type](command as never)
}
