/** Owns the two ways in which a regular expression fails: as it is compiled, and over a text. */

/** An expression that cannot be compiled. `offset` is in UTF-16 units of its source. */
export class RegexSyntaxError extends Error {
  readonly offset: number
  readonly hint: string | undefined

  constructor(message: string, offset: number, hint?: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'RegexSyntaxError'
    this.offset = offset
    this.hint = hint
  }
}

/** A text that is too long to be searched, or that takes too many steps to. */
export class RegexLimitError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'RegexLimitError'
  }
}
