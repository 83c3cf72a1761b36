/** Lists the mappings that cover an endpoint, including disabled ones, for explaining a decision. */

import type { Configuration, MappingEntry, Origin } from '../config/configuration.ts'
import type { Covering } from '../resolve/explain/explain.ts'
import { builtInEndpoints, type DecisionIndex } from './match/decision-index.ts'
import { createEndpointPaths, noParams } from './match/endpoint-paths.ts'

interface CoveringInOrder {
  readonly covering: Covering
  /** The number of enabled mappings before it. */
  readonly position: number
}

/** Lists the mappings in matching order. Disabled ones are indexed when they are first needed. */
export function createCoverage(
  { mappings, disabled }: Pick<Configuration, 'mappings' | 'disabled'>,
  index: DecisionIndex,
): (endpoint: string) => readonly Covering[] {
  let disabledAt: ((endpoint: string) => readonly CoveringInOrder[]) | undefined
  let positions: ReadonlyMap<string, number> | undefined

  return (endpoint) => {
    const serving = index
      .covering(endpoint)
      .map(
        ({ program, params }): Covering => ({ mapping: program.id, place: program.place, params, program }),
      )
    if (disabled.length === 0 || builtInEndpoints.has(endpoint)) return serving
    disabledAt ??= indexDisabled(disabled, mappings)
    positions ??= new Map(mappings.map(({ id }, position) => [id, position]))
    const merged: Covering[] = []
    const off = disabledAt(endpoint)
    let next = 0
    for (const covering of serving) {
      const position = positions.get(covering.mapping) ?? 0
      for (let each = off[next]; each !== undefined && each.position <= position; each = off[++next]) {
        merged.push(each.covering)
      }
      merged.push(covering)
    }
    return [...merged, ...off.slice(next).map(({ covering }) => covering)]
  }
}

function indexDisabled(
  disabled: readonly MappingEntry[],
  mappings: readonly MappingEntry[],
): (endpoint: string) => readonly CoveringInOrder[] {
  type Off = { readonly entry: MappingEntry; readonly position: number; readonly order: number }
  const placeOf = createPlaceFinder(mappings)
  const everywhere: Off[] = []
  const byPath = new Map<string, Off[]>()
  for (const [order, entry] of disabled.entries()) {
    const position = placeOf(entry)
    const path = entry.value.match?.path
    const group = path === undefined ? everywhere : (byPath.get(path) ?? [])
    if (path !== undefined) byPath.set(path, group)
    group.push({ entry, position, order })
  }
  const pathsOf = createEndpointPaths(byPath)
  return (endpoint) =>
    [...pathsOf(endpoint), { value: everywhere, params: noParams }]
      .flatMap(({ value, params }) => value.map((off) => ({ ...off, params })))
      .sort((one, other) => one.order - other.order)
      .map(({ entry, position, params }) => ({
        covering: { mapping: entry.id, place: entry.label, params, program: undefined },
        position,
      }))
}

/** Consecutive mappings of one origin, which is the configuration, a file or a preset. */
interface Block {
  readonly origin: Origin
  readonly start: number
  end: number
}

/** Returns how many of the mappings, which are in matching order, come before a disabled entry. */
export function createPlaceFinder(mappings: readonly MappingEntry[]): (entry: MappingEntry) => number {
  const blocks = blocksOf(mappings)
  return (entry) => {
    const own = blocks.get(keyOf(entry.origin))
    return own === undefined
      ? placeOfOrigin(entry.origin, blocks.values(), mappings.length)
      : placeInBlock(entry, own, mappings)
  }
}

function blocksOf(mappings: readonly MappingEntry[]): ReadonlyMap<string, Block> {
  const blocks = new Map<string, Block>()
  for (const [position, { origin }] of mappings.entries()) {
    const key = keyOf(origin)
    const block = blocks.get(key)
    if (block === undefined) blocks.set(key, { origin, start: position, end: position + 1 })
    else block.end = position + 1
  }
  return blocks
}

function keyOf({ kind, name }: Origin): string {
  return `${kind} ${name}`
}

/** Finds the place by the line of the entry in its file. */
function placeInBlock(entry: MappingEntry, { start, end }: Block, mappings: readonly MappingEntry[]): number {
  const { line } = entry.locate([])
  let low = start
  let high = end
  while (low < high) {
    const middle = (low + high) >> 1
    if ((mappings[middle] as MappingEntry).locate([]).line < line) low = middle + 1
    else high = middle
  }
  return low
}

const kinds = ['configuration', 'file', 'preset']

/** The place of a preset without enabled mappings among the other presets is not known. */
function placeOfOrigin({ kind, name }: Origin, blocks: Iterable<Block>, last: number): number {
  for (const { origin, start } of blocks) {
    const isLaterKind = kinds.indexOf(origin.kind) > kinds.indexOf(kind)
    if (isLaterKind || (origin.kind === kind && kind === 'file' && origin.name > name)) return start
  }
  return last
}
