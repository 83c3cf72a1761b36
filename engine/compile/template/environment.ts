/** Describes what is known at load of a place in a template: the blocks around it and their names. */

import type { ScopeNames } from '../../resolve/scope.ts'
import type { RootName } from '../expression/names.ts'
import type { Block, Param, Path } from './grammar.ts'

/** The meaning of the names at the top of a template, and those that it reads there. */
export interface Top {
  readonly names: ScopeNames
  readonly read: RootName[]
}

export interface Environment {
  readonly top: Top
  /** The surrounding `each` and `with` blocks, outermost first. */
  readonly blocks: readonly { readonly kind: 'each' | 'with'; readonly parameters: readonly string[] }[]
  offsetOf(node: Path | Param | Block): number
  /** How many blocks outward the parameter of that name is defined, and whether it is the value or the key. */
  parameter(name: string | undefined): { readonly hops: number; readonly means: 'value' | 'key' } | undefined
  /** How many blocks outward the loop is, after `depth` loops are skipped. Undefined if there is none. */
  loop(depth: number): number | undefined
}

export function createEnvironment(
  offsetOf: Environment['offsetOf'],
  top: Top,
  blocks: Environment['blocks'] = [],
): Environment {
  const inward = blocks.toReversed()
  return {
    top,
    blocks,
    offsetOf,
    parameter: (name) => {
      if (name === undefined) return undefined
      for (const [hops, { parameters }] of inward.entries()) {
        const position = parameters.indexOf(name)
        if (position !== -1) return { hops, means: position === 0 ? 'value' : 'key' }
      }
      return undefined
    },
    loop: (depth) => {
      const loops = [...inward.keys()].filter((hops) => inward[hops]?.kind === 'each')
      return loops[depth]
    },
  }
}

export function inside(
  environment: Environment,
  kind: 'each' | 'with',
  parameters: readonly string[] = [],
): Environment {
  return createEnvironment(environment.offsetOf, environment.top, [
    ...environment.blocks,
    { kind, parameters },
  ])
}
