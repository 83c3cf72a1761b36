/** Defines the errors of strings in a language of their own: templates, expressions, patterns. */

/** Thrown for a text that cannot be compiled. `offset` is the place in UTF-16 units of the text. */
export class LocatedError extends Error {
  readonly offset: number
  readonly hint: string | undefined

  constructor(message: string, offset: number, hint?: string, options?: ErrorOptions) {
    super(message, options)
    this.name = new.target.name
    this.offset = offset
    this.hint = hint
  }
}
