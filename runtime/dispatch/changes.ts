/** Owns what is written, and what is logged, of a run while it is performed. */

import type { Ending } from '../agent/ending.ts'
import type { Effects, RunRecord } from '../store/port.ts'

/** Large, and seldom other than at the claim. */
const seldom = ['usage', 'message', 'prompt', 'coalesce'] as const satisfies readonly (keyof RunRecord)[]

/** A run as it was claimed, and as it is now. */
export interface Changed {
  readonly found: RunRecord
  readonly run: RunRecord
}

/** Whole, whatever of it a checkpoint may have written since the claim. */
export function changesOf({ found, run }: Changed): NonNullable<Effects['run']> {
  const { id, state, stage, startedAt, attempts } = run
  const changed = seldom.filter((field) => run[field] !== found[field])
  const more = Object.fromEntries(changed.map((field) => [field, run[field]]))
  return { id, state, stage, startedAt, attempts, ...more }
}

/** What the runner wants to find again in its next turn of the session. */
export function stateKept(
  { sessionKey: session, runner }: RunRecord,
  ending: Ending,
): Effects['runnerState'] {
  if (ending.state !== 'succeeded' || ending.runnerState === undefined) return undefined
  return { session, runner, state: ending.runnerState }
}

/** What a log line says of a run. Never its texts. */
export function names({ id: runId, requestId, endpoint, sessionKey }: RunRecord) {
  return { runId, requestId, endpoint, sessionKey }
}
