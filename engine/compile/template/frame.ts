/** Describes a place in a template while it runs: the current value, the ones around it, and the pass of a loop. */

import type { Output } from '../../resolve/render/output.ts'
import type { Scope } from '../../resolve/scope.ts'

export interface Frame {
  readonly scope: Scope
  /** What a bare name is looked up in. At the top, the scope: our names and the payload's keys. */
  readonly context: unknown
  /** The block around it, as written. Absent at the top. */
  readonly outer: Frame | undefined
  /** Where `../` leads: a block whose value is the one around it is not counted, as in Handlebars. */
  readonly up: Frame | undefined
  /** Where the context stands in the request, for naming its values: `commits.0`. */
  readonly name: string
  readonly key: string | number | undefined
  readonly index: number
  readonly last: boolean
}

/** Renders one statement. */
export type Step = (frame: Frame, output: Output) => void

/** A value, and what a human would call it. */
export interface Reader {
  readonly read: (frame: Frame, output: Output) => unknown
  readonly name: (frame: Frame) => string
}

export function rootFrame(scope: Scope): Frame {
  return {
    scope,
    context: scope,
    outer: undefined,
    up: undefined,
    name: '',
    key: undefined,
    index: 0,
    last: false,
  }
}

export function innerFrame(
  outer: Frame,
  context: unknown,
  name: string,
  turn?: { key: string | number; index: number; last: boolean },
): Frame {
  return {
    scope: outer.scope,
    context,
    outer,
    up: context === outer.context ? outer.up : outer,
    name,
    key: turn?.key,
    index: turn?.index ?? 0,
    last: turn?.last ?? false,
  }
}
