/**
 * Stripe's API about webhook endpoints, and what it could not deliver.
 * https://docs.stripe.com/api/webhook_endpoints and https://docs.stripe.com/api/events
 */

import { listOf, numberOf, recordOf, textOf } from '@reveille/kit'
import type { Feed, Missed } from './feed.ts'
import { createProviderApi, type ProviderApiOptions, type ProviderDialect } from './provider-api.ts'

export interface StripeEndpoint {
  readonly id: string
  readonly url: string
  readonly events: readonly string[]
  readonly isEnabled: boolean
  /** Milliseconds since the Unix epoch. */
  readonly createdAt: number
  readonly metadata: Readonly<Record<string, unknown>>
}

export interface WantedEndpoint {
  readonly url: string
  readonly events: readonly string[]
}

const dialect: ProviderDialect = {
  title: 'Stripe',
  base: 'https://api.stripe.com',
  headers: {},
  scope: 'a restricted key with "Webhook Endpoints: write" and "Events: read"',
  form: 'form',
}

/** Marks the webhook endpoints that are ours. */
export const stripeMark = 'reveille'

export type StripeApi = ReturnType<typeof createStripeApi>

export function createStripeApi(options: ProviderApiOptions) {
  const { call } = createProviderApi(dialect, options)
  const path = '/v1/webhook_endpoints'
  return {
    async listEndpoints(): Promise<readonly StripeEndpoint[]> {
      const found: StripeEndpoint[] = []
      for (let after = ''; ; ) {
        const from = after === '' ? '' : `&starting_after=${after}`
        const { json } = await call({ path: `${path}?limit=100${from}`, what: 'the webhook endpoints' })
        const { data, has_more: more } = recordOf(json) ?? {}
        found.push(...listOf(data).flatMap(endpointOf))
        const last = textOf(recordOf(listOf(data).at(-1))?.['id'])
        if (more !== true || last === undefined) return found
        after = last
      }
    },
    async readEndpoint(id: string): Promise<StripeEndpoint | undefined> {
      const { json } = await call({ path: `${path}/${id}`, what: `the webhook endpoint ${id}` })
      return endpointOf(json)[0]
    },
    /** Returns the signing secret too, which Stripe shows only now. */
    async createEndpoint(
      { url, events }: WantedEndpoint,
      name: string,
    ): Promise<{ readonly id: string; readonly secret: string }> {
      const metadata = { [stripeMark]: name }
      const description = 'Made by reveille connect stripe'
      const body = { url, enabled_events: events, description, metadata }
      const { json } = await call({ method: 'POST', path, body, what: 'a new webhook endpoint' })
      const { id, secret } = recordOf(json) ?? {}
      return { id: textOf(id) ?? '', secret: textOf(secret) ?? '' }
    },
    async updateEndpoint(id: string, { url, events }: WantedEndpoint): Promise<void> {
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
      const { data, has_more: more } = recordOf(json) ?? {}
      return { events: listOf(data).flatMap(eventOf), hasMore: more === true }
    },
  }
}

interface StripeEvent {
  readonly id: string
  readonly type: string
  readonly at: number
  readonly body: unknown
}

/**
 * What Stripe could not deliver to one of the account's webhook endpoints, of the kinds that this one is sent. Pages begin with the
 * newest event, and events are taken from the oldest on: a first pass finds where each page begins, and a second one reads the
 * pages backwards, so that thirty days of events need not fit into memory.
 */
export function createStripeFeed(api: StripeApi, hookId: string): Feed {
  return {
    async missedSince(from) {
      const endpoint = await api.readEndpoint(hookId)
      const since = Math.max(from, endpoint?.createdAt ?? 0)
      const isOurs = acceptedBy(endpoint?.events ?? ['*'])
      /** The event after which each page begins. */
      const begins: (string | undefined)[] = []
      let count = 0
      let page: Awaited<ReturnType<StripeApi['listUndelivered']>>
      let after: string | undefined
      do {
        begins.push(after)
        page = await api.listUndelivered({ since, after })
        count += page.events.filter(isOurs).length
        after = page.events.at(-1)?.id
      } while (page.hasMore && after !== undefined)
      const oldest = page.events

      async function* items(): AsyncGenerator<Missed> {
        for (const [index, begin] of [...begins.entries()].reverse()) {
          const isOldest = index === begins.length - 1
          const events = isOldest ? oldest : (await api.listUndelivered({ since, after: begin })).events
          for (const { id, at, body } of events.filter(isOurs).reverse())
            yield { id, at, read: async () => ({ headers: {}, body }) }
        }
      }
      const problem =
        endpoint?.isEnabled === false
          ? `Stripe has disabled the webhook endpoint ${hookId} and sends nothing: enable it in Workbench > Webhooks, or run \`reveille connect stripe\` again.`
          : undefined
      return { count, items: items(), ...(problem !== undefined && { problem }) }
    },
  }
}

function acceptedBy(types: readonly string[]): (event: StripeEvent) => boolean {
  const all = new Set(types)
  return ({ type }) => all.has('*') || all.has(type)
}

function endpointOf(value: unknown): StripeEndpoint[] {
  const { id, url, enabled_events: events, status, created, metadata } = recordOf(value) ?? {}
  if (typeof id !== 'string' || typeof url !== 'string') return []
  return [
    {
      id,
      url,
      events: listOf(events).map(String),
      isEnabled: status !== 'disabled',
      createdAt: (numberOf(created) ?? 0) * 1000,
      metadata: recordOf(metadata) ?? {},
    },
  ]
}

function eventOf(value: unknown): StripeEvent[] {
  const { id, type, created } = recordOf(value) ?? {}
  if (typeof id !== 'string' || typeof type !== 'string') return []
  return [{ id, type, at: (numberOf(created) ?? 0) * 1000, body: value }]
}
