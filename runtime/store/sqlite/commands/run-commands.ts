/** Carries out the two commands about a run: its end before its turn is over, and its return to the queue. */

import type { Attempt, Command, CommandResult, RunRecord } from '../../port.ts'
import { firstRunOf, laneOf, runTask } from '../../tasks.ts'
import type { Parts } from '../parts.ts'

const unknown: CommandResult = { ok: false, why: 'unknown', reason: 'there is no such run' }

export function createRunCommands({ runs, schedule, coalescing }: Parts) {
  return {
    cancel({ run: id, at }: Command & { type: 'cancel' }): CommandResult & { claimed?: string } {
      const run = runs.find(id)
      if (run === undefined) return unknown
      if (run.stage !== 'accepted' && run.stage !== 'running') {
        return { ok: false, why: 'state', reason: `its turn is over: it is ${run.state}` }
      }
      const task = taskOf(run)
      const isClaimed = run.state !== 'parked' && schedule.stateOf(task) === 'claimed'
      if (isClaimed) {
        runs.update({ ...run, cancelRequestedAt: run.cancelRequestedAt ?? at })
        return { ok: true, claimed: task }
      }
      // All heartbeats share one task, which outlives the heartbeat that is cancelled.
      if (run.kind === 'run' && schedule.stateOf(task) === 'open') schedule.remove(task)
      runs.update({
        ...run,
        state: 'cancelled',
        stage: 'cancelled',
        error: { code: 'CANCELLED', message: 'it was cancelled while it waited', retryable: false },
        attempts: run.attempts.map((attempt) => endOpenAttempt(attempt, at)),
        cancelledAt: at,
      })
      return { ok: true }
    },

    resume({ run: id, at }: Command & { type: 'resume' }): CommandResult {
      const run = runs.find(id)
      if (run === undefined) return unknown
      if (run.state !== 'parked') {
        return { ok: false, why: 'state', reason: `only a parked run can be resumed: it is ${run.state}` }
      }
      const { sessionKey, pool } = run
      const lane = firstRunOf(sessionKey) !== id || schedule.isOccupied(laneOf(sessionKey))
      const { error: _error, ...rest } = run
      runs.update({ ...rest, state: 'queued' })
      schedule.add(runTask({ id, sessionKey, lane, dueAt: at, pool }))
      // The new task was never claimed, so requests could join the run again; it has read those that joined before.
      coalescing.end(id)
      return { ok: true }
    },
  }
}

function taskOf({ kind, id }: RunRecord): string {
  return kind === 'heartbeat' ? 'heartbeat:main' : `run:${id}`
}

/** The process did not survive an attempt that is still open. */
function endOpenAttempt(attempt: Attempt, at: number): Attempt {
  return attempt.outcome === undefined ? { ...attempt, endedAt: at, outcome: 'interrupted' } : attempt
}
