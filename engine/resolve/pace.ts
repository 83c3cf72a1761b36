/** Owns when a request gives everything else its turn: before each step that a long body makes a long one. */

import { nextTurn } from '../turn.ts'
import type { HookRequest } from './decision.ts'

/** A step over a body of so many bytes takes milliseconds, some of them tens of milliseconds. */
const longBody = 65_536

/** At once for a short body; else with a turn of the event loop for itself. */
export function atPace<Result>(
  { rawBody }: HookRequest,
  step: () => Result | Promise<Result>,
): Result | Promise<Result> {
  return rawBody.length < longBody ? step() : nextTurn().then(step)
}
