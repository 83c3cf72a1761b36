/** Compiles the policies of an endpoint into one, each value with the name of the policy that sets it. */

import type { Configuration, EndpointPolicy, RatePolicy } from '../../config/configuration.ts'
import { parseDuration, parseRate } from '../../config/values/quantities.ts'
import { findActor } from '../../resolve/match/actors.ts'
import type { EffectivePolicy, Rates } from '../../resolve/model/effective-policy.ts'
import { createProvider } from '../../verify/provider.ts'
import type { Work } from '../../yield.ts'
import { compileBots } from './bots.ts'
import { indexCascade } from './endpoint-policy.ts'

/** If no policy sets a value, a lookup costs nothing. */
export function* indexEffectivePolicies(
  endpoints: Configuration['endpoints'],
): Work<(endpoint: string) => EffectivePolicy | undefined> {
  const all = new Map<string, EffectivePolicy>()
  for (const [name, policy] of Object.entries(endpoints)) {
    const endpointPolicy = compilePolicy(name, policy)
    if (Object.keys(endpointPolicy).length > 0) all.set(name, Object.freeze(endpointPolicy))
    yield
  }
  return all.size === 0 ? () => undefined : yield* indexCascade(all)
}

function compilePolicy(policy: string, said: EndpointPolicy): EffectivePolicy {
  const { timeoutSeconds, concurrency, budget, bots, auth, token, verify, rate, expectEvery, catchUp } = said
  const policyValue = <Value>(value: Value) => Object.freeze({ value, policy })
  return {
    ...(timeoutSeconds !== undefined && { timeoutSeconds: policyValue(timeoutSeconds) }),
    ...(concurrency !== undefined && { concurrency: policyValue(concurrency) }),
    ...(budget !== undefined && { budget: policyValue(budget) }),
    ...(bots !== undefined && { bots: policyValue(actorIn(bots)) }),
    ...(auth !== undefined && { auth: policyValue(auth) }),
    ...(token !== undefined && { token: policyValue(typeof token === 'string' ? [token] : token) }),
    ...(verify !== undefined && { verify: policyValue(createProvider(verify)) }),
    ...(rate !== undefined && { rate: policyValue(ratesIn(rate)) }),
    ...(expectEvery !== undefined && { expectEvery: policyValue(parseDuration(expectEvery)) }),
    ...(catchUp !== undefined && { catchUp: policyValue(parseDuration(catchUp.lookBack)) }),
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
