/** Lists the mappings that cover an endpoint, including disabled ones, for explaining a decision. */

import type { Configuration } from '../config/configuration.ts'
import type { Covering } from '../resolve/explain.ts'
import { builtInEndpoints, type DecisionIndex } from './match/decision-index.ts'
import { indexPaths, noParams } from './match/endpoint-paths.ts'

/** Lists the mappings in matching order. */
export function createCoverage(
  { mappings, disabled }: Pick<Configuration, 'mappings' | 'disabled'>,
  index: DecisionIndex,
): (endpoint: string) => readonly Covering[] {
  return (endpoint) => {
    const serving = index
      .covering(endpoint)
      .map(
        ({ program, params }): Covering => ({ mapping: program.id, place: program.place, params, program }),
      )
    if (disabled.length === 0 || builtInEndpoints.has(endpoint)) return serving
    const others = disabled.flatMap(({ id, label, value: { match } }): Covering[] => {
      const path = match?.path
      const params = path === undefined ? noParams : indexPaths(new Map([[path, path]]))(endpoint)[0]?.params
      return params === undefined ? [] : [{ mapping: id, place: label, params, program: undefined }]
    })
    const orderOf = new Map([...mappings, ...disabled].map(({ label, order }) => [label, order]))
    const order = ({ place }: Covering): number => orderOf.get(place) ?? 0
    return [...serving, ...others].sort((one, other) => order(one) - order(other))
  }
}
