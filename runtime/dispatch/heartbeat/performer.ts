/** Performs heartbeats: a turn of the main session over its pending events, and the choice of when the next one is due. */

import { type Backoff, backoffMs } from '@reveille/kit'
import {
  type Answered,
  cancelled,
  failed,
  interrupted,
  resultFields,
  succeeded,
  timedOut,
  type Unanswered,
} from '../../agent/run-result.ts'
import type { TurnOutcome } from '../../agent/turn.ts'
import { exchange } from '../../session/history.ts'
import { mainSession } from '../../session/main.ts'
import type { Claim, Effects, NewTask, RunRecord, Settlement, Work } from '../../store/port.ts'
import { heartbeatWindowMs } from '../../store/task-keys.ts'
import { createAsk } from '../ask.ts'
import { type AttemptEnd, withEnd, withLeftOver } from '../attempts.ts'
import type { Reservation } from '../budget.ts'
import { names, stateKept } from '../changes.ts'
import { planDeliveries } from '../delivery/outgoing.ts'
import type { PerformerOptions } from '../performer-options.ts'
import { createHeartbeatPauses, type HeartbeatPauses } from './pauses.ts'
import { beginHeartbeat, type Heartbeat, withEndOfIssues } from './record.ts'
import { createHeartbeatBoard, type HeartbeatBoard } from './state.ts'

const backoff: Backoff = { firstMs: 5000, maxMs: 1_800_000 }
/** Passing events on costs no model call, and events that wait for another gateway are late, so these waits are short. */
const relayBackoff: Backoff = { firstMs: 5000, maxMs: 30_000 }

/** A heartbeat whose turn has begun. */
interface AskedHeartbeat extends Heartbeat {
  readonly claim: Claim
  readonly work: Work
  readonly spend: Effects['spend']
  readonly at: number
}

/**
 * Each try is a run of its own, because it shows events of its own: a heartbeat that fails leaves them pending, and the next
 * one shows what is pending by then.
 */
export function createHeartbeatPerformer(
  options: PerformerOptions,
  board: HeartbeatBoard = createHeartbeatBoard(),
): (claim: Claim) => Promise<Settlement> {
  const { budgets, current, log, mintId, now } = options
  const ask = createAsk(options)
  const pauses = createHeartbeatPauses(options, board)
  const conclude = createConclusion(options, pauses)
  const settleUnanswered = createFailures(options, pauses, board)
  const settings = () => current().snapshot.settings.agents.defaults
  let tidied = false

  return async function performHeartbeat(claim) {
    const work = await claim.load()
    if (!tidied || claim.task.interrupted) await closeLeftOver(claim, work)
    tidied = true
    const pause = pauses.quiet(work) ?? pauses.idle(work)
    if (pause) return pause
    const reservation = budgets.reserve({ spent: work.spent, run: payerOf(settings().model) })
    if (!reservation.ok) return pauses.spent(reservation)
    return askRunner(claim, work, reservation)
  }

  /** Ends the run of a heartbeat during which the last process ended. Its events are still pending. */
  async function closeLeftOver(claim: Claim, work: Work): Promise<void> {
    const { items } = await options.store.read.runs({ kind: 'heartbeat', state: 'running' })
    for (const { id, attempts, model } of items) {
      const at = now()
      const ended = { ...resultFields(interrupted(1)), ...passed(at) }
      await claim.checkpoint({
        run: { id, ...ended, attempts: withLeftOver(attempts, claim.task.interrupted, at) },
        spend: budgets.settleLost({ spent: work.spent, run: payerOf(model) }, id),
      })
    }
  }

  async function askRunner(claim: Claim, work: Work, reservation: Reservation): Promise<Settlement> {
    const facts = { id: mintId(), at: now(), generation: current().generation, settings: settings() }
    const events = await withEndOfIssues(work.events, options.store.read)
    const heartbeat = beginHeartbeat({ ...work, events }, { ...facts, relays: pauses.relays() })
    const { run, shown } = heartbeat
    board.started(run.startedAt)
    await claim.checkpoint({ run }).catch((error) => {
      reservation.end({ asked: false })
      throw error
    })
    log.debug({ event: 'heartbeat-started', ...names(run), events: shown.length }, 'heartbeat started')
    const reported = shown.map(({ id, text, prompt, mode, createdAt }) => ({
      id,
      text,
      prompt,
      mode,
      at: createdAt,
    }))
    const about = { kind: 'heartbeat', events: reported } as const
    const { outcome, spend, compact } = await ask({ claim, work, run, reservation, about })
    const question = { ...heartbeat, claim, work, spend, at: now() }
    return outcome.kind === 'answered'
      ? conclude(question, succeeded(outcome), compact)
      : settleUnanswered(question, outcome)
  }
}

