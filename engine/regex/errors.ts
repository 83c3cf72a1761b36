/** Defines the two ways in which a regular expression fails: when it is compiled, and when it is run on a text. */

import { LocatedError } from '../config/values/located-error.ts'

/** Thrown for an expression that cannot be compiled. `offset` is in UTF-16 units of its source. */
export class RegexSyntaxError extends LocatedError {}

/** Thrown for a text that is too long to be searched, or whose search takes too many steps. */
export class RegexLimitError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'RegexLimitError'
  }
}
