/** Owns which mappings may match at an endpoint, so that a request never meets the mappings of another. */

import type { Program } from '../resolve/program.ts'

export interface Indexed {
  /** The endpoint's name; absent: every endpoint but `wake` and `agent`. */
  readonly path: string | undefined
  readonly program: Program
}

/** A later version narrows further by the values that mappings compare for equality; callers ask the same way. */
export interface EndpointIndex {
  /** In matching order. */
  candidates(endpoint: string): readonly Program[]
  covers(endpoint: string): boolean
}

/** The endpoints that take drafts; no mapping and no catch-all applies to them. */
export const builtInEndpoints: ReadonlySet<string> = new Set(['wake', 'agent'])

/** `mappings` in matching order. */
export function createEndpointIndex(mappings: readonly Indexed[]): EndpointIndex {
  const everywhere = mappings.filter(({ path }) => path === undefined).map(({ program }) => program)
  const byName = new Map<string, Program[]>()
  for (const { path } of mappings) {
    if (path !== undefined && !byName.has(path)) byName.set(path, [])
  }
  for (const { path, program } of mappings) {
    if (path !== undefined) byName.get(path)?.push(program)
    else for (const programs of byName.values()) programs.push(program)
  }
  return {
    candidates: (endpoint) => byName.get(endpoint) ?? everywhere,
    covers: (endpoint) => byName.has(endpoint) || everywhere.length > 0,
  }
}
