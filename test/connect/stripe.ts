/**
 * A fake of Stripe's API for webhook endpoints and events, with its limits. Its answers have the types of Stripe's own library,
 * unknown parameters are refused, and events are sent over HTTP, signed.
 */

import { randomBytes } from 'node:crypto'
import type Stripe from 'stripe'
import {
  type FakeServerAnswer,
  type FakeServerRequest,
  openFakeServer,
} from '../../plugins/kit/fake-server/index.ts'
import { signedByStripe } from '../signed.ts'

/** https://docs.stripe.com/rate-limits */
const maxCallsPerSecond = 100
/** https://docs.stripe.com/api/events */
const keptMs = 30 * 86_400_000
const maxEndpoints = 16

export interface FakeStripeOptions {
  now(): number
  /** Maps a public URL to the one that receives its requests; undefined if nothing is there. */
  targetOf(url: string): string | undefined
}

interface StoredEvent {
  readonly event: Record<string, unknown> & {
    readonly id: string
    readonly type: string
    readonly created: number
  }
  /** Ids of the webhook endpoints that have not acknowledged it. */
  readonly pending: Set<string>
}

type Endpoint = Stripe.WebhookEndpoint & { readonly signingSecret: string }

export type FakeStripe = Awaited<ReturnType<typeof openFakeStripe>>

const key = 'rk_test_FAKE00000000000000000000'

export async function openFakeStripe({ now, targetOf }: FakeStripeOptions) {
  const endpoints = new Map<string, Endpoint>()
  /** The oldest first. */
  const events: StoredEvent[] = []
  let count = 0
  let second = { beganAt: now(), calls: 0 }

  function answer(request: FakeServerRequest): FakeServerAnswer {
    if (now() - second.beganAt >= 1000) second = { beganAt: now(), calls: 0 }
    second.calls += 1
    if (second.calls > maxCallsPerSecond)
      return refusal(429, 'Request rate limit exceeded.', { code: 'rate_limit' })
    const { method, path, headers } = request
    if (headers['authorization'] !== `Bearer ${key}`)
      return refusal(401, 'Invalid API Key provided: rk_test_****0000')
    const fields = readForm(method === 'GET' ? request.query : new URLSearchParams(request.text))
    const [, id] = /^\/v1\/webhook_endpoints(?:\/(\w+))?$/.exec(path) ?? []
    if (path.startsWith('/v1/webhook_endpoints')) return endpointsAnswer(method, id, fields)
    if (path === '/v1/events' && method === 'GET') return listEvents(fields)
    return refusal(404, `Unrecognized request URL (${method}: ${path}).`)
  }

  function endpointsAnswer(method: string, id: string | undefined, fields: Fields): FakeServerAnswer {
    if (id === undefined && method === 'GET') {
      const unknown = unknownOf(fields, ['limit', 'starting_after', 'ending_before'])
      return unknown ?? page(fields, [...endpoints.values()].reverse().map(shown), '/v1/webhook_endpoints')
    }
    if (id === undefined) {
      const unknown = unknownOf(fields, [
        'url',
        'enabled_events',
        'description',
        'metadata',
        'api_version',
        'connect',
      ])
      return unknown ?? createEndpoint(fields)
    }
    const endpoint = endpoints.get(id)
    if (endpoint === undefined)
      return refusal(404, `No such webhook endpoint: '${id}'`, { code: 'resource_missing' })
    if (method === 'GET') return { body: shown(endpoint) }
    if (method === 'DELETE') {
      endpoints.delete(id)
      return { body: { id, object: 'webhook_endpoint', deleted: true } }
    }
    const unknown = unknownOf(fields, ['url', 'enabled_events', 'description', 'metadata', 'disabled'])
    if (unknown) return unknown
    const changed: Endpoint = {
      ...endpoint,
      ...(fields['url'] !== undefined && { url: String(fields['url']) }),
      ...(fields['enabled_events'] !== undefined && { enabled_events: listIn(fields['enabled_events']) }),
      ...(fields['disabled'] !== undefined && {
        status: fields['disabled'] === 'true' ? 'disabled' : 'enabled',
      }),
    }
    endpoints.set(id, changed)
    return { body: shown(changed) }
  }

  function createEndpoint(fields: Fields): FakeServerAnswer {
    const url = String(fields['url'] ?? '')
    if (!/^https:\/\/(?!localhost|127\.)/.test(url))
      return refusal(400, 'Invalid URL: URL must be publicly accessible.')
    const wanted = listIn(fields['enabled_events'])
    if (wanted.length === 0) return refusal(400, 'Missing required param: enabled_events.')
    if (endpoints.size >= maxEndpoints)
      return refusal(400, 'You have reached the maximum of 16 test webhook endpoints.')
    const endpoint: Endpoint = {
      id: `we_1${randomBytes(11).toString('hex')}`,
      object: 'webhook_endpoint',
      api_version: null,
      application: null,
      created: Math.floor(now() / 1000),
      description: String(fields['description'] ?? ''),
      enabled_events: wanted,
      livemode: false,
      metadata: (fields['metadata'] ?? {}) as Record<string, string>,
      status: 'enabled',
      url,
      signingSecret: `whsec_${randomBytes(16).toString('hex')}`,
    }
    endpoints.set(endpoint.id, endpoint)
    return { body: { ...shown(endpoint), secret: endpoint.signingSecret } }
  }

  function listEvents(fields: Fields): FakeServerAnswer {
    const unknown = unknownOf(fields, [
      'limit',
      'starting_after',
      'ending_before',
      'created',
      'delivery_success',
      'type',
      'types',
    ])
    if (unknown) return unknown
    const since = Number((fields['created'] as Fields | undefined)?.['gte'] ?? 0)
    const found = events
      .filter(({ event }) => event.created >= since && event.created * 1000 > now() - keptMs)
      .filter(({ pending }) => fields['delivery_success'] !== 'false' || pending.size > 0)
    const all = found.map(({ event, pending }) => ({ ...event, pending_webhooks: pending.size })).reverse()
    return page(fields, all, '/v1/events')
  }

  async function deliver(kept: StoredEvent): Promise<void> {
    const body = JSON.stringify({ ...kept.event, pending_webhooks: kept.pending.size }, null, 2)
    for (const id of [...kept.pending]) {
      const endpoint = endpoints.get(id)
      const target = endpoint && targetOf(endpoint.url)
      if (endpoint === undefined || target === undefined) continue
      const headers = {
        'content-type': 'application/json; charset=utf-8',
        'user-agent': 'Stripe/1.0 (+https://stripe.com/docs/webhooks)',
        ...signedByStripe(body, endpoint.signingSecret),
      }
      const response = await fetch(target, { method: 'POST', headers, body }).catch(() => undefined)
      await response?.body?.cancel()
      if (response?.ok) kept.pending.delete(id)
    }
  }

  const server = await openFakeServer({ answer })
  return {
    ...server,
    key,
    endpoints: () => [...endpoints.values()],
    /** Makes an event and sends it once to every endpoint that wants it. Returns its id. */
    async emit(type: Stripe.Event['type'], object: object = {}): Promise<string> {
      const id = `evt_1${String(++count).padStart(23, '0')}`
      const wanting = [...endpoints.values()].filter(
        ({ status, enabled_events: wanted }) =>
          status === 'enabled' && (wanted.includes('*') || wanted.includes(type)),
      )
      const kept: StoredEvent = {
        event: {
          id,
          object: 'event',
          api_version: '2025-03-31.basil',
          created: Math.floor(now() / 1000),
          data: { object },
          livemode: false,
          pending_webhooks: wanting.length,
          request: null,
          type,
        } satisfies Omit<Stripe.EventBase, 'data' | 'lastResponse'> & { data: object },
        pending: new Set(wanting.map((endpoint) => endpoint.id)),
      }
      events.push(kept)
      await deliver(kept)
      return id
    },
    /** Sends unacknowledged events again, as Stripe does for three days. */
    async retry(): Promise<void> {
      for (const kept of events) if (kept.pending.size > 0) await deliver(kept)
    },
    pending: () => events.filter(({ pending }) => pending.size > 0).length,
  }
}

