/** Owns the wording of replies and the way they leave. */

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Handshake, Timers } from '@reveille/engine'
import type { RunRecord } from '../../store/port.ts'
import { declaredBytes } from '../body/read-body.ts'
import { sessionKeyOf, statusOfEnding } from '../entry.ts'
import { errorRow, statusOf } from '../errors.ts'
import {
  type Accepted,
  type Duplicate,
  type Ending,
  type Exchange,
  type Placed,
  type Refused,
  refused,
} from '../exchange.ts'
import { endLingering } from './linger.ts'
import type { WaitEnd } from './outcome-waits.ts'

/** When `?token=` became deprecated, for the `Deprecation` header (RFC 9745): 2026-01-01. */
const deprecatedSince = '@1767225600'
/** Up to here an unread body is cheaper to throw away than a connection is to make anew. Bytes. */
const cheapBytes = 64 * 1024

export function reply(exchange: Exchange, ending: Ending, timers: Timers): void {
  const headers = headersOf(exchange)
  const tooSlow = 'code' in ending && ending.code === 'BODY_TIMEOUT'
  const isInTheWay = exchange.body === undefined && (tooSlow || standsInTheWay(exchange))
  if ('handshake' in ending && ending.handshake) {
    pushHandshakeHeaders(headers, ending.handshake)
    sendAs(exchange, ending.handshake.status, headers, ending.handshake.body, isInTheWay, timers)
    return
  }
  // A source reads our own answer.
  if ('reply' in ending && ending.reply && !exchange.isOurs) {
    // It may hold what a sender wrote, and XML can hold scripts.
    headers.push('content-type', ending.reply.contentType, 'x-content-type-options', 'nosniff')
    headers.push('content-security-policy', 'sandbox')
    sendAs(exchange, statusOfEnding(ending), headers, ending.reply.body, isInTheWay, timers)
    return
  }
  if ('code' in ending) pushErrorHeaders(headers, ending)
  send(exchange, statusOfEnding(ending), headers, wordingOf(exchange.requestId, ending), isInTheWay, timers)
}

/** For a sender that waited up to so many seconds; where there is no outcome, it is told what it would have been told at once. */
export function replyWithOutcome(
  exchange: Exchange,
  ending: Accepted | Duplicate,
  seconds: number,
  end: WaitEnd,
  timers: Timers,
): void {
  const headers = headersOf(exchange)
  if (end.kind !== 'cut') headers.push('preference-applied', `wait=${seconds}`)
  const isOver = end.kind === 'over'
  const status = isOver ? 200 : statusOfEnding(ending)
  const text = isOver
    ? outcomeWording(exchange.requestId, ending, end.run)
    : wordingOf(exchange.requestId, ending)
  send(exchange, status, headers, text, false, timers)
}

function headersOf({ deprecated }: Exchange): string[] {
  return deprecated ? ['deprecation', deprecatedSince] : []
}

/** For an address that is not under `hooks.path`. */
export function replyNotFound(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  requestId: string,
  timers: Timers,
): void {
  const text = errorWording(requestId, refused('NOT_FOUND'))
  const exchange = { incoming, outgoing, requestId }
  send(exchange, statusOf('NOT_FOUND'), [], text, standsInTheWay(exchange), timers)
}

type Answered = Pick<Exchange, 'incoming' | 'outgoing' | 'requestId'>

function send(
  exchange: Answered,
  status: number,
  headers: string[],
  text: string,
  isInTheWay: boolean,
  timers: Timers,
): void {
  headers.push('content-type', 'application/json; charset=utf-8')
  sendAs(exchange, status, headers, text, isInTheWay, timers)
}

/** `isInTheWay`: an unread body stands between this reply and the connection's next request. */
function sendAs(
  { incoming, outgoing, requestId }: Answered,
  status: number,
  headers: string[],
  text: string,
  isInTheWay: boolean,
  timers: Timers,
): void {
  if (status !== 204) headers.push('content-length', String(Buffer.byteLength(text)))
  headers.push('x-request-id', requestId)
  if (isInTheWay) {
    outgoing.writeHead(status, [...headers, 'connection', 'close'])
    endLingering(incoming, outgoing, text, timers)
  } else {
    outgoing.writeHead(status, headers).end(text)
  }
}

