/** Owns the step from a decision to what the store keeps. */

import type { Action, AgentAction, WakeAction } from '@reveille/engine'
import type { Acceptance, Dedupe, Entry, NewAction, RequestRecord, RunRecord } from '../store/port.ts'
import { generatedSessionKey, heartbeatBurstMs, heartbeatTask, runTask } from '../store/tasks.ts'
import { statusOf } from './errors.ts'
import {
  type Accepted,
  type Duplicate,
  type Ending,
  type Exchange,
  type Placed,
  type Refused,
  reasonOf,
} from './exchange.ts'
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
  const actions = ending.placed.map(({ id, action }) => {
    const made =
      action.kind === 'wake'
        ? composeEvent(request, id, action, now, relaysEvents)
        : composeRun(request, id, action, now)
    const { dedupe } = action
    return dedupe === undefined ? made : { ...made, dedupe: dedupeOf(exchange, action, dedupe, now) }
  })
  return { request, actions }
}

/** Equal keys are one only within one endpoint and one mapping. */
function dedupeOf(
  { endpoint = '', bodyDigest }: Exchange,
  { mapping = '' }: Action,
  { key, windowMs, isGiven }: NonNullable<Action['dedupe']>,
  now: number,
): Dedupe {
  const scope = JSON.stringify([endpoint, mapping])
  return { scope, key, until: now + windowMs, ...(isGiven && { bodyDigest }) }
}

/**
 * The same ending as the store has it: an action may have been there before, be part of an earlier run, or have met a
 * busy session.
 */
export function endingAs({ actions }: Acceptance, ending: Accepted): Accepted | Duplicate | Refused {
  if (actions.every(({ outcome }) => outcome === 'accepted')) return ending
  const { mapping } = ending
  if (actions.some(({ outcome }) => outcome === 'conflict'))
    return { outcome: 'duplicate', code: 'IDEMPOTENCY_CONFLICT', mapping }
  const placed = ending.placed.map((each, index) => placedAs(actions[index], each))
  const isKnown = placed.every(({ became }) => became === 'duplicate')
  return isKnown ? { ...ending, outcome: 'duplicate', placed } : { ...ending, placed }
}

function placedAs(kept: Acceptance['actions'][number] | undefined, placed: Placed): Placed {
  if (kept === undefined || kept.outcome === 'accepted') return placed
  const { action } = placed
  return 'original' in kept
    ? { id: kept.original, action, became: 'duplicate', request: kept.request }
    : { id: kept.id, action, became: kept.outcome }
}

/** Where the conversation goes on: a run that others are joined to keeps the key that was made up for it. */
export function sessionKeyOf({ id, became }: Placed, { sessionKey, sessionKeyGiven }: AgentAction): string {
  return became === 'joined' && !sessionKeyGiven ? generatedSessionKey(id) : sessionKey
}

/** A duplicate's record is made by the store, which alone knows. */
export function composeRecord(exchange: Exchange, ending: Exclude<Ending, Duplicate>): RequestRecord {
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
  if ('code' in ending) return ending.status ?? statusOf(ending.code)
  if (ending.outcome !== 'accepted' || ending.reply) return 200
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
