/** Owns the routes that list and show what the store holds. */

import type { FastifyInstance, FastifyReply, RouteShorthandOptions } from 'fastify'
import type { PageOptions, RequestRecord, RunRecord, Store } from '../store/port.ts'
import { refuse } from './refusal.ts'

const outcomes = ['accepted', 'ignored', 'skipped', 'duplicate', 'handshake', 'failed', 'refused']
const runStates = ['queued', 'running', 'succeeded', 'failed', 'timed-out', 'cancelled', 'parked']
const eventStates = ['pending', 'consumed']
const deliveryStates = ['pending', 'delivered', 'skipped', 'parked']

type Filters = Record<string, string>

export function registerLists(api: FastifyInstance, store: Store): void {
  const { read } = store

  api.get('/requests', listing({ outcome: outcomes, endpoint: 'text' }), async (request) => {
    const page = await read.requests(request.query as PageOptions & Filters)
    return { ...page, items: page.items.map(withoutBody) }
  })
  api.get('/requests/:id', async (request, reply) => {
    const record = await read.request(idOf(request.params))
    return record ? withoutBody(record) : missing(reply, 'request')
  })

  api.get('/runs', listing({ state: runStates, sessionKey: 'text', kind: ['run', 'heartbeat'] }), (request) =>
    read.runs(request.query as PageOptions & Filters),
  )
  api.get('/runs/:id', async (request, reply) => {
    const run = await read.run(idOf(request.params))
    return run ? withOutcome(store, run) : missing(reply, 'run')
  })

  api.get('/events', listing({ state: eventStates }), (request) =>
    read.events(request.query as PageOptions & Filters),
  )
  api.get('/events/:id', async (request, reply) => {
    return (await read.event(idOf(request.params))) ?? missing(reply, 'event')
  })

  api.get('/deliveries', listing({ state: deliveryStates }), (request) =>
    read.deliveries(request.query as PageOptions & Filters),
  )
  api.get('/deliveries/:id', async (request, reply) => {
    return (await read.delivery(idOf(request.params))) ?? missing(reply, 'delivery')
  })

  api.get('/sessions/:key', async (request, reply) => {
    return (await read.session((request.params as { key: string }).key)) ?? missing(reply, 'session')
  })
  api.get('/route', async () => ({ route: (await read.route()) ?? null }))
}

/** A run with what it caused: its summary event and its deliveries, whole. */
async function withOutcome({ read }: Store, run: RunRecord) {
  const [summary, ...deliveries] = await Promise.all([
    run.summaryEventId ? read.event(run.summaryEventId) : undefined,
    ...run.deliveryIds.map((id) => read.delivery(id)),
  ])
  return { ...run, summary: summary ?? null, deliveries }
}

/** The raw body stays in the store: it is there to be replayed, not to be read. */
function withoutBody({ body, ...record }: RequestRecord) {
  return { ...record, bodyKept: body !== undefined }
}

function idOf(params: unknown): string {
  return (params as { id: string }).id.toLowerCase()
}

function missing(reply: FastifyReply, noun: string): FastifyReply {
  return refuse(reply, 'NOT_FOUND', `There is no such ${noun}.`)
}

/** The query of a list: `limit`, `cursor`, and filters that are a text or one of a few. */
function listing(filters: Record<string, readonly string[] | 'text'>): RouteShorthandOptions {
  const properties: Record<string, object> = {
    limit: { type: 'integer', minimum: 1, maximum: 500 },
    cursor: { type: 'string', minLength: 1, maxLength: 200 },
  }
  for (const [name, values] of Object.entries(filters)) {
    properties[name] = values === 'text' ? { type: 'string', minLength: 1 } : { type: 'string', enum: values }
  }
  return { schema: { querystring: { type: 'object', properties, additionalProperties: false } } }
}
