/** Owns which policy holds for an endpoint: what all policies that cover its name say together. */

import type { Configuration, EndpointPolicy } from '../config/configuration.ts'
import { builtInEndpoints } from './match/decision-index.ts'
import { createEndpointPaths } from './match/endpoint-paths.ts'

/** Key by key, an exact name before one with parameters; those do not speak about `wake` and `agent`. */
export function createPolicyLookup(
  endpoints: Configuration['endpoints'],
): (endpoint: string) => EndpointPolicy | undefined {
  const pathsOf = createEndpointPaths(new Map(Object.entries(endpoints)))
  return (endpoint) => {
    if (builtInEndpoints.has(endpoint))
      return Object.hasOwn(endpoints, endpoint) ? endpoints[endpoint] : undefined
    const [first, ...others] = pathsOf(endpoint)
    if (first === undefined || others.length === 0) return first?.value
    return Object.assign({}, ...others.toReversed().map(({ value }) => value), first.value)
  }
}
