/** Owns a hook's run, from its claim to the one settlement that holds all it caused. */

import {
  type Ending,
  endingFields,
  failed,
  interrupted,
  recordedEnding,
  succeeded,
  timedOut,
} from '../agent/ending.ts'
import { performTurn } from '../agent/turn.ts'
import { exchange, recentHistory } from '../session/history.ts'
import { summaryEvent } from '../session/summary.ts'
import type { Claim, EventRecord, RunRecord, Settlement, Work } from '../store/port.ts'
import { heartbeatBurstMs, heartbeatTask } from '../store/tasks.ts'
import { type AttemptEnd, countOf, withEnd, withLeftOver } from './attempts.ts'
import { type Backoff, retryDelayMs } from './backoff.ts'
import type { PerformerOptions } from './options.ts'
import { planDeliveries, reportUnsent } from './outgoing.ts'
import { recordStartSoon } from './start-record.ts'

/** Attempts that may fail before the run does. */
export const attemptLimit = 3
/** A run that keeps taking the process down with it is not tried for ever. */
export const interruptionLimit = 10

const backoff: Backoff = { firstMs: 2000, mostMs: 120_000 }

/** A run whose attempt is under way. */
type Started = RunRecord & { readonly startedAt: number }

/**
 * Stages: `accepted -> running -> ran -> summarised -> delivered`. All that follows the turn is committed
 * with its end, so a claimed run is at `accepted` or `running`; one at `ran` is taken up from there without
 * asking the model. A stage that does not apply is passed at once.
 */
