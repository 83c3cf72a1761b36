/** Owns `$now` and `$millis`: the request's time, so that an evaluation that begins again gives the same. */

import { evaluationOf, type Focus } from '../library.ts'
import { fromMillis } from './pictures.ts'

export function millis(this: Focus): number {
  return evaluationOf(this.environment).now
}

export function now(this: Focus, picture?: string, zone?: string): unknown {
  return fromMillis.call(this, evaluationOf(this.environment).now, picture, zone)
}
