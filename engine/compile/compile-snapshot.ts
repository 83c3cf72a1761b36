/** Compiles configurations: one without a pause, or one after another while requests are served. */

import type { Configuration } from '../config/configuration.ts'
import type { Randomness } from '../resolve/admit/admit.ts'
import type { Transforms } from '../transform/port.ts'
import { runToEnd, runYielding } from '../yield.ts'
import {
  type Compiled,
  type CompiledWithCoverage,
  compileSteps,
  createCompileCache,
} from './compile-steps.ts'
import type { Catalog } from './snapshot.ts'

export type { Compiled } from './compile-steps.ts'

/**
 * Freezes the configuration's settings and policies, which become the snapshot's. Without `transforms`, a mapping that
 * names a transform does not compile.
 */
export function compileSnapshot(
  configuration: Configuration,
  catalog: Catalog,
  randomness: Randomness,
  transforms: Transforms = noTransforms,
): Compiled {
  const parts = { configuration, catalog, randomness, transforms }
  return runToEnd(compileSteps(parts, createCompileCache()))
}

const noTransforms: Transforms = { bind: () => undefined }

/** Compiles in slices, and only the mappings that have changed. */
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

export function createCompiler({ randomness }: { readonly randomness: Randomness }): Compiler {
  const cache = createCompileCache()
  return {
    compile: (configuration, catalog, transforms = noTransforms) =>
      runYielding(compileSteps({ configuration, catalog, randomness, transforms }, cache)),
  }
}
