/** Owns compiling again and again while requests are served: in slices, and only what is written anew. */

import type { Configuration } from '../config/configuration.ts'
import type { Randomness } from '../resolve/admit.ts'
import type { Transforms } from '../transform/port.ts'
import { inTurns } from '../turn.ts'
import { noTransforms } from './compile-snapshot.ts'
import { type CompiledWithCoverage, compileSteps, createCompileMemory } from './compile-steps.ts'
import type { Catalog } from './snapshot.ts'

export interface Compiler {
  /**
   * As `compileSnapshot`. A mapping is known again by its entry's `value`, which must be the same object; its id, its
   * place, the settings and `transforms` may have changed. What is kept is what the last call used.
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
  const memory = createCompileMemory()
  return {
    compile: (configuration, catalog, transforms = noTransforms) =>
      inTurns(compileSteps({ configuration, catalog, randomness, transforms }, memory)),
  }
}
