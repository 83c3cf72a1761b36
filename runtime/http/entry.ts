/** Owns the step from a decision to what the store keeps. */

import type { AgentAction, WakeAction } from '@reveille/engine'
import type { Acceptance, Entry, NewAction, RequestRecord, RunRecord } from '../store/port.ts'
import { heartbeatBurstMs, heartbeatTask, madeUpKey, runTask } from '../store/tasks.ts'
import { statusOf } from './errors.ts'
import { type Accepted, type Ending, type Exchange, type Placed, reasonOf } from './exchange.ts'
import { keptOf } from './kept.ts'

/**
 * A request that made actions: committed whole before its reply. `relaysEvents`: whether the main session lives
 * elsewhere, so that an event is heard of at once, whatever its mode.
 */
export function composeEntry(
  exchange: Exchange,
  ending: Accepted,
  now: number,
  relaysEvents: () => boolean,
): Entry {
  const request = composeRecord(exchange, ending)
  const actions = ending.placed.map(({ id, action }) =>
    action.kind === 'wake'
      ? composeEvent(request, id, action, now, relaysEvents)
      : composeRun(request, id, action, now),
  )
  return { request, actions }
}

/** The same actions as the store has them: one may be part of an earlier run, or have met a busy session. */
export function placedAs({ actions }: Acceptance, placed: readonly Placed[]): readonly Placed[] {
  if (!actions.some(isPlacedOtherwise)) return placed
  return placed.map((each, index) => {
    const outcome = actions[index]
    return outcome !== undefined && isPlacedOtherwise(outcome)
      ? { id: outcome.id, action: each.action, became: outcome.outcome }
      : each
  })
}

type Outcome = Acceptance['actions'][number]

function isPlacedOtherwise(
  outcome: Outcome,
): outcome is Extract<Outcome, { readonly outcome: 'joined' | 'busy' }> {
  return outcome.outcome === 'joined' || outcome.outcome === 'busy'
}

/** Where the conversation goes on: a run that others are joined to keeps the key that was made up for it. */
export function sessionKeyOf({ id, became }: Placed, { sessionKey, sessionKeyGiven }: AgentAction): string {
  return became === 'joined' && !sessionKeyGiven ? madeUpKey(id) : sessionKey
}

export function composeRecord(exchange: Exchange, ending: Ending): RequestRecord {
  const { live, body, timings } = exchange
  const record = {
    id: exchange.requestId,
    endpoint: endpointToKeep(exchange, ending),
    generation: live.generation,
    outcome: ending.outcome,
    status: statusOfEnding(ending),
    mapping: ending.mapping,
    client: exchange.client,
    bodyBytes: body?.length ?? 0,
    receivedAt: exchange.receivedAt,
    timings,
    actions: ending.outcome === 'accepted' ? ending.placed.map(summarise) : [],
    ...(keepsBody(live.snapshot.settings.history.bodies, ending.outcome) && keptOf(exchange)),
  }
  if ('code' in ending) {
    const { code, failure } = ending
    return { ...record, code, reason: reasonOf(ending), ...(failure && { failure }) }
  }
  if (ending.outcome === 'handshake') return { ...record, reason: ending.handshake.reason }
  return ending.outcome === 'accepted' ? record : { ...record, reason: ending.reason }
}

/** What anybody may be answered who knows nothing. */
const ofStrangers: ReadonlySet<string> = new Set(['METHOD_NOT_ALLOWED', 'UNAUTHORIZED', 'TOO_MANY_TRIES'])

/** A name that a stranger made up is not worth keeping, and as many of them as there are could not be summed up. */
function endpointToKeep({ live, endpoint = '' }: Exchange, ending: Ending): string {
  if (!('code' in ending) || !ofStrangers.has(ending.code)) return endpoint
  return live.snapshot.covers(endpoint) ? endpoint : ''
}

export function statusOfEnding(ending: Ending): number {
  if ('handshake' in ending && ending.handshake) return ending.handshake.status
  if ('code' in ending) return statusOf(ending.code)
  if (ending.outcome !== 'accepted') return 200
  return ending.placed.some(({ action }) => action.kind === 'agent') ? 202 : 200
}

function composeEvent(
  request: RequestRecord,
  id: string,
  action: WakeAction,
  now: number,
  relaysEvents: () => boolean,
): NewAction {
  const isHeardAtOnce = action.mode === 'now' || relaysEvents()
  return {
    type: 'event',
    record: {
      id,
      session: 'main',
      state: 'pending',
      text: action.text,
      prompt: action.prompt,
      mode: action.mode,
      trusted: action.trusted,
      origin: { requestId: request.id },
      endpoint: request.endpoint,
      mapping: action.mapping,
      generation: request.generation,
      createdAt: now,
    },
    tasks: isHeardAtOnce ? [heartbeatTask(now + heartbeatBurstMs)] : [],
  }
}

function composeRun(request: RequestRecord, id: string, action: AgentAction, now: number): NewAction {
  const { coalesce, busy, pool } = action
  const dueAt = now + (coalesce === undefined ? 0 : Math.min(coalesce.windowMs, coalesce.maxWaitMs))
  const run = {
    type: 'run',
    record: {
      id,
      kind: 'run',
      requestId: request.id,
      endpoint: request.endpoint,
      mapping: action.mapping,
      generation: request.generation,
      name: action.name,
      sessionKey: action.sessionKey,
      state: 'queued',
      stage: 'accepted',
      runner: action.runner,
      model: action.model,
      thinking: action.thinking,
      timeoutSeconds: action.timeoutSeconds,
      wakeMode: action.wakeMode,
      deliver: action.deliver,
      channel: action.channel,
      to: action.to,
      deliverTo: action.deliverTo,
      message: action.message,
      prompt: action.prompt,
      coalesce: coalesce && coalesceOf(request, action, coalesce, now),
      pool,
      budget: action.budget,
      attempts: [],
      createdAt: now,
      deliveryIds: [],
    },
    tasks: [runTask({ id, sessionKey: action.sessionKey, lane: action.sessionKeyGiven, dueAt, pool })],
  } as const
  if (coalesce === undefined && busy === undefined) return run
  const { record } = run
  return {
    ...run,
    busy,
    join: record.coalesce && { key: record.coalesce.key, dueAt, keep: record.coalesce.keep },
  }
}

type Coalesce = NonNullable<AgentAction['coalesce']>

/** Equal keys meet only within one endpoint, one mapping and, where somebody chose it, one session. */
function coalesceOf(
  { endpoint }: RequestRecord,
  { mapping = '', sessionKey, sessionKeyGiven }: AgentAction,
  { key, maxWaitMs, keep, maxRunsPerHour }: Coalesce,
  now: number,
): NonNullable<RunRecord['coalesce']> {
  return {
    key: JSON.stringify([endpoint, mapping, sessionKeyGiven ? sessionKey : '', key]),
    keep,
    deadline: now + maxWaitMs,
    mostPerHour: maxRunsPerHour,
  }
}

function summarise({ id, action }: Placed) {
  return { kind: action.kind, id }
}

/**
 * Refused requests never keep theirs: a stranger could fill the ring with it. Nor do handshakes: what is in them may be
 * for the operator alone.
 */
function keepsBody(bodies: 'none' | 'failed' | 'all', outcome: Ending['outcome']): boolean {
  if (outcome === 'refused' || outcome === 'handshake') return false
  return outcome === 'failed' ? bodies !== 'none' : bodies === 'all'
}
