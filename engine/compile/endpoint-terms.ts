/** Owns which terms hold for an endpoint: what its policies say to requests and runs, with the policy that says it. */

import type { Configuration, EndpointPolicy, RatePolicy } from '../config/configuration.ts'
import { parseRate } from '../config/rate.ts'
import { findActor } from '../resolve/actors.ts'
import type { Rates, Terms } from '../resolve/terms.ts'
import { createProvider } from '../verify/provider.ts'
import { compileBots } from './bots.ts'
import { indexCascade } from './endpoint-policy.ts'
import { smallPieces, type Work } from './slices.ts'

/** Where no policy has any, asking costs nothing. */
export function* indexTerms(
  endpoints: Configuration['endpoints'],
): Work<(endpoint: string) => Terms | undefined> {
  const all = new Map<string, Terms>()
  let pieces = 0
  for (const [name, policy] of Object.entries(endpoints)) {
    const terms = termsOf(name, policy)
    if (Object.keys(terms).length > 0) all.set(name, Object.freeze(terms))
    if (++pieces % smallPieces === 0) yield
  }
  return all.size === 0 ? () => undefined : yield* indexCascade(all)
}

function termsOf(policy: string, said: EndpointPolicy): Terms {
  const { timeoutSeconds, concurrency, budget, bots, auth, token, verify, rate } = said
  const term = <Value>(value: Value) => Object.freeze({ value, policy })
  return {
    ...(timeoutSeconds !== undefined && { timeoutSeconds: term(timeoutSeconds) }),
    ...(concurrency !== undefined && { concurrency: term(concurrency) }),
    ...(budget !== undefined && { budget: term(budget) }),
    ...(bots !== undefined && { bots: term(actorIn(bots)) }),
    ...(auth !== undefined && { auth: term(auth) }),
    ...(token !== undefined && { token: term(typeof token === 'string' ? [token] : token) }),
    ...(verify !== undefined && { verify: term(createProvider(verify)) }),
    ...(rate !== undefined && { rate: term(ratesIn(rate)) }),
  }
}

function actorIn(bots: readonly string[]): (payload: unknown) => string | undefined {
  const isListed = compileBots(bots)
  return (payload) => findActor(payload, isListed)
}

function ratesIn({ endpoint, client }: RatePolicy): Rates {
  return Object.freeze({
    ...(endpoint !== undefined && { endpoint: Object.freeze(parseRate(endpoint)) }),
    ...(client !== undefined && { client: Object.freeze(parseRate(client)) }),
  })
}