/** Settles a heartbeat that was answered. */
function createConclusion(options: PerformerOptions, pauses: HeartbeatPauses) {
  const { log } = options

  function conclude(asked: AskedHeartbeat, result: Answered, compact: Effects['compact']): Settlement {
    const { run, shown, work, spend, at } = asked
    const isElsewhere = result.handedOver !== undefined || !run.deliver
    const prompted = { id: run.id, prompt: run.prompt, askedAt: run.startedAt }
    const messages = exchange({ ...prompted, reply: result.reply, answeredAt: at })
    const { warnings = [], handedOver } = result

    log.info(
      {
        event: 'heartbeat-succeeded',
        ...names(run),
        events: shown.length,
        waiting: work.pending.all - shown.length,
        ms: at - run.startedAt,
        ...(warnings.length > 0 && { warnings: warnings.length }),
        ...(handedOver !== undefined && { handedOver: true }),
      },
      'heartbeat succeeded',
    )
    const text = isElsewhere ? undefined : result.reply
    const { deliveries, tasks, open } = planDeliveries(options, run, { text, route: work.route, at })
    options.observer?.heartbeatEnded?.({ ...run, usage: result.usage }, undefined, shown)
    return {
      effects: {
        run: {
          id: run.id,
          ...resultFields(result),
          ...(open ? { stage: 'ran', ranAt: at } : passed(at)),
          attempts: withEnd(run.attempts, at, { outcome: 'succeeded' }),
          deliveryIds: deliveries.map(({ id }) => id),
        },
        append: isElsewhere ? [] : [{ session: mainSession, turn: run.id, messages }],
        compact,
        runnerState: stateKept(run, result),
        spend,
        consume: { by: run.id, at, events: shown.map((event) => event.id) },
        deliveries,
        tasks: [...next(asked), ...tasks],
      },
      done: true,
    }
  }

  /** Schedules the next heartbeat: at once for events that asked for `now` and did not fit, or that are passed on. */
  function next({ run, shown, work, at }: AskedHeartbeat): NewTask[] {
    const waiting = run.deliver
      ? work.pending.now - shown.filter((event) => event.mode === 'now').length
      : work.pending.all - shown.length
    return pauses.scheduleNext(at, {
      succeeded: true,
      ...(waiting > 0 && { nextAt: at + heartbeatWindowMs }),
    })
  }

  return conclude
}

/** Settles a heartbeat that was not answered. */
function createFailures(options: PerformerOptions, pauses: HeartbeatPauses, board: HeartbeatBoard) {
  const { log } = options

  function settleUnanswered(
    asked: AskedHeartbeat,
    outcome: Exclude<TurnOutcome, { kind: 'answered' }>,
  ): Settlement {
    const { claim, run, spend, at } = asked
    const { usage } = outcome
    if (outcome.kind === 'interrupted' && claim.cancel.aborted) {
      // Its events stay pending until the next event or tick: an operator who cancels wants no other turn at once.
      log.warn({ event: 'heartbeat-cancelled', ...names(run) }, 'heartbeat cancelled')
      const result = cancelled()
      const end = { outcome: 'cancelled', reason: result.error.message } as const
      return {
        effects: {
          run: failedFields(run, result, end, at, usage),
          spend,
          tasks: pauses.scheduleNext(at, { succeeded: false }),
        },
        done: true,
      }
    }
    if (outcome.kind === 'interrupted') {
      board.rested(at, { nextAt: at, succeeded: false })
      const fields = failedFields(run, interrupted(1), { outcome: 'interrupted' }, at, usage)
      return { effects: { run: fields, spend }, again: at, counts: false }
    }
    const result = outcome.kind === 'timed-out' ? timedOut(run) : failed(outcome.failure)
    const askedMs = outcome.kind === 'failed' ? (outcome.failure.retryAfterMs ?? 0) : 0
    return retry(asked, result, askedMs, usage)
  }

  /** A heartbeat is never given up, because nothing else shows its events. It backs off. */
  function retry(
    asked: AskedHeartbeat,
    result: Unanswered,
    askedMs: number,
    usage: RunRecord['usage'],
  ): Settlement {
    const { claim, run, spend, at } = asked
    const failures = claim.task.attempt
    const ownMs = backoffMs(failures, pauses.relays() ? relayBackoff : backoff, options.random)
    const waitMs = Math.min(backoff.maxMs, Math.max(ownMs, Math.ceil(askedMs)))
    const { code, message } = result.error
    log.warn(
      { event: 'heartbeat-failed', ...names(run), code, reason: result.reason, failures, inMs: waitMs },
      'heartbeat failed; the main session backs off',
    )
    board.failed(at, at + waitMs, { failures, code })
    options.observer?.heartbeatEnded?.({ ...run, usage }, { code, reason: result.reason }, asked.shown)
    const fields = failedFields(run, result, { outcome: result.state, reason: message }, at, usage)
    return { effects: { run: fields, spend }, again: at + waitMs, counts: true }
  }

  return settleUnanswered
}

function failedFields(
  run: RunRecord,
  result: Unanswered,
  end: AttemptEnd,
  at: number,
  usage: RunRecord['usage'],
) {
  return {
    id: run.id,
    ...resultFields(result),
    ...passed(at),
    ...(usage && { usage }),
    attempts: withEnd(run.attempts, at, end),
  }
}

/** Names under which the cost of a heartbeat is listed. */
function payerOf(model: string | undefined) {
  return { model, sessionKey: mainSession }
}

/** A heartbeat has no summary. With nothing to deliver it is at its last stage after its turn. */
function passed(at: number) {
  return { stage: 'delivered', ranAt: at, deliveredAt: at } as const
}
