/** Owns the key of `coalesce`: which requests become one run. */

import type { AgentAction } from './decision.ts'
import { type Rendering, renderKey } from './key.ts'
import type { Program } from './program.ts'

type Coalesce = AgentAction['coalesce']

/**
 * Nothing where the key gives nothing: the request then stands alone.
 * @throws RefusalError
 */
export async function renderCoalesce(
  { key, ...rest }: NonNullable<Program['coalesce']>,
  rendering: Rendering,
): Promise<Coalesce> {
  const written = await renderKey('coalesce', key, rendering)
  return written === undefined ? undefined : { key: written, ...rest }
}
