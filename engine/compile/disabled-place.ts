/** Owns where a mapping that is switched off would stand among those that serve. */

import type { MappingEntry, Origin } from '../config/configuration.ts'

/** Consecutive mappings of one origin: the configuration, a file or a preset. */
interface Block {
  readonly origin: Origin
  readonly start: number
  end: number
}

/** `mappings` in matching order. Gives how many of them come before an entry. */
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

/** From top to bottom, as the lines of its file. */
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

/** Of two presets nothing tells which is listed first, where no mapping of one of them serves. */
function placeOfOrigin({ kind, name }: Origin, blocks: Iterable<Block>, last: number): number {
  for (const { origin, start } of blocks) {
    const isLaterKind = kinds.indexOf(origin.kind) > kinds.indexOf(kind)
    if (isLaterKind || (origin.kind === kind && kind === 'file' && origin.name > name)) return start
  }
  return last
}
