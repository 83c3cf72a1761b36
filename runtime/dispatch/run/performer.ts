/** Owns a hook's run, from its claim to the one settlement that holds all it caused. */

import { retryDelayMs, type TurnAction } from '@reveille/kit'
import {
  cancelled,
  type Ending,
  failed,
  interrupted,
  recordedEnding,
  succeeded,
  timedOut,
} from '../../agent/ending.ts'
import type { Failure } from '../../agent/failure.ts'
import type { TurnOutcome } from '../../agent/turn.ts'
import { addUsage } from '../../agent/usage.ts'
import type { Claim, Effects, RunRecord, Settlement, Work } from '../../store/port.ts'
import { createAsk, deadlineOf, type StartedRun } from '../ask.ts'
import { type AttemptEnd, countOf, withEnd, withLeftOver } from '../attempts.ts'
import type { Reservation } from '../budget.ts'
import { changesOf, names } from '../changes.ts'
import type { PerformerOptions } from '../options.ts'
import { composed } from './coalesced.ts'
import { createConclude } from './conclude.ts'
import { createParking } from './park.ts'
import { recordStartSoon } from './start-record.ts'

/** A run that keeps taking the process down with it is not tried for ever. */
const interruptionLimit = 10

/** A third less or more. */
const jitter = [2 / 3, 4 / 3] as const

/** One attempt, from its claim on. */
interface Trial {
  readonly claim: Claim
  readonly work: Work
  /** As the store has it. */
  readonly found: RunRecord
  readonly run: StartedRun
  /** What the turn was not shown any more. */
  readonly compact?: Effects['compact']
}

/**
 * Stages: `accepted -> running -> ran -> summarised -> delivered`. All that follows the turn is committed
 * with its end, so a claimed run is at `accepted` or `running`; one at `ran` is taken up from there without
 * asking the model. A stage that does not apply is passed at once.
 */
