/** Owns how a transform's answer that cannot be used is told. */

import { TransformError } from '../transform/port.ts'

/** `by`: the module, and which element of a list it answered. `problem`: one sentence, naming field and value type. */
export function badAnswer(by: string, problem: string): TransformError {
  return new TransformError('TRANSFORM_FAILED', `${by} answered what cannot be used: ${problem}`)
}
