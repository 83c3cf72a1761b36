/** Sends the replies to requests, and words those that are the gateway's own. */

import type { Timers } from '@reveille/engine'
import type { FastifyReply } from 'fastify'
import type { RunRecord } from '../../store/port.ts'
import { declaredBytes } from '../body/read-body.ts'
import { errorDefinition, statusOf } from '../errors.ts'
import { sessionKeyOf, statusOfOutcome } from '../record/entry.ts'
import {
  type Accepted,
  type Duplicate,
  type PersistedAction,
  type Refused,
  type RequestContext,
  type RequestOutcome,
  refused,
} from '../request-context.ts'
import { lingering } from './linger.ts'
import type { WaitEnd } from './outcome-waits.ts'

/** When `?token=` became deprecated, for the `Deprecation` header (RFC 9745): 2026-01-01. */
const deprecatedSince = '@1767225600'
/** An unread body up to this size is cheaper to throw away than a new connection. Bytes. */
const cheapBytes = 64 * 1024

/** Where a reply goes, and when its connection ends. */
export interface ReplyTarget {
  readonly reply: FastifyReply
  readonly requestId: string
  readonly timers: Timers
  /** True if the connection accepts no further request, because the gateway is stopping. */
  readonly isLast: boolean
}

export function sendReply(target: ReplyTarget, context: RequestContext, result: RequestOutcome): void {
  const { reply } = target
  if (context.deprecated) reply.header('deprecation', deprecatedSince)
  const isTimeout = 'code' in result && result.code === 'BODY_TIMEOUT'
  const hasUnreadBody = context.body === undefined && (isTimeout || isCostlyToSkip(target))
  const handshake = 'handshake' in result ? result.handshake : undefined
  if (handshake !== undefined) {
    const { contentType, headers = {}, body } = handshake
    if (contentType !== undefined) reply.type(contentType)
    reply.headers(headers)
    send(target, handshake.status, body, hasUnreadBody)
    return
  }
  if ('reply' in result && result.reply) {
    // The reply may hold what a sender wrote, and XML can hold scripts.
    reply.type(result.reply.contentType).headers({
      'x-content-type-options': 'nosniff',
      'content-security-policy': 'sandbox',
    })
    send(target, statusOfOutcome(result), result.reply.body, hasUnreadBody)
    return
  }
  if ('code' in result) addErrorHeaders(reply, result)
  sendJson(target, statusOfOutcome(result), bodyOf(context.requestId, result), hasUnreadBody)
}

/** Replies to a sender that waited for up to `seconds`. Without an outcome it gets what it would have got at once. */
export function sendAwaited(
  target: ReplyTarget,
  { requestId, deprecated }: RequestContext,
  result: Accepted | Duplicate,
  seconds: number,
  end: WaitEnd,
): void {
  const { reply } = target
  if (deprecated) reply.header('deprecation', deprecatedSince)
  if (end.kind !== 'cut') reply.header('preference-applied', `wait=${seconds}`)
  if (end.kind === 'over') sendJson(target, 200, runBody(requestId, result, end.run), false)
  else sendJson(target, statusOfOutcome(result), bodyOf(requestId, result), false)
}

/** Replies to a request for an address that is not under `hooks.path`. */
export function sendNotFound(target: ReplyTarget): void {
  const body = errorBody(target.requestId, refused('NOT_FOUND'))
  sendJson(target, statusOf('NOT_FOUND'), body, isCostlyToSkip(target))
}

function sendJson(target: ReplyTarget, status: number, body: object, hasUnreadBody: boolean): void {
  target.reply.type('application/json; charset=utf-8')
  send(target, status, JSON.stringify(body), hasUnreadBody)
}

/** `hasUnreadBody`: an unread body is between this reply and the next request on the connection. */
function send(
  { reply, requestId, timers, isLast }: ReplyTarget,
  status: number,
  text: string,
  hasUnreadBody: boolean,
): void {
  reply.code(status).header('x-request-id', requestId)
  // Fastify asks for the end of the connection after every error while a body is read.
  if (hasUnreadBody || isLast) reply.header('connection', 'close')
  else if (reply.hasHeader('connection')) reply.removeHeader('connection')
  if (hasUnreadBody) {
    reply.header('content-length', Buffer.byteLength(text))
    reply.send(lingering(text, reply.request.raw, timers))
  } else reply.send(text === '' ? undefined : text)
}

