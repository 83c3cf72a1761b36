/**
 * Calls Stripe's API about webhook endpoints, and the events that it could not deliver.
 * https://docs.stripe.com/api/webhook_endpoints and https://docs.stripe.com/api/events
 */

import {
  asList,
  asNumber,
  asRecord,
  asString,
  createProviderApi,
  type ProviderApiOptions,
  type ProviderDialect,
  type WantedWebhook,
} from '@reveille/kit'

export interface StripeEndpoint {
  readonly id: string
  readonly url: string
  readonly events: readonly string[]
  readonly isEnabled: boolean
  /** Milliseconds since the Unix epoch. */
  readonly createdAt: number
}

const dialect: ProviderDialect = {
  title: 'Stripe',
  api: 'https://api.stripe.com',
  scope: 'a restricted key with "Webhook Endpoints: write" and "Events: read"',
  sendsForms: true,
  firstWaitMs: 1000,
}

export type StripeApi = ReturnType<typeof createStripeApi>

export function createStripeApi(options: ProviderApiOptions) {
  const call = createProviderApi(dialect, options)
  const path = '/v1/webhook_endpoints'
  return {
    async listEndpoints(): Promise<readonly StripeEndpoint[]> {
      const found: StripeEndpoint[] = []
      for (let after = ''; ; ) {
        const from = after === '' ? '' : `&starting_after=${after}`
        const { json } = await call({ path: `${path}?limit=100${from}`, what: 'the webhook endpoints' })
        const { data, has_more: more } = asRecord(json) ?? {}
        found.push(...asList(data).flatMap(endpointOf))
        const last = asString(asRecord(asList(data).at(-1))?.['id'])
        if (more !== true || last === undefined) return found
        after = last
      }
    },
    async readEndpoint(id: string): Promise<StripeEndpoint | undefined> {
      const { json } = await call({ path: `${path}/${id}`, what: `the webhook endpoint ${id}` })
      return endpointOf(json)[0]
    },
    /** Returns the signing secret too, which Stripe shows only now. */
    async createEndpoint({ url, events }: WantedWebhook): Promise<{ id: string; secret: string }> {
      const metadata = { reveille: 'connect' }
      const description = 'Made by reveille connect stripe'
      const body = { url, enabled_events: events, description, metadata }
      const { json } = await call({ method: 'POST', path, body, what: 'a new webhook endpoint' })
      const { id, secret } = asRecord(json) ?? {}
      return { id: asString(id) ?? '', secret: asString(secret) ?? '' }
    },
    async updateEndpoint(id: string, { url, events }: WantedWebhook): Promise<void> {
      const body = { url, enabled_events: events, disabled: false }
      await call({
        method: 'POST',
        path: `${path}/${id}`,
        body,
        what: `a change of the webhook endpoint ${id}`,
      })
    },
    async deleteEndpoint(id: string): Promise<void> {
      await call({
        method: 'DELETE',
        path: `${path}/${id}`,
        what: `the removal of the webhook endpoint ${id}`,
      })
    },
    /** A page of events that were not delivered, the newest first. */
    async listUndelivered(query: { readonly since: number; readonly after?: string | undefined }) {
      const parameters = new URLSearchParams({
        limit: '100',
        delivery_success: 'false',
        'created[gte]': String(Math.floor(query.since / 1000)),
        ...(query.after !== undefined && { starting_after: query.after }),
      })
      const { json } = await call({ path: `/v1/events?${parameters}`, what: 'the events' })
      const { data, has_more: more } = asRecord(json) ?? {}
      return { events: asList(data).flatMap(eventOf), hasMore: more === true }
    },
  }
}

export interface StripeEvent {
  readonly id: string
  readonly type: string
  readonly at: number
  readonly body: unknown
}

function endpointOf(value: unknown): StripeEndpoint[] {
  const { id, url, enabled_events: events, status, created } = asRecord(value) ?? {}
  if (typeof id !== 'string' || typeof url !== 'string') return []
  return [
    {
      id,
      url,
      events: asList(events).map(String),
      isEnabled: status !== 'disabled',
      createdAt: (asNumber(created) ?? 0) * 1000,
    },
  ]
}

function eventOf(value: unknown): StripeEvent[] {
  const { id, type, created } = asRecord(value) ?? {}
  if (typeof id !== 'string' || typeof type !== 'string') return []
  return [{ id, type, at: (asNumber(created) ?? 0) * 1000, body: value }]
}
