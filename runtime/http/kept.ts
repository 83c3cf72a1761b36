/** Owns what is kept of a request so that it can be tried again, and the way from there back to a request. */

import type { ReceivedRequest } from '@reveille/engine'
import type { RequestRecord } from '../store/port.ts'
import { tokenHeadersOf, withoutToken, withoutTokens } from './auth/presented-token.ts'
import { parseFields } from './body/fields.ts'
import type { Exchange } from './exchange.ts'

/** What else says who somebody is; no mapping is asked to read it. */
const credentials = ['cookie', 'proxy-authorization'] as const

/** Nothing where no body was read. A `token` of the query goes, whoever it is for. */
export function keptOf({
  incoming,
  live,
  endpoint,
  query,
  body,
}: Exchange): Pick<RequestRecord, 'body' | 'head'> {
  if (body === undefined || endpoint === undefined) return {}
  const headers = withoutTokens(incoming.headers, tokenHeadersOf(live.snapshot, endpoint))
  for (const name of credentials) delete headers[name]
  // A chunk is a view of a larger read buffer, which would travel to the store's thread whole.
  return { body: new Uint8Array(body), head: { headers, query: withoutToken(parseFields(query)) } }
}

/** The request as it came in, for `tryRequest`; undefined where not enough of it was kept. */
export function receivedAgain({
  endpoint,
  body,
  head,
  receivedAt,
}: RequestRecord): ReceivedRequest | undefined {
  if (body === undefined || head === undefined) return undefined
  // As at the door, no name has a prototype behind it.
  const query = Object.assign(Object.create(null), head.query)
  return { endpoint, headers: head.headers, query, body, now: receivedAt }
}
