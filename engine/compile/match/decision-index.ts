/** Owns which mappings may match a request, so that it never meets those of another endpoint. */

import type { HookRequest } from '../../resolve/decision.ts'
import type { Candidate, Candidates, Program } from '../../resolve/program.ts'

export interface Indexed {
  /** The endpoint's name; absent: every endpoint but `wake` and `agent`. */
  readonly path: string | undefined
  readonly program: Program
}

export interface DecisionIndex {
  /** In matching order; those that cannot match are left out where an equality clause tells them apart. */
  candidates(request: HookRequest): Candidates
  /** Every mapping whose path covers the endpoint, in matching order. */
  covering(endpoint: string): readonly Candidate[]
  covers(endpoint: string): boolean
}

/** The endpoints that take drafts; no mapping and no catch-all applies to them. */
export const builtInEndpoints: ReadonlySet<string> = new Set(['wake', 'agent'])

/** `mappings` in matching order. */
export function createDecisionIndex(mappings: readonly Indexed[]): DecisionIndex {
  const everywhere = mappings.filter(({ path }) => path === undefined).map(candidateOf)
  const byName = new Map<string, Candidate[]>()
  for (const { path } of mappings) {
    if (path !== undefined && !byName.has(path)) byName.set(path, [])
  }
  for (const mapping of mappings) {
    const candidate = candidateOf(mapping)
    if (mapping.path !== undefined) byName.get(mapping.path)?.push(candidate)
    else for (const candidates of byName.values()) candidates.push(candidate)
  }
  const covering = (endpoint: string) => byName.get(endpoint) ?? everywhere
  return {
    candidates: ({ endpoint }) => {
      const all = covering(endpoint)
      let position = 0
      return { covering: all.length, next: () => all[position++] }
    },
    covering,
    covers: (endpoint) => byName.has(endpoint) || everywhere.length > 0,
  }
}

const noParams: Readonly<Record<string, string>> = Object.freeze({})

function candidateOf({ program }: Indexed): Candidate {
  return { program, params: noParams }
}
