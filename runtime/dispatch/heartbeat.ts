/** Owns the heartbeat: one turn of the main session over its pending events, and when the next one is due. */

import {
  type Answered,
  endingFields,
  failed,
  interrupted,
  succeeded,
  timedOut,
  type Unanswered,
} from '../agent/ending.ts'
import { heartbeatPrompt } from '../agent/heartbeat-prompt.ts'
import { performTurn } from '../agent/turn.ts'
import { exchange, recentHistory } from '../session/history.ts'
import { mainSession } from '../session/main.ts'
import type { Claim, EventRecord, NewTask, RunRecord, Settlement, Work } from '../store/port.ts'
import { heartbeatBurstMs, heartbeatTask } from '../store/tasks.ts'
import { type AttemptEnd, withEnd, withLeftOver } from './attempts.ts'
import { type Backoff, backoffMs } from './backoff.ts'
import type { PerformerOptions } from './options.ts'
import { planDeliveries, reportUnsent } from './outgoing.ts'

const backoff: Backoff = { firstMs: 5000, mostMs: 1_800_000 }

interface Heartbeat {
  readonly run: RunRecord & { readonly startedAt: number }
  readonly shown: readonly EventRecord[]
}

/**
 * Each turn is a run of its own, because the events that it shows are: a heartbeat that fails leaves them
 * pending and the next one shows what is pending by then.
 */
