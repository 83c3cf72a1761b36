/** Performs a hook's run, from its claim to the one settlement that holds everything that it caused. */

import type { Timers } from '@reveille/engine'
import { type Backoff, retryDelayMs, type TurnAction } from '@reveille/kit'
import type { Failure } from '../../agent/failure.ts'
import {
  cancelled,
  failed,
  interrupted,
  type RunResult,
  succeeded,
  timedOut,
} from '../../agent/run-result.ts'
import type { TurnOutcome } from '../../agent/turn.ts'
import { addUsage } from '../../agent/usage.ts'
import type { Claim, Effects, RunRecord, Settlement, Work } from '../../store/port.ts'
import { createAsk, deadlineOf, type StartedRun } from '../ask.ts'
import { type AttemptEnd, countOf, withEnd, withLeftOver, withStart } from '../attempts.ts'
import type { Reservation } from '../budget.ts'
import { type Changed, changesOf, names } from '../changes.ts'
import { failureScopeOf, isNoAttempt } from '../failure-scope.ts'
import type { PerformerOptions } from '../performer-options.ts'
import { composed } from './coalesced.ts'
import { createConclude } from './conclude.ts'
import { createParking } from './park.ts'
import type { RunnerBreaker, RunPermit } from './runner-breaker.ts'

/** A run that was interrupted this often is not tried again: it may be what takes the process down. */
const interruptionLimit = 10

/** The wait after a rate limit that names no time. Milliseconds. */
const limitedBackoff: Backoff = { firstMs: 30_000, maxMs: 30_000 }

/** Maximum wait that a vendor is granted, as a held run spends none of its time. Milliseconds. */
const maxRateLimitMs = 86_400_000

/** Retries come up to a third earlier or later. */
const jitter = [2 / 3, 4 / 3] as const

export interface RunPerformerOptions extends PerformerOptions {
  readonly runners: RunnerBreaker
}

/** One attempt, from its claim on. */
interface RunAttempt {
  readonly claim: Claim
  readonly work: Work
  /** The run as the store has it. */
  readonly claimedRun: RunRecord
  readonly run: StartedRun
  readonly permit: Extract<RunPermit, { kind: 'granted' }>
  /** Turns that are no longer shown. */
  readonly compact?: Effects['compact']
}

/**
 * Stages: `accepted -> running -> summarised -> delivered`. Everything that follows the turn is committed with its end, so a
 * claimed run is at `accepted` or `running`. A stage that does not apply is passed at once, and a run without a reply ends at
 * `summarised`.
 */
