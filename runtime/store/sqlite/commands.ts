/** Carries out the commands of the admin surface and of the gateway itself, each inside the batch's transaction. */

import type { Attempt, Command, CommandResult, DeliveryRecord, Route, RunRecord } from '../port.ts'
import { firstRunOf, heartbeatKey, laneOf, onlyParked, runTask } from '../tasks.ts'
import type { Parts } from './parts.ts'
import { refuseOverBacklog } from './records/counters.ts'
import { createForgetting } from './records/forgetting.ts'
import { createIssues } from './records/issues.ts'
import type { Jobs } from './records/jobs.ts'

/** `claimed` names the task whose claim is notified of the cancel once this is committed. */
type Result = CommandResult & { readonly claimed?: string }

type Commands = { [Type in Command['type']]: (command: Command & { type: Type }) => Result }

const done: Result = { ok: true }

export function createCommands(parts: Parts, jobs: Jobs): (command: Command) => Result {
  const { db, counters, schedule, runs, deliveries, coalescing, limits } = parts
  const selectByHand = db.prepare('SELECT by_hand FROM route')
  const upsertRoute = db.prepare('INSERT OR REPLACE INTO route VALUES (1, ?, ?, ?)')
  const deleteRoute = db.prepare('DELETE FROM route')

  /** Writes the last route of the main session: one that an operator set wins over the configured one. */
  function writeRoute({ channel, to }: Route, byHand: boolean): Result {
    upsertRoute.run(channel, to ?? null, byHand ? 1 : 0)
    return done
  }

  const commands: Commands = {
    cancel({ run: id, at }) {
      const run = runs.find(id)
      if (run === undefined) return unknown('run')
      if (run.stage !== 'accepted' && run.stage !== 'running')
        return wrongState(`its turn is over: it is ${run.state}`)
      const task = taskOf(run)
      const isClaimed = run.state !== 'parked' && schedule.stateOf(task) === 'claimed'
      if (isClaimed) {
        runs.change({ id, cancelRequestedAt: run.cancelRequestedAt ?? at })
        return { ok: true, claimed: task }
      }
      // All heartbeats share one task, which outlives the heartbeat that is cancelled.
      if (run.kind === 'run' && schedule.stateOf(task) === 'open') schedule.remove(task)
      runs.change({
        id,
        state: 'cancelled',
        stage: 'cancelled',
        error: { code: 'CANCELLED', message: 'it was cancelled while it waited', retryable: false },
        attempts: run.attempts.map((attempt) => endOpenAttempt(attempt, at)),
        cancelledAt: at,
      })
      return done
    },

    resume({ run: id, at }) {
      const run = runs.find(id)
      if (run === undefined) return unknown('run')
      if (run.state !== 'parked') return wrongState(`only a parked run can be resumed: it is ${run.state}`)
      if (run.forgottenAt !== undefined) return wrongState('what it was asked is forgotten')
      const { sessionKey, pool } = run
      const lane = firstRunOf(sessionKey) !== id || schedule.isOccupied(laneOf(sessionKey))
      runs.change({ id, state: 'queued', error: undefined })
      schedule.add(runTask({ id, sessionKey, lane, dueAt: at, pool }))
      // The new task was never claimed, so requests could join the run again; it has read those that joined before.
      coalescing.end(id)
      return done
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

    'replay-delivery'({ delivery: id, at, to, task }) {
      const delivery = deliveries.find(id)
      if (delivery === undefined) return unknown('delivery')
      if (delivery.state !== 'parked') return wrongState(onlyParked(delivery.state))
      if (delivery.forgottenAt !== undefined) return wrongState('its text is forgotten')
      const isElsewhere = to.channel !== delivery.channel || to.to !== delivery.to
      if (isElsewhere && delivery.receipts.length > 0)
        return wrongState('a part of it has arrived somewhere else')
      deliveries.update(pendingAgain(delivery, to, at))
      schedule.add(task)
      return done
    },

    'set-route': ({ route }) => writeRoute(route, true),

    'offer-route'({ route }) {
      const current = selectByHand.get() as { by_hand: number } | undefined
      if (current?.by_hand === 1) return { ok: false, reason: 'the route was set by hand' }
      if (route !== undefined) return writeRoute(route, false)
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

function unknown(what: string): Result {
  return { ok: false, why: 'unknown', reason: `there is no such ${what}` }
}

function wrongState(reason: string): Result {
  return { ok: false, why: 'state', reason }
}

function taskOf({ kind, id }: RunRecord): string {
  return kind === 'heartbeat' ? heartbeatKey : `run:${id}`
}

/** The process did not survive an attempt that is still open. */
function endOpenAttempt(attempt: Attempt, at: number): Attempt {
  return attempt.outcome === undefined ? { ...attempt, endedAt: at, outcome: 'interrupted' } : attempt
}

/** Keeps what the delivery is and what has arrived of it, and drops every field about its fate. */
function pendingAgain(
  { id, runId, text, receipts, generation, createdAt }: DeliveryRecord,
  { channel, to }: { readonly channel: string; readonly to: string },
  at: number,
): DeliveryRecord {
  return {
    id,
    ...(runId !== undefined && { runId }),
    state: 'pending',
    channel,
    to,
    text,
    receipts,
    attempts: 0,
    generation,
    createdAt,
    nextAt: at,
  }
}
