/** Finds the mappings that may match a request, so that most of those that cannot match are never tried. */

import type { HookRequest } from '../../resolve/decision.ts'
import type { Candidate, Candidates, Program } from '../../resolve/program.ts'
import { runToEnd } from '../../yield.ts'
import type { Work } from '../slices.ts'
import { noParams } from './endpoint-paths.ts'
import { createGroupCache, type Group, type GroupCache, type Indexed, indexGroups } from './groups.ts'
import { mergeOrdered, type Positions } from './ordered-merge.ts'

export type { Indexed } from './groups.ts'

export interface DecisionIndex {
  /** Leaves out mappings that cannot match according to an equality. */
  candidates(request: HookRequest): Candidates
  /** Returns every mapping whose path covers the endpoint, in matching order. */
  covering(endpoint: string): readonly Candidate[]
  covers(endpoint: string): boolean
}

/** The endpoints that take drafts; no mapping and no catch-all applies to them. */
export const builtInEndpoints: ReadonlySet<string> = new Set(['wake', 'agent'])

type Params = Candidate['params']

/** `mappings` are in matching order. */
export function createDecisionIndex(mappings: readonly Indexed[]): DecisionIndex {
  return runToEnd(indexMappings(mappings, createGroupCache()))
}

/** Does the same in pieces. Groups that `cache` holds with the same mappings are not indexed again. */
export function* indexMappings(mappings: readonly Indexed[], cache: GroupCache): Work<DecisionIndex> {
  const { ofPaths, find, everywhere } = yield* indexGroups(mappings, cache)
  const programs = mappings.map(({ program }) => program)

  const groupsOf = (endpoint: string): readonly Covering[] => {
    if (builtInEndpoints.has(endpoint)) return []
    const found: Covering[] = []
    for (const { value, params } of find(endpoint)) found.push({ group: ofPaths[value] as Group, params })
    if (everywhere !== undefined) found.push({ group: everywhere, params: noParams })
    return found
  }
  const inOrder = (lists: readonly Positions<Params>[]): Candidates['next'] => {
    const next = mergeOrdered(lists)
    return () => {
      const found = next()
      return found && { program: programs[found.position] as Program, params: found.tag }
    }
  }

  return {
    candidates: (request) => {
      const lists: Positions<Params>[] = []
      let covering = 0
      for (const { group, params } of groupsOf(request.endpoint)) {
        const { index, positions } = group
        covering += positions.length
        for (const list of index.find(request)) lists.push({ list, positions, tag: params })
      }
      return { covering, next: inOrder(lists) }
    },
    covering: (endpoint) => {
      const next = inOrder(
        groupsOf(endpoint).map(({ group, params }) => ({
          list: group.index.all,
          positions: group.positions,
          tag: params,
        })),
      )
      const candidates: Candidate[] = []
      for (let each = next(); each !== undefined; each = next()) candidates.push(each)
      return candidates
    },
    covers: (endpoint) => groupsOf(endpoint).length > 0,
  }
}

interface Covering {
  readonly group: Group
  readonly params: Params
}
