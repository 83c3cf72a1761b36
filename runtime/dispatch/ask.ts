/** Owns asking a runner for a turn: what it is told, the time that it has, who may watch, and who pays for it. */

import type { Turn } from '@reveille/kit'
import { performTurn, type TurnOutcome } from '../agent/turn.ts'
import type { Claim, Effects, RunRecord, Work } from '../store/port.ts'
import type { Reservation } from './budget.ts'
import type { PerformerOptions } from './options.ts'
import { createRecall, withRecall } from './recall.ts'

/** A run whose attempt is under way. */
export type StartedRun = RunRecord & { readonly startedAt: number }

export interface Question {
  readonly claim: Claim
  readonly work: Work
  readonly run: StartedRun
  /** Ended with the turn, however that ends. */
  readonly reservation: Reservation
  /** What the run's record does not tell of the turn. */
  readonly about: Pick<Turn, 'kind' | 'events' | 'action'>
}

export interface Asked {
  readonly outcome: TurnOutcome
  /** What goes with the settlement: what the turn has cost. */
  readonly spend: Effects['spend']
  /** Turns that are not shown again, once this one succeeded. */
  readonly compact?: Effects['compact']
}

/** @throws StoreError when what the turn remembers could not be written */
export function createAsk(options: PerformerOptions): (question: Question) => Promise<Asked> {
  const { current, now, progress, runner, timers } = options
  const recall = createRecall(options)

  return async function ask({ claim, work, run, reservation, about }) {
    const deadline = deadlineOf(run)
    const stops = [claim.lease, claim.cancel, options.stopping]
    const recalled = await recall(claim, run, work.history, { deadline, stops }).catch((error) => {
      reservation.end({ asked: true })
      throw error
    })
    const ms = deadline - now()
    const turn: Turn = {
      ...about,
      runId: run.id,
      sessionKey: run.sessionKey,
      prompt: run.prompt,
      history: recalled.history,
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
    const outcome = withRecall(answered, recalled)
    return { outcome, spend: reservation.end(outcome), compact: recalled.compact }
  }
}

/** When the time of all its attempts together is over. Milliseconds since the Unix epoch. */
export function deadlineOf({ startedAt, timeoutSeconds }: StartedRun): number {
  return startedAt + timeoutSeconds * 1000
}
