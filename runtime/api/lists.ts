/** Registers the routes that list and show what the store holds. */

import type { FastifyInstance } from 'fastify'
import { assumedRoute } from '../dispatch/index.ts'
import type { PageOptions, RequestRecord } from '../store/port.ts'
import { adminSend, setRoute } from './deliveries.ts'
import { missing } from './errors.ts'
import type { AdminOptions } from './options.ts'
import { getRoute, idOf, pageKeys, queryOf, type WriteRoute } from './routes.ts'

const outcomes = ['accepted', 'ignored', 'skipped', 'duplicate', 'handshake', 'failed', 'refused']
const runStates = ['queued', 'running', 'succeeded', 'failed', 'timed-out', 'cancelled', 'parked']
const eventStates = ['pending', 'consumed']
const deliveryStates = ['pending', 'delivered', 'skipped', 'parked']

/** The filters of a list, each with the values that it may have. */
type Filters = Readonly<Record<string, readonly string[] | 'text'>>
type Query = PageOptions & Record<string, string>

export function registerLists(api: FastifyInstance, options: AdminOptions): void {
  const { current, store, traceOf } = options
  const { read } = store
  const list = (
    url: string,
    filters: Filters,
    answer: (query: Query) => Promise<unknown>,
    write?: WriteRoute,
  ) => getRoute(api, url, listing(filters), (request) => answer(request.query as Query), write)
  const item = (url: string, noun: string, find: (id: string) => Promise<unknown>) =>
    getRoute(api, url, {}, async (request, reply) => (await find(idOf(request))) ?? missing(reply, noun))

  list('/requests', { outcome: outcomes, endpoint: 'text' }, async (query) => {
    const page = await read.requests(query)
    return { ...page, items: page.items.map(withoutBody) }
  })
  item('/requests/:id', 'request', async (id) => {
    const request = await read.request(id)
    return request && { ...withoutBody(request), trace: traceOf(id) }
  })
  list('/runs', { state: runStates, sessionKey: 'text', kind: ['run', 'heartbeat'] }, read.runs)
  list('/events', { state: eventStates }, read.events)
  item('/events/:id', 'event', read.event)
  list('/deliveries', { state: deliveryStates, channel: 'text' }, read.deliveries, adminSend(options))
  item('/deliveries/:id', 'delivery', read.delivery)

  list('/sessions', {}, read.sessions)
  getRoute(api, '/sessions/:key', {}, async (request, reply) => {
    const { key } = request.params as { key: string }
    return (await read.session(key)) ?? missing(reply, 'session')
  })
  getRoute(
    api,
    '/route',
    {},
    async () => {
      const route = await read.route()
      return route === undefined
        ? { route: null, standIn: assumedRoute(current().snapshot.settings.channels) }
        : { route }
    },
    setRoute(options),
  )
}

/** The raw body and its head stay in the store: they are kept to be tried again, not to be read. */
function withoutBody({ body, head: _head, ...record }: RequestRecord) {
  return { ...record, bodyKept: body !== undefined }
}

/** The query of a list: `limit`, `cursor` and the filters. */
function listing(filters: Filters) {
  const properties = Object.entries(filters).map(([name, values]) => [
    name,
    values === 'text' ? { type: 'string', minLength: 1 } : { type: 'string', enum: values },
  ])
  return queryOf({ ...pageKeys, ...Object.fromEntries(properties) })
}
