/** Lists the mappings that cover an endpoint, including disabled ones, for explaining a decision. */

import type { Configuration } from '../config/configuration.ts'
import type { Covering } from '../resolve/explain.ts'
import { builtInEndpoints, type DecisionIndex } from './match/decision-index.ts'
import { createEndpointPaths, type FindPaths, noParams } from './match/endpoint-paths.ts'

/** Lists the mappings in matching order. Disabled ones are indexed when they are first needed. */
export function createCoverage(
  { mappings, disabled }: Pick<Configuration, 'mappings' | 'disabled'>,
  index: DecisionIndex,
): (endpoint: string) => readonly Covering[] {
  let pathsOf: FindPaths<string> | undefined

  function disabledAt(endpoint: string): readonly (Covering & { readonly order: number })[] {
    const paths = disabled.flatMap(({ value: { match } }) => match?.path ?? [])
    pathsOf ??= createEndpointPaths(new Map(paths.map((path) => [path, path])))
    const paramsOf = new Map(pathsOf(endpoint).map(({ value, params }) => [value, params]))
    return disabled.flatMap(({ id, label, order, value: { match } }) => {
      const params = match?.path === undefined ? noParams : paramsOf.get(match.path)
      return params ? [{ mapping: id, place: label, params, program: undefined, order }] : []
    })
  }

  return (endpoint) => {
    const serving = index
      .covering(endpoint)
      .map(
        ({ program, params }): Covering => ({ mapping: program.id, place: program.place, params, program }),
      )
    if (disabled.length === 0 || builtInEndpoints.has(endpoint)) return serving
    const orderOf = new Map(mappings.map(({ id, order }) => [id, order]))
    return [
      ...serving.map((each) => ({ ...each, order: orderOf.get(each.mapping) ?? 0 })),
      ...disabledAt(endpoint),
    ]
      .sort((one, other) => one.order - other.order)
      .map(({ order: _order, ...covering }) => covering)
  }
}
