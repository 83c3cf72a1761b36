/** Receives and answers requests that are only tried, as the hook surface would, and stores nothing. */

import type { Decision, Fields, Refusal, TrySurface } from '@reveille/engine'
import { tokenHeadersOf, withoutToken, withoutTokens } from './auth/presented-token.ts'
import { decodeFor, maxBytesFor } from './body/decode.ts'
import { type ErrorCode, errorDefinition, isErrorCode, RequestError, statusOf } from './errors.ts'
import { statusOfOutcome } from './record/entry.ts'

/** Takes the steps of the request pipeline between authentication and the store, whether hooks are enabled or not. */
export const trySurface: TrySurface = {
  async receive({ endpoint, headers, query, body, now }, snapshot) {
    if (!snapshot.covers(endpoint))
      return refusal('NOT_FOUND', `no mapping covers the endpoint "${endpoint}"`)
    if (body.length > maxBytesFor(snapshot, endpoint)) return refusal('BODY_TOO_LARGE')
    const rawBody = Buffer.from(body.buffer, body.byteOffset, body.length)
    const contentType = headers['content-type']
    try {
      return {
        endpoint,
        headers: withoutTokens(
          headers as Record<string, string | string[] | undefined>,
          tokenHeadersOf(snapshot, endpoint),
        ),
        query: snapshot.settings.hooks.allowQueryToken ? withoutToken(query as Fields) : query,
        ...decodeFor(endpoint, rawBody, typeof contentType === 'string' ? contentType : undefined),
        rawBody,
        now,
      }
    } catch (error) {
      if (error instanceof RequestError) return refusal(error.code)
      throw error
    }
  },
  statusOf: statusOfDecision,
}

function statusOfDecision(decision: Decision): number {
  if ('code' in decision)
    return decision.status ?? statusOf(isErrorCode(decision.code) ? decision.code : 'INTERNAL')
  if (decision.outcome !== 'accepted') return statusOfOutcome(decision)
  const actions = decision.actions.map((action) => ({ id: '', action }))
  return statusOfOutcome({ outcome: 'accepted', actions, ...(decision.reply && { reply: decision.reply }) })
}

function refusal(code: ErrorCode, message = errorDefinition(code).sentence): Refusal {
  return { outcome: 'refused', code, message, details: [] }
}
