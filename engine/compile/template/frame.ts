/** Describes a place in a template at run time: the current value, the surrounding ones, and the pass of a loop. */

import type { Output } from '../../resolve/render/output.ts'
import type { Scope } from '../../resolve/scope.ts'

export interface Frame {
  readonly scope: Scope
  /**
   * The value in which a bare name is looked up. At the top it is the scope, with the reserved names and the payload's
   * keys.
   */
  readonly context: unknown
  /** The surrounding block, as written. Absent at the top. */
  readonly outer: Frame | undefined
  /** The frame of `../`. A block whose value is the surrounding one is not counted, as in Handlebars. */
  readonly up: Frame | undefined
  /** The place of the context in the request, for naming its values: `commits.0`. */
  readonly name: string
  readonly key: string | number | undefined
  readonly index: number
  readonly last: boolean
}

/** Renders one statement. */
export type Step = (frame: Frame, output: Output) => void

/** Reads a value, and has the name that a person would use for it. */
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
  pass?: { key: string | number; index: number; last: boolean },
): Frame {
  return {
    scope: outer.scope,
    context,
    outer,
    up: context === outer.context ? outer.up : outer,
    name,
    key: pass?.key,
    index: pass?.index ?? 0,
    last: pass?.last ?? false,
  }
}