export function createRunPerformer(options: PerformerOptions): (claim: Claim) => Promise<Settlement> {
  const { budgets, current, log, now, timers } = options
  const conclude = createConclude(options)
  const parking = createParking(options)
  const ask = createAsk(options)

  return async function performRun(claim) {
    const work = await claim.load()
    const found = work.run
    if (found === undefined || isOver(found)) return { effects: {}, done: true }
    const at = now()
    if (found.stage === 'ran') return conclude({ found, run: found, ending: recordedEnding(found), work, at })

    const attempts = withLeftOver(found.attempts, claim.task.interrupted, at)
    const run = composed({ ...found, attempts }, work.joined, work.joinedCount)
    const payer = { budget: run.budget, spent: work.spent }
    const lost = `${run.id}:${attempts.length}`
    const spend = attempts === found.attempts ? undefined : budgets.settleLost(payer, lost)
    const ending = endingUnasked(run)
    if (ending) return conclude({ found, run, ending, work, at, spend })

    const loop = parking.loop({ found, run, at, spend }, work)
    if (loop) return loop
    const reservation = budgets.reserve(payer)
    if (!reservation.ok) return parking.spent({ found, run, at, spend }, reservation)
    return attempt({ claim, work, found, run: begun(run, at) }, reservation, spend)
  }

  async function attempt(
    trial: Trial,
    reservation: Reservation,
    lost: Effects['spend'],
  ): Promise<Settlement> {
    const settleStart = await recordStart(trial, lost).catch((error) => {
      reservation.end({ asked: false })
      throw error
    })
    const { claim, work, run } = trial
    log.debug({ event: 'run-started', ...names(run), attempt: run.attempts.length }, 'run started')
    const about = { kind: 'run', events: [], action: actionOf(run) } as const
    const { outcome, spend, compact } = await ask({ claim, work, run, reservation, about })
    await settleStart()
    const usage = addUsage(run.usage, outcome.usage)
    return settle({ ...trial, run: { ...run, ...(usage && { usage }) }, compact }, outcome, spend)
  }

  /** At once where an attempt was cut off: the reason is on disk before the model is asked again. */
  async function recordStart(
    { claim, found, run }: Trial,
    spend: Effects['spend'],
  ): Promise<() => Promise<void>> {
    const start = { run: changesOf({ found, run }), spend }
    if (run.attempts.at(-2)?.outcome !== 'interrupted') return recordStartSoon(claim, start, timers)
    await claim.checkpoint(start)
    return async () => {}
  }

  /** An answer wins over whatever came while it was on its way; a wish to cancel wins over another attempt. */
  function settle(trial: Trial, outcome: TurnOutcome, spend: Effects['spend']): Settlement {
    const { claim, work, found, run, compact } = trial
    const at = now()
    const end = (ending: Ending) =>
      conclude({ found, run: ended(run, at, attemptEnd(ending)), ending, work, at, spend, compact })

    if (outcome.kind === 'answered') return end(succeeded({ ...outcome, usage: run.usage }))
    if (outcome.kind === 'timed-out') return end(timedOut(run))
    if (outcome.kind === 'interrupted') {
      return claim.cancel.aborted ? end(cancelled()) : putBack(trial, at, spend)
    }
    const { failure } = outcome
    const lost = ended(run, at, attemptEnd(failed(failure)))
    const again = retryAt(lost, failure, at)
    if (again === undefined) return end(failed(failure))
    if (claim.cancel.aborted) return end(cancelled())
    const { code, reason } = failure
    log.warn({ event: 'run-retried', ...names(run), code, reason, inMs: again - at }, 'run will be retried')
    return { effects: { run: changesOf({ found, run: queued(lost) }), spend }, again, counts: true }
  }

  /** The gateway stops; whoever claims the run next goes on. */
  function putBack({ found, run }: Trial, at: number, spend: Effects['spend']): Settlement {
    log.info({ event: 'run-interrupted', ...names(run) }, 'run interrupted; it will be taken up again')
    const stopped = queued(ended(run, at, { outcome: 'interrupted' }))
    return { effects: { run: changesOf({ found, run: stopped }), spend }, again: at, counts: false }
  }

  /** When the run is tried again; undefined where it is not. Nobody is asked after the deadline, so nobody waits for it. */
  function retryAt(run: StartedRun, failure: Failure, at: number): number | undefined {
    const { attempts, ...backoff } = defaults().retry
    const failures = countOf(run.attempts, 'failed')
    if (!failure.retryable || failures >= attempts) return undefined
    const left = deadlineOf(run) - at
    const waitMs = retryDelayMs(failure, failures, { ...backoff, jitter }, options.random, left)
    return waitMs < left ? at + waitMs : undefined
  }

  function defaults() {
    return current().snapshot.settings.agents.defaults
  }
}

/** Nothing is left to do here: its turn is over and told, or nobody wants one. */
function isOver({ state, stage }: RunRecord): boolean {
  if (stage === 'ran') return false
  return state === 'parked' || state === 'cancelled' || stage === 'summarised' || stage === 'delivered'
}

/** How a run ends that is not asked for again. */
function endingUnasked(run: RunRecord): Ending | undefined {
  if (run.cancelRequestedAt !== undefined) return cancelled()
  const interruptions = countOf(run.attempts, 'interrupted')
  return interruptions >= interruptionLimit ? interrupted(interruptions) : undefined
}

function begun(run: RunRecord, at: number): StartedRun {
  return {
    ...run,
    state: 'running',
    stage: 'running',
    // A clock that was set back since then gives no more time than there was.
    startedAt: Math.min(run.startedAt ?? at, at),
    attempts: [...run.attempts, { number: run.attempts.length + 1, startedAt: at }],
  }
}

function ended(run: StartedRun, at: number, end: AttemptEnd): StartedRun {
  return { ...run, attempts: withEnd(run.attempts, at, end) }
}

function queued(run: StartedRun): StartedRun {
  return { ...run, state: 'queued' }
}

function attemptEnd(ending: Ending): AttemptEnd {
  if (ending.state === 'succeeded') return { outcome: 'succeeded' }
  return { outcome: ending.state, reason: ending.error.message }
}

/** What was decided besides the prompt. */
function actionOf({ name, wakeMode, deliver, channel, to }: RunRecord): TurnAction {
  return Object.freeze({ name, wakeMode, deliver, channel, to })
}
