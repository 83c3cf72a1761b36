/** Selects which fields of a run are written, and which are logged, while it is performed. */

import type { RunResult } from '../agent/run-result.ts'
import type { Effects, RunRecord } from '../store/port.ts'

/** Fields that are large and seldom change after the claim. */
const seldomChanged = [
  'usage',
  'message',
  'prompt',
  'coalesce',
] as const satisfies readonly (keyof RunRecord)[]

/** A run as it was claimed, and as it is now. */
export interface Changed {
  readonly claimedRun: RunRecord
  readonly run: RunRecord
}

/** Returns the fields to write, whether or not a checkpoint has written some of them since the claim. */
export function changesOf({ claimedRun, run }: Changed): NonNullable<Effects['run']> {
  const { id, state, stage, startedAt, attempts } = run
  const changed = seldomChanged.filter((field) => run[field] !== claimedRun[field])
  const more = Object.fromEntries(changed.map((field) => [field, run[field]]))
  return { id, state, stage, startedAt, attempts, ...more }
}

/** Returns the effect that stores the runner's state for its next turn of the session. */
export function stateKept(
  { sessionKey: session, runner }: RunRecord,
  result: RunResult,
): Effects['runnerState'] {
  if (result.state !== 'succeeded' || result.runnerState === undefined) return undefined
  return { session, runner, state: result.runnerState }
}

/** Returns the fields of a run that log lines name. They never hold its texts. */
export function names({ id: runId, requestId, endpoint, sessionKey }: RunRecord) {
  return { runId, requestId, endpoint, sessionKey }
}
