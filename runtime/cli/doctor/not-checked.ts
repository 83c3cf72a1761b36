/** A check throws this error for something that it cannot look at. */

/** The message is one line without a full stop, and never holds a secret. */
export class NotChecked extends Error {
  readonly code: string
  readonly fix: string | undefined

  constructor(code: string, message: string, fix?: string) {
    super(message)
    this.name = 'NotChecked'
    this.code = code
    this.fix = fix
  }
}
