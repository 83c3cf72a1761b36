/** Owns the step from a decision to what the store keeps. */

import type { AgentAction, WakeAction } from '@reveille/engine'
import type { Entry, NewAction, RequestRecord } from '../store/port.ts'
import { heartbeatBurstMs, heartbeatTask, runTask } from '../store/tasks.ts'
import { statusOf } from './errors.ts'
import { type Ending, type Exchange, type Placed, reasonOf } from './exchange.ts'
import { keptOf } from './kept.ts'

/** A request that made actions: committed whole before its reply. */
export function composeEntry(
  exchange: Exchange,
  ending: Extract<Ending, { outcome: 'accepted' }>,
  now: number,
): Entry {
  const request = composeRecord(exchange, ending)
  const actions = ending.placed.map((placed) => composeAction(request, placed, now))
  return { request, actions }
}

export function composeRecord(exchange: Exchange, ending: Ending): RequestRecord {
  const { live, body, timings } = exchange
  const record = {
    id: exchange.requestId,
    endpoint: exchange.endpoint ?? '',
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
  if ('code' in ending) return { ...record, code: ending.code, reason: reasonOf(ending) }
  return ending.outcome === 'accepted' ? record : { ...record, reason: ending.reason }
}

export function statusOfEnding(ending: Ending): number {
  if ('code' in ending) return statusOf(ending.code)
  if (ending.outcome !== 'accepted') return 200
  return ending.placed.some(({ action }) => action.kind === 'agent') ? 202 : 200
}

function composeAction(request: RequestRecord, { id, action }: Placed, now: number): NewAction {
  return action.kind === 'wake'
    ? composeEvent(request, id, action, now)
    : composeRun(request, id, action, now)
}

function composeEvent(request: RequestRecord, id: string, action: WakeAction, now: number): NewAction {
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
    tasks: action.mode === 'now' ? [heartbeatTask(now + heartbeatBurstMs)] : [],
  }
}

function composeRun(request: RequestRecord, id: string, action: AgentAction, now: number): NewAction {
  return {
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
      attempts: [],
      createdAt: now,
      deliveryIds: [],
    },
    tasks: [runTask({ id, sessionKey: action.sessionKey, lane: action.sessionKeyGiven, dueAt: now })],
  }
}

function summarise({ id, action }: Placed) {
  return { kind: action.kind, id }
}

/** Refused requests never keep theirs: a stranger could fill the ring with it. */
function keepsBody(bodies: 'none' | 'failed' | 'all', outcome: Ending['outcome']): boolean {
  return outcome === 'failed' ? bodies !== 'none' : bodies === 'all' && outcome !== 'refused'
}