export function createRunPerformer(options: PerformerOptions): (claim: Claim) => Promise<Settlement> {
  const { current, log, mintId, now, timers } = options

  return async function performRun(claim) {
    const work = await claim.load()
    const found = work.run
    if (found === undefined || found.stage === 'summarised' || found.stage === 'delivered') {
      return { effects: {}, done: true }
    }
    if (found.stage === 'ran') return conclude(found, recordedEnding(found), work, now())

    const at = now()
    const past = { ...found, attempts: withLeftOver(found.attempts, claim.task.interrupted, at) }
    const interruptions = countOf(past.attempts, 'interrupted')
    if (interruptions >= interruptionLimit) return conclude(past, interrupted(interruptions), work, at)
    return attempt(claim, begin(past, at), work, at)
  }

  async function attempt(claim: Claim, run: Started, work: Work, at: number): Promise<Settlement> {
    const start = { run: progressOf(run) }
    if (run.attempts.at(-2)?.outcome === 'interrupted') await claim.checkpoint(start)
    const settleStart = recordStartSoon(claim, start, timers)
    log.debug({ event: 'run-started', ...names(run), attempt: run.attempts.length }, 'run started')

    const deadline = run.startedAt + run.timeoutSeconds * 1000
    const bounds = { ms: deadline - at, stops: [claim.lease, options.stopping], timers }
    const outcome = await performTurn(options.runner, run.runner, turnOf(run, work), bounds)
    await settleStart()
    const endedAt = now()

    if (outcome.kind === 'answered') {
      return conclude(end(run, endedAt, { outcome: 'succeeded' }), succeeded(outcome), work, endedAt)
    }
    if (outcome.kind === 'timed-out') {
      const ending = timedOut(run)
      return conclude(
        end(run, endedAt, { outcome: 'timed-out', reason: ending.reason }),
        ending,
        work,
        endedAt,
      )
    }
    if (outcome.kind === 'interrupted') {
      const stopped = end(run, endedAt, { outcome: 'interrupted' })
      log.info({ event: 'run-interrupted', ...names(run) }, 'run interrupted; it will be taken up again')
      return { effects: { run: progressOf({ ...stopped, state: 'queued' }) }, again: endedAt, counts: false }
    }

    const { failure } = outcome
    const lost = end(run, endedAt, { outcome: 'failed', reason: failure.message })
    const failures = countOf(lost.attempts, 'failed')
    const again = endedAt + retryDelayMs(failure, failures, backoff, options.random)
    if (!failure.retryable || failures >= attemptLimit || again >= deadline) {
      return conclude(lost, failed(failure), work, endedAt)
    }
    const { code, reason } = failure
    log.warn(
      { event: 'run-retried', ...names(run), code, reason, inMs: again - endedAt },
      'run will be retried',
    )
    return { effects: { run: progressOf({ ...lost, state: 'queued' }) }, again, counts: true }
  }

  /** The turn's end and everything that follows from it, as one settlement. */
  function conclude(run: RunRecord, ending: Ending, work: Work, at: number): Settlement {
    const event = summarise(run, ending, at)
    const reply = ending.state === 'succeeded' ? ending.reply : undefined
    const { deliveries, tasks, open } = planDeliveries(run, reply, {
      route: work.route,
      channel: options.channel,
      ackToken: current().snapshot.settings.agents.defaults.heartbeat.ackToken,
      mintId,
      at,
    })
    const wake = run.wakeMode === 'now' ? [heartbeatTask(at + heartbeatBurstMs)] : []

    reportEnd(run, ending, at)
    log.info({ event: 'summary-posted', ...names(run), eventId: event.id }, 'summary posted')
    for (const delivery of deliveries) reportUnsent(log, run, delivery)
    return {
      effects: {
        run: {
          id: run.id,
          startedAt: run.startedAt,
          attempts: run.attempts,
          ...endingFields(ending),
          stage: open ? 'summarised' : 'delivered',
          ranAt: run.ranAt ?? at,
          summarisedAt: at,
          ...(open ? {} : { deliveredAt: at }),
          summaryEventId: event.id,
          deliveryIds: deliveries.map(({ id }) => id),
        },
        append:
          reply === undefined
            ? []
            : [{ session: run.sessionKey, turn: run.id, messages: said(run, reply, at) }],
        events: [event],
        deliveries,
        tasks: [...wake, ...tasks],
      },
      done: true,
    }
  }

  function summarise(run: RunRecord, ending: Ending, at: number): EventRecord {
    const label = 'the summary of a hook run'
    return summaryEvent(run, ending, {
      id: mintId(),
      at,
      fence: (text) => options.fence(text, { label, randomId: options.randomId }),
    })
  }

  function reportEnd(run: RunRecord, ending: Ending, at: number) {
    const facts = {
      ...names(run),
      runner: run.runner,
      attempts: run.attempts.length,
      ms: at - (run.startedAt ?? at),
    }
    if (ending.state === 'succeeded') {
      log.info({ event: 'run-succeeded', ...facts }, 'run succeeded')
    } else {
      const { code } = ending.error
      const event = ending.state === 'timed-out' ? 'run-timed-out' : 'run-failed'
      log.warn({ event, ...facts, code, reason: ending.reason }, 'run ended without a reply')
    }
  }

  function turnOf(run: Started, work: Work) {
    const { systemPrompt } = current().snapshot.settings.agents.defaults
    return {
      runId: run.id,
      sessionKey: run.sessionKey,
      kind: 'run',
      prompt: run.prompt,
      events: [],
      history: recentHistory(work.history),
      model: run.model,
      thinking: run.thinking,
      systemPrompt,
      attempt: run.attempts.length,
    } as const
  }
}

function begin(run: RunRecord, at: number): Started {
  return {
    ...run,
    state: 'running',
    stage: 'running',
    startedAt: run.startedAt ?? at,
    attempts: [...run.attempts, { number: run.attempts.length + 1, startedAt: at }],
  }
}

function end(run: Started, at: number, facts: AttemptEnd): Started {
  return { ...run, attempts: withEnd(run.attempts, at, facts) }
}

/** The fields that change while a run has not ended. */
function progressOf({ id, state, stage, startedAt, attempts }: RunRecord) {
  return { id, state, stage, startedAt, attempts }
}

function said(run: RunRecord, reply: string, at: number) {
  return exchange({ id: run.id, prompt: run.prompt, askedAt: run.startedAt ?? at, reply, answeredAt: at })
}

function names(run: RunRecord) {
  const { requestId, endpoint, sessionKey } = run
  return { runId: run.id, requestId, endpoint, sessionKey }
}
