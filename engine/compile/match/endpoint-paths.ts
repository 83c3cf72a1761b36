/** Finds paths by the name of an endpoint: exact paths, and those with `:name` segments. */

import { runToEnd, type Work } from '../../yield.ts'

export interface CoveringPath<Value> {
  readonly value: Value
  /** The path's `:name` segments by name. Empty for a path without any. */
  readonly params: Readonly<Record<string, string>>
}

interface Node<Value> {
  readonly literals: Map<string, Node<Value>>
  /** The branch for a parameter, which takes any one segment. */
  any: Node<Value> | undefined
  /** The paths that end here, which may differ in the names of their parameters. */
  readonly ends: { readonly names: readonly string[]; readonly value: Value }[]
}

export const noParams: Readonly<Record<string, string>> = Object.freeze({})

/** Returns the values of all paths that cover a name. */
export type FindPaths<Value> = (endpoint: string) => readonly CoveringPath<Value>[]

export function createEndpointPaths<Value>(paths: ReadonlyMap<string, Value>): FindPaths<Value> {
  return runToEnd(indexPaths(paths))
}

/** Does the same in pieces. */
export function* indexPaths<Value>(paths: ReadonlyMap<string, Value>): Work<FindPaths<Value>> {
  const exact = new Map<string, CoveringPath<Value>>()
  const root = createNode<Value>()
  for (const [path, value] of paths) {
    if (hasParams(path)) insert(root, path.split('/'), value)
    else exact.set(path, { value, params: noParams })
    yield
  }
  const isFlat = exact.size === paths.size

  return (endpoint) => {
    const found: CoveringPath<Value>[] = []
    const named = exact.get(endpoint)
    if (named !== undefined) found.push(named)
    if (!isFlat) collect(root, endpoint.split('/'), [], found)
    return found
  }
}

function hasParams(path: string): boolean {
  return path.startsWith(':') || path.includes('/:')
}

function createNode<Value>(): Node<Value> {
  return { literals: new Map(), any: undefined, ends: [] }
}

function insert<Value>(root: Node<Value>, segments: readonly string[], value: Value): void {
  const names: string[] = []
  let node = root
  for (const segment of segments) {
    if (segment.startsWith(':')) {
      names.push(segment.slice(1))
      node.any ??= createNode()
      node = node.any
      continue
    }
    const next: Node<Value> = node.literals.get(segment) ?? createNode()
    node.literals.set(segment, next)
    node = next
  }
  node.ends.push({ names, value })
}

/** Follows both branches at each segment. It visits each node at most once, and goes no deeper than the longest path. */
function collect<Value>(
  node: Node<Value>,
  segments: readonly string[],
  taken: readonly string[],
  found: CoveringPath<Value>[],
  at = 0,
): void {
  const segment = segments[at]
  if (segment === undefined) {
    for (const { names, value } of node.ends) {
      const params = Object.fromEntries(names.map((name, index) => [name, taken[index] as string]))
      found.push({ value, params: Object.freeze(params) })
    }
    return
  }
  const literal = node.literals.get(segment)
  if (literal !== undefined) collect(literal, segments, taken, found, at + 1)
  if (node.any !== undefined && segment !== '')
    collect(node.any, segments, [...taken, segment], found, at + 1)
}
