/** Finds the policy of an endpoint, merged from all policies that cover its name. */

import type { Configuration, EndpointPolicy } from '../../config/configuration.ts'
import { freezeDeep } from '../../config/values/freeze-deep.ts'
import type { Work } from '../../yield.ts'
import { builtInEndpoints } from '../match/decision-index.ts'
import { indexPaths } from '../match/endpoint-paths.ts'

/** Indexes the policies by the names that they cover, and freezes them. */
export function* indexPolicies(
  endpoints: Configuration['endpoints'],
): Work<(endpoint: string) => EndpointPolicy | undefined> {
  const policies = new Map<string, EndpointPolicy>()
  for (const name of Object.keys(endpoints)) {
    policies.set(name, freezeDeep(endpoints[name] as EndpointPolicy))
    yield
  }
  Object.freeze(endpoints)
  return yield* indexCascade(policies)
}

/**
 * Merges the policies key by key. An exact name takes precedence over one with parameters, which never covers `wake`
 * and `agent`.
 */
export function* indexCascade<Said extends object>(
  byName: ReadonlyMap<string, Said>,
): Work<(endpoint: string) => Said | undefined> {
  const pathsOf = yield* indexPaths(byName)
  return (endpoint) => {
    if (builtInEndpoints.has(endpoint)) return byName.get(endpoint)
    const [first, ...others] = pathsOf(endpoint)
    if (first === undefined || others.length === 0) return first?.value
    return Object.assign({}, ...others.toReversed().map(({ value }) => value), first.value)
  }
}
