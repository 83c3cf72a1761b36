/** Sends the replies to requests, and words those that are the gateway's own. */

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Handshake, Timers } from '@reveille/engine'
import type { RunRecord } from '../../store/port.ts'
import { declaredBytes } from '../body/read-body.ts'
import { errorRow, statusOf } from '../errors.ts'
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
import { endLingering } from './linger.ts'
import type { WaitEnd } from './outcome-waits.ts'

/** When `?token=` became deprecated, for the `Deprecation` header (RFC 9745): 2026-01-01. */
const deprecatedSince = '@1767225600'
/** An unread body up to this size is cheaper to throw away than a new connection. Bytes. */
const cheapBytes = 64 * 1024

export function reply(context: RequestContext, result: RequestOutcome, timers: Timers): void {
  const headers = headersOf(context)
  const isTimeout = 'code' in result && result.code === 'BODY_TIMEOUT'
  const hasUnreadBody = context.body === undefined && (isTimeout || isCostlyToSkip(context))
  const handshake = 'handshake' in result ? result.handshake : undefined
  if (handshake !== undefined) {
    pushHandshakeHeaders(headers, handshake)
    sendAs(context, handshake.status, headers, handshake.body, hasUnreadBody, timers)
    return
  }
  // A source reads the reply of the gateway, not that of a transform.
  if ('reply' in result && result.reply && !context.isInternal) {
    // The reply may hold what a sender wrote, and XML can hold scripts.
    headers.push('content-type', result.reply.contentType, 'x-content-type-options', 'nosniff')
    headers.push('content-security-policy', 'sandbox')
    sendAs(context, statusOfOutcome(result), headers, result.reply.body, hasUnreadBody, timers)
    return
  }
  if ('code' in result) pushErrorHeaders(headers, result)
  send(context, statusOfOutcome(result), headers, bodyOf(context.requestId, result), hasUnreadBody, timers)
}

/** Replies to a sender that waited for up to `seconds`. Without an outcome it gets what it would have got at once. */
export function replyWithOutcome(
  context: RequestContext,
  result: Accepted | Duplicate,
  seconds: number,
  end: WaitEnd,
  timers: Timers,
): void {
  const headers = headersOf(context)
  if (end.kind !== 'cut') headers.push('preference-applied', `wait=${seconds}`)
  const isOver = end.kind === 'over'
  const status = isOver ? 200 : statusOfOutcome(result)
  const body = isOver ? runBody(context.requestId, result, end.run) : bodyOf(context.requestId, result)
  send(context, status, headers, body, false, timers)
}

function headersOf({ deprecated }: RequestContext): string[] {
  return deprecated ? ['deprecation', deprecatedSince] : []
}

/** Replies to a request for an address that is not under `hooks.path`. */
export function replyNotFound(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  requestId: string,
  timers: Timers,
): void {
  const context = { incoming, outgoing, requestId }
  const body = errorBody(requestId, refused('NOT_FOUND'))
  send(context, statusOf('NOT_FOUND'), [], body, isCostlyToSkip(context), timers)
}

type ReplyTarget = Pick<RequestContext, 'incoming' | 'outgoing' | 'requestId'>

function send(
  target: ReplyTarget,
  status: number,
  headers: string[],
  body: object,
  hasUnreadBody: boolean,
  timers: Timers,
): void {
  headers.push('content-type', 'application/json; charset=utf-8')
  sendAs(target, status, headers, JSON.stringify(body), hasUnreadBody, timers)
}

/** `hasUnreadBody`: an unread body stands between this reply and the next request on the connection. */
function sendAs(
  { incoming, outgoing, requestId }: ReplyTarget,
  status: number,
  headers: string[],
  text: string,
  hasUnreadBody: boolean,
  timers: Timers,
): void {
  const bytes = Buffer.byteLength(text)
  // Node.js writes a text of one byte for each character without encoding it, together with the head.
  const encoding = bytes === text.length ? 'latin1' : 'utf8'
  if (status !== 204) headers.push('content-length', String(bytes))
  headers.push('x-request-id', requestId)
  if (hasUnreadBody) {
    outgoing.writeHead(status, [...headers, 'connection', 'close'])
    endLingering(incoming, outgoing, text, timers)
  } else {
    outgoing.writeHead(status, headers).end(text, encoding)
  }
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

/** What is said about a run that is not simply queued. */
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

function errorBody(requestId: string, { code, sentence, details }: Refused): object {
  return {
    ok: false,
    error: sentence ?? errorRow(code).sentence,
    code,
    requestId,
    details: details?.length ? details : undefined,
  }
}

function pushHandshakeHeaders(headers: string[], { contentType, headers: more = {} }: Handshake): void {
  if (contentType !== undefined) headers.push('content-type', contentType)
  for (const [name, value] of Object.entries(more)) headers.push(name, value)
}

function pushErrorHeaders(
  headers: string[],
  { code, retryAfter = errorRow(code).retryAfter }: Refused,
): void {
  if (retryAfter !== undefined) headers.push('retry-after', String(retryAfter))
  if (code === 'UNAUTHORIZED') headers.push('www-authenticate', 'Bearer')
  if (code === 'METHOD_NOT_ALLOWED') headers.push('allow', 'POST')
}

/**
 * Whether skipping the unread body costs more than a new connection, as it is large or of unknown size. The same holds where the
 * connection ends with this reply: bytes of the body that arrive after the close would reset it and lose the reply.
 */
function isCostlyToSkip({ incoming, outgoing }: ReplyTarget): boolean {
  if (incoming.headers['transfer-encoding'] !== undefined) return true
  const bytes = declaredBytes(incoming)
  return bytes > cheapBytes || (bytes > 0 && isLastOf(outgoing))
}

/** The sender asked for the connection to end, or the gateway is stopping. */
function isLastOf(outgoing: ServerResponse): boolean {
  return !outgoing.shouldKeepAlive || outgoing.getHeader('connection') === 'close'
}
