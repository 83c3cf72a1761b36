/** Handles the routes that show what is served: endpoints with their policies, mappings with their hits, and what an id belongs to. */

import { authOf, type Snapshot } from '@reveille/engine'
import { namesIn } from '../configured-names.ts'
import { noOutcomes } from '../observe/series.ts'
import type { RequestFilters } from '../store/port.ts'
import type { Handlers } from './handlers.ts'
import type { AdminOptions } from './options.ts'
import { pageIn } from './pages.ts'
import type { gatewayRoutes } from './routes/gateway.ts'

export function createOverviewHandlers({ current, store, counters, issues }: AdminOptions) {
  const { read } = store

  /** When the newest request came that has these fields. */
  async function lastOf(filters: RequestFilters): Promise<number | undefined> {
    const { items } = await read.requests({ ...filters, limit: 1 })
    return items[0]?.receivedAt
  }

  return {
    async listEndpoints({ query }) {
      const { snapshot } = current()
      const { exact, patterns } = namesIn(snapshot)
      const page = pageIn([...exact, ...patterns].sort(), query, (name) => name)
      const silences = new Map(issues.silences().map((silence) => [silence.policy, silence]))
      const counts = counters.countsByEndpoint()
      const items = await Promise.all(
        page.items.map(async (name) => {
          const lastSeen = issues.seenAt(name) ?? (await lastOf({ endpoint: name }))
          const { policy: _policy, ...silence } = silences.get(name) ?? {}
          return {
            name,
            policy: policyText(snapshot, name),
            counts: counts.get(name) ?? noOutcomes(),
            ...(lastSeen !== undefined && { lastSeen }),
            ...('isSilent' in silence && { silence }),
          }
        }),
      )
      return { ...page, items }
    },

    async listMappings({ query }) {
      const page = pageIn(current().snapshot.mappings, query, ({ id }) => id)
      const items = await Promise.all(
        page.items.map(async (mapping) => {
          const lastMatch = await lastOf({ mapping: mapping.id })
          const hits = counters.hitsOf(mapping.id)
          return { ...mapping, hits, ...(lastMatch !== undefined && { lastMatch }) }
        }),
      )
      return { ...page, items }
    },

    async find({ query: { q } }) {
      return { items: await read.find(q.trim()) }
    },
  } satisfies Partial<Handlers<typeof gatewayRoutes>>
}

/** The limits and authentication of a policy, without secrets. */
function policyText(snapshot: Snapshot, name: string) {
  const effective = snapshot.effectivePolicyOf(name) ?? {}
  const written = snapshot.policyOf(name)
  const { rate, budget } = effective
  return {
    auth: authOf(effective),
    ...(written?.verify?.provider !== undefined && { provider: written.verify.provider }),
    ...(rate && { rate: rate.value }),
    ...(budget && { budget: budget.value }),
    ...(typeof written?.expectEvery === 'string' && { expectEvery: written.expectEvery }),
  }
}
