/** Names endpoints as the configuration does, because a sender chooses the rest of an address that a pattern or a catch-all covers. */

import { coversPath, type Snapshot } from '@reveille/engine'
import { onceForEach } from './once-for-each.ts'

interface Names {
  readonly exact: ReadonlySet<string>
  readonly patterns: readonly string[]
}

type Configured = Pick<Snapshot, 'endpoints' | 'mappings'>

/** All names: `exact`, and `patterns` such as `orders/:shop`. */
export const namesIn = onceForEach(({ endpoints, mappings }: Configured): Names => {
  const all = new Set([...Object.keys(endpoints), ...mappings.flatMap(({ path }) => path ?? [])])
  const isPattern = (name: string) => name.split('/').some((segment) => segment.startsWith(':'))
  return {
    exact: new Set(['wake', 'agent', ...[...all].filter((name) => !isPattern(name))]),
    patterns: [...all].filter(isPattern),
  }
})

/**
 * Returns the endpoint's own name where the configuration has it, or the pattern that covers it: `orders/:shop`. Undefined where
 * only a catch-all covers it. There are no more of these names than the configuration has, and no word of a sender is in one.
 */
export function configuredName(snapshot: Snapshot, endpoint = ''): string | undefined {
  const { exact, patterns } = namesIn(snapshot)
  return exact.has(endpoint) ? endpoint : patterns.find((pattern) => coversPath(pattern, endpoint))
}

export function isConfiguredName(snapshot: Snapshot, name: string): boolean {
  const { exact, patterns } = namesIn(snapshot)
  return exact.has(name) || patterns.includes(name)
}

/** The option of a command that lists the requests of an endpoint. Lists know no patterns. */
export function endpointOption(name: string): string {
  return name.includes(':') ? '' : ` --endpoint ${name}`
}
