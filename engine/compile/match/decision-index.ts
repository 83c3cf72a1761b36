/** Owns which mappings may match a request, so that it meets few of those that cannot. */

import type { HookRequest } from '../../resolve/decision.ts'
import type { Candidate, Candidates, Program } from '../../resolve/program.ts'
import { type CoveringPath, createEndpointPaths, noParams } from './endpoint-paths.ts'
import { createGroupIndex, type Filed, type GroupIndex } from './group-index.ts'
import { mergeOrdered, type Positions } from './ordered-merge.ts'

export interface Indexed {
  /** The endpoint's name, which may hold `:name` segments; absent: every endpoint but `wake` and `agent`. */
  readonly path: string | undefined
  readonly program: Program
}

export interface DecisionIndex {
  /** Those that cannot match are left out where an equality clause tells them apart. */
  candidates(request: HookRequest): Candidates
  /** Every mapping whose path covers the endpoint, in matching order. */
  covering(endpoint: string): readonly Candidate[]
  covers(endpoint: string): boolean
}

/** The endpoints that take drafts; no mapping and no catch-all applies to them. */
export const builtInEndpoints: ReadonlySet<string> = new Set(['wake', 'agent'])

/** What a request's way through the index may cost before all mappings of its paths are tried instead. */
const stepsOfIndex = 600_000

type Params = Candidate['params']

/** `mappings` in matching order. */
export function createDecisionIndex(mappings: readonly Indexed[]): DecisionIndex {
  const { byPath, everywhere } = groupByPath(mappings)
  const pathsOf = createEndpointPaths(byPath)
  const programs = mappings.map(({ program }) => program)

  const groupsOf = (endpoint: string): readonly CoveringPath<GroupIndex>[] => {
    if (builtInEndpoints.has(endpoint)) return []
    const found = pathsOf(endpoint)
    return everywhere === undefined ? found : [...found, { value: everywhere, params: noParams }]
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
      const steps = { spent: 0, limit: stepsOfIndex }
      const lists: Positions<Params>[] = []
      let covering = 0
      for (const { value, params } of groupsOf(request.endpoint)) {
        covering += value.all.length
        for (const list of value.find(request, steps)) lists.push({ list, tag: params })
      }
      return { covering, spent: steps.spent, next: inOrder(lists) }
    },
    covering: (endpoint) => {
      const next = inOrder(groupsOf(endpoint).map(({ value, params }) => ({ list: value.all, tag: params })))
      const candidates: Candidate[] = []
      for (let each = next(); each !== undefined; each = next()) candidates.push(each)
      return candidates
    },
    covers: (endpoint) => groupsOf(endpoint).length > 0,
  }
}

/** By the text of the path, so that a catch-all is not filed with every endpoint. */
function groupByPath(mappings: readonly Indexed[]): {
  readonly byPath: ReadonlyMap<string, GroupIndex>
  readonly everywhere: GroupIndex | undefined
} {
  const filed = new Map<string | undefined, Filed[]>()
  for (const [position, { path, program }] of mappings.entries()) {
    const group = filed.get(path) ?? []
    filed.set(path, group)
    group.push({ position, equalities: program.matcher.equalities })
  }
  const byPath = new Map<string, GroupIndex>()
  for (const [path, group] of filed) if (path !== undefined) byPath.set(path, createGroupIndex(group))
  const catchAlls = filed.get(undefined)
  return { byPath, everywhere: catchAlls && createGroupIndex(catchAlls) }
}
