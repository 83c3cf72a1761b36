/** Compiles one configuration after another while requests are served: in slices, and only the mappings that have changed. */

import type { Configuration } from '../config/configuration.ts'
import type { Randomness } from '../resolve/admit/admit.ts'
import type { Transforms } from '../transform/port.ts'
import { runYielding } from '../yield.ts'
import { noTransforms } from './compile-snapshot.ts'
import { type CompiledWithCoverage, compileSteps, createCompileCache } from './compile-steps.ts'
import type { Catalog } from './snapshot.ts'

export interface Compiler {
  /**
   * Compiles as `compileSnapshot` does. A mapping is recognised by its entry's `value`, which must be the same object;
   * its id, its place, the settings and `transforms` may have changed. Only what the last call used is kept.
   */
  compile(
    configuration: Configuration,
    catalog: Catalog,
    transforms?: Transforms,
  ): Promise<CompiledWithCoverage>
}

export interface CompilerOptions {
  readonly randomness: Randomness
}

export function createCompiler({ randomness }: CompilerOptions): Compiler {
  const cache = createCompileCache()
  return {
    compile: (configuration, catalog, transforms = noTransforms) =>
      runYielding(compileSteps({ configuration, catalog, randomness, transforms }, cache)),
  }
}
