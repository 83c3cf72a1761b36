/** Owns compiling a configuration at once, for whoever has nothing else to do meanwhile. */

import type { Configuration } from '../config/configuration.ts'
import type { Randomness } from '../resolve/admit.ts'
import type { Transforms } from '../transform/port.ts'
import { atOnce } from '../turn.ts'
import { type Compiled, compileSteps, createCompileMemory } from './compile-steps.ts'
import type { Catalog } from './snapshot.ts'

export type { Compiled } from './compile-steps.ts'

/**
 * Freezes the configuration's settings and policies: they become the snapshot's. Without `transforms` a mapping that
 * names one does not compile.
 */
export function compileSnapshot(
  configuration: Configuration,
  catalog: Catalog,
  randomness: Randomness,
  transforms: Transforms = noTransforms,
): Compiled {
  const parts = { configuration, catalog, randomness, transforms }
  return atOnce(compileSteps(parts, createCompileMemory()))
}

export const noTransforms: Transforms = { bind: () => undefined }