/** Ids and modes need no escaping; every other text goes through the serialiser. */
function wordingOf(requestId: string, ending: Ending): string {
  if ('code' in ending) return errorWording(requestId, ending)
  switch (ending.outcome) {
    case 'accepted': {
      const [first, second] = ending.placed
      if (first && !second) return plainWording(requestId, first, warningWording(ending))
      return `{"ok":true,"requestId":"${requestId}",${wordingOfActions(ending)}${warningWording(ending)}}`
    }
    case 'duplicate': {
      const [first, second] = ending.placed
      const what = first && !second ? idWording(first) : wordingOfActions(ending)
      const request = requestOf(ending) ?? requestId
      return `{"ok":true,"outcome":"duplicate","requestId":"${request}",${what}${warningWording(ending)}}`
    }
    case 'handshake':
      return ending.handshake.body
    default:
      return `{"ok":true,"outcome":"${ending.outcome}","reason":${JSON.stringify(ending.reason)},"requestId":"${requestId}"}`
  }
}

/** The request that brought what the duplicate asks for, or the first part of it. */
function requestOf({ placed: [first] }: Accepted | Duplicate): string | undefined {
  return first?.request
}

function idWording({ id, action }: Placed): string {
  return action.kind === 'wake' ? `"eventId":"${id}"` : `"runId":"${id}"`
}

function plainWording(requestId: string, placed: Placed, warnings: string): string {
  const { id, action } = placed
  return action.kind === 'wake'
    ? `{"ok":true,"mode":"${action.mode}","requestId":"${requestId}","eventId":"${id}"${warnings}}`
    : `{"ok":true,"runId":"${id}","sessionKey":${JSON.stringify(sessionKeyOf(placed, action))},"requestId":"${requestId}"${standingWording(placed)}${warnings}}`
}

function warningWording({ warnings }: Accepted | Duplicate): string {
  return warnings === undefined ? '' : `,"warnings":${JSON.stringify(warnings)}`
}

function wordingOfActions({ placed }: Accepted | Duplicate): string {
  return `"actions":[${placed.map(wordingOfAction).join(',')}]`
}

function wordingOfAction(placed: Placed): string {
  const { id, action, became, request } = placed
  if (became === 'duplicate')
    return `{"kind":"${action.kind}",${idWording(placed)},"duplicate":true,"requestId":"${request}"}`
  return action.kind === 'wake'
    ? `{"kind":"wake","mode":"${action.mode}","eventId":"${id}"}`
    : `{"kind":"agent","runId":"${id}","sessionKey":${JSON.stringify(sessionKeyOf(placed, action))}${standingWording(placed)}}`
}

/** What is to be said of a run that is not simply queued. */
function standingWording({ became }: Placed): string {
  if (became === undefined) return ''
  return became === 'joined' ? ',"coalesced":true' : ',"state":"cancelled","code":"BUSY"'
}

function outcomeWording(
  requestId: string,
  ending: Accepted | Duplicate,
  { id, sessionKey, state, reply, error, usage, handedOver }: RunRecord,
): string {
  // Whoever it was handed over to answers elsewhere: the reply here is blank, and would look like theirs.
  const outcome = handedOver === undefined ? { reply, error, usage } : { handedOver }
  const told = ending.outcome === 'duplicate' ? { outcome: ending.outcome } : {}
  return JSON.stringify({
    ok: true,
    ...told,
    runId: id,
    sessionKey,
    requestId: requestOf(ending) ?? requestId,
    state,
    ...outcome,
    warnings: ending.warnings,
  })
}

function errorWording(requestId: string, { code, sentence, details }: Refused): string {
  return JSON.stringify({
    ok: false,
    error: sentence ?? errorRow(code).sentence,
    code,
    requestId,
    details: details?.length ? details : undefined,
  })
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
 * Whether a body, unread, costs more than a new connection: it is large, or nobody knows how large. Or the connection ends
 * with this reply, and what still comes of a body would eat it.
 */
function standsInTheWay({ incoming, outgoing }: Answered): boolean {
  if (incoming.headers['transfer-encoding'] !== undefined) return true
  const bytes = declaredBytes(incoming)
  return bytes > cheapBytes || (bytes > 0 && isLastOf(outgoing))
}

/** As the sender asked for it, or a gateway that stops. */
function isLastOf(outgoing: ServerResponse): boolean {
  return !outgoing.shouldKeepAlive || outgoing.getHeader('connection') === 'close'
}
