/** Compiles a configuration without a pause, for callers that serve nothing meanwhile. */

import type { Configuration } from '../config/configuration.ts'
import type { Randomness } from '../resolve/admit/admit.ts'
import type { Transforms } from '../transform/port.ts'
import { runToEnd } from '../yield.ts'
import { type Compiled, compileSteps, createCompileCache } from './compile-steps.ts'
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

export const noTransforms: Transforms = { bind: () => undefined }
