/** Finds the mappings that may match a request, so that most of those that cannot match are never tried. */

import type { HookRequest } from '../../resolve/model/decision.ts'
import type { Candidate, Candidates, Program } from '../../resolve/model/program.ts'
import { type CoveringPath, indexPaths, noParams } from './endpoint-paths.ts'
import type { Bucket } from './field-index.ts'
import { type Group, indexGroup } from './group-index.ts'

/** Mappings of one path that may match, or all of them. The buckets of a snapshot stay the same objects. */
export interface Found {
  readonly bucket: Bucket
  /** The values that the path took from the endpoint's name. */
  readonly params: Candidate['params']
}

export interface DecisionIndex {
  /** Returns the mappings that may match, without those that cannot match according to an equality. Buckets may share some. */
  find(request: HookRequest): readonly Found[]
  /** Returns every mapping whose path covers the endpoint. */
  all(endpoint: string): readonly Found[]
  /** Returns what `find` returns, in matching order. */
  candidates(request: HookRequest): Candidates
  /** Returns what `all` returns, in matching order. */
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

/** `mappings` are in matching order. They are grouped by the text of their path, so that a catch-all is in one group only. */
export function indexMappings(mappings: readonly Indexed[]): DecisionIndex {
  const equalitiesOf = (position: number) => mappings[position]?.program.matcher.equalities ?? []
  const ofPaths = new Map<string, Group>()
  let everywhere: Group | undefined
  for (const [path, positions] of Map.groupBy(mappings.keys(), (position) => mappings[position]?.path)) {
    const group = indexGroup(path, positions, equalitiesOf)
    if (path === undefined) everywhere = group
    else ofPaths.set(path, group)
  }
  const findGroups = indexPaths(ofPaths)

  const groupsOf = (endpoint: string): readonly CoveringPath<Group>[] => {
    if (builtInEndpoints.has(endpoint)) return []
    const found = findGroups(endpoint)
    return everywhere === undefined ? found : [...found, { value: everywhere, params: noParams }]
  }

  const find = (request: HookRequest) =>
    groupsOf(request.endpoint).flatMap(({ value, params }) =>
      value.find(request).flatMap((bucket) => (bucket.length === 0 ? [] : [{ bucket, params }])),
    )
  const all = (endpoint: string) =>
    groupsOf(endpoint).map(({ value, params }) => ({ bucket: value.all, params }))
  const count = (endpoint: string) => all(endpoint).reduce((sum, { bucket }) => sum + bucket.length, 0)
  const programAt = (position: number) => mappings[position]?.program

  return {
    find,
    all,
    count,
    candidates: (request) => {
      const candidates = inOrder(find(request), programAt)
      return { covering: count(request.endpoint), next: () => candidates.next().value }
    },
    covering: (endpoint) => [...inOrder(all(endpoint), programAt)],
  }
}

/** Gives the mappings of these buckets in matching order, each once. */
export function* inOrder(
  found: readonly Found[],
  programAt: (position: number) => Program | undefined,
): Generator<Candidate, undefined> {
  const paramsAt = new Map<number, Found['params']>()
  for (const { bucket, params } of found) for (const position of bucket) paramsAt.set(position, params)
  // A list for integers alone is sorted in a fraction of the time.
  for (const position of Int32Array.from(paramsAt.keys()).sort()) {
    const program = programAt(position)
    if (program !== undefined) yield { program, params: paramsAt.get(position) ?? noParams }
  }
  return undefined
}
