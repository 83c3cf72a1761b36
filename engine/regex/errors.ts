/** The two ways in which a regular expression fails: as it is compiled, and over a text. */

import { LocatedError } from '../config/located-error.ts'

/** An expression that cannot be compiled. `offset` is in UTF-16 units of its source. */
export class RegexSyntaxError extends LocatedError {}

/** A text that is too long to be searched, or that takes too many steps to. */
export class RegexLimitError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'RegexLimitError'
  }
}
