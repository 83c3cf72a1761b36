/** Composes what the store keeps of a request: its record, its runs and its events. */

import type { Action, AgentAction, WakeAction } from '@reveille/engine'
import { cut } from '../../cut.ts'
import type { Acceptance, Dedupe, Entry, NewAction, RequestRecord, RunRecord } from '../../store/port.ts'
import { generatedSessionKey, heartbeatTask, heartbeatWindowMs, runTask } from '../../store/task-keys.ts'
import { contextOf, readTraceparent } from '../../trace-context.ts'
import { statusOf } from '../errors.ts'
import {
  type Accepted,
  type Duplicate,
  isRefusedByConfiguration,
  type PersistedAction,
  type Refused,
  type ReplayTerms,
  type RequestFacts,
  type RequestOutcome,
  reasonOf,
} from '../request-context.ts'
import { replayableRequest } from './replayable-request.ts'

/**
 * composeEntry composes an accepted request, which the store commits as one before the reply is sent. `relaysEvents` says
 * whether the main session lives in another system, which is given every event at once, whatever its mode.
 */
export function composeEntry(
  context: RequestFacts,
  result: Accepted,
  now: number,
  relaysEvents: () => boolean,
): Entry {
  const request = composeRecord(context, result)
  const { replay } = context
  const actions = result.actions.map(({ id, action: decided }) => {
    const action = replay === undefined ? decided : underTerms(decided, replay)
    const composed =
      action.kind === 'wake'
        ? composeEvent(request, id, action, now, relaysEvents)
        : composeRun(request, id, action, now)
    const { dedupe } = action
    return dedupe === undefined
      ? composed
      : { ...composed, dedupe: composeDedupe(context, action, dedupe, now) }
  })
  return { request, actions }
}

/** A run whose reply is not delivered is never coalesced: a request that joined it would get no reply either. */
function underTerms(action: Action, { dedupe, undelivered }: ReplayTerms): Action {
  const { dedupe: key, ...apart } = action
  const recognised = dedupe === 'own' ? action : apart
  if (undelivered === undefined || recognised.kind === 'wake') return recognised
  const { coalesce: _coalesce, ...alone } = recognised
  return { ...alone, deliver: false }
}

/** Equal keys are the same only within one endpoint and one mapping. */
function composeDedupe(
  { endpoint = '', bodyDigest }: RequestFacts,
  { mapping = '' }: Action,
  { key, windowMs, isGiven }: NonNullable<Action['dedupe']>,
  now: number,
): Dedupe {
  const scope = JSON.stringify([endpoint, mapping])
  return { scope, key, until: now + windowMs, ...(bodyDigest && { bodyDigest }), ...(isGiven && { isGiven }) }
}

/**
 * withDispositions corrects the outcome by what the store made of each action: it may have been there before, have joined an
 * earlier run, or have met a busy session.
 */
export function withDispositions(acceptance: Acceptance, result: Accepted): Accepted | Duplicate | Refused {
  if (acceptance.actions.every(({ outcome }) => outcome === 'accepted')) return result
  const { mapping } = result
  if (acceptance.actions.some(({ outcome }) => outcome === 'conflict'))
    return { outcome: 'duplicate', code: 'IDEMPOTENCY_CONFLICT', mapping }
  const actions = result.actions.map((each, index) => withDisposition(each, acceptance.actions[index]))
  const isKnown = actions.every(({ disposition }) => disposition === 'duplicate')
  if (!isKnown) return { ...result, actions }
  const differs = acceptance.actions.some((each) => 'hasOtherBody' in each && each.hasOtherBody)
  return { ...result, outcome: 'duplicate', actions, ...(differs && { hasOtherBody: true }) }
}

function withDisposition(
  persisted: PersistedAction,
  stored: Acceptance['actions'][number] | undefined,
): PersistedAction {
  if (stored === undefined || stored.outcome === 'accepted') return persisted
  const { action } = persisted
  return 'original' in stored
    ? { id: stored.original, action, disposition: 'duplicate', originalRequest: stored.request }
    : { id: stored.id, action, disposition: stored.outcome }
}

/** Where the conversation goes on: a run that others join keeps the session key that was generated for it. */
export function sessionKeyOf(
  { id, disposition }: PersistedAction,
  { sessionKey, sessionKeyGiven }: AgentAction,
): string {
  return disposition === 'joined' && !sessionKeyGiven ? generatedSessionKey(id) : sessionKey
}

/** Longer ids of deliveries are cut. Characters. */
const maxDeliveryIdLength = 255
/** 64 bits tell the generations of all nodes apart. Hexadecimal digits. */
export const shownOfDigest = 16

/** The record of a duplicate is made by the store, which alone knows the original. */
export function composeRecord(
  context: RequestFacts,
  result: Exclude<RequestOutcome, Duplicate>,
): RequestRecord {
  const { live, body, timings, replay } = context
  const traceparent = traceparentOf(context)
  const record = {
    id: context.requestId,
    endpoint: endpointToKeep(context, result),
    generation: live.generation,
    outcome: result.outcome,
    status: statusOfOutcome(result),
    mapping: result.mapping,
    client: context.client,
    ...(context.deliveryId !== undefined && { deliveryId: cut(context.deliveryId, maxDeliveryIdLength) }),
    ...(replay !== undefined && { replayOf: replay.original, ...(replay.by && { by: replay.by }) }),
    ...(traceparent && { traceparent }),
    ...(context.authenticatedBy && { authenticatedBy: context.authenticatedBy }),
    generationDigest: live.snapshot.digest.slice(0, shownOfDigest),
    ...(context.node !== undefined && { node: context.node }),
    bodyBytes: body?.length ?? 0,
    receivedAt: context.receivedAt,
    timings,
    actions:
      result.outcome === 'accepted'
        ? result.actions.map(({ id, action }) => ({ kind: action.kind, id }))
        : [],
    ...(keepsBody(live.snapshot.settings.history.bodies, result) && replayableRequest(context)),
  }
  const reason = reasonToKeep(context, result)
  if ('code' in result) {
    const { code, failure } = result
    return { ...record, code, reason, ...(failure && { failure }) }
  }
  return reason === undefined ? record : { ...record, reason }
}

