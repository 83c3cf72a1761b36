/** Owns the key of `coalesce`: which requests become one run. */

import type { AgentAction } from './decision.ts'
import { type Rendering, renderKey } from './key.ts'
import type { Program } from './program.ts'
import { whenReady } from './when-ready.ts'

type Coalesce = AgentAction['coalesce']

/**
 * Nothing where the key gives nothing: the request then stands alone.
 * @throws RefusalError, or rejects with it
 */
export function renderCoalesce(
  { key, ...rest }: NonNullable<Program['coalesce']>,
  rendering: Rendering,
): Coalesce | Promise<Coalesce> {
  return whenReady(renderKey('coalesce', key, rendering), (written) =>
    written === undefined ? undefined : { key: written, ...rest },
  )
}