export function createRunPerformer(options: RunPerformerOptions): (claim: Claim) => Promise<Settlement> {
  const { budgets, log, now, timers } = options
  const conclude = createConclude(options)
  const settle = createSettling(options, conclude)
  const parking = createParking(options)
  const ask = createAsk(options)

  return async function performRun(claim) {
    const work = await claim.load()
    const claimedRun = work.run
    if (claimedRun === undefined || isOver(claimedRun)) return { effects: {}, done: true }
    const at = now()
    const attempts = withLeftOver(claimedRun.attempts, claim.task.interrupted, at)
    const run = composed({ ...claimedRun, attempts }, work.joined, work.joinedCount)
    const payer = { budget: run.budget, spent: work.spent, run }
    const lost = `${run.id}:${attempts.length}`
    const spend = attempts === claimedRun.attempts ? undefined : budgets.settleLost(payer, lost)
    const result = resultWithoutAsking(run)
    if (result) return conclude({ claimedRun, run, result, work, at, spend })

    const loop = parking.loop({ claimedRun, run, at, spend }, work)
    if (loop) return loop
    const unpriced = budgets.unpriced(payer, run, options.runner(run.runner)?.countsTokens)
    if (unpriced !== undefined) return parking.unpriced({ claimedRun, run, at, spend }, unpriced)
    const permit = options.runners.permit(run)
    if (permit.kind === 'held') return held({ claimedRun, run }, permit.until, spend)
    try {
      const reservation = budgets.reserve(payer)
      if (!reservation.ok) return parking.spent({ claimedRun, run, at, spend }, reservation)
      return await attempt({ claim, work, claimedRun, run: begun(run, at), permit }, reservation, spend)
    } finally {
      permit.end()
    }
  }

  /** The run stays queued, the first of its lane, until its runner is tried again. */
  function held({ claimedRun, run }: Changed, again: number, spend: Effects['spend']): Settlement {
    const isChanged = run.attempts !== claimedRun.attempts
    return { effects: isChanged ? { run: changesOf({ claimedRun, run }), spend } : {}, again, counts: false }
  }

  async function attempt(
    runAttempt: RunAttempt,
    reservation: Reservation,
    lost: Effects['spend'],
  ): Promise<Settlement> {
    const settleStart = await recordStart(runAttempt, lost).catch((error) => {
      reservation.end({ asked: false })
      throw error
    })
    const { claim, work, run } = runAttempt
    log.debug({ event: 'run-started', ...names(run), attempt: run.attempts.length }, 'run started')
    const about = { kind: 'run', events: [], action: actionOf(run) } as const
    const { outcome, spend, compact } = await ask({ claim, work, run, reservation, about })
    await settleStart()
    const usage = addUsage(run.usage, outcome.usage)
    return settle({ ...runAttempt, run: { ...run, ...(usage && { usage }) }, compact }, outcome, spend)
  }

  /**
   * Records the start, at once if the last attempt was cut off: then the reason is on disk before the model is called
   * again.
   */
  async function recordStart(
    { claim, claimedRun, run }: RunAttempt,
    spend: Effects['spend'],
  ): Promise<() => Promise<void>> {
    const start = { run: changesOf({ claimedRun, run }), spend }
    if (run.attempts.at(-2)?.outcome !== 'interrupted') return recordStartSoon(claim, start, timers)
    await claim.checkpoint(start)
    return async () => {}
  }
}

/** Settles an attempt by what became of its turn. */
function createSettling(options: RunPerformerOptions, conclude: ReturnType<typeof createConclude>) {
  const { current, log, now } = options

  /** An answer wins over a cancel that came while it was on its way. A cancel wins over another attempt. */
  function settle(runAttempt: RunAttempt, outcome: TurnOutcome, spend: Effects['spend']): Settlement {
    const { claim, work, claimedRun, run, permit, compact } = runAttempt
    const at = now()
    const end = (result: RunResult) =>
      conclude({ claimedRun, run: ended(run, at, attemptEnd(result)), result, work, at, spend, compact })

    if (outcome.kind === 'answered') {
      permit.succeeded()
      return end(succeeded({ ...outcome, usage: run.usage }))
    }
    if (outcome.kind === 'timed-out') return end(timedOut(run))
    if (outcome.kind === 'interrupted') {
      return claim.cancel.aborted ? end(cancelled()) : requeue(runAttempt, at, spend)
    }
    const { failure } = outcome
    const lost = ended(run, at, attemptEnd(failed(failure)))
    const retry = retryAt(lost, failure, at)
    // A service that answered others meanwhile is there, and this run alone is at fault.
    const isProven = retry === undefined && !permit.answeredSince(run.startedAt)
    const heldUntil = permit.failed(failure, isProven)
    const isFaultless =
      isNoAttempt(failure) ||
      (retry === undefined && heldUntil !== undefined && failureScopeOf(failure) === 'down')
    if (claim.cancel.aborted && (isFaultless || retry !== undefined)) return end(cancelled())
    if (isFaultless) return hold(runAttempt, failure, heldUntil ?? at + waitOf(failure), spend)
    if (retry === undefined) return end(failed(failure))
    const again = Math.max(retry, heldUntil ?? retry)
    const { code, reason } = failure
    log.warn({ event: 'run-retried', ...names(run), code, reason, inMs: again - at }, 'run will be retried')
    return { effects: { run: changesOf({ claimedRun, run: queued(lost) }), spend }, again, counts: true }
  }

  /** The runner could answer nobody, so the run keeps its attempts and the whole of its time. */
  function hold(
    { claimedRun, run }: RunAttempt,
    { code, message, reason }: Failure,
    again: number,
    spend: Effects['spend'],
  ): Settlement {
    const at = now()
    log.info({ event: 'run-held', ...names(run), code, reason, inMs: again - at }, 'run waits for its runner')
    const waiting = { ...queued(ended(run, at, { outcome: 'held', reason: message })), startedAt: undefined }
    return { effects: { run: changesOf({ claimedRun, run: waiting }), spend }, again, counts: false }
  }

  function waitOf(failure: Failure): number {
    return retryDelayMs(failure, 1, limitedBackoff, options.random, maxRateLimitMs)
  }

  /** The gateway stops. The next process that claims the run continues it. */
  function requeue({ claimedRun, run }: RunAttempt, at: number, spend: Effects['spend']): Settlement {
    log.info({ event: 'run-interrupted', ...names(run) }, 'run interrupted; it will be taken up again')
    const stopped = queued(ended(run, at, { outcome: 'interrupted' }))
    return { effects: { run: changesOf({ claimedRun, run: stopped }), spend }, again: at, counts: false }
  }

  /** Returns when the run is tried again, or undefined if it is not: also if that would be after its deadline. */
  function retryAt(run: StartedRun, failure: Failure, at: number): number | undefined {
    const { attempts, ...backoff } = current().snapshot.settings.agents.defaults.retry
    const failures = countOf(run, 'failed')
    if (!failure.retryable || failures >= attempts) return undefined
    const left = deadlineOf(run) - at
    const waitMs = retryDelayMs(failure, failures, { ...backoff, jitter }, options.random, left)
    return waitMs < left ? at + waitMs : undefined
  }

  return settle
}

