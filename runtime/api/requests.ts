/** Handles the routes that list and show requests. */

import type { RequestRecord } from '../store/port.ts'
import { missing } from './errors.ts'
import type { Handlers } from './handlers.ts'
import type { AdminOptions } from './options.ts'
import type { requestRoutes } from './routes/requests.ts'

export function createRequestHandlers({
  store: { read },
  traceOf,
}: AdminOptions): Handlers<typeof requestRoutes> {
  return {
    async listRequests({ query }) {
      const { since: _since, until: _until, ...filters } = query
      const page = await read.requests(filters)
      return { ...page, items: page.items.map(withoutBody) }
    },
    async readRequest({ params: { id }, reply }) {
      const request = await read.request(id)
      if (request === undefined) return missing(reply, 'request')
      const trace = traceOf(id)
      return { ...withoutBody(request), ...(trace && { trace }) }
    },
  }
}

/** The raw body and its head are no part of a record that is shown. */
function withoutBody({ body, head: _head, ...record }: RequestRecord) {
  return { ...record, bodyKept: body !== undefined }
}
