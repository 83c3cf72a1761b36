/** Handles the routes that list and show events, deliveries and sessions, and the route of `last`. */

import { assumedRoute } from '../dispatch/index.ts'
import { missing } from './errors.ts'
import type { Handlers } from './handlers.ts'
import { withMaskedCursor } from './masked-cursor.ts'
import type { AdminOptions } from './options.ts'
import type { workRoutes } from './routes/work.ts'

export function createRecordHandlers({ current, store: { read }, mask }: AdminOptions) {
  return {
    listRuns: ({ query }) => read.runs(query),
    listEvents: ({ query }) => read.events(query),
    readEvent: async ({ params }) => (await read.event(params.id)) ?? missing('event'),
    listDeliveries: ({ query }) => read.deliveries(query),
    readDelivery: async ({ params }) => (await read.delivery(params.id)) ?? missing('delivery'),
    listSessions: async ({ query }) => withMaskedCursor(await read.sessions(query), mask),
    readSession: async ({ params }) => (await read.session(params.key)) ?? missing('session'),
    async readRoute() {
      const set = await read.route()
      if (set === undefined)
        return { route: null, standIn: assumedRoute(current().snapshot.settings.channels) }
      const { by, ...route } = set
      return { route, ...(by !== undefined && { by }) }
    },
  } satisfies Partial<Handlers<typeof workRoutes>>
}