/** Returns whether nothing is left to do: the turn is over and summarised, or the run is parked or cancelled. */
function isOver({ state, stage }: RunRecord): boolean {
  return state === 'parked' || state === 'cancelled' || stage === 'summarised' || stage === 'delivered'
}

/** Returns the result of a run that ends without asking the model again. */
function resultWithoutAsking(run: RunRecord): RunResult | undefined {
  if (run.cancelRequestedAt !== undefined) return cancelled()
  const interruptions = countOf(run, 'interrupted')
  return interruptions >= interruptionLimit ? interrupted(interruptions) : undefined
}

function begun(run: RunRecord, at: number): StartedRun {
  return {
    ...run,
    state: 'running',
    stage: 'running',
    // If the clock was set back since the first start, the run does not get more time.
    startedAt: Math.min(run.startedAt ?? at, at),
    attempts: withStart(run.attempts, at),
  }
}

function ended(run: StartedRun, at: number, end: AttemptEnd): StartedRun {
  return { ...run, attempts: withEnd(run.attempts, at, end) }
}

function queued(run: StartedRun): StartedRun {
  return { ...run, state: 'queued' }
}

function attemptEnd(result: RunResult): AttemptEnd {
  if (result.state === 'succeeded') return { outcome: 'succeeded' }
  return { outcome: result.state, reason: result.error.message }
}

/** Returns what was decided besides the prompt. */
function actionOf({ name, wakeMode, deliver, channel, to }: RunRecord): TurnAction {
  return Object.freeze({ name, wakeMode, deliver, channel, to })
}

/** A turn that is over within this time is written once, when it ends. Milliseconds. */
const unrecordedMs = 25

/**
 * Writes the start once the turn has lasted a moment. The returned function waits for a write under way and cancels one
 * that has not begun. The claim is on disk before the turn starts, so a crash in that moment is still detected. A write
 * that fails does not stop the turn: the settlement will fail too and report it.
 */
function recordStartSoon(claim: Claim, effects: Effects, timers: Timers): () => Promise<void> {
  let write: Promise<void> | undefined
  const timer = timers.setTimeout(() => {
    write = claim.checkpoint(effects).catch(() => {})
  }, unrecordedMs)
  return async () => {
    timers.clearTimeout(timer)
    await write
  }
}
