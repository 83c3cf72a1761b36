/** Owns the two commands about a run: its end before its turn is over, and its return to the queue. */

import type { DatabaseSync } from 'node:sqlite'
import type { Attempt, Command, CommandResult, RunRecord } from '../port.ts'
import { founderOf, laneOf, runTask } from '../tasks.ts'
import { blobOfId, isId } from './blob.ts'
import type { NoteChange } from './change-list.ts'
import type { Joining } from './joining.ts'
import type { Schedule } from './schedule.ts'

export interface Cancelling {
  /** `claimed`: the task whose claim has to be told, once this is committed. */
  cancel(command: Command & { type: 'cancel' }): CommandResult & { readonly claimed?: string }
  resume(command: Command & { type: 'resume' }): CommandResult
}

export interface CancellingParts {
  readonly db: DatabaseSync
  readonly schedule: Schedule
  readonly joining: Pick<Joining, 'end'>
  readonly changed: NoteChange
}

const unknown: CommandResult = { ok: false, why: 'unknown', reason: 'there is no such run' }

export function createCancelling({ db, schedule, joining, changed }: CancellingParts): Cancelling {
  const select = db.prepare('SELECT record FROM runs WHERE id = ?')
  const update = db.prepare('UPDATE runs SET state = ?, record = ? WHERE id = ?')

  function find(id: string): RunRecord | undefined {
    if (!isId(id)) return undefined
    const row = select.get(blobOfId(id)) as { record: string } | undefined
    return row && JSON.parse(row.record)
  }

  function write(run: RunRecord): void {
    update.run(run.state, JSON.stringify(run), blobOfId(run.id))
    changed('run', run.id, run.state, run.stage)
  }

  return {
    cancel({ run: id, at }) {
      const run = find(id)
      if (run === undefined) return unknown
      if (run.stage !== 'accepted' && run.stage !== 'running') {
        return { ok: false, why: 'state', reason: `its turn is over: it is ${run.state}` }
      }
      const task = taskOf(run)
      const isClaimed = run.state !== 'parked' && schedule.stateOf(task) === 'claimed'
      if (isClaimed) {
        write({ ...run, cancelRequestedAt: run.cancelRequestedAt ?? at })
        return { ok: true, claimed: task }
      }
      // The one task of all heartbeats is not this heartbeat's own.
      if (run.kind === 'run' && schedule.stateOf(task) === 'open') schedule.remove(task)
      write({
        ...run,
        state: 'cancelled',
        stage: 'cancelled',
        error: { code: 'CANCELLED', message: 'it was cancelled while it waited', retryable: false },
        attempts: run.attempts.map((attempt) => endOf(attempt, at)),
        cancelledAt: at,
      })
      return { ok: true }
    },

    resume({ run: id, at }) {
      const run = find(id)
      if (run === undefined) return unknown
      if (run.state !== 'parked') {
        return { ok: false, why: 'state', reason: `only a parked run can be resumed: it is ${run.state}` }
      }
      const { sessionKey, pool } = run
      const lane = founderOf(sessionKey) !== id || schedule.isOccupied(laneOf(sessionKey))
      const { error: _error, ...rest } = run
      write({ ...rest, state: 'queued' })
      schedule.arm(runTask({ id, sessionKey, lane, dueAt: at, pool }))
      // It is another task, which was never claimed: what was joined before has been read.
      joining.end(id)
      return { ok: true }
    },
  }
}

function taskOf({ kind, id }: RunRecord): string {
  return kind === 'heartbeat' ? 'heartbeat:main' : `run:${id}`
}

/** An attempt that is still open is one that the process did not survive. */
function endOf(attempt: Attempt, at: number): Attempt {
  return attempt.outcome === undefined ? { ...attempt, endedAt: at, outcome: 'interrupted' } : attempt
}