/** A client that is not authenticated writes into nobody's trace, and a replay has one of its own. */
export function traceparentOf({ headers, isAuthenticated, replay }: RequestFacts): string | undefined {
  const traceparent = headers['traceparent']
  if (traceparent === undefined || isAuthenticated !== true || replay !== undefined) return undefined
  return readTraceparent(traceparent)
}

/** The context of the request, for what it causes. Absent: it is derived from the request's id. */
function causeOf({ id, traceparent }: RequestRecord): { readonly traceparent?: string } {
  return traceparent === undefined ? {} : { traceparent: contextOf(id, traceparent) }
}

/** Reason of a request's outcome, for its record. */
export function reasonToKeep(
  { replay }: RequestFacts,
  result: Exclude<RequestOutcome, Duplicate>,
): string | undefined {
  if ('code' in result) return reasonOf(result)
  if (result.outcome === 'handshake') return result.handshake.reason
  if (result.outcome !== 'accepted') return result.reason
  return replay?.undelivered !== undefined && isDelivered(result) ? replay.undelivered : undefined
}

/** True if a reply would be delivered, were it no replay. */
function isDelivered({ actions }: Accepted): boolean {
  return actions.some(({ action }) => action.kind === 'agent' && action.deliver)
}

/** The codes that a sender may be answered without knowing anything. */
const ofUnauthenticated: ReadonlySet<string> = new Set([
  'METHOD_NOT_ALLOWED',
  'UNAUTHORIZED',
  'TOO_MANY_TRIES',
])

/** A name that a client made up is not worth keeping, and an unlimited number of names could not be summed up. */
function endpointToKeep({ live, endpoint = '' }: RequestFacts, result: RequestOutcome): string {
  if (!('code' in result) || !ofUnauthenticated.has(result.code)) return endpoint
  return live.snapshot.covers(endpoint) ? endpoint : ''
}

export function statusOfOutcome(result: RequestOutcome): number {
  if ('handshake' in result && result.handshake) return result.handshake.status
  if ('code' in result) return result.status ?? statusOf(result.code)
  if (result.outcome !== 'accepted' || result.reply) return 200
  return result.actions.some(({ action }) => action.kind === 'agent') ? 202 : 200
}

function composeEvent(
  request: RequestRecord,
  id: string,
  { kind: _kind, dedupe: _dedupe, ...fields }: WakeAction,
  now: number,
  relaysEvents: () => boolean,
): NewAction {
  const isHeardAtOnce = fields.mode === 'now' || relaysEvents()
  return {
    type: 'event',
    record: {
      id,
      session: 'main',
      state: 'pending',
      ...fields,
      origin: { requestId: request.id, ...causeOf(request) },
      endpoint: request.endpoint,
      generation: request.generation,
      createdAt: now,
    },
    tasks: isHeardAtOnce ? [heartbeatTask(now + heartbeatWindowMs)] : [],
  }
}

function composeRun(request: RequestRecord, id: string, action: AgentAction, now: number): NewAction {
  const {
    busy,
    coalesce: rules,
    dedupe: _dedupe,
    trusted: _trusted,
    sessionKeyGiven: lane,
    ...fields
  } = action
  const coalesce = rules && coalesceOf(request, action, rules, now)
  const dueAt = now + (rules === undefined ? 0 : Math.min(rules.windowMs, rules.maxWaitMs))
  const { sessionKey, pool } = fields
  return {
    type: 'run',
    record: {
      id,
      requestId: request.id,
      ...causeOf(request),
      endpoint: request.endpoint,
      generation: request.generation,
      state: 'queued',
      stage: 'accepted',
      ...fields,
      kind: 'run',
      ...(coalesce && { coalesce }),
      attempts: [],
      createdAt: now,
      deliveryIds: [],
    },
    tasks: [runTask({ id, sessionKey, lane, dueAt, pool })],
    ...(busy && { busy }),
    ...(coalesce && { join: { key: coalesce.key, dueAt, keep: coalesce.keep } }),
  }
}

type Coalesce = NonNullable<AgentAction['coalesce']>

/** Equal keys meet only within one endpoint, one mapping and, if the session key was given, one session. */
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
    maxPerHour: maxRunsPerHour,
  }
}

/**
 * The body of a request that a mapping or another setting refused is kept as that of a failed one. That of any other refused request
 * never is, as an unauthenticated client could fill the disk; nor is that of a handshake, which may hold a secret for the operator. Those of ignored
 * and skipped requests are kept for `history.ignored`.
 */
function keepsBody(bodies: 'none' | 'failed' | 'all', result: RequestOutcome): boolean {
  if (isRefusedByConfiguration(result)) return bodies !== 'none'
  const { outcome } = result
  if (outcome === 'refused' || outcome === 'handshake') return false
  return bodies === 'all' || (bodies === 'failed' && outcome !== 'accepted' && outcome !== 'duplicate')
}
