/** Owns how much one evaluation makes all together, whatever of it is still in use. */

import type { Evaluation } from './library.ts'
import { thrownLimit } from './limit.ts'

/** In pieces of eight bytes: 256 MB. */
const mostMade = 32_000_000

export function spend(evaluation: Evaluation, pieces: number): void {
  evaluation.made += pieces
  if (evaluation.made > mostMade) throw thrownLimit('it makes more than the memory should hold')
}

export function spendText(evaluation: Evaluation, text: string): void {
  spend(evaluation, text.length / 8)
}
