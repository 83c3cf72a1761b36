/**
 * Indexes mappings in groups of one path each, by the text of the path, so that a catch-all is not filed with every
 * endpoint. A group whose mappings still have the same equalities keeps its index.
 */

import { isDeepStrictEqual } from 'node:util'
import type { Matcher, Program } from '../../resolve/program.ts'
import { smallPieces, type Work } from '../slices.ts'
import { type FindPaths, indexPaths } from './endpoint-paths.ts'
import { type GroupIndex, indexGroup } from './group-index.ts'

export interface Indexed {
  /** The endpoint's name, which may hold `:name` segments. Absent: every endpoint except `wake` and `agent`. */
  readonly path: string | undefined
  readonly program: Program
}

export interface Group {
  readonly index: GroupIndex
  /** The positions of the group's mappings among all mappings, ascending. */
  readonly positions: readonly number[]
  readonly matchers: readonly Matcher[]
}

export interface Groups {
  /** The groups by path, in the order of their first mappings. */
  readonly ofPaths: readonly Group[]
  /** Finds the indexes in `ofPaths` of the groups that cover a name. */
  readonly find: FindPaths<number>
  /** The catch-alls. */
  readonly everywhere: Group | undefined
}

/** What one indexing keeps for the next one. */
export interface GroupCache {
  groups: ReadonlyMap<string | undefined, Group>
  paths: readonly string[]
  find: FindPaths<number>
}

export function createGroupCache(): GroupCache {
  return { groups: new Map(), paths: [], find: () => [] }
}

/** `mappings` are in matching order. */
export function* indexGroups(mappings: readonly Indexed[], cache: GroupCache): Work<Groups> {
  const filed = yield* fileByPath(mappings)
  const groups = new Map<string | undefined, Group>()
  const paths: string[] = []
  const ofPaths: Group[] = []
  for (const [path, members] of filed) {
    const group = yield* indexMembers(members, cache.groups.get(path))
    groups.set(path, group)
    if (groups.size % smallPieces === 0) yield
    if (path === undefined) continue
    paths.push(path)
    ofPaths.push(group)
  }
  const find = isSame(paths, cache.paths)
    ? cache.find
    : yield* indexPaths(new Map(paths.map((path, place) => [path, place])))
  Object.assign(cache, { groups, paths, find } satisfies GroupCache)
  return { ofPaths, find, everywhere: groups.get(undefined) }
}

interface Members {
  readonly positions: number[]
  readonly matchers: Matcher[]
}

function* fileByPath(mappings: readonly Indexed[]): Work<ReadonlyMap<string | undefined, Members>> {
  const filed = new Map<string | undefined, Members>()
  for (const [position, { path, program }] of mappings.entries()) {
    let members = filed.get(path)
    if (members === undefined) {
      members = { positions: [], matchers: [] }
      filed.set(path, members)
    }
    members.positions.push(position)
    members.matchers.push(program.matcher)
    if (position % smallPieces === 0) yield
  }
  return filed
}

function* indexMembers(members: Members, before: Group | undefined): Work<Group> {
  const { positions, matchers } = members
  if (before === undefined || !(yield* areFiledAlike(matchers, before.matchers)))
    return { index: yield* indexGroup(matchers), positions, matchers }
  const isUnmoved = isSame(positions, before.positions) && isSame(matchers, before.matchers)
  return isUnmoved ? before : { index: before.index, positions, matchers }
}

/** A mapping with another message has another matcher, which may have the same equalities. */
function* areFiledAlike(some: readonly Matcher[], others: readonly Matcher[]): Work<boolean> {
  if (some.length !== others.length) return false
  for (const [index, one] of some.entries()) {
    const other = others[index]
    if (one === other) continue
    if (!isDeepStrictEqual(one.equalities, other?.equalities)) return false
    if (index % smallPieces === 0) yield
  }
  return true
}

function isSame(one: readonly unknown[], other: readonly unknown[]): boolean {
  return one.length === other.length && one.every((each, index) => each === other[index])
}
