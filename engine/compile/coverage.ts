/** Owns which mappings cover an endpoint, those that are switched off among them, for whoever asks why. */

import type { Configuration, MappingEntry } from '../config/configuration.ts'
import type { Covering } from '../resolve/explain.ts'
import { createPlaceFinder } from './disabled-place.ts'
import { builtInEndpoints, type DecisionIndex } from './match/decision-index.ts'
import { createEndpointPaths, noParams } from './match/endpoint-paths.ts'

interface Placed {
  readonly covering: Covering
  /** How many of the mappings that serve come before it. */
  readonly position: number
}

/** In matching order. What is disabled is looked at when first somebody asks. */
export function createCoverage(
  { mappings, disabled }: Pick<Configuration, 'mappings' | 'disabled'>,
  index: DecisionIndex,
): (endpoint: string) => readonly Covering[] {
  let disabledAt: ((endpoint: string) => readonly Placed[]) | undefined
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
): (endpoint: string) => readonly Placed[] {
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