type Fields = { [name: string]: string | Fields }

/** Reads `created[gte]=1` and `enabled_events[0]=*`. */
function readForm(form: URLSearchParams): Fields {
  const fields: Fields = {}
  for (const [name, value] of form) {
    const keys = name.split(/\[|\]\[|\]/).filter((key, index) => key !== '' || index === 0)
    let at = fields
    for (const key of keys.slice(0, -1)) {
      at[key] ??= {}
      at = at[key] as Fields
    }
    at[keys.at(-1) ?? ''] = value
  }
  return fields
}

function unknownOf(fields: Fields, known: readonly string[]): FakeServerAnswer | undefined {
  const name = Object.keys(fields).find((each) => !known.includes(each))
  return name === undefined ? undefined : refusal(400, `Received unknown parameter: ${name}`, { param: name })
}

function listIn(value: string | Fields | undefined): string[] {
  return Object.values(typeof value === 'object' ? value : {}).map(String)
}

function shown({ signingSecret: _secret, ...endpoint }: Endpoint): Stripe.WebhookEndpoint {
  return endpoint
}

function page(fields: Fields, all: readonly { readonly id: string }[], url: string): FakeServerAnswer {
  const limit = Number(fields['limit'] ?? 10)
  if (limit < 1 || limit > 100)
    return refusal(400, 'This value must be between 1 and 100.', { param: 'limit' })
  const after = fields['starting_after']
  const at = after === undefined ? -1 : all.findIndex(({ id }) => id === after)
  if (after !== undefined && at < 0)
    return refusal(400, `No such event: '${after}'`, { param: 'starting_after' })
  const data = all.slice(at + 1, at + 1 + limit)
  return { body: { object: 'list', url, has_more: all.length > at + 1 + limit, data } }
}

function refusal(status: number, message: string, more: object = {}): FakeServerAnswer {
  return { status, body: { error: { type: 'invalid_request_error', message, ...more } } }
}
