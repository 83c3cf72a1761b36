/** Keeps what is needed to try a request again, and makes a request of it later. */

import { parseFields, type ReceivedRequest } from '@reveille/engine'
import type { RequestHead, RequestRecord } from '../../store/port.ts'
import { tokenHeadersOf, withoutToken, withoutTokens } from '../auth/presented-token.ts'
import type { RequestFacts } from '../request-context.ts'

/** Further headers that hold credentials; no mapping has a reason to read them. */
const credentials = ['cookie', 'proxy-authorization'] as const

/** Returns nothing where no body was read. A `token` of the query is removed, whichever system it is for. */
export function replayableRequest({
  headers: received,
  live,
  endpoint,
  query,
  body,
}: RequestFacts): Pick<RequestRecord, 'body' | 'head'> {
  if (body === undefined || endpoint === undefined) return {}
  const headers = withoutTokens(received, tokenHeadersOf(live.snapshot, endpoint))
  for (const name of credentials) delete headers[name]
  // A chunk is a view of a larger read buffer, which would be sent to the thread of the store whole.
  return { body: new Uint8Array(body), head: { headers, query: withoutToken(parseFields(query)) } }
}

/** The request as it came in, for `tryRequest`; undefined where not enough of it was kept. */
export function restoreRequest({
  endpoint,
  body,
  head,
  receivedAt,
}: RequestRecord): ReceivedRequest | undefined {
  if (body === undefined || head === undefined) return undefined
  // Like a query that was just parsed, it has no prototype.
  const query = Object.assign(Object.create(null), head.query)
  return { endpoint, headers: head.headers, query, body, now: receivedAt }
}

/** The query as it is in an address, of which `parseFields` makes the same fields. */
export function searchOf(query: RequestHead['query']): string {
  const fields = Object.entries(query).flatMap(([name, values]) => {
    const list = values === undefined ? [] : [values].flat()
    return list.map((value): [string, string] => [name, value])
  })
  return String(new URLSearchParams(fields))
}
