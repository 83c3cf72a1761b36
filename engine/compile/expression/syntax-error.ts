/** Owns the error of an expression that does not compile. */

/** An expression that does not parse or may not be used. `offset` is in UTF-16 units of the field's text. */
export class ExpressionSyntaxError extends Error {
  readonly offset: number
  readonly hint: string | undefined

  constructor(message: string, offset: number, hint?: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'ExpressionSyntaxError'
    this.offset = offset
    this.hint = hint
  }
}
