/** Lists what Stripe could not deliver to a webhook endpoint. */

import type { Missed, MissedList } from '@reveille/kit'
import type { StripeApi, StripeEvent } from './api.ts'

/**
 * Lists the events that Stripe could not deliver to one of the account's webhook endpoints, of the kinds that this one is sent. Pages
 * begin with the newest event, and events are taken from the oldest on: a first pass finds where each page begins, and a second one reads
 * the pages backwards, so that thirty days of events need not fit into memory.
 */
export async function missedEvents(api: StripeApi, hookId: string, from: number): Promise<MissedList> {
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
}

function acceptedBy(types: readonly string[]): (event: StripeEvent) => boolean {
  const all = new Set(types)
  return ({ type }) => all.has('*') || all.has(type)
}