export function createHeartbeatPerformer(options: PerformerOptions): (claim: Claim) => Promise<Settlement> {
  const { current, log, mintId, now, timers } = options
  let tidied = false

  return async function performHeartbeat(claim) {
    if (!tidied || claim.task.interrupted) await closeLeftOver(claim)
    tidied = true
    const work = await claim.load()
    const { heartbeat: rules } = settings()
    if (work.pending.all === 0 && !rules.idle) {
      log.debug({ event: 'heartbeat-skipped', reason: 'nothing is pending' }, 'heartbeat skipped')
      return { effects: { tasks: nextTick(now()) }, done: true }
    }

    const { run, shown } = begin(work)
    await claim.checkpoint({ run })
    log.debug({ event: 'heartbeat-started', ...names(run), events: shown.length }, 'heartbeat started')
    const bounds = { ms: run.timeoutSeconds * 1000, stops: [claim.lease, options.stopping], timers }
    const outcome = await performTurn(options.runner, run.runner, turnOf(run, shown, work), bounds)
    const at = now()

    if (outcome.kind === 'answered') return conclude({ run, shown }, succeeded(outcome), work, at)
    if (outcome.kind === 'interrupted') {
      const fields = failedFields(run, interrupted(1), { outcome: 'interrupted' }, at)
      return { effects: { run: fields }, again: at, counts: false }
    }
    const ending = outcome.kind === 'timed-out' ? timedOut(run) : failed(outcome.failure)
    const askedMs = outcome.kind === 'failed' ? (outcome.failure.retryAfterMs ?? 0) : 0
    return retry(run, ending, { failures: claim.task.attempt, askedMs }, at)
  }

  /** The process before ended during a heartbeat. Its run ends here; its events are still pending. */
  async function closeLeftOver(claim: Claim): Promise<void> {
    const { items } = await options.store.read.runs({ kind: 'heartbeat', state: 'running' })
    for (const { id, attempts } of items) {
      const at = now()
      const ended = { ...endingFields(interrupted(1)), ...passed(at) }
      await claim.checkpoint({
        run: { id, ...ended, attempts: withLeftOver(attempts, claim.task.interrupted, at) },
      })
    }
  }

  function begin(work: Work): Heartbeat {
    const { generation } = current()
    const { heartbeat: rules, runner, model, thinking, timeoutSeconds } = settings()
    const instruction = rules.prompt
    const { text, shown } = heartbeatPrompt({ events: work.events, pending: work.pending.all, instruction })
    const startedAt = now()
    const run = {
      id: mintId(),
      kind: 'heartbeat',
      generation,
      sessionKey: mainSession,
      state: 'running',
      stage: 'running',
      runner,
      model,
      thinking,
      timeoutSeconds,
      wakeMode: work.pending.now > 0 ? 'now' : 'next-heartbeat',
      deliver: true,
      channel: 'last',
      message: instruction,
      prompt: text,
      attempts: [{ number: 1, startedAt }],
      createdAt: startedAt,
      startedAt,
      deliveryIds: [],
      eventIds: shown.map((event) => event.id),
    } as const
    return { run, shown }
  }

  function conclude(heartbeat: Heartbeat, ending: Answered, work: Work, at: number): Settlement {
    const { run, shown } = heartbeat
    const { deliveries, tasks, open } = planDeliveries(run, ending.reply, {
      route: work.route,
      channel: options.channel,
      ackToken: settings().heartbeat.ackToken,
      mintId,
      at,
    })
    const left = work.pending.now - shown.filter((event) => event.mode === 'now').length
    const next = left > 0 ? [heartbeatTask(at + heartbeatBurstMs)] : nextTick(at)
    const said = {
      id: run.id,
      prompt: run.prompt,
      askedAt: run.startedAt,
      reply: ending.reply,
      answeredAt: at,
    }

    log.info(
      {
        event: 'heartbeat-succeeded',
        ...names(run),
        events: shown.length,
        waiting: work.pending.all - shown.length,
        ms: at - run.startedAt,
      },
      'heartbeat succeeded',
    )
    for (const delivery of deliveries) reportUnsent(log, run, delivery)
    return {
      effects: {
        run: {
          id: run.id,
          ...endingFields(ending),
          ...(open ? { stage: 'ran', ranAt: at } : passed(at)),
          attempts: withEnd(run.attempts, at, { outcome: 'succeeded' }),
          deliveryIds: deliveries.map(({ id }) => id),
        },
        append: [{ session: mainSession, turn: run.id, messages: exchange(said) }],
        consume: { by: run.id, at, events: shown.map((event) => event.id) },
        deliveries,
        tasks: [...next, ...tasks],
      },
      done: true,
    }
  }

  /** A heartbeat is never given up, since nothing else shows its events: it backs off, and says so. */
  function retry(
    run: Heartbeat['run'],
    ending: Unanswered,
    { failures, askedMs }: { failures: number; askedMs: number },
    at: number,
  ): Settlement {
    const ownMs = backoffMs(failures, backoff, options.random)
    const waitMs = Math.min(backoff.mostMs, Math.max(ownMs, Math.ceil(askedMs)))
    const outcome = ending.state
    const { code, message } = ending.error
    log.warn(
      { event: 'heartbeat-failed', ...names(run), code, reason: ending.reason, failures, inMs: waitMs },
      'heartbeat failed; the main session backs off',
    )
    const fields = failedFields(run, ending, { outcome, reason: message }, at)
    return { effects: { run: fields }, again: at + waitMs, counts: true }
  }

  function nextTick(at: number): NewTask[] {
    const { everyMs } = settings().heartbeat
    return everyMs > 0 ? [heartbeatTask(at + everyMs)] : []
  }

  function settings() {
    return current().snapshot.settings.agents.defaults
  }

  function turnOf(run: RunRecord, shown: readonly EventRecord[], work: Work) {
    return {
      runId: run.id,
      sessionKey: run.sessionKey,
      kind: 'heartbeat',
      prompt: run.prompt,
      events: shown.map(({ id, text, createdAt }) => ({ id, text, at: createdAt })),
      history: recentHistory(work.history),
      model: run.model,
      thinking: run.thinking,
      systemPrompt: settings().systemPrompt,
      attempt: 1,
    } as const
  }
}

function failedFields(run: RunRecord, ending: Unanswered, end: AttemptEnd, at: number) {
  return { id: run.id, ...endingFields(ending), ...passed(at), attempts: withEnd(run.attempts, at, end) }
}

/** A heartbeat has no summary; with nothing to deliver, its turn is its last stage. */
function passed(at: number) {
  return { stage: 'delivered', ranAt: at, deliveredAt: at } as const
}

function names(run: RunRecord) {
  return { runId: run.id, sessionKey: run.sessionKey }
}
