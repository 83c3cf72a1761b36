/** Asks a runner for a turn: gathers its input, sets its deadline, shows its progress and counts its cost. */

import type { Turn } from '@reveille/kit'
import { performTurn, type TurnOutcome } from '../agent/turn.ts'
import type { Claim, RunRecord, Work } from '../store/port.ts'
import { type Reservation, withPrice } from './budget.ts'
import { isNoAttempt } from './failure-scope.ts'
import type { PerformerOptions } from './performer-options.ts'
import { createSessionContext, withContextCost } from './session-context.ts'

/** A run whose attempt is under way. */
export type StartedRun = RunRecord & { readonly startedAt: number }

export interface Question {
  readonly claim: Claim
  readonly work: Work
  readonly run: StartedRun
  /** Ends with the turn, however the turn ends. */
  readonly reservation: Reservation
  /** Input of the turn beside the run's record. */
  readonly about: Pick<Turn, 'kind' | 'events' | 'action'>
}

/**
 * The returned function answers what the turn has cost, and the turns that are deleted with the settlement if it succeeded. It
 * rejects with a StoreError if the summary of the session could not be written.
 */
export function createAsk(options: PerformerOptions) {
  const { current, now, progress, runner, timers } = options
  const loadContext = createSessionContext(options)

  return async function ask({ claim, work, run, reservation, about }: Question) {
    const deadline = deadlineOf(run)
    const stops = [claim.lease, claim.cancel, options.stopping]
    const context = await loadContext(claim, run, work.history, { deadline, stops }).catch((error) => {
      reservation.end({ asked: true })
      throw error
    })
    await claim.confirm().catch((error) => {
      reservation.end({ asked: context.usage !== undefined })
      throw error
    })
    const ms = deadline - now()
    const turn: Turn = {
      ...about,
      runId: run.id,
      sessionKey: run.sessionKey,
      prompt: run.prompt,
      history: context.history,
      model: run.model,
      thinking: run.thinking,
      systemPrompt: current().snapshot.settings.agents.defaults.systemPrompt,
      attempt: run.attempts.length,
      state: work.runnerState?.[run.runner],
      timeoutSeconds: Math.ceil(ms / 1000),
    }
    progress?.start(run.id)
    const bounds = { ms, stops, timers }
    const answered = await performTurn(runner, run.runner, turn, bounds, (news) =>
      progress?.note(run.id, news),
    )
    progress?.end(run.id)
    const outcome = withContextCost(withPrice(answered, run, current()), context)
    return {
      outcome,
      spend: reservation.end(isUnbilled(outcome) ? { ...outcome, asked: false } : outcome),
      compact: context.compact,
    }
  }
}

/** True if the runner could not even be asked, as with a refused credential, which costs nothing however often a probe meets it. */
function isUnbilled({ kind, usage, ...outcome }: TurnOutcome): boolean {
  return kind === 'failed' && usage === undefined && 'failure' in outcome && isNoAttempt(outcome.failure)
}

/** Returns when the time of all attempts together is over. Milliseconds since the Unix epoch. */
export function deadlineOf({ startedAt, timeoutSeconds }: StartedRun): number {
  return startedAt + timeoutSeconds * 1000
}
