/** Finds the policy of an endpoint, merged from all policies that cover its name. */

import type { Configuration, EndpointPolicy, RatePolicy } from '../../config/configuration.ts'
import { freezeDeep } from '../../config/values/freeze-deep.ts'
import { parseDuration, parseRate } from '../../config/values/quantities.ts'
import { findActor } from '../../resolve/match/actors.ts'
import type { EffectivePolicy, Rates } from '../../resolve/model/effective-policy.ts'
import { createProvider } from '../../verify/provider.ts'
import { builtInEndpoints } from '../match/decision-index.ts'
import { indexPaths } from '../match/endpoint-paths.ts'
import { compileBots } from './bots.ts'

interface Policies {
  /** Returns the values as written. */
  readonly policyOf: (endpoint: string) => EndpointPolicy | undefined
  /** Returns the compiled values, each with the name of the policy that sets it. */
  readonly effectivePolicyOf: (endpoint: string) => EffectivePolicy | undefined
}

/** Freezes the policies. */
export function compilePolicies(endpoints: Configuration['endpoints']): Policies {
  const written = Object.entries(freezeDeep(endpoints))
  const compiled = written
    .map(([name, policy]) => [name, Object.freeze(compilePolicy(name, policy))] as const)
    .filter(([, policy]) => Object.keys(policy).length > 0)
  return { policyOf: indexCascade(written), effectivePolicyOf: indexCascade(compiled) }
}

/**
 * Merges the policies key by key. An exact name takes precedence over one with parameters, which never covers `wake`
 * and `agent`.
 */
function indexCascade<Policy extends object>(
  policies: readonly (readonly [string, Policy])[],
): (endpoint: string) => Policy | undefined {
  const byName = new Map(policies)
  const pathsOf = indexPaths(byName)
  return (endpoint) => {
    if (builtInEndpoints.has(endpoint)) return byName.get(endpoint)
    const [first, ...others] = pathsOf(endpoint)
    if (first === undefined || others.length === 0) return first?.value
    return Object.assign({}, ...others.toReversed().map(({ value }) => value), first.value)
  }
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
