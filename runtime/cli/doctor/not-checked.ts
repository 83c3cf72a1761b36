/** A check throws this error for something that it cannot look at. The message is a clause, as that of a result. */
export class NotChecked extends Error {
  readonly code: string

  constructor(code: string, message: string) {
    super(message)
    this.code = code
  }
}