/** The order of the keys is that of the reply; keys without a value are left out. */
function bodyOf(requestId: string, result: RequestOutcome): object {
  if ('code' in result) return errorBody(requestId, result)
  if (result.outcome === 'accepted') return acceptedBody(requestId, result)
  if (result.outcome === 'duplicate') {
    const { actions, warnings } = result
    const what = isSingle(actions) ? idOf(actions[0]) : { actions: actions.map(actionBody) }
    const original = actions[0]?.originalRequest ?? requestId
    return { ok: true, outcome: 'duplicate', requestId: original, ...what, warnings }
  }
  const reason = result.outcome === 'handshake' ? result.handshake.reason : result.reason
  return { ok: true, outcome: result.outcome, reason, requestId }
}

function acceptedBody(requestId: string, { actions, warnings }: Accepted): object {
  if (!isSingle(actions)) return { ok: true, requestId, actions: actions.map(actionBody), warnings }
  const [persisted] = actions
  const { id, action } = persisted
  if (action.kind === 'wake') return { ok: true, mode: action.mode, requestId, eventId: id, warnings }
  const sessionKey = sessionKeyOf(persisted, action)
  return { ok: true, runId: id, sessionKey, requestId, ...dispositionFacts(persisted), warnings }
}

function isSingle(actions: readonly PersistedAction[]): actions is readonly [PersistedAction] {
  return actions.length === 1
}

function actionBody(persisted: PersistedAction): object {
  const { action, disposition, originalRequest } = persisted
  const { kind } = action
  if (disposition === 'duplicate')
    return { kind, ...idOf(persisted), duplicate: true, requestId: originalRequest }
  if (kind === 'wake') return { kind, mode: action.mode, ...idOf(persisted) }
  const sessionKey = sessionKeyOf(persisted, action)
  return { kind, ...idOf(persisted), sessionKey, ...dispositionFacts(persisted) }
}

function idOf({ id, action }: PersistedAction): object {
  return action.kind === 'wake' ? { eventId: id } : { runId: id }
}

/** Reply fields of a run that is not simply queued. */
function dispositionFacts({ disposition }: PersistedAction): object {
  if (disposition === undefined) return {}
  return disposition === 'joined' ? { coalesced: true } : { state: 'cancelled', code: 'BUSY' }
}

function runBody(
  requestId: string,
  { outcome, actions: [first], warnings }: Accepted | Duplicate,
  { id, sessionKey, state, reply, error, usage, handedOver }: RunRecord,
): object {
  return {
    ok: true,
    ...(outcome === 'duplicate' && { outcome }),
    runId: id,
    sessionKey,
    requestId: first?.originalRequest ?? requestId,
    state,
    // The system that a run was handed over to replies elsewhere: the run itself has a blank reply that would mislead.
    ...(handedOver === undefined ? { reply, error, usage } : { handedOver }),
    warnings,
  }
}

export function errorBody(
  requestId: string,
  { code, sentence, details }: Pick<Refused, 'code' | 'sentence' | 'details'>,
): object {
  return {
    ok: false,
    error: sentence ?? errorDefinition(code).sentence,
    code,
    requestId,
    details: details?.length ? details : undefined,
  }
}

function addErrorHeaders(
  reply: FastifyReply,
  { code, retryAfter = errorDefinition(code).retryAfter }: Refused,
): void {
  if (retryAfter !== undefined) reply.header('retry-after', String(retryAfter))
  if (code === 'UNAUTHORIZED') reply.header('www-authenticate', 'Bearer')
  if (code === 'METHOD_NOT_ALLOWED') reply.header('allow', 'POST')
}

/**
 * True if skipping the unread body costs more than a new connection, as it is large or of unknown size. The same holds where the
 * connection ends with this reply: bytes of the body that arrive after the close would reset it and lose the reply.
 */
function isCostlyToSkip({ reply, isLast }: ReplyTarget): boolean {
  const incoming = reply.request.raw
  if (incoming.headers['transfer-encoding'] !== undefined) return true
  const bytes = declaredBytes(incoming)
  // The sender may have asked for the connection to end.
  return bytes > cheapBytes || (bytes > 0 && (isLast || !reply.raw.shouldKeepAlive))
}
