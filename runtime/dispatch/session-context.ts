/** Loads the session context of a turn: the history within the limits, or a summary that is asked for beyond them. */

import type { Message, Runner } from '@reveille/kit'
import { performTurn, type TurnOutcome } from '../agent/turn.ts'
import { addUsage } from '../agent/usage.ts'
import { cut } from '../cut.ts'
import { shownMessages } from '../session/history.ts'
import { compactionPrompt, planHistory, summaryLimit } from '../session/plan.ts'
import { type PastTurn, turnsOf } from '../session/window.ts'
import type { Claim, Effects, RunRecord, RunUsage, SessionMessage } from '../store/port.ts'
import { withPrice } from './budget.ts'
import { names } from './changes.ts'
import type { DispatchOptions } from './options.ts'

export interface ContextBounds {
  /** When the run's time is over. Milliseconds since the Unix epoch. */
  readonly deadline: number
  readonly stops: readonly AbortSignal[]
}

export interface SessionContext {
  /** The messages that the turn is shown. */
  readonly history: readonly Message[]
  /** Turns that are deleted with the settlement if this turn succeeds. */
  readonly compact?: Effects['compact']
  /** Cost of a summary. It is on the run's record, and still has to be charged. */
  readonly usage?: RunUsage
  /** Warnings for the operator, which are on the run's record. */
  readonly warnings?: readonly string[]
}

export type LoadContext = (
  claim: Claim,
  run: RunRecord,
  history: readonly SessionMessage[],
  bounds: ContextBounds,
) => Promise<SessionContext>

/**
 * A summary is on disk before the turn that needs its room begins, so that a crash costs no second summary. It gets
 * half of the time that the run has left, because the turn is still worth performing without it.
 * @throws StoreError if the summary or a warning could not be written
 */
export function createSessionContext(options: DispatchOptions): LoadContext {
  const { current, log, mintId, now, timers } = options

  return async function loadContext(claim, run, messages, bounds) {
    const runner = options.runner(run.runner)
    if (runner === undefined || keepsHistory(runner)) return { history: [] }
    const limits = current().snapshot.settings.agents.sessions
    const plan = planHistory(turnsOf(messages), limits, limits.compaction)
    if (plan.kind === 'whole') return { history: shown(plan.shown) }
    if (plan.kind === 'drop') return { history: shown(plan.shown), compact: through(run, plan.dropped) }

    await claim.confirm()
    const startedAt = now()
    const outcome = withPrice(await ask(run, plan.older, bounds), run, current())
    const { usage } = outcome
    // A runner that starts with its first turn could not say so before.
    if (keepsHistory(runner)) return { history: [], usage }
    const text = outcome.kind === 'answered' ? cut(outcome.reply.trim(), summaryLimit(limits)) : ''
    if (text === '') return withoutSummary(claim, run, outcome, shown(plan.shownWithout))

    const id = mintId()
    const at = now()
    const message = { role: 'summary', text, at, turn: id } as const
    const summary = { turn: id, messages: [message] }
    await claim.checkpoint({
      run: { id: run.id, usage: addUsage(run.usage, usage) },
      compact: { ...through(run, plan.older), summary },
    })
    log.info(
      { event: 'session-compacted', ...names(run), turns: plan.older.length, ms: at - startedAt },
      'the oldest turns of a session were summarised',
    )
    return { history: shown(plan.shownWith({ id, messages: summary.messages })), usage }
  }

  /**
   * Asks with the model, thinking and instructions of the earlier turns. The request then begins like their prompts, which
   * vendors have in their cache.
   */
  function ask(run: RunRecord, older: readonly PastTurn[], bounds: ContextBounds): Promise<TurnOutcome> {
    const ms = Math.floor((bounds.deadline - now()) / 2)
    const turn = {
      runId: run.id,
      sessionKey: run.sessionKey,
      kind: 'compaction',
      prompt: compactionPrompt,
      events: [],
      history: shown(older),
      model: run.model,
      thinking: run.thinking,
      systemPrompt: current().snapshot.settings.agents.defaults.systemPrompt,
      attempt: 1,
      timeoutSeconds: ms / 1000,
    } as const
    return performTurn(options.runner, run.runner, turn, { ms, stops: bounds.stops, timers })
  }

  /** Goes on without a summary. Nothing is deleted, and the next turn tries again. */
  async function withoutSummary(
    claim: Claim,
    run: RunRecord,
    outcome: TurnOutcome,
    history: readonly Message[],
  ): Promise<SessionContext> {
    const { usage } = outcome
    if (outcome.kind === 'interrupted') return { history, usage }
    const { code, reason } = causeOf(outcome)
    log.warn(
      { event: 'session-not-compacted', ...names(run), code, reason },
      'the oldest turns of a session could not be summarised, and were left out of a turn',
    )
    const warnings = [`The oldest turns of this session could not be summarised (${code}) and were left out.`]
    await claim.checkpoint({ run: { id: run.id, usage: addUsage(run.usage, usage), warnings } })
    return { history, usage, warnings }
  }

  function shown(turns: readonly PastTurn[]): Message[] {
    return shownMessages(turns, options.fence)
  }
}

/** Adds the cost and the warnings of the context to the outcome of its turn. */
export function withContextCost(outcome: TurnOutcome, { usage, warnings = [] }: SessionContext): TurnOutcome {
  const total = addUsage(usage, outcome.usage)
  const paid = { ...outcome, ...(total && { usage: total }), asked: outcome.asked || usage !== undefined }
  if (paid.kind !== 'answered' || warnings.length === 0) return paid
  return { ...paid, warnings: [...warnings, ...(paid.warnings ?? [])] }
}

/** Reads the property each time, because its value may change while the runner works. */
function keepsHistory(runner: Runner): boolean {
  return runner.keepsHistory === true
}

function causeOf(outcome: Exclude<TurnOutcome, { kind: 'interrupted' }>): { code: string; reason: string } {
  if (outcome.kind === 'failed') return outcome.failure
  if (outcome.kind === 'timed-out') return { code: 'TIMEOUT', reason: 'the summary was not written in time' }
  return { code: 'BLANK_REPLY', reason: 'the summary is blank' }
}

function through(run: RunRecord, turns: readonly PastTurn[]) {
  const last = turns.at(-1)
  if (last === undefined) throw new Error('a history that is too long has turns')
  return { session: run.sessionKey, through: last.id }
}
