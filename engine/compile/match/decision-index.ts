/** Finds the mappings that may match a request, so that most of those that cannot match are never tried. */

import type { HookRequest } from '../../resolve/model/decision.ts'
import type { Candidate, Candidates, Program } from '../../resolve/model/program.ts'
import { runToEnd, type Work } from '../../yield.ts'
import { type CoveringPath, indexPaths, noParams } from './endpoint-paths.ts'
import type { Bucket } from './field-index.ts'
import { type Group, indexGroup } from './group-index.ts'

export interface DecisionIndex {
  /** Leaves out mappings that cannot match according to an equality. */
  candidates(request: HookRequest): Candidates
  /** Returns every mapping whose path covers the endpoint, in matching order. */
  covering(endpoint: string): readonly Candidate[]
  /** Returns how many mappings cover the endpoint. */
  count(endpoint: string): number
}

export interface Indexed {
  /** The endpoint's name, which may hold `:name` segments. If absent, the mapping covers every endpoint but the built-in ones. */
  readonly path: string | undefined
  readonly program: Program
}

/** The endpoints that take drafts; no mapping and no catch-all applies to them. */
export const builtInEndpoints: ReadonlySet<string> = new Set(['wake', 'agent'])

/** `mappings` are in matching order. */
export function createDecisionIndex(mappings: readonly Indexed[]): DecisionIndex {
  return runToEnd(indexMappings(mappings))
}

/** Does the same in pieces. Mappings are grouped by the text of their path, so that a catch-all is in one group only. */
export function* indexMappings(mappings: readonly Indexed[]): Work<DecisionIndex> {
  const equalitiesOf = (position: number) => mappings[position]?.program.matcher.equalities ?? []
  const ofPaths = new Map<string, Group>()
  let everywhere: Group | undefined
  for (const [path, positions] of Map.groupBy(mappings.keys(), (position) => mappings[position]?.path)) {
    const group = yield* indexGroup(path, positions, equalitiesOf)
    if (path === undefined) everywhere = group
    else ofPaths.set(path, group)
    yield
  }
  const find = yield* indexPaths(ofPaths)

  const groupsOf = (endpoint: string): readonly CoveringPath<Group>[] => {
    if (builtInEndpoints.has(endpoint)) return []
    const found = find(endpoint)
    return everywhere === undefined ? found : [...found, { value: everywhere, params: noParams }]
  }

  const sizeOf = (groups: readonly CoveringPath<Group>[]) =>
    groups.reduce((count, { value }) => count + value.all.length, 0)

  /** Returns what gives the mappings of these buckets in matching order, each once. */
  const inOrder = (
    groups: readonly CoveringPath<Group>[],
    buckets: readonly Bucket[],
  ): Candidates['next'] => {
    const paramsOf = new Map(groups.map(({ value, params }) => [value.path, params]))
    const positions = merge(buckets)
    let at = 0
    let last: number | undefined
    return () => {
      while (at < positions.length && positions[at] === last) at++
      last = positions[at]
      const found = last === undefined ? undefined : mappings[last]
      return found && { program: found.program, params: paramsOf.get(found.path) ?? noParams }
    }
  }

  return {
    candidates: (request) => {
      const groups = groupsOf(request.endpoint)
      return {
        covering: sizeOf(groups),
        next: inOrder(
          groups,
          groups.flatMap(({ value }) => value.find(request)),
        ),
      }
    },
    covering: (endpoint) => {
      const groups = groupsOf(endpoint)
      const next = inOrder(
        groups,
        groups.map(({ value }) => value.all),
      )
      const candidates: Candidate[] = []
      for (let each = next(); each !== undefined; each = next()) candidates.push(each)
      return candidates
    },
    count: (endpoint) => sizeOf(groupsOf(endpoint)),
  }
}

/** Returns the positions in ascending order. A list for integers alone is sorted in a fraction of the time. */
function merge(buckets: readonly Bucket[]): ArrayLike<number> {
  const [only, ...others] = buckets.filter(({ length }) => length > 0)
  return only === undefined || others.length === 0 ? (only ?? []) : Int32Array.from(buckets.flat()).sort()
}
